package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func maxPod(l resource.List) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.MaxPod = l }
}

func percent(p queue.Percent) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Percent = p }
}

func only(n resource.Name, v int64) resource.List {
	return resource.Of(resource.Entry{Name: n, Value: v})
}

func TestMaxPodResourcesIsInheritedForEachResource(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root", maxPod(only(resource.CPU, 50_000)))
	f.declare("root.a", maxPod(only(resource.Memory, 8<<30)))
	f.declare("root.a.x", maxPod(only(resource.CPU, 60_000))) // more than root takes: not in force
	f.declare("root.a.y")
	f.pod("fits", "a.x", asks(50, 8))
	f.pod("raised", "a.x", asks(51, 8))
	f.pod("memory", "a.x", asks(1, 9))
	f.pod("cpu", "a.y", asks(51, 1))
	f.pod("both", "a.y", asks(51, 9))
	f.pod("exact", "a.y", asks(50, 8), ofClass("exact"))
	if got := len(f.choose()); got != 2 {
		t.Errorf("%d pods released, want fits and exact", got)
	}
	f.wantState("fits", "Released root.a.x")
	f.wantState("exact", "Released root.a.y")
	f.wantWhy("raised", "MaxPodResources root 0/50000+51000")
	f.wantWhy("memory", "MaxPodResources root.a 0/8589934592+9663676416")
	f.wantWhy("cpu", "MaxPodResources root 0/50000+51000")
	f.wantWhy("both", "MaxPodResources root 0/50000+51000") // the first in name order
}

func TestMaxPodResourcesRaisedAndLoweredWhilePodsWait(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.x", runs(1))
	for _, uid := range []UID{"p0", "p1", "p2", "p3"} {
		f.pod(uid, "a.x", asks(4, 4), in("app"), at(int64(uid[1])))
	}
	f.pod("next", "a.x", at(999))
	f.run("p0")
	f.wantPods(f.choose(), "p1", "p2")
	f.reserve("p1")
	f.fail("p2", NoFit) // parked
	f.declare("root.a", maxPod(amounts(3, 400)))
	f.wantPods(f.TakeWoken(f.now), "p2")
	f.wantState("p2", "Waiting root.a.x MaxPodResources")
	f.wantState("p3", "Waiting root.a.x MaxPodResources")
	f.bindAll("p1") // what Reserve has let pass goes on
	f.forget("p0", "p1")
	f.wantRunning("next") // the others want nothing now
	f.declare("root.a", maxPod(amounts(4, 400)))
	f.wantState("p2", "Waiting root.a.x MaxRunningApplications")
	f.forget("next")
	f.wantRunning("app")
	f.run("p2", "p3")
}

func TestAReleasedPodThatIsTooLargeByNowIsRefusedAndNotParked(t *testing.T) {
	for name, end := range map[string]func(*fixture){
		"by PreFilter": func(f *fixture) {
			if why, ok := f.Recheck("p"); ok || why.Code != "MaxPodResources" {
				f.t.Errorf("Recheck says %v, %s", ok, why.Code)
			}
			f.fail("p", Refused)
		},
		"before it was seen": func(f *fixture) { f.fail("p", NoFit) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.pod("p", "a", asks(4, 4))
			f.wantPods(f.choose(), "p")
			f.declare("root.a", maxPod(amounts(3, 400)))
			end(f)
			f.wantState("p", "Waiting root.a MaxPodResources")
		})
	}
}

func TestPercentagesFollowTheNodes(t *testing.T) {
	f := newFixture(t, Options{}) // 100 cpu
	f.declare("root.a", percent(queue.Percent{
		Max: only(resource.CPU, 10_000), Guaranteed: only(resource.CPU, 5_000), MaxPod: only(resource.CPU, 2_500),
	}))
	for _, uid := range []UID{"p0", "p1", "p2", "p3"} {
		f.pod(uid, "a", asks(4, 4), at(int64(uid[1])))
	}
	f.wantState("p0", "Waiting root.a MaxPodResources") // of 2.5
	f.ObserveNode(Node{Name: "more", Allocatable: amounts(60, 400), Usable: true})
	f.run("p0", "p1", "p2", "p3") // pods of 4, 16 in all, of 160
	if s := f.queue("root.a").Spec; s.Guaranteed.Get(resource.CPU) != 8_000 || s.Max.Get(resource.CPU) != 16_000 {
		t.Errorf("guaranteed %s, max %s, want 8 and 16 cpu", s.Guaranteed, s.Max)
	}
	f.pod("p4", "a", asks(4, 4), at(99))
	f.wantPods(f.choose())
	f.wantWhy("p4", "MaxResources root.a 16000/16000+4000")
	f.ForgetNode("more")
	f.sound()
	f.wantState("p4", "Waiting root.a MaxPodResources")
	f.wantUsage("root.a", "cpu=16 memory=16Gi")
	f.ObserveNode(Node{Name: "more", Allocatable: amounts(100, 400), Usable: true})
	f.run("p4")
	f.ObserveNode(Node{Name: "more", Allocatable: amounts(100, 400)}) // cordoned
	f.pod("p5", "a", asks(2, 4), at(100))
	f.wantPods(f.choose())
	f.wantWhy("p5", "MaxResources root.a 20000/10000+2000")
}
