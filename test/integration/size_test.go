package integration

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Owners are watched from the first StateAware queue on. What they say then counts for pods that are bound long since, changes with the
// owner, and is what a picture made of the cluster's objects says.
func TestWhatOwnersSayOfTheirSizeCountsForPodsThatAreThere(t *testing.T) {
	w := newWorld(t, 1, "8", "8Gi")
	w.queue("root.a")
	s, _ := w.scheduler(ledger.Options{})
	template := func(of string) v1.PodTemplateSpec {
		p := pod("", "root.a", "1", "1Mi")
		p.Labels["of"] = of
		return v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec}
	}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Template: template("web"), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"of": "web"}},
		},
	}
	w.must(w.client.Create(w.ctx, web))
	for name, completions := range map[string]int32{"one": 1, "three": 3} {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec:       batchv1.JobSpec{Completions: &completions, Parallelism: ptr.To[int32](1), Template: template(name)},
		}
		job.Spec.Template.Spec.RestartPolicy = v1.RestartPolicyNever
		job.Spec.Template.Spec.NodeSelector = map[string]string{"kind": "none"} // or it would end
		w.must(w.client.Create(w.ctx, job))
	}
	// singles counts the pods of each application that are known to be all of it, and those that are not.
	singles := func(l *ledger.Ledger) string {
		n := map[string][2]int{}
		for _, p := range l.Pods() {
			is := n[p.Application]
			if p.Single {
				is[0]++
			} else {
				is[1]++
			}
			n[p.Application] = is
		}
		return fmt.Sprint(n)
	}
	become := func(what, want string) {
		w.until(what, func() (bool, string) { got := singles(s.Ledger); return got == want, got })
		path := w.cluster.Kubeconfig()
		f := cluster.NewFlags()
		f.KubeConfig = &path
		w.until("offline: "+what, func() (bool, string) {
			set, err := cluster.Read(w.ctx, f)
			w.must(err)
			got := singles(feed.Rebuild(set, []string{v1alpha1.SchedulerName}, time.Now(), ledger.Options{}))
			return got == want, got
		})
	}
	w.untilBound(1)
	become("nobody asks", "map[default/deployment.apps/web:[0 1] default/job/one:[0 1] default/job/three:[0 1]]")
	w.queue("root.gated policy=StateAware")
	become("a queue is StateAware", "map[default/deployment.apps/web:[1 0] default/job/one:[1 0] default/job/three:[0 1]]")
	w.must(w.client.Patch(w.ctx, web, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":2}}`))))
	become("two replicas", "map[default/deployment.apps/web:[0 2] default/job/one:[1 0] default/job/three:[0 1]]")
	w.must(w.client.Delete(w.ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"}},
		client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	become("an orphan", "map[default/deployment.apps/web:[0 2] default/job/one:[0 1] default/job/three:[0 1]]")
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}
