package simulator

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seedFlag = flag.Uint64("seed", 0, "run this seed only")
	runsFlag = flag.Uint64("runs", 0, "the last seed of the random runs, instead of the test's own")
	fromFlag = flag.Uint64("from", 1, "the first seed, with -runs: a long run in parts")
	full     = flag.Bool("full", false, "let crowds have their full size: make test-sim")
)

// scale is a number for every run, and one for a run with -full.
func scale(always, inFull int) int {
	if *full {
		return inFull
	}
	return always
}

// seeds calls run for every seed from -from (1) to runs, on two goroutines, and prints how to repeat one that failed.
func seeds(t *testing.T, runs uint64, run func(seed uint64, o Options) error) {
	if *runsFlag != 0 {
		runs = *runsFlag
	}
	if *seedFlag != 0 {
		if err := run(*seedFlag, options(*seedFlag)); err != nil {
			t.Fatal(err)
		}
		return
	}
	name := t.Name()
	var taken atomic.Uint64 // worlds differ in what they cost
	next := func() uint64 { return *fromFlag + taken.Add(1) - 1 }
	for shard := range 2 {
		t.Run(fmt.Sprintf("shard=%d", shard), func(t *testing.T) {
			t.Parallel()
			seed := next()
			defer func() {
				panicked := recover()
				if panicked != nil || t.Failed() {
					t.Errorf("to repeat it:\ngo test ./test/simulator -run %s -seed=%d", name, seed)
				}
				if panicked != nil {
					panic(panicked)
				}
			}()
			for ; seed <= runs; seed = next() {
				if err := run(seed, options(seed)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// together is what became of the plans of several worlds.
type together struct {
	sync.Mutex
	Preempted
}

func (s *together) add(p Preempted) {
	s.Lock()
	defer s.Unlock()
	s.Add(p)
}

func (s *together) report(t *testing.T) {
	t.Logf("preemption: %+v", s.Preempted)
	if p := s.Preempted; *seedFlag == 0 && *runsFlag == 0 && (p.Evicted == 0 || p.Kept == 0 || p.Restarts == 0) {
		t.Error("nobody was evicted, kept off or restarted: the test lost its subject")
	}
}

// options: one run in eleven is audited after every step. An audit makes the ledger settle, so fewer audits find other mistakes. Half of
// the runs have limits of every kind, half of them have gates, a quarter of them have preemption and restarts, a quarter queues that are stopped and started, and a fifth an adversary.
func options(seed uint64) Options {
	o := Options{Every: 20, Limits: seed/2%2 == 0, Gates: seed/4%2 == 0}
	if seed%11 == 0 {
		o.Every = 1
	}
	o.Preemption = seed/8%4 == 0
	o.Adversary = seed/3%5 == 0
	o.Stops = o.Limits && seed/5%2 == 0
	return o
}

// Users, administrators, watches, nodes and binds do what they like; the ledger's books stay right, no limit is broken by a release,
// nothing waits that could run, and a ledger built again comes to the same picture (see audit.go).
func TestTheBooksStayRightWhateverHappens(t *testing.T) {
	var steps, reserved, audits, quiet, alike, shown, unshown, passed, starting, followed, draining, drained, stoppedOut atomic.Int64
	var preempted together
	seeds(t, 300, func(seed uint64, o Options) error {
		o.LargePods = largePodPatience(seed)
		w := New(seed, o)
		defer func() { preempted.add(w.Preempted()) }()
		err := w.Run(300)
		if err == nil {
			err = w.Close(20000)
		}
		steps.Add(int64(w.Steps))
		reserved.Add(int64(len(w.Reserved)))
		audits.Add(int64(w.Audits))
		quiet.Add(int64(w.Quiet))
		alike.Add(int64(w.Alike))
		shown.Add(int64(w.Shown))
		unshown.Add(int64(w.Unshown))
		passed.Add(int64(w.Passed))
		starting.Add(int64(w.Starting))
		followed.Add(int64(w.Followed))
		draining.Add(int64(w.Draining))
		drained.Add(int64(w.Drained))
		stoppedOut.Add(int64(w.StoppedOut))
		return err
	})
	t.Cleanup(func() {
		t.Logf("%d queues were seen draining, %d drained, %d pods waited for a stopped queue", draining.Load(), drained.Load(), stoppedOut.Load())
		if *seedFlag == 0 && (draining.Load() == 0 || drained.Load() == 0 || stoppedOut.Load() == 0) {
			t.Error("no queue was stopped: the test lost its subject")
		}
		t.Logf("%d steps, %d reservations, %d audits, %d of them in quiet moments, %d times the same after a restart; %d pods shown unschedulable, %d not any more; "+
			"%d applications passed a gate, %d were seen starting; %d charges of pods that somebody else bound followed the tree or their label",
			steps.Load(), reserved.Load(), audits.Load(), quiet.Load(), alike.Load(), shown.Load(), unshown.Load(), passed.Load(), starting.Load(),
			followed.Load())
		if *seedFlag == 0 && (passed.Load() == 0 || starting.Load() == 0 || followed.Load() == 0) {
			t.Error("no gate was passed, or no charge followed the tree: the test lost its subject")
		}
		preempted.report(t)
	})
}

// With a placement policy that changes, and queues that are created and removed.
func TestPlacedPodsAreWhereTheyBelong(t *testing.T) {
	var moved, created, removed, reserved atomic.Int64
	seeds(t, 150, func(seed uint64, o Options) error {
		o.Placement, o.Groups = true, seed/16%4 == 0
		w := New(seed, o)
		err := liveThrough(w, seed)
		moved.Add(int64(w.Moved))
		created.Add(int64(w.CreatedQueues))
		removed.Add(int64(w.RemovedQueues))
		reserved.Add(int64(len(w.Reserved)))
		return err
	})
	t.Cleanup(func() {
		t.Logf("%d pods moved, %d queues created and %d removed, %d reservations", moved.Load(), created.Load(), removed.Load(), reserved.Load())
		if *seedFlag == 0 && (moved.Load() == 0 || created.Load() == 0 || removed.Load() == 0) {
			t.Error("no pod moved, or no queue was created or removed: the test lost its subject")
		}
	})
}

// liveThrough runs a world to its end, one of three with a restart on the way.
func liveThrough(w *World, seed uint64) error {
	err := w.Run(300)
	if err == nil && seed%3 == 0 {
		w.restartAnyTime()
		err = w.Run(300)
	}
	if err == nil {
		err = w.Close(20000)
	}
	return err
}

// Pods prefer nodes and racks and wait for them. The books stay right, and in no quiet moment is there room for a pod that waits: no node idles for the
// sake of a delay.
func TestPreferencesLeaveNoRoomIdle(t *testing.T) {
	var preferred, reserved, quiet atomic.Int64
	seeds(t, 200, func(seed uint64, o Options) error {
		o.Preferences, o.Groups = true, seed/16%4 == 0
		w := New(seed, o)
		err := liveThrough(w, seed)
		preferred.Add(int64(w.Preferred))
		reserved.Add(int64(len(w.Reserved)))
		quiet.Add(int64(w.Quiet))
		return err
	})
	t.Cleanup(func() {
		t.Logf("%d of %d reservations were tried where the pod prefers; %d quiet moments", preferred.Load(), reserved.Load(), quiet.Load())
		if *seedFlag == 0 && (preferred.Load() == 0 || preferred.Load() == reserved.Load()) {
			t.Error("no pod waited for what it prefers, or each: the test lost its subject")
		}
	})
}

func TestSameSeedGivesTheSameRun(t *testing.T) {
	everything := Options{Every: 20, Limits: true, Gates: true, Groups: true, Preemption: true, Adversary: true}
	for seed, o := range map[uint64]Options{7: {}, 6: {Every: 20, Placement: true, Limits: true}, 8: {Every: 20, Preemption: true}, 9: everything, 10: everything} {
		run := func() string {
			w := New(seed, o)
			err := w.Run(300)
			if err == nil {
				err = w.Close(20000)
			}
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(w.Steps, w.now, w.Preempted(), w.Reserved)
		}
		if a, b := run(), run(); a != b {
			t.Errorf("seed %d: %s\n%s", seed, a, b)
		}
	}
}

// Looking at the backlog charges pods and refunds them. A run with a look after each step is the same as a run without
// any.
func TestLooksAtTheBacklogChangeNoRun(t *testing.T) {
	seeds(t, 20, func(seed uint64, o Options) error {
		run := func(blind bool) (string, error) {
			o.Every, o.Blind = 3, blind
			w := New(seed, o)
			err := w.Run(300)
			if err == nil {
				err = w.Close(20000)
			}
			return fmt.Sprint(w.Steps, w.now, w.Shown, w.Unshown, w.Reserved), err
		}
		looked, err := run(false)
		if err != nil {
			return err
		}
		blind, err := run(true)
		if err == nil && looked != blind {
			err = fmt.Errorf("seed %d: with looks\n%s\nwithout\n%s", seed, looked, blind)
		}
		return err
	})
}
