package admission

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Who gets the slots that the end of an application frees:
//
//   - of the applications that wait below the highest queue that was exactly at its limit, the one submitted first that fits;
//   - besides, if the user was exactly at the limit of users, of the applications of the user that wait, the one submitted first that fits.
//
// An application fits if it is within all limits. If neither a queue above nor the user was exactly at the limit, no slot is free for
// another: nobody waits for one, or more run than a lowered limit allows.
//
// For applications that a queue takes in (Entered) it is the same, with the limit of the user in that queue.
//
// While the queue tree is out of date, pods are being moved, the ledger does not lead, or a round is due, no slot is handed on:
// applications.admitWaiting then lets in every application that fits (pkg/ledger/applications.go).

// Freed says which slots the end of an application frees.
type Freed struct {
	below    *Queue // the highest queue that was full; nil if none was
	user     string
	userFull bool
}

// End stops counting an application.
func (s *Slots) End(a *Application) Freed {
	levels := s.path(a.Leaf, a.User)
	f := Freed{user: a.User}
	_, f.userFull = limit.HighestFull(levels[:1])
	if i, full := limit.HighestFull(levels[1:]); full {
		f.below = a.Leaf
		for range i {
			f.below = f.below.Parent
		}
	}
	a.Runs = false
	s.count(a, -1)
	return f
}

// HandOn gives freed slots to the applications that were submitted first: one slot below the queue that was
// full, and one of the user that was at its limit. It returns the applications that run from now on.
func (s *Slots) HandOn(f Freed) (started []*Application) {
	slots := 0
	if f.below != nil {
		slots++
	}
	if f.userFull {
		slots++
	}
	// Thousands of one user may wait. The last that did not fit answers for those of its user in the leaf after it: they were submitted
	// later, which matters where the leaf is stopped, and meanwhile numbers only grow.
	var last *Application
	for range slots {
		i := slices.IndexFunc(s.waiting, func(a *Application) bool {
			if (f.below == nil || !a.Leaf.isUnder(f.below)) && (!f.userFull || a.User != f.user) {
				return false
			}
			if last != nil && a.Leaf == last.Leaf && a.User == last.User || !s.hasRoom(a) {
				last = a
				return false
			}
			return true
		})
		if i < 0 {
			break
		}
		started = append(started, s.waiting[i])
		s.Start(s.waiting[i])
	}
	return started
}

// hasRoom reports whether the application fits in mode Open.
func (s *Slots) hasRoom(a *Application) bool {
	return queue.GoesOn(a.Submitted, a.Leaf.Stop.Since, false) && !limit.Full(s.path(a.Leaf, a.User))
}

func (q *Queue) isUnder(top *Queue) bool {
	for ; q != nil; q = q.Parent {
		if q == top {
			return true
		}
	}
	return false
}
