// Package picture answers questions about a cluster at one moment: what is released next and why in this
// order, what a pod waits for, and the smallest change that would let it start.
//
// Input is a ledger that nothing else uses, filled from API objects. Output is values for package report. The
// rules themselves give the answers: a change is made on the ledger, the releases that follow are rehearsed,
// and everything is undone.
//
// The package talks to no cluster and reads no clock. It does not know what only an attempt shows (ports,
// volumes, affinity between pods): a pod that it expects to be released may still fit on no node.
package picture

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Picture is a cluster at one moment.
type Picture struct {
	ledger    *ledger.Ledger
	rehearsal *ledger.Rehearsal
	size      int
	// released is what would be released with the room there is, in order, and place is the index of each pod
	// in it; nil until rehearsed.
	released []ledger.UID
	place    map[ledger.UID]int
	// stopped is what stops a pod before anything more is released.
	stopped map[ledger.UID]reason.Reason
	starved map[queue.Path]starved // taken before any rehearsal
}

// New takes over a ledger that nothing else uses.
func New(l *ledger.Ledger) *Picture {
	starved := starvedQueues(l.Snapshot())
	return &Picture{ledger: l, rehearsal: l.Rehearse(), stopped: map[ledger.UID]reason.Reason{}, starved: starved}
}

// Step is one future release.
type Step struct {
	// Position is its place among all releases, from 1.
	Position int
	Pod      ledger.PodState
	// Room: a node has room for it. Steps without room come after all others, in the order in which they would
	// be released if there were room for all.
	Room      bool
	Decisions []ledger.Decision // from the root down to the application
}

// Order returns the next n releases of pods in or below a queue, and what decided each step.
func (p *Picture) Order(below queue.Path, n int) []Step { return p.next(below, n, true) }

// Line is Order without what decided, which costs more than the order.
func (p *Picture) Line(below queue.Path, n int) []Step { return p.next(below, n, false) }

func (p *Picture) next(below queue.Path, n int, tell bool) []Step {
	p.forget()
	defer p.forget()
	var steps []Step
	room := true
	for position := 1; len(steps) < n; position++ {
		c, ok := p.rehearsal.Next(!room, tell)
		if !ok && room {
			room = false
			c, ok = p.rehearsal.Next(true, tell)
		}
		if !ok {
			break
		}
		pod, _ := p.ledger.PodState(c.UID)
		if below.Contains(pod.Leaf) {
			steps = append(steps, Step{Position: position, Pod: pod, Room: room, Decisions: c.Decisions})
		}
	}
	return steps
}

// forget undoes all rehearsed releases.
func (p *Picture) forget() {
	p.rehearsal.RememberNodes(false)
	p.rehearsal.Back(0)
	p.released, p.place = nil, nil
}

// Stopped is what stops pods before anything more is released, in their order; zero for pods that do not wait.
func (p *Picture) Stopped(uids ...ledger.UID) []reason.Reason {
	p.forget()
	why := make([]reason.Reason, len(uids))
	for i, uid := range uids {
		why[i] = p.rehearsal.Stopped(uid)
	}
	return why
}

// run rehearses everything that would be released with the room there is. Questions about waiting pods are
// answered in the state after it.
func (p *Picture) run() {
	if p.place != nil {
		return
	}
	p.place = map[ledger.UID]int{}
	for c, ok := p.rehearsal.Next(false, false); ok; c, ok = p.rehearsal.Next(false, false) {
		p.released = append(p.released, c.UID)
		p.place[c.UID] = len(p.released)
	}
	p.rehearsal.RememberNodes(true)
	p.size = p.rehearsal.Size()
}

// Prepare announces the pods about which Why will be asked, so that releases are rehearsed only once for all
// of them.
func (p *Picture) Prepare(uids ...ledger.UID) {
	p.forget()
	for _, uid := range uids {
		p.stopped[uid] = p.rehearsal.Stopped(uid)
	}
}
