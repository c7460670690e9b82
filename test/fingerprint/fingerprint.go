// Package fingerprint tells what must be the same in two ledgers that were given the same objects, in whatever order and at whatever time.
//
// In: a ledger. Out: a text with a line for each queue, each application and each pod, so that a test can show the lines that differ. It
// uses only what every reader of a ledger sees.
package fingerprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Reading is all that a ledger shows, read while nothing changes it.
type Reading struct {
	Snapshot     ledger.Snapshot
	Leaving      []ledger.Leaving
	Applications []ledger.ApplicationState
	Pods         []ledger.PodState
}

// Read reads a ledger.
func Read(l *ledger.Ledger) Reading {
	leaving, _ := l.Leaving()
	return Reading{Snapshot: l.Snapshot(), Leaving: leaving, Applications: l.Applications(), Pods: l.Pods()}
}

// lines are a fingerprint before it is written.
type lines struct {
	total  resource.List
	queues []queueLine
	apps   []appLine
	pods   []podLine
}

type queueLine struct {
	queueCounts
	usage, demand resource.List
}

type queueCounts struct {
	path                                 queue.Path
	accepting                            bool
	pending, running, accepted, starting int
}

type appLine struct {
	leaf     queue.Path
	name     string
	priority int32
}

type podLine struct {
	uid     ledger.UID
	state   ledger.State
	leaf    queue.Path
	blocked reason.Code
}

// Of returns the fingerprint of a ledger.
func Of(l *ledger.Ledger) string { return Read(l).String() }

// String returns the fingerprint.
func (r Reading) String() string {
	var text strings.Builder
	all := r.lines()
	fmt.Fprintf(&text, "total %v\n", all.total)
	for _, q := range all.queues {
		fmt.Fprintf(&text, "queue %s accepting %v usage %v demand %v pods %d/%d applications accepted %d starting %d\n", q.path, q.accepting,
			q.usage, q.demand, q.pending, q.running, q.accepted, q.starting)
	}
	for _, a := range all.apps {
		fmt.Fprintf(&text, "application %s %s priority %d\n", a.leaf, a.name, a.priority)
	}
	for _, p := range all.pods {
		fmt.Fprintf(&text, "pod %s %s %s %s\n", p.uid, p.state, p.leaf, p.blocked)
	}
	return text.String()
}

// Equal reports whether both have the same fingerprint, without writing it.
func (r Reading) Equal(o Reading) bool {
	x, y := r.lines(), o.lines()
	return same(x.total, y.total) && slices.Equal(x.pods, y.pods) && slices.Equal(x.apps, y.apps) && slices.EqualFunc(x.queues, y.queues, func(p, q queueLine) bool {
		return p.queueCounts == q.queueCounts && same(p.usage, q.usage) && same(p.demand, q.demand)
	})
}

// same reports whether two lists are written alike.
func same(a, b resource.List) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if a.At(i) != b.At(i) {
			return false
		}
	}
	return true
}

func (r Reading) lines() lines {
	deleted := func(q queue.Path) bool {
		return slices.ContainsFunc(r.Leaving, func(o ledger.Leaving) bool { return o.Path == q })
	}
	all := lines{
		total: r.Snapshot.Total, queues: make([]queueLine, 0, len(r.Snapshot.Queues)), apps: make([]appLine, len(r.Applications)),
		pods: make([]podLine, len(r.Pods)),
	}
	for i := range r.Snapshot.Queues {
		q := &r.Snapshot.Queues[i]
		if !q.InTree {
			continue
		}
		counts := queueCounts{
			q.Path, q.Leaf && q.Declared && !deleted(q.Path), q.PodsPending, q.PodsRunning, q.ApplicationsPending, q.ApplicationsStarting,
		}
		all.queues = append(all.queues, queueLine{counts, q.Allocated, q.Demand})
	}
	for i := range r.Applications {
		a := &r.Applications[i]
		all.apps[i] = appLine{a.Queue, a.Name, a.Priority}
	}
	for i := range r.Pods {
		p := &r.Pods[i]
		state := p.State
		if state == ledger.Parked { // a ledger built again has not tried it yet
			state = ledger.Waiting
		}
		all.pods[i] = podLine{p.UID, state, p.Leaf, p.BlockedBy.Code}
	}
	return all
}
