package integration

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Every way in which one pod of a group fails, or the group itself: all pods go back together, nothing stays charged, and all start together once
// the cause is gone. On one control plane: 3 nodes of 8 cpu.
func TestAGangGoesBackWhole(t *testing.T) {
	f := failingWorld(t, 3, "")
	f.scene("no-filter-admits-one", (*failing).noFilterAdmitsOne)
	f.scene("reserve-refuses-one", func(f *failing) { f.refusesOne(atReserve) })
	f.scene("permit-refuses-one", func(f *failing) { f.refusesOne(atPermit) })
	f.scene("error-at-one", (*failing).errorAtOne)
	f.scene("over-max-in-permit", (*failing).overMaxInPermit)
	f.scene("deleted-in-permit", func(f *failing) { f.oneDeletedInPermit() })
	f.scene("finalized-in-permit", func(f *failing) { f.oneDeletedInPermit(withFinalizer) })
	f.scene("group-deleted-in-permit", (*failing).groupDeletedInPermit)
	f.scene("timeout-in-permit", (*failing).timeoutInPermit)
	f.scene("bound-elsewhere-in-permit", (*failing).oneBoundElsewhere)
	f.scene("bind-fails-for-one", func(f *failing) { f.bindFailsFor("b") })
	f.scene("bind-fails-for-all", func(f *failing) { f.bindFailsFor("a", "b", "c") })
}

// noFilterAdmitsOne: each of three pods wants the same port of its node, one of the three nodes has it taken, and the ledger knows nothing of ports. They are tried again after 1, 2 seconds and so on.
func (f *failing) noFilterAdmitsOne() {
	port := func(p *v1.Pod) { p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, HostPort: 80}} }
	holder := f.pod("holder", onNode("node-1"), port, func(p *v1.Pod) { p.Spec.SchedulerName = "another" })
	f.until("the ledger knows of the pod that has the port", func() (bool, string) {
		n, err := f.s.Scheduler.Cache.PodCount()
		f.must(err)
		return n == 1, "it does not"
	})
	f.group(3, nil)
	stop := f.hold(atReserve, "a")
	abc := f.members([]string{"a", "b", "c"}, port)
	var back int64
	for try, pause := range []time.Duration{0, time.Second, 2 * time.Second} {
		stop.wait()
		if again := f.since(abc[0], ledger.Released); again < back+int64(pause) {
			f.t.Errorf("try %d begins %s after the one before it, before the back-off of %s is over", try, time.Duration(again-back), pause)
		}
		next := f.hold(atReserve, "a")
		stop.pass()
		stop = next
		f.untilState(abc[2], "Waiting "+f.leaf()+" BackOff")
		back = f.since(abc[2], ledger.Waiting) // it was the first to go back
		f.untilBack(abc...)
	}
	f.untilCondition(abc[2], v1.PodReasonUnschedulable) // two fit, and were not bound
	f.remove(holder)
	stop.cancel()
	f.untilWhole(abc...)
}

// since is when the pod came to the state that it is in.
func (f *failing) since(p *v1.Pod, want ledger.State) int64 {
	f.t.Helper()
	st, _ := f.s.Ledger.PodState(ledger.UID(p.UID))
	if st.State != want {
		f.t.Errorf("pod %s is %s, want %s", p.Name, st.State, want)
	}
	return st.Since
}

// inPermit creates the group of the scene and its pods a, b and c. The attempt at c stands where it was stopped, and a and b wait in Permit.
func (f *failing) inPermit(at stage, spec map[string]any, edits ...func(*v1.Pod)) (pods []*v1.Pod, c *stop) {
	f.t.Helper()
	f.group(3, spec)
	c = f.hold(at, "c")
	pods = f.members([]string{"a", "b", "c"}, edits...)
	c.wait()
	f.untilInPermit(pods[:2]...)
	f.untilUsed(f.leaf(), "cpu=3 memory=3Gi")
	return pods, c
}

// refusesOne: a plugin of somebody else refuses one pod, once.
func (f *failing) refusesOne(at stage) {
	pods, c := f.inPermit(at, nil)
	again := f.hold(atPreFilter, "a")
	c.on(func(func() *fwk.Status) *fwk.Status {
		return fwk.NewStatus(fwk.Unschedulable, "not now").WithPlugin(names.NodeResourcesFit)
	})
	f.untilBack(pods...)
	f.untilCondition(pods[2], v1.PodReasonUnschedulable)
	again.wait()
	again.pass()
	f.untilWhole(pods...)
}

func (f *failing) errorAtOne() {
	pods, c := f.inPermit(atReserve, nil)
	again := f.hold(atPreFilter, "a")
	c.fail("something broke")
	f.untilBack(pods...)
	again.wait()
	again.pass()
	f.untilWhole(pods...)
}

// overMaxInPermit: max is lowered while some wait. Our own Permit refuses the last one, and nobody hears of it.
func (f *failing) overMaxInPermit() {
	pods, c := f.inPermit(atPermit, nil)
	f.limit(f.leaf(), "2")
	if st := c.pass(); st.IsSuccess() {
		f.t.Error("Permit lets the last pod of a group through that is over max")
	}
	f.untilBack(pods...)
	f.settled()
	f.noneBound(pods...)
	for _, p := range pods {
		if n := f.failedScheduling(p); n > 0 {
			f.t.Errorf("a refusal of ours wrote %d events FailedScheduling for %s", n, p.Name)
		}
	}
	f.limit(f.leaf(), "3")
	f.untilWhole(pods...)
}

// oneDeletedInPermit: without it the group is not complete. Another pod makes it so.
func (f *failing) oneDeletedInPermit(edits ...func(*v1.Pod)) {
	pods, c := f.inPermit(atPermit, nil, edits...)
	f.remove(pods[0])
	f.untilState(pods[1], "Waiting "+f.leaf()+" GangIncomplete")
	if st := c.pass(); st.IsSuccess() {
		f.t.Error("Permit lets a pod through whose group is not complete")
	}
	f.untilBack(pods[1:]...)
	f.settled()
	f.noneBound(pods[1:]...)
	f.untilWhole(pods[1], pods[2], f.pod("d", f.inGroup))
}

func (f *failing) groupDeletedInPermit() {
	pods, c := f.inPermit(atPermit, nil)
	g := podGroupObject(f.name, 3, nil)
	f.must(f.client.Delete(f.ctx, g))
	for _, p := range pods[:2] {
		f.untilState(p, "Waiting - PodGroupNotFound", "Waiting "+f.leaf()+" PodGroupNotFound")
	}
	if st := c.pass(); st.IsSuccess() {
		f.t.Error("Permit lets a pod through whose group is gone")
	}
	f.untilBack(pods...)
	f.untilHeld(pods[0].Name, "PodGroupNotFound", f.key())
	f.settled()
	f.noneBound(pods...)
	g.SetResourceVersion("")
	g.SetUID("")
	f.must(f.client.Create(f.ctx, g))
	f.untilWhole(pods...)
}

// timeoutInPermit: what is longer under way than the group says takes the others back. The last one comes too late.
func (f *failing) timeoutInPermit() {
	pods, c := f.inPermit(atPermit, map[string]any{"scheduleTimeoutSeconds": int64(1)})
	for _, p := range pods[:2] {
		f.untilState(p, "Waiting "+f.leaf()+" BackOff")
	}
	if st := c.pass(); st.IsSuccess() && !st.IsWait() {
		f.t.Error("Permit lets a pod through whose group has gone back")
	}
	f.untilBack(pods[2])
	f.untilWhole(pods...)
	for _, p := range pods {
		if n := f.failedScheduling(p); n > 0 {
			f.t.Errorf("a timeout of ours wrote %d events FailedScheduling for %s", n, p.Name)
		}
	}
}

// oneBoundElsewhere: another scheduler binds one of those that wait. It counts, and the others are bound with the last one.
func (f *failing) oneBoundElsewhere() {
	pods, c := f.inPermit(atPermit, nil)
	f.bind(pods[0], "node-2")
	f.untilState(pods[0], "Bound "+f.leaf())
	if st := c.pass(); !st.IsSuccess() {
		f.t.Errorf("Permit: %v", st)
	}
	for _, p := range pods {
		f.untilRuns(p, f.leaf())
	}
	f.untilGang(f.s, f.key(), func(g ledger.PodGroupState) bool { return g.Whole && g.Bound == 3 })
}

// bindFailsFor: what is bound stays so, and the others follow. Nobody else gets between.
func (f *failing) bindFailsFor(which ...string) {
	f.group(3, nil)
	var stops []*stop
	for _, name := range which {
		stops = append(stops, f.hold(atBind, name))
	}
	pods := f.members([]string{"a", "b", "c"})
	for _, s := range stops {
		s.wait()
	}
	f.limit(f.leaf(), "3")
	next := f.pod("next") // nobody of its application runs, so the order would prefer it
	f.untilState(next, "Waiting "+f.leaf())
	for _, s := range stops {
		s.fail("the apiserver is away")
	}
	for _, p := range pods {
		f.untilRuns(p, f.leaf())
	}
	f.settled()
	f.untilUsed(f.leaf(), "cpu=3 memory=3Gi")
	f.noneBound(next)
	f.groupSays(f.name, "Running 3 3 0 0")
}
