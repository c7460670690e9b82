package simulator

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

var moments = flag.Int("moments", 150, "number of quiet moments in which TestAnswersAreSo asks why pods wait and which is next")

// answers compares, in quiet moments of a world, what is said with what is so and with what happens then.
type answers struct {
	*World
	moments, pods, orders int
	untried, retried      int                 // releases of pods without room by the numbers, and of those whose class shows that it fitted no node
	excused               map[reason.Code]int // releases that order did not name, and may not have: see remembered
	codes                 map[reason.Code]int
	pick                  *rand.Rand
	said                  *moment // of the last quiet moment; nil: something has been released since
}

// moment is what the picture of the objects said in a quiet moment.
type moment struct {
	live map[ledger.UID]reason.Reason // what the scheduler itself says of pods that wait
}

// ask is a quiet moment: nothing is under way, so nothing may be released with the room there is. The picture knows the objects alone, so it may say otherwise
// of pods of which the scheduler remembers more than objects tell; the scheduler itself has to say what that is.
func (a *answers) ask() error {
	a.moments++
	m := &moment{live: map[ledger.UID]reason.Reason{}}
	for _, e := range a.Ledger.Explain(a.waiting(), a.now) {
		m.live[e.UID] = e.Reason
		a.codes[e.Reason.Code]++
	}
	p := a.picture()
	for _, uid := range p.Released() {
		if live, waits := m.live[uid]; waits && !remembered(a.World, uid, live) {
			return fmt.Errorf("%s waits (%s), nothing is under way, and the answer is that it is next", uid, live.Text())
		}
	}
	uids := a.waiting()
	for range min(2, len(uids)) { // the search for what would let a pod start takes long
		uid := uids[a.pick.IntN(len(uids))]
		live, waits := m.live[uid]
		if !waits {
			continue
		}
		a.pods++
		says, ok := p.Why(uid)
		switch {
		case !ok:
			return fmt.Errorf("%s waits (%s), and there is no answer", uid, live.Text())
		case says.Verdict == picture.Running:
			return fmt.Errorf("%s waits (%s), and the answer is that it runs", uid, live.Text())
		case says.Verdict == picture.Held && live.Cause().Code == reason.WaitingTurn:
			return fmt.Errorf("%s only waits for its turn, and the answer is %s", uid, says.Reason.Text())
		case blocks(live.Code) && !ofApplications(says.Reason.Code) && (says.Reason.Code != live.Code || says.Reason.Queue != live.Queue):
			return fmt.Errorf("%s waits for: %s; and the answer is: %s", uid, live.Text(), says.Reason.Text())
		}
	}
	a.said = m
	return nil
}

// blocks: a rule that follows from objects alone.
func blocks(code reason.Code) bool {
	switch code {
	case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.MaxPodResources, reason.SchedulingGate, reason.PodGroupNotFound,
		reason.MaxResources, reason.MaxDriverShare:
		return true
	}
	return false
}

// ofApplications: of those that were let in when limits were others, objects tell nothing.
func ofApplications(code reason.Code) bool {
	switch code {
	case reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.MaxApplications, reason.UserMaxApplications:
		return true
	}
	return false
}

// remembered: what keeps the pod is in no object.
func remembered(w *World, uid ledger.UID, live reason.Reason) bool {
	switch cause := live.Cause(); cause.Code {
	case reason.Parked, reason.BackOff, reason.StateAware, reason.QueueStopped,
		reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.MaxApplications, reason.UserMaxApplications, reason.UserLimit,
		reason.UserMaxDriverShare, reason.QueueNotReady, reason.QueueDeleted:
		return true // attempts, of groups too; gates; which applications were let in when limits were others, and so which users ask; which queues were in force
	}
	return classParked(w, uid)
}

// classParked: the attempt of a pod of its class has failed, and that is not shown by a pod any more.
func classParked(w *World, uid ledger.UID) bool {
	class := w.lookUp(uid).seen.Class
	return slices.ContainsFunc(w.known.pods, func(o *pod) bool {
		s, ok := w.Ledger.PodState(o.UID)
		return ok && o.seen.Class == class && (s.State == ledger.Parked || s.BlockedBy.Code == reason.BackOff || s.BlockedBy.Code == "" && o.backedOff)
	})
}

// released is called when the first pod is released after a quiet moment, before anything else has changed. It is the one that order names first. Or no node
// has room for it by the numbers, or its class shows that it fitted none: then order does not name it, and its attempt finds out. Order may name another
// pod than that only where the scheduler remembers more than objects tell, of one of the two or of applications that were let in.
func (a *answers) released(uid ledger.UID) {
	m := a.said
	if a.said = nil; m == nil || a.nominatedUnseen() || a.wholeUnseen() {
		return
	}
	next := a.picture().Order("root", 1)
	if len(next) > 0 && next[0].Pod.UID == uid {
		a.orders++
		return
	}
	says, _ := a.picture().Why(uid)
	switch says.Verdict {
	case picture.Room:
		a.untried++
		return
	case picture.Parked:
		a.retried++
		return
	case picture.Held:
		if blocks(says.Reason.Cause().Code) {
			a.fail("%s was released, and the answer was: %s", uid, says.Reason.Text())
		}
	}
	if ofApplications(says.Reason.Cause().Code) {
		a.excused[says.Reason.Cause().Code]++
		return
	}
	if len(next) == 0 || !next[0].Room {
		a.fail("%s was released (%s before; the answer is %q: %s), and order names none for which there is room", uid, m.live[uid].Text(), says.Verdict, says.Reason.Text())
		return
	}
	for _, of := range []ledger.UID{uid, next[0].Pod.UID} {
		if live, told := m.live[of]; !told || remembered(a.World, of, live) {
			a.excused[live.Code]++ // of no reason: it came since
			return
		}
	}
	a.fail("%s was released (%s before), and order said %s (%s)", uid, m.live[uid].Text(), next[0].Pod.UID, m.live[next[0].Pod.UID].Text())
}

// nominatedUnseen: a pod is nominated and its status does not say so yet, or the other way round.
func (a *answers) nominatedUnseen() bool {
	return slices.ContainsFunc(a.known.pods, func(p *pod) bool {
		node := a.Ledger.NominatedTo(p.UID)
		return p.seen.Node == "" && node != p.seen.Nominated
	})
}

// wholeUnseen: a group has begun and its status does not say so yet, or the other way round.
func (a *answers) wholeUnseen() bool {
	for key, whole := range a.whole() {
		if d, known := a.known.groups[key]; known && d.Whole != whole {
			return true
		}
	}
	return false
}

func (a *answers) run(steps int) error {
	last := -20
	for range steps {
		if err := a.Run(1); err != nil {
			return err
		}
		if a.quiet() && a.Steps >= last+20 {
			last = a.Steps
			if err := a.ask(); err != nil {
				return fmt.Errorf("seed %d, step %d: %w", a.seed, a.Steps, err)
			}
		}
	}
	return nil
}

// Worlds with kept room, gates, drivers that limits stop, and pods that several filters refuse: what is said of a pod in a quiet moment is so, and the pod
// that is released next is the one that order names.
func TestAnswersAreSo(t *testing.T) {
	var all sync.Mutex
	total, codes, excused := answers{}, map[reason.Code]int{}, map[reason.Code]int{}
	for shard := range 2 {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := *fromFlag + uint64(shard); seed < *fromFlag+uint64(4**moments); seed += 2 {
				if *seedFlag != 0 {
					seed = *seedFlag
				}
				a := &answers{codes: map[reason.Code]int{}, excused: map[reason.Code]int{}, pick: rand.New(rand.NewPCG(seed, 11))}
				a.World = New(seed, Options{Every: -1000, Limits: seed/2%2 == 0, Gates: seed/4%2 == 0, Groups: seed/8%2 == 0, Preemption: seed/16%2 == 0})
				a.admitting = a.released
				if err := a.run(600); err != nil {
					t.Fatal(err)
				}
				all.Lock()
				total.moments, total.pods, total.orders = total.moments+a.moments, total.pods+a.pods, total.orders+a.orders
				total.untried, total.retried = total.untried+a.untried, total.retried+a.retried
				for code, n := range a.codes {
					codes[code] += n
				}
				for code, n := range a.excused {
					excused[code] += n
				}
				enough := total.moments >= *moments || *seedFlag != 0
				all.Unlock()
				if enough {
					return
				}
			}
		})
	}
	t.Cleanup(func() {
		others := 0
		for _, n := range excused {
			others += n
		}
		t.Logf("%d moments, %d pods; of the next releases order named %d; %d were of pods without room by the numbers, %d of classes that had fitted no node; %d are excused: %v; pods said %v",
			total.moments, total.pods, total.orders, total.untried, total.retried, others, excused, codes)
		if *seedFlag == 0 && (total.orders < total.untried+total.retried || 10*others > total.orders || len(slices.Collect(maps.Keys(codes))) < 8) {
			t.Error("the test lost its subject")
		}
	})
}
