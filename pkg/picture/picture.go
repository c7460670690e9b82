// Package picture answers questions about a cluster as it stands at one moment: what is released next and why in this order, what a pod
// waits for, and the smallest change that would let it start.
//
// In: a ledger that nobody else uses, filled from API objects. Out: values for package report. Answers are not derived beside the rules
// but by the rules: a change is tried on the ledger, the releases that follow are gone through, and everything is taken back.
//
// The package talks to no cluster and reads no clock. What only an attempt tells (ports, volumes, affinity between pods) it does not
// know: a pod that it expects to be released may still fit no node.
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
	// released is what would be released with the room there is, in order, and place where each pod is in it; nil: not gone through yet.
	released []ledger.UID
	place    map[ledger.UID]int
	// stopped is what stops a pod while nothing is released yet.
	stopped map[ledger.UID]reason.Reason
	starved map[queue.Path]reason.Reason // before anything was rehearsed
}

// New takes over a ledger that nobody else uses.
func New(l *ledger.Ledger) *Picture {
	starved := starvedQueues(l.Snapshot())
	return &Picture{ledger: l, rehearsal: l.Rehearse(), stopped: map[ledger.UID]reason.Reason{}, starved: starved}
}

// Step is one release to come.
type Step struct {
	// Position is its place among all releases, from 1.
	Position int
	Pod      ledger.PodState
	// Room: a node has room for it. The steps without come after all that have, in the order in which they would be released if room
	// appeared for all.
	Room      bool
	Decisions []ledger.Decision // from the root down to the application
}

// Order returns the next n releases of pods in or below a queue, with what decided each step.
func (p *Picture) Order(below queue.Path, n int) []Step {
	p.forget()
	defer p.forget()
	var steps []Step
	room := true
	for position := 1; len(steps) < n; position++ {
		c, ok := p.rehearsal.Next(!room, true)
		if !ok && room {
			room = false
			c, ok = p.rehearsal.Next(true, true)
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

// forget takes all releases back.
func (p *Picture) forget() {
	p.rehearsal.Keep(false)
	p.rehearsal.Back(0)
	p.released, p.place = nil, nil
}

// run goes through all that would be released with the room there is. What is asked about what waits is asked of the state after it.
func (p *Picture) run() {
	if p.place != nil {
		return
	}
	p.place = map[ledger.UID]int{}
	for c, ok := p.rehearsal.Next(false, false); ok; c, ok = p.rehearsal.Next(false, false) {
		p.released = append(p.released, c.UID)
		p.place[c.UID] = len(p.released)
	}
	p.rehearsal.Keep(true)
	p.size = p.rehearsal.Size()
}

// Prepare says about which pods Why will be asked: for all of them together, releases need to be gone through only once.
func (p *Picture) Prepare(uids ...ledger.UID) {
	p.forget()
	for _, uid := range uids {
		p.stopped[uid] = p.rehearsal.Stopped(uid)
	}
}
