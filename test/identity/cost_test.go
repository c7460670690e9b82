package identity

import (
	"flag"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/people"
)

var durable = flag.Bool("durable", false, "measure with an etcd that waits for the disk, as that of a real cluster does")

// What the policies cost: people create pods for Fairway on a control plane with them and on one without, in turns, so that whatever else the
// machine does falls on both. Both are measured from the client, one request at a time and eight at a time.
//
//	go test ./test/identity -run=^$ -bench=PodCreate -benchtime=4000x -durable
func BenchmarkPodCreate(b *testing.B) {
	for _, tc := range []struct {
		name       string
		workers    int
		controller bool
	}{{"by people, one at a time", 1, false}, {"by people, eight at a time", 8, false}, {"by a controller, one at a time", 1, true}} {
		b.Run(tc.name, func(b *testing.B) {
			workers := tc.workers
			with, without := planeOf(b, true, tc.controller), planeOf(b, false, tc.controller)
			took := map[*creator][]time.Duration{}
			var mutex sync.Mutex
			const block = 40 // long enough that the two do not share a moment, short enough that both see the same machine
			run := func(c *creator, n int) {
				var all sync.WaitGroup
				for range workers {
					all.Go(func() {
						for range n / workers {
							began := time.Now()
							c.create(b)
							d := time.Since(began)
							mutex.Lock()
							took[c] = append(took[c], d)
							mutex.Unlock()
						}
					})
				}
				all.Wait()
			}
			for _, c := range []*creator{with, without} { // connections, caches, compiled expressions
				run(c, 200)
			}
			clear(took)
			for b.ResetTimer(); len(took[with]) < b.N; {
				run(with, block)
				run(without, block)
			}
			b.StopTimer()
			for _, p := range []struct {
				name string
				part float64
			}{{"p50", .5}, {"p90", .9}, {"p99", .99}} {
				a, z := quantile(took[with], p.part), quantile(took[without], p.part)
				b.ReportMetric(float64(a.Microseconds()), p.name+"-with-µs")
				b.ReportMetric(float64(z.Microseconds()), p.name+"-without-µs")
				b.ReportMetric(float64(a)/float64(z), p.name+"-ratio")
			}
		})
	}
}

type creator struct {
	*people.User
	pod *corev1.Pod
}

func (c *creator) create(b *testing.B) {
	if _, err := c.Kube.CoreV1().Pods(c.pod.Namespace).Create(b.Context(), c.pod, metav1.CreateOptions{}); err != nil {
		b.Error(err)
	}
}

// planeOf starts a control plane, and who creates pods there: ann, or the job controller for a Job of hers.
func planeOf(b *testing.B, policies, controller bool) *creator {
	b.Helper()
	w := startWorld(b, localcluster.Options{Durable: *durable})
	b.Cleanup(func() { must(b, w.Stop()) })
	if policies {
		install(b, w, "identity")
	}
	home := w.Namespace(b, "cost")
	ann := w.Person(b, "ann", "analysts", "builders")
	w.Edit(b, home, ann)
	c := &creator{ann, podFor(home, "")}
	if controller {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "job"}, Spec: batchv1.JobSpec{Suspend: ptr.To(true)}}
		job.Spec.Template.Spec = *c.pod.Spec.DeepCopy()
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		must(b, ann.Client.Create(b.Context(), job))
		c.pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: ptr.To(true)}}
		c.pod.Annotations = map[string]string{"fairway.dev/user": of(ann).user, keyGroups: of(ann).groups}
		c.User = w.Account(b, "kube-system", "job-controller")
		w.Edit(b, home, c.User)
	}
	return c
}

func quantile(all []time.Duration, part float64) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[int(part*float64(len(all)-1))]
}
