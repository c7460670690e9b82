package ledger

import (
	"maps"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func priority(p int32) func(*Pod) { return func(pod *Pod) { pod.Priority = p } }

func TestAPriorityOutranks(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.ObservePodGroup(PodGroup{Key: "two", MinMember: 2})
	f.ObservePodGroup(PodGroup{Key: "one", MinMember: 1})
	f.pod("high", "a", priority(10))
	on := boundTo("node")
	for uid, edit := range map[UID]func(*Pod){
		"low": func(*Pod) {}, "middle": priority(9), "equal": priority(10), "leaving": func(p *Pod) { p.Terminating = true },
		"going": func(p *Pod) { p.Announced = 1 }, "of-two": func(p *Pod) { p.PodGroup = "two" }, "of-one": func(p *Pod) { p.PodGroup = "one" },
	} {
		f.pod(uid, "a", on, edit)
	}
	f.pod("elsewhere", "b", on)
	f.pod("waits", "a")
	want := func(uid UID, want ...UID) {
		t.Helper()
		got := slices.Sorted(maps.Keys(f.Outranked(uid)))
		f.wantPods(got, want...)
	}
	want("high", "low", "middle", "of-one")
	want("middle", "low", "of-one")
	want("low")
	want("unknown")
	f.pod("high-of-two", "a", priority(10), func(p *Pod) { p.PodGroup = "two" })
	want("high-of-two")
}

// Whom a pod outranks depends on its queue: one that fails where it outranks nobody says nothing about its like in another queue. Those of the lowest
// priority, which are most, outrank nobody anywhere.
func TestAnAttemptByPriorityDoesNotSpeakForOtherQueues(t *testing.T) {
	for p, tried := range map[int32]bool{10: true, 0: false} {
		f := newFixture(t, Options{})
		f.declare("root.a")
		f.declare("root.b")
		f.pod("low", "a", priority(-1), boundTo("node"), func(p *Pod) { p.Class, p.Request = "low", amounts(100, 400) })
		for _, queue := range []string{"b", "a"} {
			f.pod(UID("in-"+queue), queue, priority(p), func(p *Pod) { p.Class = "high" })
		}
		want := []UID{"in-b"}
		if tried {
			want = append(want, "in-a")
		}
		f.wantPods(f.choose(), want...)
		f.fail("in-b", NoFit)
		f.wantPods(f.choose(), want[1:]...) // which had been recalled
	}
}

// The pods of a class make room one after the other, each with an attempt of its own. Where one finds nobody to outrank, its class waits for room again.
// Watches may show the nomination before the victim has gone, after that, or not before the pod has its node. Until then the room is kept all the same.
func TestAPodThatMadeRoomByPriorityIsFollowedByItsClass(t *testing.T) {
	for name, watch := range map[string]struct{ before, after bool }{
		"at once": {before: true}, "after the victim has gone": {after: true}, "too late": {},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.declare("root.b")
			for _, uid := range []UID{"low-1", "low-2"} {
				f.pod(uid, "a", boundTo("node"), func(p *Pod) { p.Class, p.Request = "low", amounts(50, 200) })
			}
			for i, uid := range []UID{"high-1", "high-2", "high-3"} {
				f.pod(uid, "a", priority(10), at(int64(i)), func(p *Pod) { p.Class, p.Request = "high", amounts(50, 200) })
			}
			nominated := func(seen bool, uid UID) {
				if seen {
					f.edit(uid, func(p *Pod) { p.Nominated = "node" })
				}
			}
			for _, next := range []struct{ high, low UID }{{"high-1", "low-1"}, {"high-2", "low-2"}} {
				f.wantPods(f.choose(), next.high)
				f.MadeRoom(next.high, "node")
				f.fail(next.high, NoFit)
				nominated(watch.before, next.high)
				other := UID("other-" + string(next.high))
				f.pod(other, "b", priority(10), func(p *Pod) { p.Class, p.Request = "other", amounts(50, 200) })
				if !watch.before {
					f.edit(next.high, func(p *Pod) { p.Shown, p.Nominated = "other", "" }) // from before it was nominated
				}
				f.forget(next.low)
				if kept := f.NodesNominatedToOthers(other); !kept["node"] {
					t.Errorf("the room that %s made is free for %s", next.high, other)
				}
				f.forget(other)
				nominated(watch.after, next.high)
				f.Admitted(next.high)
				f.wantPods(f.TakeWoken(f.now), next.high)
				f.wantPods(f.choose(), next.high)
				f.reserve(next.high)
				f.edit(next.high, func(p *Pod) { p.Node, p.Nominated = "node", "" })
			}
			f.wantPods(f.choose(), "high-3")
			f.MadeRoom("high-3", "")
			f.fail("high-3", NoFit)
			f.Admitted("high-3")
			f.TakeWoken(f.now)
			f.wantPods(f.choose())
		})
	}
}

// The priority of an application follows its oldest driver, else its oldest pod, and the Queues, at every time.
func TestThePriorityOfAnApplication(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", policy(queue.FIFO))
	driver := func(p *Pod) { p.Role = application.Driver }
	want := func(want int32) {
		t.Helper()
		f.Settle(f.now)
		if got := f.Applications()[0].Priority; got != want {
			t.Errorf("the application has priority %d, want %d", got, want)
		}
	}
	f.pod("worker", "a", in("x"), at(1), priority(3))
	want(3)
	f.pod("second", "a", in("x"), at(2), priority(4), driver)
	want(4)
	f.pod("first", "a", in("x"), at(1), priority(5), driver)
	want(5)
	f.pod("third", "a", in("x"), at(3), priority(6), driver)
	want(5)
	f.bound("first", nil)
	want(5)
	f.edit("first", func(p *Pod) { p.AskedPriority = application.AskedPriority{Asked: true, Value: 2} })
	want(2)
	f.forget("first")
	want(4)
	f.declare("root", func(d *queue.Declaration) { d.Spec.MaxPriority = queue.AtMost(3) })
	want(3)
	f.declare("root", func(d *queue.Declaration) { d.Spec.MaxPriority = queue.Limit{} })
	f.forget("second", "third")
	want(3)
	f.edit("worker", priority(0))
	f.declare("root.a", policy(queue.FIFO), func(d *queue.Declaration) { d.Spec.DefaultPriority = -7 })
	want(-7)
	f.edit("worker", func(p *Pod) { p.Classed = true })
	want(0)
}

// An edit of the cap or of a default moves applications in their order, also at a gate.
func TestTheOrderFollowsTheQueuesPriorities(t *testing.T) {
	for name, rule := range map[string]queue.Policy{"FIFO": queue.FIFO, "StateAware": queue.StateAware, "equal shares": queue.DominantResourceFairness} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a", policy(rule))
			f.pod("1-plain", "a", at(1))
			f.pod("2-classed", "a", at(2), func(p *Pod) { p.Classed = true })
			f.pod("3-high", "a", at(3), priority(10))
			first := func(want UID) {
				t.Helper()
				f.wantPods([]UID{f.choose()[0]}, want)
				for _, uid := range []UID{"1-plain", "2-classed", "3-high"} {
					if s, _ := f.PodState(uid); s.State == Released {
						f.fail(uid, Refused)
					}
				}
			}
			first("3-high")
			f.declare("root", func(d *queue.Declaration) { d.Spec.MaxPriority = queue.AtMost(0) })
			first("1-plain")
			f.declare("root.a", policy(rule), func(d *queue.Declaration) { d.Spec.DefaultPriority = -1 })
			first("2-classed")
			f.declare("root", func(d *queue.Declaration) { d.Spec.MaxPriority = queue.AtMost(20) })
			f.declare("root.a", policy(rule), func(d *queue.Declaration) { d.Spec.DefaultPriority = 15 })
			first("1-plain")
		})
	}
}

// Nobody evicts by a priority above the cap, and a default counts as if the pod stated it.
func TestACappedPriorityOutranksNobodyAboveTheCap(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	on := boundTo("node")
	f.pod("plain", "a", on)
	f.pod("five", "a", on, priority(5))
	f.pod("ten", "a", on, priority(10))
	f.pod("high", "a", priority(100))
	want := func(most queue.Limit, byDefault int32, want ...UID) {
		t.Helper()
		f.declare("root", func(d *queue.Declaration) { d.Spec.MaxPriority = most })
		f.declare("root.a", func(d *queue.Declaration) { d.Spec.DefaultPriority = byDefault })
		f.Settle(f.now)
		f.wantPods(slices.Sorted(maps.Keys(f.Outranked("high"))), want...)
	}
	want(queue.Limit{}, 0, "five", "plain", "ten")
	want(queue.AtMost(10), 0, "five", "plain")
	want(queue.AtMost(5), 0, "plain")
	want(queue.AtMost(0), 0)
	want(queue.AtMost(10), 10, "five")
	want(queue.Limit{}, 50, "five", "plain", "ten")
	want(queue.Limit{}, 100, "five", "ten")
}
