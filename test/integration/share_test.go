package integration

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The worked example of the Fair Scheduler documents: 800 GB and 200 cores, weights 1 and 3. busy fills the cluster, then
// sometimes-busy gets its burst; as pods end, what is freed goes where the shares say: 200 GB and 50 cores, 600 GB and 150 cores.
// On the way no capacity stays free that a waiting pod fits into, and a pod of high priority evicts nobody.
func TestBusyGivesBackAsItsPodsEnd(t *testing.T) {
	w := newWorld(t, 10, "20", "80Gi")
	w.queue("root.busy weight=1")
	w.queue("root.sometimes-busy weight=3")
	s, _ := w.scheduler(ledger.Options{})
	fill := func(queue string, n int, priorityClass string) {
		var pods []*v1.Pod
		for i := range n {
			p := pod(fmt.Sprintf("%s-%d", queue, i), "root."+queue, "2", "8Gi")
			p.Spec.PriorityClassName = priorityClass
			pods = append(pods, p)
		}
		w.create(pods...)
	}
	w.must(w.client.Create(w.ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1_000_000}))
	fill("busy", 150, "")
	w.untilBound(100)
	before := w.pods()

	fill("sometimes-busy", 120, "urgent")
	w.until("the burst is seen", func() (bool, string) {
		q := w.getQueue("root.sometimes-busy")
		return q.Status.Pods.Pending == 120, fmt.Sprint(q.Status.Pods)
	})
	for name, p := range before {
		if now := w.pods()[name]; now == nil || now.DeletionTimestamp != nil || now.Spec.NodeName != p.Spec.NodeName {
			t.Fatalf("pod %s was evicted for one of higher priority", name)
		}
	}

	ended := 0
	for _, p := range before {
		if p.Spec.NodeName == "" {
			continue
		}
		if ended == 75 {
			break
		}
		ended++
		w.must(w.client.Delete(w.ctx, p, client.GracePeriodSeconds(0)))
		if ended%25 == 0 { // every freed place is taken again
			w.untilBound(100)
		}
	}
	w.until("the shares arrived", func() (bool, string) {
		b := w.bound()
		return b["root.busy"] == 25 && b["root.sometimes-busy"] == 75, fmt.Sprint(b)
	})
	w.untilStatus("root.busy", "50", "200Gi")
	w.untilStatus("root.sometimes-busy", "150", "600Gi")
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}

// untilStatus waits until the status says that the queue has exactly its fair share, and compares with the sum over its pods.
func (w *world) untilStatus(queue, cpu, memory string) {
	w.t.Helper()
	want := v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
	w.until("status of "+queue, func() (bool, string) {
		st := w.getQueue(queue).Status
		return same(st.FairShare, want) && same(st.Allocated, want), fmt.Sprintf("fairShare %v, allocated %v", st.FairShare, st.Allocated)
	})
	sum := v1.ResourceList{}
	for _, p := range w.pods() {
		if p.Spec.NodeName == "" || p.Annotations[v1alpha1.KeyPlacedQueue] != queue {
			continue
		}
		for name, q := range p.Spec.Containers[0].Resources.Requests {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	if !same(sum, want) {
		w.t.Errorf("%s: status says %v, its pods add up to %v", queue, want, sum)
	}
}

func same(a, b v1.ResourceList) bool {
	for _, n := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		x, y := a[n], b[n]
		if x.Cmp(y) != 0 {
			return false
		}
	}
	return true
}

func TestMaxHoldsAtEveryLevelOfThePath(t *testing.T) {
	w := newWorld(t, 2, "40", "40Gi")
	w.queue("root.a max.cpu=10")
	w.queue("root.a.x max.cpu=7")
	w.queue("root.a.y")
	w.queue("root.b")
	s, _ := w.scheduler(ledger.Options{})
	var pods []*v1.Pod
	for i := range 20 {
		pods = append(pods, pod(fmt.Sprintf("x-%d", i), "root.a.x", "2", "1Gi"), pod(fmt.Sprintf("y-%d", i), "root.a.y", "1", "1Gi"),
			pod(fmt.Sprintf("b-%d", i), "root.b", "1", "1Gi"))
	}
	w.create(pods...)
	// Under a: x and y take turns by dominant share until 10 cpu; x alone may have 3 pods (6 of 7 cpu). b is not limited.
	w.until("everything that may run runs", func() (bool, string) {
		b := w.bound()
		return b["root.b"] == 20 && 2*b["root.a.x"]+b["root.a.y"] == 10, fmt.Sprint(b)
	})
	quiet(t, w, s)
	if b := w.bound(); b["root.a.x"] > 3 || 2*b["root.a.x"]+b["root.a.y"] != 10 {
		t.Errorf("limits broken: %v", b)
	}
	// Raising the limit takes effect at once.
	w.patch("root.a", `{"max":{"cpu":"12"}}`)
	w.until("the raised limit is used", func() (bool, string) {
		b := w.bound()
		return 2*b["root.a.x"]+b["root.a.y"] == 12, fmt.Sprint(b)
	})
	// Lowering it kills nothing and is said.
	w.patch("root.a", `{"max":{"cpu":"5"}}`)
	w.until("OverLimit is said", func() (bool, string) {
		for _, c := range w.getQueue("root.a").Status.Conditions {
			if c.Type == v1alpha1.ConditionOverLimit {
				return c.Status == metav1.ConditionTrue, c.Message
			}
		}
		return false, "no condition"
	})
	if b := w.bound(); 2*b["root.a.x"]+b["root.a.y"] != 12 {
		t.Errorf("a lowered limit ended pods: %v", b)
	}
}

// quiet waits until nothing is under way: the window is empty and the ledger has not changed for a dispatch round.
func quiet(t *testing.T, w *world, s interface{ Kick() }) {
	t.Helper()
	rest(t, w, s)
	w.agree()
}

// rest waits until the scheduler has nothing to do.
func rest(t *testing.T, w *world, s interface{ Kick() }) {
	t.Helper()
	l := ledgerOf(s)
	last := uint64(0)
	since := time.Now()
	w.until("the scheduler is quiet", func() (bool, string) {
		snap := l.Snapshot()
		if snap.Version != last || snap.InWindow > 0 {
			last, since = snap.Version, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond, fmt.Sprintf("%d in the window", snap.InWindow)
	})
}
