package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Holder is an application and what it holds.
type Holder struct {
	Queue       queue.Path
	Application string
	User        string
	Amount      int64 // of the resource asked about
	Pods        int   // bound
}

// Holders returns the applications in the queue and below it that hold most of a resource, at most n; without a resource, those that
// may run, the oldest first.
func (h *Rehearsal) Holders(below queue.Path, name resource.Name, n int) []Holder {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	return l.holders(below, n, func(app *appAccount) (int64, bool) {
		amount := app.usage.Get(name)
		return amount, name == "" && app.slot.Runs || amount > 0
	})
}

// Drivers returns the applications in the queue whose drivers hold most of a resource, at most n, and what those drivers hold.
func (h *Rehearsal) Drivers(leaf queue.Path, name resource.Name, n int) []Holder {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	hs := l.holders(leaf, n, func(app *appAccount) (int64, bool) {
		amount := app.chargedDrivers().Get(name)
		return amount, amount > 0
	})
	for i := range hs {
		hs[i].Pods = l.queues.accounts[hs[i].Queue].apps[hs[i].Application].boundDrivers()
	}
	return hs
}

func (d *appDrivers) boundDrivers() (n int) {
	for _, r := range d.all { // a count: order does not matter
		n += btoi(r.state == Bound)
	}
	return n
}

// Entered returns the applications that the queue and those below it have taken in, at most n, the oldest first.
func (h *Rehearsal) Entered(below queue.Path, n int) []Holder {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	return l.holders(below, n, func(app *appAccount) (int64, bool) { return 0, app.entry.Runs })
}

// holders returns those of the applications below a queue that hold something, at most n: those that hold most, then the oldest.
func (l *contents) holders(below queue.Path, n int, holds func(*appAccount) (amount int64, some bool)) []Holder {
	type held struct {
		app    *appAccount
		amount int64
	}
	var all []held
	top := l.queues.accounts[below]
	for _, q := range l.queues.Nodes {
		leaf := l.queues.accounts[q.Path]
		if top == nil || !leaf.isUnder(top) {
			continue
		}
		for _, app := range leaf.apps { // sorted below
			if amount, some := holds(app); some {
				all = append(all, held{app, amount})
			}
		}
	}
	slices.SortFunc(all, func(a, b held) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), bySubmission(a.app, b.app))
	})
	hs := make([]Holder, 0, min(n, len(all)))
	for _, e := range all[:min(n, len(all))] {
		hs = append(hs, Holder{Queue: e.app.parent.path, Application: e.app.slot.Name, User: e.app.slot.User, Amount: e.amount, Pods: e.app.running})
	}
	return hs
}

// Starting returns the applications that are starting in a leaf, at most n, in the order in which they leave that state at the latest.
func (h *Rehearsal) Starting(leaf queue.Path, n int) []Holder {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settleAll()
	a := l.queues.accounts[leaf]
	if a == nil {
		return nil
	}
	all := slices.SortedFunc(slices.Values(a.starting), leavesFirst)
	hs := make([]Holder, 0, min(n, len(all)))
	for _, app := range all[:min(n, len(all))] {
		hs = append(hs, Holder{Queue: app.parent.path, Application: app.slot.Name, User: app.slot.User, Pods: app.running})
	}
	return hs
}
