package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Leaving is a Queue that is being deleted, and what keeps it. No pod enters it any more, so Pods only falls.
type Leaving struct {
	Path queue.Path
	// Pods are charged to it or below it. Those that somebody else has bound do not count: with the Queue gone, they are charged above it.
	Pods int
	// Children is the number of Queues directly below it, those that cannot be read included.
	Children int
}

// Leaving returns the Queues that are being deleted as far as the ledger has heard, in path order. busy: pods flow.
func (l *Ledger) Leaving() (qs []Leaving, busy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues.leaving(), l.window.pods > 0
}

// leaving counts again each time: it is rare that a Queue leaves, and nothing that flows has to keep counters for it.
func (t *queueTree) leaving() []Leaving {
	var qs []Leaving
	for p, d := range t.declared { // sorted below
		if d.Deleting {
			qs = append(qs, Leaving{Path: p})
		}
	}
	for p := range t.retired { // sorted below
		if _, declared := t.declared[p]; !declared {
			qs = append(qs, Leaving{Path: p})
		}
	}
	if len(qs) == 0 {
		return nil
	}
	slices.SortFunc(qs, func(a, b Leaving) int { return queue.ComparePaths(a.Path, b.Path) })
	at := make(map[queue.Path]*Leaving, len(qs))
	for i := range qs {
		at[qs[i].Path] = &qs[i]
	}
	for p, a := range t.accounts { // order does not matter: sums are exact
		for up := p; up != "" && a.holdsPlaced(); up = up.Parent() {
			if q := at[up]; q != nil {
				q.Pods += a.direct - a.byOthers
			}
		}
	}
	for p := range t.declared {
		if q := at[p.Parent()]; q != nil {
			q.Children++
		}
	}
	for p := range t.unreadable {
		if _, declared := t.declared[p]; declared {
			continue
		}
		if q := at[p.Parent()]; q != nil {
			q.Children++
		}
	}
	return qs
}

func (q Leaving) problem() reason.Reason {
	return reason.Reason{Code: reason.Deleting, Queue: string(q.Path), Details: reason.Leftovers{Pods: int64(q.Pods), Children: int64(q.Children)}}
}
