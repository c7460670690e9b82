package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	// podsAtLeast is how many pods flow through the cluster in one test; about 160 have room at a time. More are created for as long as
	// the test still breaks something.
	podsAtLeast = 3000
	// stayers, the last ones, run until the test ends, so that the queues hold something when the books are compared.
	stayers = 60
	// backlog bounds the pods that wait, so that pods are created all the time rather than all at once.
	backlog  = 300
	creators = 4
)

// leaves are the queues that pods go to, one after the other: more than half of them to the one that has no max, as they get through
// the others more slowly.
var leaves = []string{
	"root.etl", "root.adhoc", "root.etl", "root.lab.a", "root.etl", "root.batch", "root.etl", "root.lab.b", "root.etl",
}

var sizes = []amounts{{100, 128 << 20}, {250, 256 << 20}, {500, 512 << 20}}

// runSeconds of the pods that end: while nobody schedules, for the four seconds of a lease, most of them do.
var runSeconds = []string{"1", "2", "3"}

// misfits never fit: on no node, into no queue of their own, into no queue at all.
func misfits() []*v1.Pod {
	return []*v1.Pod{
		newPod("misfit-node", "root.etl", amounts{nodeCPU + 1000, 1 << 30}),
		newPod("misfit-max", "root.adhoc", amounts{adhocCPU + 500, 1 << 30}),
		newPod("misfit-queue", "root.nowhere", amounts{100, 1 << 20}),
	}
}

// flow is the pods of one test, the same in every run, whatever becomes of the apiserver meanwhile.
type flow struct {
	kube    kubernetes.Interface
	history *history
	broken  atomic.Bool  // the test has done its worst
	next    atomic.Int64 // pod to create
	created atomic.Int64
	all     sync.WaitGroup
}

// startFlow creates pods, with several creators.
func startFlow(t *testing.T, kube kubernetes.Interface, h *history) *flow {
	t.Helper()
	f := &flow{kube: kube, history: h}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); f.all.Wait() })
	for range creators {
		f.all.Go(func() {
			for ctx.Err() == nil && (f.next.Load() < podsAtLeast || !f.broken.Load()) {
				f.makePlace(ctx)
				f.create(ctx, flowing(int(f.next.Add(1))))
			}
		})
	}
	return f
}

// finish lets the flow end, and adds the pods that stay.
func (f *flow) finish(ctx context.Context) (pods int) {
	f.broken.Store(true)
	f.all.Wait()
	for range stayers {
		p := flowing(int(f.next.Add(1)))
		p.Annotations = nil
		f.create(ctx, p)
	}
	return int(f.next.Load())
}

// flowing is the pod of a number.
func flowing(i int) *v1.Pod {
	dice := rand.New(rand.NewPCG(7, uint64(i)))
	p := newPod(fmt.Sprintf("pod-%05d", i), leaves[i%len(leaves)], sizes[dice.IntN(len(sizes))])
	p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: runSeconds[dice.IntN(len(runSeconds))]}
	return p
}

// makePlace waits until the backlog is short enough for one more.
func (f *flow) makePlace(ctx context.Context) {
	for f.progress()-f.history.bound() >= backlog && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
}

// create tries until the pod is there: an apiserver that was killed may have created it without saying so.
func (f *flow) create(ctx context.Context, p *v1.Pod) {
	for ctx.Err() == nil {
		_, err := f.kube.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		if err == nil || apierrors.IsAlreadyExists(err) {
			f.created.Add(1)
			return
		}
		time.Sleep(again)
	}
}

// progress is how many pods are created.
func (f *flow) progress() int { return int(f.created.Load()) }

func newPod(name, queue string, size amounts) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: metav1.NamespaceDefault, Labels: map[string]string{v1alpha1.KeyQueue: queue},
		},
		Spec: v1.PodSpec{
			SchedulerName: v1alpha1.SchedulerName,
			RestartPolicy: v1.RestartPolicyNever,
			Containers: []v1.Container{{
				Name: "c", Image: "none",
				Resources: v1.ResourceRequirements{Requests: v1.ResourceList{
					v1.ResourceCPU:    *resource.NewMilliQuantity(size.cpu, resource.DecimalSI),
					v1.ResourceMemory: *resource.NewQuantity(size.memory, resource.BinarySI),
				}},
			}},
		},
	}
}
