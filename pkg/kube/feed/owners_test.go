package feed

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func jobOf(uid string, completions int32) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: types.UID(uid)}, Spec: batchv1.JobSpec{Completions: &completions},
	}
}

func setOf(replicas int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: "ns", UID: "set"}, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas}}
}

func controlledBy(apiVersion, kind, name, uid string) func(*v1.Pod) {
	yes := true
	return func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}}
	}
}

// What is seen first, the pod or its owner, makes no difference, nor whether the pod has a node.
func TestAPodIsSingleWhileItsOwnerSaysSo(t *testing.T) {
	ofJob, ofSet := controlledBy("batch/v1", "Job", "j", "job"), controlledBy("apps/v1", "ReplicaSet", "r", "set")
	for what, c := range map[string]struct {
		pod    func(*v1.Pod)
		happen func(owners cache.ResourceEventHandler, pod func())
		want   bool
		again  []types.UID // owners whose pods are to be observed again
	}{
		"no owner is known": {ofJob, func(_ cache.ResourceEventHandler, pod func()) { pod() }, false, nil},
		"the owner first": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(jobOf("job", 1), true)
			pod()
		}, true, []types.UID{"job"}},
		"the pod first": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			pod()
			h.OnAdd(jobOf("job", 1), false)
		}, true, []types.UID{"job"}},
		"as an informer that keeps little hands it over": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			pod()
			h.OnAdd(convert.OwnerOf(jobOf("job", 1)), false)
		}, true, []types.UID{"job"}},
		"the owner has several": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			pod()
			h.OnAdd(jobOf("job", 2), false)
		}, false, nil},
		"the owner is scaled up": {ofSet, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(setOf(1), true)
			pod()
			h.OnUpdate(setOf(1), setOf(2))
		}, false, []types.UID{"set", "set"}},
		"the owner is scaled down": {ofSet, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(setOf(3), true)
			pod()
			h.OnUpdate(setOf(3), setOf(2))
			h.OnUpdate(setOf(2), setOf(1))
		}, true, []types.UID{"set"}},
		"the owner changes otherwise": {ofSet, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(setOf(1), true)
			pod()
			h.OnUpdate(setOf(1), setOf(1))
		}, true, []types.UID{"set"}},
		"the owner is deleted": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(jobOf("job", 1), true)
			pod()
			h.OnDelete(jobOf("job", 1))
		}, false, []types.UID{"job", "job"}},
		"the owner was deleted while nobody watched": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(jobOf("job", 1), true)
			pod()
			h.OnDelete(cache.DeletedFinalStateUnknown{Key: "ns/j", Obj: convert.OwnerOf(jobOf("job", 1))})
		}, false, []types.UID{"job", "job"}},
		"the owner was made again while nobody watched": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			h.OnAdd(jobOf("job", 1), true)
			pod()
			h.OnUpdate(jobOf("job", 1), jobOf("another", 1))
		}, false, []types.UID{"job", "job", "another"}},
		"something that says nothing": {ofJob, func(h cache.ResourceEventHandler, pod func()) {
			pod()
			h.OnAdd(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "job"}}, false)
		}, false, nil},
	} {
		for _, node := range []string{"", "n"} {
			f := openFeed()
			l := f.Ledger
			p := pod("p", c.pod, func(p *v1.Pod) { p.Spec.NodeName = node })
			var again []types.UID
			observed := false
			f.Resized = func(owner types.UID) {
				again = append(again, owner)
				if observed && owner == p.OwnerReferences[0].UID {
					f.ObservePod(p)
				}
			}
			c.happen(f.Owners(), func() { observed = true; f.ObservePod(p) })
			if s, ok := l.PodState("p"); !ok || s.Single != c.want || !slices.Equal(again, c.again) {
				t.Errorf("%s, node %q: single is %v; observed again %q, want %q", what, node, s.Single, again, c.again)
			}
			for _, wrong := range l.Check() {
				t.Errorf("%s, node %q: %s", what, node, wrong)
			}
		}
	}
}

func TestOwnersAreWantedOnceWithTheFirstStateAwareQueue(t *testing.T) {
	state := func(policy string) map[string]any { return map[string]any{"status": map[string]any{"policy": policy}} }
	spec := func(policy string) map[string]any { return map[string]any{"spec": map[string]any{"policy": policy}} }
	for what, c := range map[string]struct {
		queues []map[string]any
		want   int
	}{
		"no queue":                 {nil, 0},
		"others":                   {[]map[string]any{spec("Fair"), state("FIFO"), {}}, 0},
		"one":                      {[]map[string]any{spec("Fair"), spec("StateAware")}, 1},
		"two":                      {[]map[string]any{spec("StateAware"), spec("StateAware")}, 1},
		"one that was to the last": {[]map[string]any{state("StateAware")}, 1},
	} {
		wanted := 0
		f := &Feed{Ledger: ledger.New(ledger.Options{}), Kick: func() {}, WantOwners: func() { wanted++ }}
		for i, q := range c.queues {
			u := &unstructured.Unstructured{Object: q}
			u.SetName(fmt.Sprint("root.q", i))
			f.Queues().OnAdd(u, true)
		}
		if wanted != c.want {
			t.Errorf("%s: wanted %d times, want %d", what, wanted, c.want)
		}
	}
}
