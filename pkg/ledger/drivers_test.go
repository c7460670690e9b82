package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// One node of 100 cpu and 400Gi; default share 0.5.

func TestDriversTakeTheirPartOfTheFairShareAndNoMore(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	for i := range 12 {
		f.pod(UID(fmt.Sprintf("d%02d", i)), "a", driver, asks(10, 4), at(int64(i)))
	}
	f.run("d00", "d01", "d02", "d03", "d04") // 50 of 100 cpu
	f.wantPods(f.choose())
	f.wantWhy("d05", "MaxDriverShare root.a 50000/50000+10000")
	f.pod("executor", "a", asks(10, 4), ofClass("e"), at(99))
	f.run("executor") // only drivers are blocked
	f.forget("d02")
	f.run("d05")
	f.wantPods(f.choose())
}

func TestDriverShareIsRoundedUpAndOfAllResourcesAsked(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", driverShare(333)) // 33.3 cpu and 133.2Gi
	f.pod("d0", "a", driver, request(resource.Of(resource.Entry{Name: resource.CPU, Value: 33_300})), at(0))
	f.pod("d1", "a", driver, asks(0, 133), at(1))
	f.pod("d2", "a", driver, asks(0, 1), at(2))
	f.run("d0", "d1")
	f.wantPods(f.choose())
	// 400Gi is 429496729600; 0.333 of it is 143022410956.8.
	f.wantWhy("d2", fmt.Sprintf("MaxDriverShare root.a %d/143022410957+%d", int64(133)<<30, int64(1)<<30))
}

// Workers may come before their driver, and it must not wait for their end.
func TestADriverMayAlwaysStartWhereNoDriverRuns(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", driverShare(0))
	f.pod("d0", "a", driver, asks(60, 4), at(0))
	f.pod("d1", "a", driver, asks(1, 4), at(1))
	f.pod("e0", "a", ofClass("e"), at(2))
	f.wantPods(f.choose(), "d0", "e0")
	f.reserve("d0") // not refused for what was released after it
	f.reserve("e0")
	f.bindAll("d0", "e0")
	f.wantPods(f.choose()) // d0 runs
	f.forget("d0")
	f.wantPods(f.choose(), "d1") // although e0 runs
}

func TestDriverShareOfOneLimitsNothing(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", driverShare(1000))
	f.declare("root.b")
	f.pod("other", "b", at(0)) // halves the share
	f.run("other")
	for i := range 9 {
		f.pod(UID(fmt.Sprintf("d%d", i)), "a", driver, asks(10, 4), at(int64(i)))
	}
	f.run("d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8")
}

// Under Fair a leaf has no share of cpu, and with weight 0 and no guarantee of nothing; then the part is of what it could hold.
func TestWithoutAShareTheBaseIsWhatTheLeafCouldHold(t *testing.T) {
	for name, c := range map[string]struct {
		declare func(*fixture)
		want    string
	}{
		"Fair, unlimited": {func(f *fixture) { f.declare("root", policy(queue.Fair)); f.declare("root.a") }, "MaxDriverShare root.a 40000/50000+20000"},
		"Fair, max": {func(f *fixture) {
			f.declare("root", policy(queue.Fair))
			f.declare("root.a", maximum(amounts(90, 400)))
		}, "MaxDriverShare root.a 40000/45000+20000"},
		"weight 0": {func(f *fixture) { f.declare("root.a", weight(0)) }, "MaxDriverShare root.a 40000/50000+20000"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			c.declare(f)
			for i := range 3 {
				f.pod(UID(fmt.Sprintf("d%d", i)), "a", driver, asks(20, 4), at(int64(i)))
			}
			f.run("d0", "d1")
			f.wantPods(f.choose())
			f.wantWhy("d2", c.want)
		})
	}
}

func TestOtherQueuesThatBecomeActiveLowerTheLimitAndRaiseItWhenTheyEnd(t *testing.T) {
	f := newFixture(t, Options{})
	for _, q := range []queue.Path{"root.a", "root.b", "root.c"} {
		f.declare(q)
	}
	for i := range 6 {
		f.pod(UID(fmt.Sprintf("d%d", i)), "a", driver, asks(10, 4), at(int64(i)))
	}
	f.run("d0", "d1", "d2") // of 50
	f.pod("b", "b", ofClass("b"))
	f.pod("c", "c", ofClass("c"))
	f.run("b", "c")
	f.wantPods(f.choose()) // a third of 100 cpu is 33.333, half of that 16.667: those that run stay
	f.wantWhy("d3", "MaxDriverShare root.a 30000/16667+10000")
	f.forget("d0", "d1")
	f.wantPods(f.choose())
	f.forget("b") // 25: d2 and one more
	f.run("d3")
	f.wantPods(f.choose())
	f.forget("c") // 50
	f.run("d4", "d5")
	f.wantPods(f.choose())
}

// A queue that maxRunningApplications blocks is not active; one whose drivers their share blocks is. A gate does not make a queue active either.
func TestWhichQueuesAreActive(t *testing.T) {
	f := newFixture(t, Options{})
	for _, q := range []queue.Path{"root.a", "root.b", "root.c", "root.d"} {
		f.declare(q)
	}
	f.declare("root.b", runs(0))
	f.declare("root.c", driverShare(0))
	f.pod("c0", "c", ofClass("c"), at(0))
	f.pod("c1", "c", driver, at(1))
	f.run("c0")
	f.pod("a", "a")
	f.pod("b", "b")
	f.pod("d", "d", gatedBy("SchedulingGates"))
	for q, want := range map[queue.Path]bool{"root": true, "root.a": true, "root.b": false, "root.c": true, "root.d": false} {
		if got := f.queue(q).Active; got != want {
			t.Errorf("%s is active: %v", q, got)
		}
	}
	f.forget("c0")
	f.edit("c1", gatedBy("SchedulingGates"))
	if f.queue("root.c").Active {
		t.Error("root.c is active without an application that may run")
	}
}

func TestRunningDriversStayWhenTheShareShrinksUnderAReleasedOne(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("d0", "a", driver, asks(20, 4), at(0))
	f.pod("d1", "a", driver, asks(20, 4), at(1))
	f.run("d0")
	f.wantPods(f.choose(), "d1")
	f.pod("b", "b", ofClass("b")) // 25 for drivers in root.a from here on
	if why, ok := f.Reserve("d1", "node", f.now); ok {
		t.Error("a driver over the limit is reserved")
	} else if got := fmt.Sprintf("%s %d/%d+%d", why.Code, why.Used, why.Limit, why.Asked); got != "MaxDriverShare 20000/25000+20000" {
		t.Error(got)
	}
	f.fail("d1", Refused)
	f.run("b")
	f.wantPods(f.choose())
	f.wantUsage("root.a", "cpu=20 memory=4Gi")
}

func TestARoleThatChangesMovesBetweenTheCounts(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", asks(45, 4), at(0))
	f.run("p")
	f.pod("d", "a", driver, asks(10, 4), at(1))
	f.wantPods(f.choose(), "d")
	f.fail("d", Refused)
	f.edit("p", driver)
	f.wantPods(f.choose())
	f.edit("d", func(p *Pod) { p.Role = application.Executor })
	f.wantPods(f.choose(), "d")
}

// Of a resource that left the cluster a queue has 0 for a while and then nothing; what a share was before must make no difference.
func TestSharesDoNotRememberAResourceThatLeft(t *testing.T) {
	f := newFixture(t, Options{})
	gpu := func(n int64) resource.List { return resource.Of(resource.Entry{Name: "gpu", Value: n}) }
	f.ObserveNode(Node{Name: "gpus", Allocatable: gpu(1), Usable: true})
	f.declare("root.a", maximum(gpu(0)))
	f.declare("root.a.x", guaranteed(gpu(8)))
	f.pod("p", "a.x")
	f.run("p")
	f.wantShares()
	f.ForgetNode("gpus")
	f.wantShares()
}

// wantShares compares the shares as they are kept with those that a division of the whole tree gives.
func (f *fixture) wantShares() {
	f.t.Helper()
	f.sound()
	active := make([]bool, len(f.queues.Nodes))
	for i, n := range f.queues.Nodes {
		for _, app := range f.queues.accounts[n.Path].apps {
			active[i] = active[i] || app.slot.Runs
		}
	}
	for i, want := range fairshare.Shares(f.queues.Tree, f.shares.total, active) {
		if got := f.shares.of(f.queues.accounts[f.queues.Nodes[i].Path]); !got.Equal(want) {
			f.t.Errorf("%s has a share of %s, want %s", f.queues.Nodes[i].Path, got, want)
		}
	}
}

// Drivers and others come and go in a tree of two levels. After each step the shares are those of a full division, and no driver waits
// that may start: a wake-up that is lost leaves one behind.
func TestDriversFollowTheSharesWhateverHappens(t *testing.T) {
	leaves := []queue.Path{"root.a.x", "root.a.y", "root.b", "root.c"}
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 5))
		f := newFixture(t, Options{})
		f.declare("root.a")
		for _, q := range leaves {
			f.declare(q)
		}
		var there []UID
		for step := range 60 {
			switch n := rng.IntN(10); {
			case n < 5:
				uid := UID(fmt.Sprint("p", step))
				f.pod(uid, string(leaves[rng.IntN(4)]), asks(int64(1+rng.IntN(12)), 1), at(int64(step)), func(p *Pod) {
					p.Class = p.Request.String()
					if rng.IntN(3) > 0 {
						driver(p)
					}
				})
				there = append(there, uid)
			case n < 8 && len(there) > 0:
				i := rng.IntN(len(there))
				f.forget(there[i])
				there = append(there[:i], there[i+1:]...)
			case n == 8:
				f.declare(leaves[rng.IntN(4)], driverShare(int64(rng.IntN(1001))), weight(int64(rng.IntN(3))))
			default:
				f.ObserveNode(Node{Name: "node", Allocatable: amounts(int64(50+rng.IntN(100)), 400), Usable: true})
			}
			for uids := f.choose(); len(uids) > 0; uids = f.choose() {
				f.reserve(uids...)
				f.bindAll(uids...)
			}
			f.wantShares()
			f.wantNoDriverToWait(there)
		}
	}
}

// wantNoDriverToWait adds up the drivers of each leaf from its pods. Room is not the question here: the node takes all.
func (f *fixture) wantNoDriverToWait(there []UID) {
	f.t.Helper()
	used, pods := map[queue.Path]int64{}, map[queue.Path]int{}
	for _, uid := range there {
		if s, _ := f.PodState(uid); s.State == Bound {
			pods[s.Leaf]++
			if s.Role == application.Driver {
				used[s.Leaf] += s.Request.Get(resource.CPU)
			}
		}
	}
	for _, uid := range there {
		s, _ := f.PodState(uid)
		if s.State != Waiting {
			continue
		}
		q := f.queue(s.Leaf)
		share, base := int64(500), q.FairShare.Get(resource.CPU)
		if q.Spec.MaxDriverShare.Stated {
			share = q.Spec.MaxDriverShare.Most
		}
		if base == 0 {
			base = f.Snapshot().Total.Get(resource.CPU)
		}
		full := used[s.Leaf]+s.Request.Get(resource.CPU) > (base*share+999)/1000
		if s.Role != application.Driver || share == 1000 || pods[s.Leaf] == 0 || !full {
			f.t.Fatalf("%s %s of %s waits in %s, where %d run and drivers use %d of %d", s.Role, uid, s.Request, s.Leaf, pods[s.Leaf], used[s.Leaf], (base*share+999)/1000)
		}
	}
}
