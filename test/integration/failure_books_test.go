package integration

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	intree "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

// settled waits until nothing is under way and looks at everything that a failure could leave behind: the ledger adds up and equals one
// that is built again from the API objects; nothing is in the window; the sweeper found nothing; kube-scheduler holds the parked pods
// and no others, runs no attempt, assumes no pod, and keeps room for none that is gone.
func (f *failing) settled() {
	f.t.Helper()
	l, last := f.s.Ledger, uint64(0)
	f.until("the books are settled", func() (bool, string) {
		for _, wrong := range l.Check() {
			f.t.Error(wrong)
		}
		if l.PreemptionCounts().Stopped {
			f.t.Error("an inspection found a violation")
		}
		if n := l.Repairs(); n != 0 {
			f.t.Errorf("the sweeper had to put %d pods right", n)
		}
		if f.t.Failed() {
			f.t.FailNow()
		}
		before := l.Snapshot()
		if before.InWindow != 0 {
			return false, fmt.Sprintf("%d pods in the window", before.InWindow)
		}
		want, is := f.rebuilt(), fingerprint.Of(l)
		if want != is {
			return false, "rebuilt:\n" + want + "is:\n" + is
		}
		if missing := f.left(); missing != "" {
			return false, missing
		}
		unmoved := last == before.Version
		last = l.Version()
		return unmoved && last == before.Version, "it still moves"
	})
}

// left says what kube-scheduler holds that it should not, or the other way round.
func (f *failing) left() string {
	q := f.s.Scheduler.SchedulingQueue
	if n := len(q.InFlightPods()); n > 0 {
		return fmt.Sprintf("%d attempts run", n)
	}
	if n := f.s.Scheduler.Cache.Dump().AssumedPods.Len(); n > 0 {
		return fmt.Sprintf("kube-scheduler assumes %d pods", n)
	}
	held, _ := q.PendingPods()
	for _, p := range held {
		if st, _ := f.s.Ledger.PodState(ledger.UID(p.UID)); st.State != ledger.Parked {
			return fmt.Sprintf("kube-scheduler has pod %s, which is %s", p.Name, f.state(p))
		}
	}
	for _, on := range f.nominated() {
		if on.State != ledger.Parked {
			return fmt.Sprintf("kube-scheduler keeps room for pod %s, which is %s", on.Name, on.State)
		}
	}
	list := &v1.PodList{}
	f.must(f.client.List(f.ctx, list))
	bound := 0
	for i := range list.Items {
		p := &list.Items[i]
		if st, _ := f.s.Ledger.PodState(ledger.UID(p.UID)); st.State == ledger.Parked {
			if info, ok := q.GetPod(p.Name, p.Namespace); !ok || info.Pod.UID != p.UID || info.Gated() {
				return fmt.Sprintf("nothing would wake parked pod %s", p.Name)
			}
		}
		if p.Spec.NodeName != "" && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			bound++
		}
	}
	if n, err := f.s.Scheduler.Cache.PodCount(); err != nil || n != bound {
		return fmt.Sprintf("kube-scheduler has %d pods on nodes (%v), the API %d", n, err, bound)
	}
	return ""
}

// nominated lists the pods that kube-scheduler keeps room for because of their status.nominatedNodeName.
func (f *failing) nominated() (pods []ledger.PodState) {
	f.t.Helper()
	nodes := &v1.NodeList{}
	f.must(f.client.List(f.ctx, nodes))
	for i := range nodes.Items {
		for _, p := range f.s.Scheduler.SchedulingQueue.NominatedPodsForNode(nodes.Items[i].Name) {
			uid := ledger.UID(p.GetPod().UID)
			st, ok := f.s.Ledger.PodState(uid)
			if !ok {
				st = ledger.PodState{Pod: ledger.Pod{UID: uid, Name: p.GetPod().Name}, State: ledger.Gone}
			}
			pods = append(pods, st)
		}
	}
	return pods
}

// rebuilt is the fingerprint of a ledger that is fed the API objects of this moment, as a scheduler that starts now would be.
func (f *failing) rebuilt() string {
	f.t.Helper()
	queues := &unstructured.UnstructuredList{}
	queues.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("QueueList"))
	nodes, pods, claims := &v1.NodeList{}, &v1.PodList{}, &resourcev1.ResourceClaimList{}
	for _, list := range []client.ObjectList{queues, nodes, claims, pods} {
		f.must(f.client.List(f.ctx, list))
	}
	made := map[string]bool{}
	for i := range claims.Items {
		made[claims.Items[i].Name] = true
	}
	fresh := &feed.Feed{
		Ledger: ledger.New(ledger.Options{}), Classes: &feed.Classes{},
		Ours: func(name string) bool { return name == v1alpha1.SchedulerName || name == otherProfile },
		Gate: func(p *v1.Pod) string { return gateOf(p, made) },
		Now:  func() int64 { return time.Now().UnixNano() },
		Kick: func() {},
	}
	for i := range queues.Items {
		fresh.Queues().OnAdd(&queues.Items[i], true)
	}
	for i := range nodes.Items {
		fresh.Nodes().OnAdd(&nodes.Items[i], true)
	}
	for _, kind := range []schema.GroupVersion{podgroup.SchemeGroupVersion, intree.SchemeGroupVersion} {
		groups := &unstructured.UnstructuredList{}
		groups.SetGroupVersionKind(kind.WithKind("PodGroupList"))
		if err := f.client.List(f.ctx, groups); !meta.IsNoMatchError(err) {
			f.must(err)
		}
		for i := range groups.Items {
			fresh.PodGroups().OnAdd(&groups.Items[i], true)
		}
	}
	for i := range pods.Items {
		fresh.ObservePod(&pods.Items[i])
	}
	fresh.Ledger.Lead(time.Now().UnixNano())
	return fingerprint.Of(fresh.Ledger)
}

// gateOf is what the PreEnqueue plugins of kube-scheduler say, as far as these tests go.
func gateOf(p *v1.Pod, made map[string]bool) string {
	if len(p.Spec.SchedulingGates) > 0 {
		return "SchedulingGates"
	}
	for _, c := range p.Spec.ResourceClaims {
		name := c.ResourceClaimName
		for _, s := range p.Status.ResourceClaimStatuses {
			if s.Name == c.Name {
				name = s.ResourceClaimName
			}
		}
		if name == nil || !made[*name] {
			return "DynamicResources"
		}
	}
	return ""
}
