package simulator

import (
	"fmt"
	"math/rand/v2"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// user is one action of a user, and plans the next.
func (w *World) user() {
	if w.closing {
		return
	}
	w.at(w.pace(), w.user)
	if w.opts.Adversary && w.rng.IntN(3) == 0 {
		w.adversary.act()
		return
	}
	if w.opts.Groups && w.rng.IntN(4) == 0 {
		w.groupUser()
		return
	}
	if w.rng.IntN(3) == 0 {
		w.submit()
		return
	}
	p := w.anyPod()
	if p == nil || p.Foreign {
		return
	}
	switch w.rng.IntN(8) {
	case 0, 1:
		w.end(p)
	case 2:
		p.exists = false // force-deleted
		w.podChanged(p)
	case 3:
		if p.Queue = w.anyQueue(); w.opts.Placement && p.Placed == "" {
			p.User, p.Groups = w.generator.drawUser(p.Application)
		}
		w.podChanged(p)
	case 4:
		if p.Gate != "" {
			p.Gate = ""
			w.podChanged(p)
		}
	case 5:
		w.resize(p)
	case 6:
		w.relabel(p)
	case 7:
		w.tell()
		w.showBacklog()
	}
}

// relabel changes a label that spread constraints can see, and perhaps puts the pod in another application of the same user.
func (w *World) relabel(p *pod) {
	if w.opts.Limits && w.rng.IntN(2) == 0 && p.Placed == "" {
		p.Application = fmt.Sprintf("default/job/moved-%d-%s", w.rng.IntN(3), p.Application[len(p.Application)-1:])
	}
	p.Class += "'"
	p.AskedPriority = askedPriority(w.Steps)
	w.podChanged(p)
}

// submit creates up to three pods.
func (w *World) submit() {
	g := w.generator
	for range 1 + w.rng.IntN(3) {
		st := g.style(queue.Path(w.anyQueue()))
		p := g.pod(st, w.now)
		p.Queue = string(st.path)
		switch w.rng.IntN(20) {
		case 0:
			p.Gate = "SchedulingGates"
		case 1: // bound by another scheduler, or by us in an earlier life
			p.Node, p.Bound = w.anyNode(), w.generator.boundAt(w.now)
			if w.rng.IntN(2) == 0 { // below a leaf, or below a parent
				p.Queue = string(w.anyDeclared()) + ".missing"
			}
		case 2:
			p.Node, p.Foreign = w.anyNode(), true
		case 3: // created long ago, and only now its watch tells
			p.Created = 1
		}
		o := &pod{Pod: p, exists: true}
		w.pods[p.UID] = o
		w.podChanged(o)
		if p.Node != "" {
			w.at(second+w.rng.Int64N(3*second), func() { w.end(o) })
		}
	}
}

// end finishes a pod: at once, or by way of termination.
func (w *World) end(p *pod) {
	if !p.exists {
		return
	}
	if w.rng.IntN(2) == 0 {
		p.exists = false
		w.podChanged(p)
		return
	}
	if p.Terminating {
		return
	}
	p.Terminating, p.Deadline = true, w.now+second
	w.podChanged(p)
	w.at(w.rng.Int64N(second), func() { w.vanish(p) })
}

// resize changes a bound pod in place; it may go over limits.
func (w *World) resize(p *pod) {
	if p.Node == "" {
		return
	}
	s := sizeOf(p.Request)
	s[cpu] = max(250, s[cpu]+250*int64(w.rng.IntN(5)-2))
	p.Request = s.list()
	w.podChanged(p)
}

// tell is the status writer. Audits write too, so it has random numbers of its own: a run must not depend on how often it is audited.
func (w *World) tell() {
	rng := rand.New(rand.NewPCG(w.seed, uint64(w.Steps)))
	for _, t := range w.Ledger.TakeConditionUpdates(1 + rng.IntN(4)) {
		if rng.IntN(5) == 0 {
			w.Ledger.RetryConditionUpdate(t.UID)
			continue
		}
		w.write(t)
	}
}

func (w *World) write(t ledger.ConditionUpdate) {
	delete(w.shown, t.UID)
	if t.Reason.Code != "" {
		w.shown[t.UID] = t.Reason.Text()
	}
}

// household is one action of an administrator, and plans the next.
func (w *World) household() {
	if w.closing {
		return
	}
	w.at(w.rng.Int64N(second), w.household)
	w.showBacklog()
	if w.opts.Placement && w.rng.IntN(4) == 0 {
		w.editPolicy()
		return
	}
	if w.opts.Stops && w.rng.IntN(3) == 0 {
		w.editState()
		return
	}
	switch w.rng.IntN(3) {
	case 0:
		w.editNode()
	default:
		w.editQueue()
	}
}

func (w *World) editQueue() {
	path := w.anyDeclared()
	q := w.queues[path]
	prioritise(&q, w.Steps%12)
	w.opts.calculate(&q, w.Steps%3)
	if w.editAsDrawn(&q) {
		w.queues[path] = q
		w.queueChanged(path)
		return
	}
	switch w.rng.IntN(8) {
	case 0, 1: // also below a leaf
		if w.agreesOnCapacity(path) {
			return
		}
		q = w.generator.queue(path)
		q.Created = w.now
		path = q.Path
		if path.Depth() > 6 {
			return
		}
	case 2:
		q.Spec.Weight = w.generator.weight()
	case 3:
		q.Spec.Max, q.Percent.Max = w.generator.limit(w.extent()), resource.List{}
	case 4:
		q.Spec.Max, q.Percent.Max = resource.List{}, resource.List{}
	case 5:
		q.Spec.Policy = queue.Policy(w.rng.IntN(3))
	case 6:
		q.Spec.Guaranteed, q.Percent.Guaranteed = w.generator.limit(w.extent()), resource.List{}
	case 7:
		if path != queue.Root && !q.Spec.Capacity.Stated {
			w.deleteQueue(path)
		}
		return
	}
	w.queues[path] = q
	w.queueChanged(path)
}

// editAsDrawn changes what only worlds with an option have in their queues; false: nothing.
func (w *World) editAsDrawn(q *queue.Declaration) bool {
	switch {
	case w.opts.Limits && w.rng.IntN(3) != 0:
		w.generator.limitQueue(q, w.extent())
		w.editUserLimits(q)
		w.editEntryLimits(q)
	case w.opts.Preemption && w.rng.IntN(4) == 0:
		w.generator.hurried(q)
	case w.opts.Gates && w.rng.IntN(2) == 0:
		w.generator.gateQueue(q)
	case w.opts.Placement && w.rng.IntN(4) == 0:
		q.Parent = w.rng.IntN(3) > 0
		q.MaxCreated = queue.Limit{Stated: q.Parent && w.rng.IntN(2) == 0, Most: int64(w.rng.IntN(5))}
		q.Origin.Edited = true
	default:
		return false
	}
	return true
}

// deleteQueue: at once, or by way of a finalizer; children stay behind.
func (w *World) deleteQueue(path queue.Path) {
	if q := w.queues[path]; !q.Deleting && w.rng.IntN(2) == 0 {
		q.Deleting = true
		w.queues[path] = q
	} else {
		delete(w.queues, path)
	}
	w.queueChanged(path)
}

func (w *World) editNode() {
	name := w.anyNode()
	n, ok := w.nodes[name]
	switch w.rng.IntN(5) {
	case 0:
		n = w.generator.node(size{cpu: 1000 * int64(1+w.rng.IntN(32)), memory: gib * int64(4+w.rng.IntN(200))})
		name = n.Name
	case 1:
		if ok {
			delete(w.nodes, name)
			w.nodeChanged(name)
			w.collect(name)
		}
		return
	case 2:
		n.Allocatable = w.extent().list()
	default:
		n.Usable = !n.Usable
	}
	if n.Name == "" {
		return
	}
	w.nodes[name] = withFacts(n, n.Facts.(facts).ssd != (w.rng.IntN(10) == 0))
	w.nodeChanged(name)
}

// collect deletes the pods of a node that is gone, some time later.
func (w *World) collect(node string) {
	for _, uid := range sorted(w.pods) {
		if p := w.pods[uid]; p.Node == node {
			w.at(w.rng.Int64N(2*second), func() { w.end(p) })
		}
	}
}

// extent is about the size of one node.
func (w *World) extent() size {
	return size{cpu: 1000 * int64(1+w.rng.IntN(64)), gpu: int64(w.rng.IntN(3)), memory: gib * int64(4+w.rng.IntN(300))}
}

func (w *World) anyPod() *pod {
	if len(w.pods) == 0 {
		return nil
	}
	if p := w.pods[sorted(w.pods)[w.rng.IntN(len(w.pods))]]; p.exists {
		return p
	}
	return nil
}

func (w *World) anyDeclared() queue.Path {
	return sorted(w.queues)[w.rng.IntN(len(w.queues))]
}

// anyQueue is what a user may write: mostly a queue, not always one that takes pods, and sometimes nonsense.
func (w *World) anyQueue() string {
	switch w.rng.IntN(20) {
	case 0:
		return "No_Queue"
	case 1:
		return ""
	case 2:
		return string(w.anyDeclared()) + ".missing"
	default:
		return string(w.anyDeclared())
	}
}

func (w *World) anyNode() string {
	if len(w.nodes) == 0 {
		return "node-00"
	}
	return sorted(w.nodes)[w.rng.IntN(len(w.nodes))]
}
