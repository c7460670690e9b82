package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// autoscalersSee is what makes autoscalers add nodes for a pod: cluster-autoscaler wants PodScheduled False for the reason Unschedulable,
// Karpenter the same reason, and both a pod without a node.
func autoscalersSee(p *v1.Pod) bool {
	c := scheduledCondition(p)
	return p.Spec.NodeName == "" && c != nil && c.Status == v1.ConditionFalse && c.Reason == "Unschedulable"
}

func scheduledCondition(p *v1.Pod) *v1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == v1.PodScheduled {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// history is every version of every pod that the API server had.
type history struct {
	mu       sync.Mutex
	versions []*v1.Pod
}

// record begins a history. It must begin before the first pod is created.
func (w *world) record() *history {
	w.t.Helper()
	pods := w.kube.CoreV1().Pods("default")
	list, err := pods.List(w.ctx, metav1.ListOptions{})
	w.must(err)
	// An apiserver that is busy ends watches: this one goes on where it was.
	events, err := watchtools.NewRetryWatcherWithContext(w.ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return pods.Watch(ctx, o) },
	})
	w.must(err)
	w.t.Cleanup(events.Stop)
	h := &history{}
	go func() {
		for e := range events.ResultChan() {
			if p, ok := e.Object.(*v1.Pod); ok {
				h.mu.Lock()
				h.versions = append(h.versions, p)
				h.mu.Unlock()
			}
		}
	}()
	return h
}

// of returns the versions so far of the pods that are meant.
func (h *history) of(meant func(*v1.Pod) bool) (ps []*v1.Pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.versions {
		if meant(p) {
			ps = append(ps, p)
		}
	}
	return ps
}

// backlogged is the scene of TestThePodsThatLimitsLetRunTogetherShowUnschedulable.
type backlogged struct {
	*crowd
	*history
	waiting []string // of root.m, in the order of the dispatch
}

// until waits until exactly these pods show Unschedulable, and the first of root.one, which no limit stops.
func (b *backlogged) untilShown(names ...string) {
	b.t.Helper()
	want := append(slices.Clone(names), "one-0")
	slices.Sort(want)
	b.until(fmt.Sprintf("%v show Unschedulable", want), func() (bool, string) {
		var got []string
		for name, p := range b.pods() {
			if autoscalersSee(p) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		return slices.Equal(got, want), fmt.Sprint(got)
	})
}

func (b *backlogged) most(cpu string) {
	b.t.Helper()
	b.patch("root.m", `{"max":{"cpu":"`+cpu+`"}}`)
}

// submitted returns the pods with this prefix in the order of their submission; their applications are named after them.
func (b *backlogged) submitted(prefix string) (names []string) {
	b.t.Helper()
	pods := b.pods()
	for name := range pods { // sorted below
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(pods[x].CreationTimestamp.Compare(pods[y].CreationTimestamp.Time), cmp.Compare(x, y))
	})
	return names
}

// A full cluster, ten pods that wait in a queue with a max for three of them, and pods that rules hold. Those that more nodes would let run show
// it, and nobody else at any time; limits that move take it back and give it; a probe that is held later loses it; nodes come and all is well.
// Nothing of this is tried twice: the writes wake nobody.
func TestThePodsThatLimitsLetRunTogetherShowUnschedulable(t *testing.T) {
	const running = 8
	w := newWorldAlone(t, 1, fmt.Sprint(running), "64Gi")
	w.queue("root.full")
	w.queue("root.m max.cpu=3 policy=FIFO")
	w.queue("root.one maxRunningApplications=1")
	b := &backlogged{history: w.record(), crowd: w.crowd(ledger.Options{Journal: 100_000})}
	start := time.Now()
	for i := range running {
		b.create(pod(fmt.Sprintf("full-%d", i), "root.full", "1", "1Gi"))
	}
	b.untilFull(running)
	for i := range 10 {
		b.create(pod(fmt.Sprintf("m-%d", i), "root.m", "1", "1Gi"))
	}
	b.waiting = b.submitted("m-")
	b.create(pod("one-0", "root.one", "1", "1Gi"))
	b.until("one-0 has the slot", func() (bool, string) {
		_, known := b.s.Ledger.PodState(ledger.UID(b.pods()["one-0"].UID))
		return known, "it is not known"
	})
	b.create(pod("one-1", "root.one", "1", "1Gi"), pod("lost-0", "root.lost", "1", "1Gi"), pod("lost-1", "root.lost", "1", "1Gi"))

	b.untilShown(b.waiting[:3]...)
	pods := b.pods()
	const message = "0/1 nodes are available: 1 Insufficient cpu."
	for _, name := range append(b.waiting[:3:3], "one-0") {
		if c := scheduledCondition(pods[name]); !strings.HasPrefix(c.Message, message) || c.LastTransitionTime.IsZero() {
			t.Errorf("%s shows %v, want the message of the probe, %q", name, c, message)
		}
	}
	b.most("1")
	b.untilShown(b.waiting[:1]...)
	b.most("4")
	b.untilShown(b.waiting[:4]...)
	b.untilHeld("one-1", "MaxRunningApplications", "")
	b.untilHeld("lost-0", "QueueNotFound", "")

	probe := b.probe()
	b.rename(probe, "root.lost")
	b.waiting = slices.DeleteFunc(b.waiting, func(name string) bool { return name == probe })
	b.untilShown(b.waiting[:4]...)
	b.untilHeld(probe, "QueueNotFound", "")
	quiet(t, w, b.s)
	// All that run, and one probe.
	b.within("a backlog that is shown, taken back and shown again", b.tried.number(), running+1, start, 1)

	stale := b.pods()[b.waiting[0]]
	b.nodeComes(running)
	b.untilFull(running + 5)
	b.neverBoundAnd(stale)
	b.untilHeld(b.waiting[4], "MaxResources", "it uses 4 cpu")
	b.untilNobodyShows()
	b.checkHistory("one-1", "lost-0", "lost-1", b.waiting[len(b.waiting)-1])
	b.sound()
}

// probe is the pod that was tried for nothing.
func (b *backlogged) probe() string {
	b.t.Helper()
	tried := b.tried.since(0)
	return tried[len(tried)-1]
}

func (b *backlogged) rename(name, queue string) {
	b.t.Helper()
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	b.must(b.client.Patch(b.ctx, p, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, v1alpha1.KeyQueue, queue))))
}

func (b *backlogged) nodeComes(cpu int64) {
	b.t.Helper()
	b.must(b.cluster.AddNodes(b.ctx, "new", 1, v1.ResourceList{
		v1.ResourceCPU: *resource.NewQuantity(cpu, resource.DecimalSI), v1.ResourceMemory: resource.MustParse("64Gi"), v1.ResourcePods: resource.MustParse("100"),
	}))
}

// neverBoundAnd: what was meant for a pod that waited does not reach the pod that runs. The version in the patch is what keeps it off, so it
// is tried as the scheduler spells it.
func (b *backlogged) neverBoundAnd(stale *v1.Pod) {
	b.t.Helper()
	data := fmt.Appendf(nil, `{"metadata":{"uid":%q,"resourceVersion":%q},"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`,
		stale.UID, stale.ResourceVersion)
	_, err := b.kube.CoreV1().Pods("default").Patch(context.Background(), stale.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, "status")
	if !apierrors.IsConflict(err) {
		b.t.Errorf("a patch for an older version of pod %s: %v, want a conflict", stale.Name, err)
	}
}

func (b *backlogged) untilNobodyShows() {
	b.t.Helper()
	b.until("nobody shows Unschedulable", func() (bool, string) {
		for name, p := range b.pods() {
			if autoscalersSee(p) {
				return false, name
			}
		}
		return true, ""
	})
}

// checkHistory looks at every version of every pod: these never showed it, and no bound pod did.
func (b *backlogged) checkHistory(never ...string) {
	b.t.Helper()
	b.create(pod("last", "root.lost", "1", "1Gi"))
	b.until("the history is complete", func() (bool, string) {
		return len(b.of(func(p *v1.Pod) bool { return p.Name == "last" })) > 0, "it is not"
	})
	shown := map[string]bool{}
	for _, p := range b.of(func(*v1.Pod) bool { return true }) {
		c := scheduledCondition(p)
		shown[p.Name] = shown[p.Name] || autoscalersSee(p)
		if autoscalersSee(p) && slices.Contains(never, p.Name) {
			b.t.Errorf("pod %s, which a rule holds, showed %v", p.Name, c)
		}
		if p.Spec.NodeName != "" && c != nil && c.Status == v1.ConditionFalse {
			b.t.Errorf("pod %s was bound and showed %v", p.Name, c)
		}
	}
	if !shown["one-0"] {
		b.t.Error("the history misses what one-0 showed")
	}
}
