package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func by(user string) func(*Pod) { return func(p *Pod) { p.User = user } }
func unlimitedRuns(d *queue.Declaration) {
	d.Spec.MaxRunningApplications = queue.Limit{}
}
func perUser(n int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.MaxRunningApplicationsPerUser = queue.AtMost(n) }
}

// family is a tree with two parents of two leaves each. Nothing is limited but root.default's pods, of which there are none.
func family(t *testing.T) *fixture {
	f := newFixture(t, Options{})
	for _, q := range []queue.Path{"root", "root.a", "root.a.x", "root.a.y", "root.b", "root.b.z"} {
		f.declare(q)
	}
	return f
}

// running lists the applications that may run, by name. Each has its name from its pods.
func (f *fixture) running() (names []string) {
	f.updateSlotReasons()
	for _, a := range f.queues.accounts {
		for _, app := range a.apps {
			if app.slot.Runs {
				names = append(names, app.slot.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (f *fixture) wantRunning(want ...string) {
	f.t.Helper()
	f.Snapshot() // begins
	f.sound()
	if got := f.running(); !slices.Equal(got, want) {
		f.t.Errorf("%q may run, want %q", got, want)
	}
}

func TestMaxRunningApplicationsHoldsAtEveryLevelOfThePath(t *testing.T) {
	for _, limited := range []queue.Path{"root.a.x", "root.a", "root"} {
		t.Run(string(limited), func(t *testing.T) {
			f := family(t)
			f.declare(limited, runs(2))
			for i := range 4 {
				f.pod(UID(fmt.Sprintf("p%d", i)), "a.x", at(int64(i)))
			}
			f.run("p0", "p1")
			f.wantPods(f.choose())
			f.wantWhy("p2", fmt.Sprintf("MaxRunningApplications %s 2/2+0", limited))
			f.pod("p1-more", "a.x", in("p1"), at(9)) // of one that runs
			f.run("p1-more")
			f.forget("p0")
			f.run("p2")
			f.wantPods(f.choose())
		})
	}
}

func TestLimitZeroLetsNoApplicationRun(t *testing.T) {
	f := family(t)
	f.declare("root.a", runs(0))
	f.pod("p", "a.x")
	f.pod("q", "b.z")
	f.run("q")
	f.wantPods(f.choose())
	f.wantWhy("p", "MaxRunningApplications root.a 0/0+0")
	f.declare("root.a", unlimitedRuns)
	f.run("p")
}

// YARN: the consequence of looking below the highest ancestor that was full.
func TestAFreedSlotGoesToAnEarlierApplicationOfACousin(t *testing.T) {
	f := family(t)
	f.declare("root", runs(2))
	f.declare("root.a.x", runs(1))
	f.pod("x1", "a.x", at(1))
	f.pod("z2", "b.z", at(2))
	f.run("x1", "z2")
	f.pod("x4", "a.x", at(4))
	f.pod("z3", "b.z", at(3))
	f.forget("x1") // of a leaf that was full as well
	f.wantRunning("z2", "z3")
	f.wantWhy("x4", "MaxRunningApplications root 2/2+0") // not its leaf any more
	f.forget("z2")
	f.wantRunning("x4", "z3")
}

func TestAFreedSlotStaysBelowTheHighestQueueThatWasFull(t *testing.T) {
	f := family(t)
	f.declare("root", runs(5))
	f.declare("root.a", runs(1))
	f.declare("root.b.z", runs(1))
	f.pod("x1", "a.x", at(1))
	f.pod("z1", "b.z", at(1))
	f.run("x1", "z1")
	f.pod("z2", "b.z", at(2))
	f.pod("y4", "a.y", at(4))
	f.pod("x5", "a.x", at(5))
	f.forget("x1")
	f.wantRunning("y4", "z1") // z2 came before, but its queue is as full as it was
}

func TestOrderOfHandOnIsSubmissionThenNameThenPath(t *testing.T) {
	f := family(t)
	f.declare("root", runs(1))
	f.pod("first", "a.x")
	f.run("first")
	f.pod("p1", "b.z", in("n"), at(7))
	f.pod("p2", "a.y", in("n"), at(7))
	f.pod("p3", "a.x", in("m"), at(7))
	f.pod("p4", "a.x", in("o"), at(6))
	f.pod("p4-old", "a.x", in("o"), at(5)) // an application is as old as its oldest pod
	f.pod("p5", "b.z", at(6))
	for _, next := range [][]UID{{"p4-old", "p4"}, {"p5"}, {"p3"}, {"p2"}, {"p1"}} {
		f.forget("first")
		f.run(next...)
		f.wantPods(f.choose())
		f.forget(next[1:]...)
		f.edit(next[0], func(p *Pod) { p.UID = "first" }) // stands for it from here on
		f.forget(next[0])
	}
}

func TestUsersAreCountedOverAllQueues(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(2))
	f.pod("x", "a.x", by("u"), at(1))
	f.pod("z", "b.z", by("u"), at(2))
	f.pod("y", "a.y", by("u"), at(3))
	f.pod("v", "a.y", by("v"), at(4))
	f.wantRunning("v", "x", "z")
	why, _ := f.Why("y")
	if got, want := why.Text(), "user u may run at most 2 applications and runs 2; this one follows when one of them ends, or with a higher users.maxRunningApplications of queue root"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.forget("v")
	f.wantRunning("x", "z")
	f.forget("x")
	f.wantRunning("y", "z")
}

func TestTheUsersLimitIsNamedFirst(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(1), runs(1))
	f.pod("p", "a.x", by("u"), at(1))
	f.pod("q", "a.x", by("u"), at(2))
	f.pod("r", "a.x", by("v"), at(3))
	f.wantRunning("p")
	f.wantWhy("q", "UserMaxRunningApplications root 1/1+0")
	f.wantWhy("r", "MaxRunningApplications root 1/1+0")
	f.forget("p") // v may follow neither before nor after q
	f.wantRunning("q")
}

func TestUserAtTheLimitAndQueueAtTheLimitFreeTwoSlots(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(1))
	f.declare("root.a", runs(1))
	f.pod("ends", "a.x", by("u"), at(1))
	f.pod("u-elsewhere", "b.z", by("u"), at(3))
	f.pod("u-elsewhere-2", "b.z", by("u"), at(6))
	f.pod("v-here", "a.y", by("v"), at(2))
	f.pod("v-here-2", "a.x", by("v"), at(4))
	f.wantRunning("ends")
	f.forget("ends")
	f.wantRunning("u-elsewhere", "v-here")
}

func TestOneApplicationMayTakeBothSlots(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(1))
	f.declare("root.a", runs(1))
	f.pod("ends", "a.x", by("u"), at(1))
	f.pod("u-here", "a.y", by("u"), at(2))
	f.pod("u-elsewhere", "b.z", by("u"), at(3))
	f.pod("v-here", "a.y", by("v"), at(4))
	f.wantRunning("ends")
	f.forget("ends")
	f.wantRunning("u-here")
}

func TestApplicationsThatOthersStartCountAlsoOverTheLimit(t *testing.T) {
	f := family(t)
	f.declare("root.a", runs(1))
	f.pod("p0", "a.x", at(1))
	f.run("p0")
	f.pod("p1", "a.x", at(2))
	f.pod("p1-more", "a.x", in("p1"), at(3))
	f.pod("p2", "a.x", at(4))
	f.bindAll("p1") // by another scheduler
	f.run("p1-more")
	f.wantRunning("p0", "p1")
	f.wantWhy("p2", "MaxRunningApplications root.a 2/1+0")
	f.forget("p0") // one above the limit frees nothing
	f.wantRunning("p1")
	f.forget("p1")
	f.wantRunning("p1")
	f.forget("p1-more")
	f.wantRunning("p2")
}

// Those that hold something keep their slots, and the others get what is left by their submission, as after a restart.
func TestLoweredLimitOnApplicationsStopsNothing(t *testing.T) {
	f := family(t)
	f.declare("root.a", runs(4))
	for i := range 4 {
		f.pod(UID(fmt.Sprintf("p%d", i+1)), "a.x", at(int64(i+1)))
	}
	f.run("p1", "p2")
	f.pod("p0", "a.x", at(0)) // the oldest, but it came last
	f.wantRunning("p1", "p2", "p3", "p4")
	f.declare("root.a", runs(3))
	f.wantRunning("p0", "p1", "p2")
	f.declare("root.a", runs(1))
	f.wantRunning("p1", "p2")
	f.wantWhy("p0", "MaxRunningApplications root.a 2/1+0")
	f.wantPods(f.choose())
	f.forget("p1")
	f.wantRunning("p2")
	f.forget("p2")
	f.wantRunning("p0")
	f.declare("root.a", runs(2))
	f.wantRunning("p0", "p3")
}

func TestALoweredLimitThatIsNotExceededMovesNoSlot(t *testing.T) {
	f := family(t)
	f.declare("root.a", runs(2))
	f.pod("young", "a.x", at(8))
	f.pod("younger", "a.y", at(9))
	f.wantRunning("young", "younger")
	f.pod("old", "a.x", at(1))
	f.declare("root", runs(2))
	f.wantRunning("young", "younger")
}

func TestALoweredLimitOfUsersTakesSlotsFromThatUserAlone(t *testing.T) {
	f := family(t)
	for i, user := range []string{"u", "u", "v"} {
		f.pod(UID(fmt.Sprintf("p%d", i)), "b.z", at(int64(i)), by(user))
	}
	f.run("p0")
	f.wantRunning("p0", "p1", "p2")
	f.declare("root", perUser(1))
	f.wantRunning("p0", "p2")
}

func TestARaisedLimitLetsTheFirstIn(t *testing.T) {
	f := family(t)
	f.declare("root", runs(0))
	for i, q := range []string{"b.z", "a.x", "a.y", "b.z", "a.x"} {
		f.pod(UID(fmt.Sprintf("p%d", i)), q, at(int64(10-i)))
	}
	f.wantRunning()
	f.declare("root", runs(3))
	f.wantRunning("p2", "p3", "p4")
	f.declare("root", unlimitedRuns)
	f.wantRunning("p0", "p1", "p2", "p3", "p4")
}

// Nothing is decided between the raise and the pods that come after it.
func TestRaisedLimitGoesByAgeAlsoAmongThoseThatComeWithIt(t *testing.T) {
	f := family(t)
	f.declare("root", runs(0))
	f.pod("p", "a.x", at(5))
	f.wantRunning()
	d := queue.Declaration{Path: "root", Spec: queue.DefaultSpec()}
	d.Spec.MaxRunningApplications = queue.AtMost(1)
	f.ObserveQueue(d)
	f.ObserveQueue(queue.Declaration{Path: "root.new", Spec: queue.DefaultSpec()})
	for i, uid := range []UID{"young", "old"} {
		f.ObservePod(Pod{UID: uid, Name: string(uid), Queue: "new", Application: string(uid), Class: "c", Created: int64(9 - 6*i)}, f.now)
	}
	f.wantRunning("old")
}

func TestLimitThatWasLoweredHoldsForPodsThatComeBeforeTheNextDecision(t *testing.T) {
	f := family(t)
	f.wantRunning()
	d := queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()}
	d.Spec.MaxRunningApplications = queue.AtMost(1)
	f.ObserveQueue(d)
	for i, uid := range []UID{"p", "q"} {
		f.ObservePod(Pod{UID: uid, Name: string(uid), Queue: "a.x", Application: string(uid), Class: "c", Created: int64(i)}, f.now)
	}
	f.wantRunning("p")
}

func TestAnApplicationKeepsItsSlotWhileItsOnlyPodChanges(t *testing.T) {
	change := map[string]func(*Pod){"resized": asks(2, 8), "another class": ofClass("d"), "another priority": prioritised(7), "created": at(99)}
	put := map[string]func(*fixture){
		"waiting":  func(*fixture) {},
		"released": func(f *fixture) { f.choose() },
		"reserved": func(f *fixture) { f.choose(); f.reserve("p") },
		"bound":    func(f *fixture) { f.run("p") },
		"parked":   func(f *fixture) { f.choose(); f.fail("p", NoFit) },
		"back-off": func(f *fixture) { f.choose(); f.fail("p", Errored) },
	}
	for state, put := range put {
		for what, edit := range change {
			t.Run(state+" "+what, func(t *testing.T) {
				f := family(t)
				f.declare("root.a", runs(1))
				f.pod("p", "a.x", at(50))
				f.wantRunning("p")
				put(f)
				f.pod("older", "a.x", at(1))
				f.edit("p", edit)
				f.wantRunning("p")
				f.TakeWoken(f.now)
				f.wantRunning("p")
			})
		}
	}
}

func TestAPodThatMovesLeavesItsSlotToTheFirstInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*Pod)
		want string
	}{
		"to a sibling, younger than all there":  {relabelled("a.y"), "older"},
		"to another application, younger":       {in("other"), "older"},
		"to another application, and it is old": {func(p *Pod) { p.Application, p.Created = "other", 1 }, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			f := family(t)
			f.declare("root.a", runs(1))
			f.pod("p", "a.x", at(50))
			f.wantRunning("p")
			f.pod("older", "a.x", at(10))
			f.edit("p", c.edit)
			f.wantRunning(c.want)
		})
	}
	t.Run("to another user, younger than one of the user it leaves", func(t *testing.T) {
		f := family(t)
		f.declare("root", perUser(1))
		f.declare("root.a", runs(1))
		f.pod("p", "b.z", by("u"), at(1))
		f.wantRunning("p")
		f.pod("older", "a.x", by("u"), at(10))
		f.edit("p", func(p *Pod) { p.Queue, p.User, p.Created = "a.y", "v", 50 })
		f.wantRunning("older") // of the one slot in root.a
	})
	t.Run("alone it keeps on", func(t *testing.T) {
		f := family(t)
		f.declare("root.a", runs(1))
		f.pod("p", "a.x")
		f.wantRunning("p")
		f.edit("p", relabelled("a.y"))
		f.run("p")
	})
	t.Run("while it is tried", func(t *testing.T) {
		f := family(t)
		f.declare("root.a", runs(1))
		f.pod("p", "a.x", at(50))
		f.wantPods(f.choose(), "p")
		f.pod("older", "a.y", at(10))
		f.edit("p", relabelled("a.y"))
		f.wantRunning("p")
		f.fail("p", NoFit)
		f.wantRunning("older")
	})
}

func TestBlockedPodsTakeNoSlot(t *testing.T) {
	for name, edit := range map[string]func(*Pod){"gated": gatedBy("SchedulingGates"), "too large": asks(50, 4), "terminating": terminating} {
		t.Run(name, func(t *testing.T) {
			f := family(t)
			f.declare("root.a", runs(1), func(d *queue.Declaration) { d.Spec.MaxPod = amounts(10, 400) })
			f.pod("blocked", "a.x", edit, at(1))
			f.pod("next", "a.x", at(2))
			f.run("next")
			f.pod("last", "a.x", at(3))
			f.edit("next", func(*Pod) {})
			f.forget("next")
			f.wantRunning("last")
			f.edit("last", edit) // and it loses the one it has
			f.wantRunning()
			f.pod("late", "a.x", at(4))
			f.wantRunning("late")
			f.edit("blocked", func(p *Pod) { p.Gate, p.Request = "", amounts(1, 4) })
			f.wantRunning("late")
		})
	}
}

func TestDeletedWaitingApplicationStartsNothing(t *testing.T) {
	f := family(t)
	f.declare("root.a", runs(1))
	for i := range 3 {
		f.pod(UID(fmt.Sprintf("p%d", i)), "a.x", at(int64(i)))
	}
	f.wantRunning("p0")
	f.forget("p1")
	f.wantRunning("p0")
	f.edit("p2", terminating)
	f.wantRunning("p0")
	f.forget("p0")
	f.wantRunning()
}

func TestAnApplicationCountsForTheUserOfItsOldestPod(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(1))
	f.pod("a1", "a.x", in("a"), by("u"), at(1))
	f.pod("a2", "a.x", in("a"), by("v"), at(2))
	f.pod("b", "a.y", by("u"), at(3))
	f.pod("c", "b.z", by("v"), at(4))
	f.wantRunning("a", "c")
	f.forget("a1") // a is v's now, above the limit; u has a slot
	f.wantRunning("a", "b", "c")
	f.pod("d", "b.z", by("v"), at(5))
	f.forget("c")
	f.wantRunning("a", "b") // v was above
	f.forget("a2")
	f.wantRunning("b", "d")
}

func TestAnApplicationThatALimitStopsGoesWithItsNewUser(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(1))
	f.pod("r", "a.x", by("u"), at(1))
	f.pod("k1", "a.y", in("k"), by("u"), at(2))
	f.pod("k2", "a.y", in("k"), by("v"), at(3))
	f.wantRunning("r")
	f.forget("k1")
	f.wantRunning("k", "r")
	f.pod("k0", "a.y", in("k"), by("u"), at(1)) // an older one changes it back, and stops nothing
	f.wantRunning("k", "r")
}

func TestGatedPodGivesItsApplicationAUserBeforeItRuns(t *testing.T) {
	f := family(t)
	f.declare("root", perUser(1))
	f.pod("r", "a.x", by("u"), at(1))
	f.pod("k2", "a.y", in("k"), by("v"), at(3), gatedBy("SchedulingGates"))
	f.pod("k1", "a.y", in("k"), by("u"), at(2))
	f.wantRunning("r")
	f.wantWhy("k1", "UserMaxRunningApplications root 1/1+0")
}

func TestConditionsFollowTheLimitThatKeepsOut(t *testing.T) {
	f := family(t)
	f.declare("root", runs(2))
	f.declare("root.a.x", runs(1))
	f.pod("x1", "a.x", at(1))
	f.pod("x3", "a.x", at(3))
	f.wantRunning("x1")
	told := func() (texts []UID) {
		for _, x := range f.TakeConditionUpdates(10) {
			texts = append(texts, x.UID+UID(" "+x.Reason.Queue))
		}
		return texts
	}
	f.wantPods(told(), "x3 root.a.x")
	f.pod("z1", "b.z", at(1))
	f.pod("z2", "b.z", at(2))
	f.wantPods(told(), "z2 root")
	f.forget("x1")
	f.wantPods(told(), "z2 ", "x3 root")
	f.pod("z4", "b.z", at(4))
	f.wantPods(told(), "z4 root")
	f.pod("z5", "b.z", at(5))
	f.forget("z4")
	f.wantPods(told(), "z5 root")
}

// A ledger that is built again sees the same objects in any order: first those that have running pods, then in order of submission.
func TestRestartLetsTheSameApplicationsRun(t *testing.T) {
	type step func(*fixture)
	steps := []step{
		func(f *fixture) { f.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()}) },
		func(f *fixture) { f.ObserveQueue(queue.Declaration{Path: "root.a.x", Spec: queue.DefaultSpec()}) },
		func(f *fixture) {
			d := queue.Declaration{Path: "root", Spec: queue.DefaultSpec()}
			d.Spec.MaxRunningApplications, d.Spec.MaxRunningApplicationsPerUser = queue.AtMost(3), queue.AtMost(2)
			f.ObserveQueue(d)
		},
	}
	pod := func(uid UID, application, user string, created int64, node string) {
		steps = append(steps, func(f *fixture) {
			f.ObservePod(Pod{UID: uid, Name: string(uid), Queue: "a.x", Application: application, User: user, Created: created, Node: node, Class: "c"}, f.now)
		})
	}
	pod("w1", "w1", "u", 1, "")
	pod("w2", "w2", "u", 2, "")
	pod("w3", "w3", "v", 3, "")
	pod("w4", "w4", "v", 4, "")
	pod("w2-more", "w2", "u", 5, "")
	pod("w3-more", "w3", "u", 6, "")
	pod("late", "late", "u", 9, "node") // charged, so it comes first
	pod("late2", "late", "u", 10, "")
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		rng.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		f := newFixture(t, Options{})
		for _, s := range steps {
			s(f)
			if rng.IntN(2) == 0 {
				f.sound()
			}
		}
		f.wantRunning("late", "w1", "w3") // u has late and w1, and of the three slots v gets the last
	}
}

// A pod that ends before the start gives its slot to nobody: there may be somebody older to see yet.
func TestNobodyIsLetInBeforeAllIsSeen(t *testing.T) {
	f := family(t)
	f.declare("root.a", runs(1))
	f.pod("bound", "a.x", boundTo("node"), at(1))
	f.pod("young", "a.x", at(9))
	f.forget("bound")
	f.pod("old", "a.x", at(2))
	f.wantRunning("old")
}

// The type is asked alone, without a ledger: a slot that is freed goes on at once where the numbers are right, and else in the next round. Only the pods
// of the application that gets it are to be judged again.
func TestAFreedSlotGoesOnAtOnceOrInTheNextRound(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*applications)
		after  func(*applications)
		atOnce bool
	}{
		"as usual":                   {func(*applications) {}, func(*applications) {}, true},
		"while a round is due":       {(*applications).roundLater, func(*applications) {}, false},
		"while pods are moved":       {(*applications).moveBegins, (*applications).moveEnds, false},
		"while the tree is outdated": {func(a *applications) { a.tree.stale = true }, func(a *applications) { a.tree.stale = false }, false},
	} {
		t.Run(name, func(t *testing.T) {
			leaf := newQueueAccount("root", nil)
			leaf.admission.Most = queue.AtMost(1)
			a := applications{allSeen: true, shares: &shares{}, effects: &effects{}, tree: &queueTree{accounts: map[queue.Path]*queueAccount{"root": leaf}}}
			apps := map[string]*appAccount{}
			for i, app := range []string{"runs", "older", "younger"} {
				r := &record{Pod: Pod{UID: UID(app), Application: app, Created: int64(i)}, leaf: leaf}
				why, fits := a.slot(r, leaf)
				if fits != (i == 0) {
					t.Fatalf("%s may run: %v", app, fits)
				}
				r.blockedBy = why
				r.app = &appAccount{account: account{parent: leaf}, members: []appEntry{{r}}, slot: admission.Application{Leaf: &leaf.admission, Name: app},
					entry:   admission.Application{Leaf: &leaf.entries, Name: app},
					wanting: 1, limited: btoi(r.blockedByAppLimit())}
				leaf.apps[app], apps[app] = r.app, r.app
				a.seniority(r.app)
				a.settle(r.app)
			}
			runs := func(app string, want bool) {
				t.Helper()
				if apps[app].slot.Runs != want {
					t.Errorf("%s runs: %v", app, !want)
				}
			}
			c.before(&a)
			apps["runs"].wanting = 0
			a.settle(apps["runs"])
			c.after(&a)
			runs("runs", false)
			runs("older", c.atOnce)
			a.round()
			runs("older", true)
			runs("younger", false)
			if judged := a.effects.pods.items; len(judged) != 1 || judged[0].UID != "older" || a.effects.apps.some() || a.effects.groups.some() || a.due {
				t.Errorf("%d pods are to be judged again, a round is due: %v", len(judged), a.due)
			}
		})
	}
}
