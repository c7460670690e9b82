package integration

import (
	"errors"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

// Every way in which an attempt at a pod ends without a bind of ours, on one control plane.
func TestEveryWayAnAttemptFails(t *testing.T) {
	f := failingWorld(t, 0, "")
	f.scene("no-nodes-at-all", (*failing).noNodesAtAll) // first: there are nodes afterwards
	f.scene("no-node-fits", (*failing).noNodeFits)
	for _, at := range []stage{atPreFilter, atReserve, atPermit} {
		f.scene("over-max-at-"+strings.ToLower(string(at)), func(f *failing) { f.refusedOverMax(at) })
		f.scene("queue-deleted-at-"+strings.ToLower(string(at)), func(f *failing) { f.refusedWithoutQueue(at) })
	}
	f.scene("bind-fails", (*failing).bindFails)
	f.scene("bind-answer-is-lost", (*failing).bindAnswerIsLost)
	f.scene("bind-conflict-known", func(f *failing) { f.bindConflict(true) })
	f.scene("bind-conflict-at-once", func(f *failing) { f.bindConflict(false) })
	f.scene("permit-allows", (*failing).permitAllows)
	f.scene("permit-refuses", (*failing).permitRefuses)
	for _, at := range []stage{atPreFilter, atReserve, atPermit, atBind} {
		name := strings.ToLower(string(at))
		f.scene("deleted-at-"+name, func(f *failing) { f.deletedInFlight(at) })
		f.scene("finalized-at-"+name, func(f *failing) { f.finalizedInFlight(at) })
		f.scene("made-again-at-"+name, func(f *failing) { f.madeAgainInFlight(at) })
		f.scene("bound-elsewhere-at-"+name, func(f *failing) { f.boundElsewhereInFlight(at) })
	}
	f.scene("deleted-waiting-in-permit", func(f *failing) { f.deletedInPermit() })
	f.scene("finalized-waiting-in-permit", func(f *failing) { f.deletedInPermit(withFinalizer) })
	f.scene("bound-elsewhere-waiting-in-permit", (*failing).boundElsewhereInPermit)
	f.scene("deleted-released", (*failing).deletedReleased)
	f.scene("bound-elsewhere-released", (*failing).boundElsewhereReleased)
	f.scene("recalled", (*failing).recalled)
	f.scene("deleted-in-back-off", (*failing).deletedInBackOff)
	f.scene("bound-elsewhere-in-back-off", (*failing).boundElsewhereInBackOff)
	f.scene("relabelled-in-flight", (*failing).relabelledInFlight)
	f.scene("relabelled-and-refused", (*failing).relabelledAndRefused)
	f.scene("relabelled-and-no-node-fits", (*failing).relabelledAndNoNodeFits)
	f.scene("tolerated-in-flight", (*failing).toleratedInFlight)
	f.scene("resized-in-flight", (*failing).resizedInFlight)
}

func (f *failing) noNodesAtAll() {
	p := f.pod("a")
	f.untilCondition(p, v1.PodReasonUnschedulable)
	f.must(f.cluster.AddNodes(f.ctx, "node", 3, v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("8"), v1.ResourceMemory: resource.MustParse("32Gi"),
	}))
	f.untilRuns(p, f.leaf())
}

func (f *failing) noNodeFits() {
	probe := f.pod("a", f.nowhere)
	f.untilUnschedulable(probe, f.leaf())
	behind := f.pod("b", f.nowhere)
	f.untilState(behind, "Waiting "+f.leaf())
	f.settled()
	if n := f.failedScheduling(behind); n > 0 {
		f.t.Errorf("a pod of a parked class was tried %d times", n)
	}
	node := nodeNamed("node-1")
	defer change(f, node, func(n *v1.Node) { delete(n.Labels, sceneLabel) })
	change(f, node, func(n *v1.Node) { n.Labels[sceneLabel] = f.name })
	for _, p := range []*v1.Pod{probe, behind} {
		if on := f.untilRuns(p, f.leaf()).Spec.NodeName; on != "node-1" {
			f.t.Errorf("%s is on %s", p.Name, on)
		}
	}
}

// refused checks what a refusal of a rule of ours must not do, and that the pod goes when again is done.
func (f *failing) refused(p *v1.Pod, again func()) {
	f.t.Helper()
	if n := f.s.Ledger.Snapshot().InWindow; n != 0 {
		f.t.Errorf("%d pods in the window after the refusal", n)
	}
	again()
	f.untilRuns(p, f.leaf())
	f.until("the event of the bind is there", func() (bool, string) {
		for _, e := range f.eventsOf(p.Name) {
			if e.Reason == "Scheduled" {
				return true, ""
			}
		}
		return false, "it is not"
	})
	if n := f.failedScheduling(p); n > 0 {
		f.t.Errorf("a refusal of ours wrote %d events FailedScheduling", n)
	}
}

func (f *failing) refusedOverMax(at stage) {
	stop := f.hold(at, "a")
	p := f.pod("a")
	stop.wait()
	before := f.get(p)
	f.limit(f.leaf(), "500m")
	if st := stop.pass(); st.IsSuccess() {
		f.t.Errorf("%s lets a pod through that is over max", at)
	}
	f.untilState(p, "Waiting "+f.leaf())
	f.settled()
	if now := f.get(p); now.ResourceVersion != before.ResourceVersion {
		f.t.Errorf("the refusal wrote to the pod: %v, before %v", now.Status, before.Status)
	}
	// kube-scheduler has forgotten the pod: it would take in again one that changes.
	change(f, p, func(p *v1.Pod) { p.Labels[v1alpha1.KeyApplication] = "another" })
	f.until("the ledger knows the new label", func() (bool, string) {
		st, _ := f.s.Ledger.PodState(ledger.UID(p.UID))
		return strings.Contains(st.Application, "another"), st.Application
	})
	f.settled()
	f.refused(p, func() { f.limit(f.leaf(), "1") })
}

func (f *failing) refusedWithoutQueue(at stage) {
	stop := f.hold(at, "a")
	p := f.pod("a")
	stop.wait()
	f.must(f.client.Delete(f.ctx, f.getQueue(f.leaf())))
	f.until("the ledger knows that the queue is deleted", func() (bool, string) {
		return strings.Contains(fingerprint.Of(f.s.Ledger), "queue "+f.leaf()+" accepting false"), "it takes pods"
	})
	if st := stop.pass(); st.IsSuccess() {
		f.t.Errorf("%s lets a pod through whose queue is deleted", at)
	}
	f.untilState(p, "Waiting - QueueNotFound")
	f.untilHeld(p.Name, "QueueNotFound", f.leaf())
	f.settled()
	f.refused(p, func() { f.queue(f.leaf()) })
}

func (f *failing) bindFails() {
	stop := f.hold(atBind, "a")
	p := f.pod("a")
	stop.wait().fail("the apiserver is away")
	f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	if n := f.s.Ledger.Snapshot().InWindow; n != 0 {
		f.t.Errorf("%d pods in the window", n)
	}
	f.untilCondition(p, v1.PodReasonSchedulerError)
	other := f.pod("b") // of the same class: it does not wait with the one that failed
	f.untilRuns(other, f.leaf())
	f.untilRuns(p, f.leaf())
}

// bindAnswerIsLost: the pod is bound, and kube-scheduler believes that it is not.
func (f *failing) bindAnswerIsLost() {
	stop := f.hold(atBind, "a")
	p := f.pod("a")
	stop.wait().on(func(plugins func() *fwk.Status) *fwk.Status {
		if st := plugins(); !st.IsSuccess() {
			f.t.Errorf("bind: %v", st)
		}
		return fwk.AsStatus(errors.New("the connection is lost"))
	})
	f.untilRuns(p, f.leaf())
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
}

// bindConflict: somebody else binds the pod while our bind is on its way. known: we hear of it before our bind is refused.
func (f *failing) bindConflict(known bool) {
	stop := f.hold(atBind, "a")
	p := f.pod("a")
	stop.wait()
	f.untilState(p, "Reserved "+f.leaf())
	chosen := f.reservedOn(p)
	other := "node-0"
	if chosen == other {
		other = "node-1"
	}
	f.bind(p, other)
	if known {
		f.untilState(p, "Bound "+f.leaf())
	}
	if st := stop.pass(); st.IsSuccess() || !strings.Contains(st.Message(), "already assigned") {
		f.t.Errorf("our bind: %v", st)
	}
	if on := f.untilRuns(p, f.leaf()).Spec.NodeName; on != other {
		f.t.Errorf("on %s", on)
	}
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
}

// reservedOn is the node that kube-scheduler assumes the pod on.
func (f *failing) reservedOn(p *v1.Pod) string {
	f.t.Helper()
	assumed, err := f.s.Scheduler.Cache.GetPod(p)
	f.must(err)
	return assumed.Spec.NodeName
}

func (f *failing) permitAllows() {
	stop := f.hold(atPermit, "a")
	p := f.pod("a")
	waiting := f.waitElsewhere(stop, p)
	f.untilState(p, "Reserved "+f.leaf())
	f.until("kube-scheduler names the node it has in mind", func() (bool, string) {
		now := f.get(p)
		return now.Status.NominatedNodeName != "", "no nominatedNodeName"
	})
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
	waiting.Allow(elsewhere)
	f.untilRuns(p, f.leaf())
}

// permitRefuses: somebody else's Permit says no. That is no error: an event wakes the pod. But not at once, since the refusal brings
// about events of its own (kube-scheduler gives back the room and status.nominatedNodeName), which would go round and round with it.
func (f *failing) permitRefuses() {
	stop := f.hold(atPermit, "a")
	p := f.pod("a")
	waiting := f.waitElsewhere(stop, p)
	f.until("kube-scheduler names the node it has in mind", func() (bool, string) {
		return f.get(p).Status.NominatedNodeName != "", "no nominatedNodeName"
	})
	again := f.hold(atPreFilter, "a")
	refused := time.Now().UnixNano()
	waiting.Reject(names.NodeResourcesFit, "not now")
	f.untilCondition(p, v1.PodReasonUnschedulable)
	other := f.pod("b", withCPU("500m"))
	f.untilRuns(other, f.leaf())
	defer f.allocatable("node-0", "8")
	f.allocatable("node-0", "9") // NodeResourcesFit, which we said had refused, is interested
	again.wait()
	if st, _ := f.s.Ledger.PodState(ledger.UID(p.UID)); st.Since < refused+int64(time.Second) {
		f.t.Errorf("released again %s after the refusal, before the first back-off of 1s is over", time.Duration(st.Since-refused))
	}
	again.pass()
	f.untilRuns(p, f.leaf())
}

func (f *failing) deletedInFlight(at stage) {
	stop := f.hold(at, "a")
	p := f.pod("a")
	stop.wait()
	f.remove(p)
	f.untilState(p, "unknown")
	if n := f.s.Ledger.Snapshot().InWindow; n != 0 {
		f.t.Errorf("%d pods in the window", n)
	}
	if st := stop.pass(); st.IsSuccess() {
		f.t.Errorf("%s lets a deleted pod through", at)
	}
}

// finalizedInFlight: the pod is being deleted and cannot go yet. It is nobody's any more: neither charged nor bound.
func (f *failing) finalizedInFlight(at stage) {
	stop := f.hold(at, "a")
	p := f.pod("a", withFinalizer)
	stop.wait()
	f.remove(p)
	f.untilState(p, "Gone -")
	f.untilUsed(f.leaf(), "")
	if st := stop.pass(); st.IsSuccess() {
		f.t.Errorf("%s lets a terminating pod through", at)
	}
	f.settled()
	if now := f.get(p); now == nil || now.Spec.NodeName != "" {
		f.t.Errorf("the terminating pod is %v", now)
	}
}

// madeAgainInFlight: deleted, and created again under the same name, before the attempt at the first one is over.
func (f *failing) madeAgainInFlight(at stage) {
	stop := f.hold(at, "a")
	p := f.pod("a")
	stop.wait()
	f.remove(p)
	again := f.pod("a")
	f.untilState(p, "unknown")
	f.until("the new pod is known", func() (bool, string) { return f.state(again) != "unknown", "it is not" })
	if st := stop.pass(); st.IsSuccess() {
		f.t.Errorf("%s lets a deleted pod through", at)
	}
	f.untilRuns(again, f.leaf())
}

func (f *failing) boundElsewhereInFlight(at stage) {
	stop := f.hold(at, "a")
	p := f.pod("a")
	stop.wait()
	f.bind(p, "node-2")
	f.untilState(p, "Bound "+f.leaf())
	stop.pass()
	if on := f.untilRuns(p, f.leaf()).Spec.NodeName; on != "node-2" {
		f.t.Errorf("on %s", on)
	}
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
}

// deletedInPermit: nobody allows or refuses; the deletion itself ends the waiting.
func (f *failing) deletedInPermit(edits ...func(*v1.Pod)) {
	stop := f.hold(atPermit, "a")
	p := f.pod("a", edits...)
	f.waitElsewhere(stop, p)
	f.remove(p)
	f.untilState(p, "unknown", "Gone -")
	f.until("nothing waits in Permit", func() (bool, string) { return f.stops.GetWaitingPod(p.UID) == nil, "it waits" })
}

func (f *failing) boundElsewhereInPermit() {
	stop := f.hold(atPermit, "a")
	p := f.pod("a")
	waiting := f.waitElsewhere(stop, p)
	f.bind(p, "node-2")
	f.untilState(p, "Bound "+f.leaf())
	waiting.Allow(elsewhere)
	if on := f.untilRuns(p, f.leaf()).Spec.NodeName; on != "node-2" {
		f.t.Errorf("on %s", on)
	}
}

// behind creates pod b, which is released and cannot be tried because the attempt at pod a is held. It is of another class, as only
// one pod of a class goes at first.
func (f *failing) behind(edits ...func(*v1.Pod)) (a, b *v1.Pod, stop *stop) {
	f.t.Helper()
	stop = f.hold(atPreFilter, "a")
	a = f.pod("a", edits...)
	stop.wait()
	b = f.pod("b", withCPU("500m"))
	f.untilState(b, "Released "+f.leaf())
	return a, b, stop
}

func (f *failing) deletedReleased() {
	a, b, stop := f.behind()
	f.remove(b)
	f.untilState(b, "unknown")
	stop.pass()
	f.untilRuns(a, f.leaf())
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
}

func (f *failing) boundElsewhereReleased() {
	a, b, stop := f.behind()
	f.bind(b, "node-2")
	f.untilState(b, "Bound "+f.leaf())
	stop.pass()
	f.untilRuns(a, f.leaf())
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1500m memory=2Gi")
}

// recalled: what was released behind a pod that fits no node waits for its turn again, and gets it.
func (f *failing) recalled() {
	a, b, stop := f.behind(f.nowhere)
	stop.pass()
	f.untilUnschedulable(a, f.leaf())
	f.untilRuns(b, f.leaf())
	f.settled()
	f.untilUsed(f.leaf(), "cpu=500m memory=1Gi")
}

func (f *failing) deletedInBackOff() {
	stop := f.hold(atBind, "a")
	p := f.pod("a")
	stop.wait().fail("the apiserver is away")
	f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	f.remove(p)
	f.untilState(p, "unknown")
}

// boundElsewhereInBackOff: our bind is refused before we hear that the pod is bound.
func (f *failing) boundElsewhereInBackOff() {
	stop := f.hold(atBind, "a")
	p := f.pod("a")
	stop.wait()
	again := f.hold(atPreFilter, "a") // so that the bind by somebody else may take its time
	stop.fail("somebody was faster")
	f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	f.bind(p, "node-2")
	f.untilRuns(p, f.leaf())
	again.cancel()
	f.settled()
	f.untilUsed(f.leaf(), "cpu=1 memory=1Gi")
}

// relabelledInFlight: a charge does not move. The pod is bound with the queue it is charged to.
func (f *failing) relabelledInFlight() {
	f.queue(f.leaf() + "-other")
	stop := f.hold(atPreFilter, "a")
	p := f.pod("a")
	stop.wait()
	change(f, p, withQueue(f.leaf()+"-other"))
	f.until("the ledger knows the new label", func() (bool, string) {
		st, _ := f.s.Ledger.PodState(ledger.UID(p.UID))
		return st.Queue == f.leaf()+"-other", st.Queue
	})
	stop.pass()
	if got := f.untilRuns(p, f.leaf()).Annotations[v1alpha1.KeyPlacedQueue]; got != f.leaf() {
		f.t.Errorf("bound as a pod of %q", got)
	}
}

// relabelledAndRefused: a refusal gives the charge back, and the pod waits where it now asks to be.
func (f *failing) relabelledAndRefused() {
	f.queue(f.leaf() + "-other")
	stop := f.hold(atReserve, "a")
	p := f.pod("a")
	stop.wait()
	change(f, p, withQueue(f.leaf()+"-other"))
	f.limit(f.leaf(), "0")
	f.until("the ledger knows the new label", func() (bool, string) {
		st, _ := f.s.Ledger.PodState(ledger.UID(p.UID))
		return st.Queue == f.leaf()+"-other", st.Queue
	})
	stop.pass()
	f.untilRuns(p, f.leaf()+"-other")
}

func (f *failing) relabelledAndNoNodeFits() {
	f.queue(f.leaf() + "-other")
	stop := f.hold(atPreFilter, "a")
	p := f.pod("a", f.nowhere)
	stop.wait()
	change(f, p, withQueue(f.leaf()+"-other"))
	f.until("the ledger knows the new label", func() (bool, string) {
		st, _ := f.s.Ledger.PodState(ledger.UID(p.UID))
		return st.Queue == f.leaf()+"-other", st.Queue
	})
	stop.pass()
	f.untilUnschedulable(p, f.leaf()+"-other")
}

// toleratedInFlight: what the pod learns to tolerate while an attempt at it fails is not lost.
func (f *failing) toleratedInFlight() {
	defer f.taint("node-1")()
	stop := f.hold(atPreFilter, "a")
	p := f.pod("a", f.nowhere)
	stop.wait()
	change(f, p, f.tolerate)
	stop.pass()
	f.untilRuns(p, f.leaf())
}

// resizedInFlight: a charge follows the size. Reserve refuses the pod that has grown over max, and binds the one that has not.
func (f *failing) resizedInFlight() {
	f.limit(f.leaf(), "2")
	stop := f.hold(atReserve, "a")
	p := f.pod("a")
	stop.wait()
	f.resize(p, "3")
	f.untilUsed(f.leaf(), "cpu=3 memory=1Gi")
	if st := stop.pass(); st.IsSuccess() {
		f.t.Error("Reserve lets a pod through that has grown over max")
	}
	f.untilState(p, "Waiting "+f.leaf())
	f.untilUsed(f.leaf(), "")
	f.settled()
	stop = f.hold(atBind, "a")
	f.resize(p, "1")
	stop.wait()
	f.resize(p, "2")
	f.untilUsed(f.leaf(), "cpu=2 memory=1Gi")
	stop.pass()
	f.untilRuns(p, f.leaf())
	f.settled()
	f.untilUsed(f.leaf(), "cpu=2 memory=1Gi")
}
