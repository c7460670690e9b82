package ledger

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// LookCost is what one look of Inspect may cost. It holds the lock for half a millisecond to one, on average; for two at most with 10,000 applications,
// and for five with 100,000 (see BenchmarkInspect).
const LookCost = 2000

const (
	// applicationCost is what an application or a queue costs, in pods.
	applicationCost = 4
	// orderAtOnce is how many entries an order book or a line has at most that is looked at: one look at it takes all of it.
	orderAtOnce = 10_000
)

// Violation is one thing that is wrong in the ledger.
type Violation struct {
	Queue queue.Path // whose account it is; "" for a node
	Text  string
}

// Inspection is what one look found.
type Inspection struct {
	Violations []Violation
	// Complete: a round ended. It has looked at everything that was there all the time.
	Complete bool
	// Stopped: preemption is stopped.
	Stopped bool
}

// inspection is where Inspect stands.
type inspection struct {
	queue    queue.Path // the last queue looked at; "" before the first
	addition addition   // of its pods
	node     int        // the next node, once all queues have been looked at
	faulty   bool       // this round has found a violation
	stopped  bool       // preemption is stopped
}

// Inspect is Check in parts, for a scheduler at work: each look goes on where the last one ended, and costs about as many pods as cost
// says. It adds up applications and queues from their pods and compares nodes with the pods on them.
//
// A violation stops preemption: no plan is made or adopted, no pod is announced or evicted, because the sums that decide about it are
// wrong. Preemption goes on after a whole round without a violation.
func (l *Ledger) Inspect(cost int) Inspection {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := &l.inspection
	if l.queues.stale || l.nodes.totalMoved { // the next decision brings them up to date
		return Inspection{Stopped: in.stopped}
	}
	var is Inspection
	for cost > 0 && !is.Complete {
		found, spent := in.next(&l.queues, &l.nodes, &l.window, cost)
		is.Violations = append(is.Violations, found...)
		is.Complete = in.queue == ""
		cost -= spent
	}
	in.looked(len(is.Violations) > 0, is.Complete)
	is.Stopped = in.stopped
	return is
}

// looked takes in what a look found. Preemption is stopped from a violation to the end of a whole round without one.
func (in *inspection) looked(faulty, complete bool) {
	in.faulty = in.faulty || faulty
	in.stopped = in.faulty || in.stopped && !complete
	in.faulty = in.faulty && !complete
}

// next takes the next step of a round: some pods of an application, at most so many; a queue, or a node.
func (in *inspection) next(queues *queueTree, nodes *nodeTable, w *window, atMost int) (found []Violation, cost int) {
	d := &in.addition
	if d.leaf != nil && queues.accounts[d.leaf.path] != d.leaf {
		d.leaf = nil // it left the tree meanwhile
	}
	switch {
	case d.leaf != nil && (d.app != nil || len(d.applications) > 0):
		return violations(in.queue, d.step(atMost)), applicationCost + d.cost
	case d.leaf != nil:
		wrong := d.end()
		return violations(in.queue, wrong), applicationCost + d.cost
	}
	next, known := slices.BinarySearchFunc(queues.Nodes, in.queue, func(n queue.Node, p queue.Path) int { return queue.ComparePaths(n.Path, p) })
	next += btoi(known)
	if next < len(queues.Nodes) {
		in.queue = queues.Nodes[next].Path
		d.begin(queues.accounts[in.queue])
		return nil, applicationCost + d.cost
	}
	if in.node < len(nodes.all) {
		e := nodes.all[in.node]
		in.node++
		var headed []*record
		if cost = 1 + len(e.on); e.assumed != len(e.on) { // as many nodes as the window has pods, at most
			headed = w.headedFor(e)
			cost += w.pods
		}
		return violations("", e.checkUsed(headed)), cost
	}
	in.queue, in.node = "", 0
	return nil, 1
}

func violations(q queue.Path, texts []string) (vs []Violation) {
	for _, text := range texts {
		vs = append(vs, Violation{Queue: q, Text: text})
	}
	return vs
}

// addition adds up the pods of one queue, over several looks where they are many. Changes of pods that are in the sums already are
// followed, so the sums are those of one moment: the last.
type addition struct {
	leaf         *queueAccount
	applications []*appAccount // to be added
	app          *appAccount   // being added, nil between two
	pods         []*record     // of it, to be added
	all, own     sums          // of leaf, of app
	number       uint32        // what the pods in the sums are marked with, and the applications that are added or being added
	cost         int           // of the last step, in pods
}

func (d *addition) begin(a *queueAccount) {
	*d = addition{leaf: a, number: d.number + 1, applications: d.applications[:0], pods: d.pods[:0], cost: len(a.apps) / 100}
	for _, app := range a.apps { // each for itself: order does not matter
		d.applications = append(d.applications, app)
	}
}

// step adds some pods of an application, and compares it when it has them all.
func (d *addition) step(atMost int) (wrong []string) {
	if d.app == nil {
		last := len(d.applications) - 1
		d.app, d.applications = d.applications[last], d.applications[:last]
		d.app.addedIn, d.own = d.number, sums{}
		for _, e := range d.app.members {
			d.pods = append(d.pods, e.record)
		}
	}
	rest := max(len(d.pods)-atMost, 0)
	d.cost = len(d.pods) - rest
	for _, r := range d.pods[rest:] {
		if r.app == d.app && r.addedIn != d.number {
			d.add(r, r.app, r.footprint(), r.state, 1)
		}
	}
	clear(d.pods[rest:])
	if d.pods = d.pods[:rest]; rest > 0 {
		return nil
	}
	a := d.app
	d.app = nil
	wrong = a.check(&d.own)
	if len(a.members) <= orderAtOnce {
		wrong = append(wrong, a.checkPodQueues()...)
		d.cost += len(a.members)
	}
	return wrong
}

// end compares the queue. Its demand follows from that of its applications, and is left out where they are too many for one look.
func (d *addition) end() []string {
	a := d.leaf
	d.leaf, d.cost = nil, len(a.kids)
	d.all.demand.Reset()
	d.all.addKids(a)
	wrong := a.checkSums(a, &d.all)
	if len(a.apps) <= orderAtOnce {
		d.cost += len(a.apps)
		d.all.addApplicationDemand(a)
		wrong = append(wrong, a.checkDemand(a, &d.all)...)
		wrong = append(wrong, a.checkOrder()...)
	}
	return wrong
}

func (d *addition) add(r *record, app *appAccount, is footprint, s State, sign int) {
	d.all.add(r.Request, is, s == Bound, sign)
	if app == d.app {
		d.own.add(r.Request, is, s == Bound, sign)
	}
	r.addedIn = d.number * uint32(btoi(sign > 0))
}

// follow keeps the sums right when a pod changes that was in the queue, or is now. One that comes to an application which is yet to be added is
// added then.
func (d *addition) follow(r *record, old *queueAccount, oldApp *appAccount, was footprint, oldState State, will footprint) {
	known := r.addedIn == d.number
	if old == d.leaf && known {
		d.add(r, oldApp, was, oldState, -1)
	}
	if r.leaf == d.leaf && (known || old != d.leaf && r.app.addedIn == d.number) {
		d.add(r, r.app, will, r.state, 1)
	}
}

// checkUsed compares a node with the pods listed on it and those that are headed for it.
func (e *node) checkUsed(headed []*record) []string {
	var used resource.Sum
	used.AddSum(&e.foreign)
	for _, r := range e.on {
		used.Add(r.Request)
	}
	for _, r := range headed {
		used.Add(r.Request)
	}
	if n := len(e.on) + len(headed); e.assumed != n || !e.used.Equal(&used) {
		return []string{fmt.Sprintf("node %s: %v taken by %d pods of ours, they add up to %v of %d", e.Name, e.used.List(), e.assumed, used.List(), n)}
	}
	return nil
}
