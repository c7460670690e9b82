package simulator

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/dispatch"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The kinds of objects that are watched, each by an informer of its own.
const (
	queueKind = iota
	nodeKind
	podKind
	groupKind
	policyKind
)

// deliver plans the delivery of a watch event, after those of its kind that are under way.
func (w *World) deliver(kind int, seen func()) {
	at := max(w.watches[kind], w.now+w.rng.Int64N(w.watchTakes))
	if w.rng.IntN(30) == 0 {
		at += w.rng.Int64N(second) // a slow watch
	}
	w.watches[kind] = at
	w.underWay++
	w.within(at-w.now, func() {
		w.underWay--
		seen()
		w.changed()
	})
}

func (w *World) queueChanged(path queue.Path) {
	q, ok := w.queues[path]
	w.deliver(queueKind, func() {
		if !ok {
			w.queueSeen(path, nil)
			return
		}
		w.queueSeen(path, &q)
	})
}

func (w *World) queueSeen(path queue.Path, q *queue.Declaration) {
	w.excess[path] += anything
	w.edits++
	w.excuseEdit(path)
	defer w.requeue()
	w.unsettled, w.stops.edited = true, true
	if path == queue.Root {
		w.excess[users] += anything
	}
	if q == nil {
		delete(w.known.queues, path)
		w.Ledger.ForgetQueue(path)
		w.placeAgain()
		return
	}
	w.known.queues[path] = *q
	w.timeouts[path] = w.timeouts[path].with(*q)
	w.Ledger.ObserveQueue(*q)
	w.placeAgain()
}

func (w *World) nodeChanged(name string) {
	n, ok := w.nodes[name]
	w.deliver(nodeKind, func() {
		if !ok {
			w.nodeSeen(name, nil)
		} else {
			w.nodeSeen(name, &n)
		}
		w.wake()
	})
}

func (w *World) nodeSeen(name string, n *ledger.Node) {
	r := w.roomOf(name)
	w.outdate()
	if n == nil {
		delete(w.known.nodes, name)
		r.node, r.known = ledger.Node{}, false
		w.Ledger.ForgetNode(name)
		return
	}
	w.known.nodes[name] = *n
	r.node, r.known = *n, true
	w.Ledger.ObserveNode(*n)
}

func (w *World) podChanged(p *pod) {
	now, exists := p.Pod, p.exists
	w.deliver(podKind, func() {
		if !exists {
			w.podGone(p)
			return
		}
		w.podSeen(now.UID, &now)
	})
}

// podSeen is the turnstile: the ledger hears of a pod first, kube-scheduler only of those that are inside or assigned.
func (w *World) podSeen(uid ledger.UID, now *ledger.Pod) {
	p := w.pods[uid]
	before, was := p.seen, p.home
	w.learn(p, *now)
	w.Ledger.ObservePod(*now, w.now)
	switch {
	case now.Foreign:
	case now.Node == "" && now.Terminating:
		w.charge(p, "")
	case p.boundByOthers() && w.moveBoundByOther(p):
	case now.Node != "" && p.charged == "":
		w.charge(p, p.home)
		w.excess.grow(p.charged, 1)
		w.crowd[p.charged]++
	case p.charged != "" && before.Application != p.seen.Application:
		w.excess.grow(p.charged, 1)
		w.crowd[p.charged]++
	}
	if p.doubtful && was != p.home {
		w.crowd[p.home]++ // what is in doubt counts where it asks to be by now
	}
	if now.Node != "" && p.since == 0 {
		p.since, p.vague = now.Bound, now.Bound <= 0 || now.Bound > w.now
	}
	w.lookAtStarts()
	w.excuseUsers(before.Application)
	w.excuseUsers(now.Application)
	switch {
	case p.delivered:
		w.kubeUpdate(p, before, now)
	case now.Node != "":
		p.delivered = true
		w.count(p, now.Node, p.asks)
	}
}

// podGone: kube-scheduler frees the room before the ledger gives it to another pod.
func (w *World) podGone(p *pod) {
	w.excuseUsers(p.seen.Application)
	w.unlearn(p)
	if p.delivered {
		w.kubeDelete(p)
	}
	w.Ledger.ForgetPod(p.UID, w.now)
	p.delivered = false
	w.charge(p, "")
	delete(w.pods, p.UID)
	delete(w.shown, p.UID)
	w.lookAtStarts()
}

func (w *World) kubeUpdate(p *pod, before ledger.Pod, now *ledger.Pod) {
	switch {
	case now.Node != "":
		w.remove(p)
		w.count(p, now.Node, p.asks)
		if !before.Request.Equal(now.Request) {
			w.wake()
		}
	case p.on != "": // assumed
		if now.Terminating && !before.Terminating && !w.rejectDeleted(p) {
			w.uncount(p)
			w.wake()
		}
	case p.inFlight:
		p.moved = true
	default:
		w.preEnqueue(p)
	}
}

func (w *World) kubeDelete(p *pod) {
	w.remove(p)
	if p.on != "" && !w.rejectDeleted(p) {
		w.uncount(p)
		w.wake()
	}
}

// port and gate are the turnstile as the dispatcher sees it.
type port struct{ w *World }

func (p port) Exclusive(f func(dispatch.Gate)) { f(gate(p)) }

func (p port) Holds(uid ledger.UID) bool {
	o := p.w.pods[uid]
	return o != nil && (o.place == active || o.inFlight)
}

type gate struct{ w *World }

func (g gate) Admit(uid ledger.UID) {
	w := g.w
	p := w.lookUp(uid)
	now := &p.seen
	if !p.known || now.Foreign || now.Node != "" || now.Terminating || now.Gate != "" {
		w.fail("pod %s was released, which is %+v", uid, *now)
		return
	}
	if p.charged != "" {
		w.fail("pod %s was released, and is charged to %s already", uid, p.charged)
	}
	if w.admitting != nil {
		w.admitting(uid)
	}
	p.reserved, p.doubtful = false, false
	w.moveBoundByOthers()
	w.lookAtStarts() // before: an application that lost all its pods begins again
	w.auditPassing(p, p.home)
	p.alone = true
	w.charge(p, p.home)
	for _, o := range w.pods {
		p.alone = p.alone && (o == p || o.charged != p.charged || o.seen.Role != application.Driver || w.startTogether(p, o))
	}
	w.auditLimits(p, "released")
	w.auditStart(p)
	w.lookAtStarts()
	if p.delivered {
		w.fail("pod %s was released, and was never taken out after its last release", uid)
		return
	}
	p.delivered, p.ticket = true, w.Ledger.Ticket(uid)
	w.preEnqueue(p)
	if p.place != active {
		w.fail("pod %s was released, and PreEnqueue stops it", uid)
	}
	w.adversary.onRelease(p)
}

func (g gate) Withdraw(uid ledger.UID) {
	w := g.w
	p, ok := w.pods[uid]
	if !ok || p.seen.Node != "" {
		return
	}
	p.delivered = false
	w.charge(p, "")
	w.kubeDelete(p) // also one that the failure handler has put back since it was taken out
}

// startTogether: they are of one application, and of one group of more than one pod.
func (w *World) startTogether(p, o *pod) bool {
	a, b := &p.seen, &o.seen
	return a.PodGroup != "" && a.PodGroup == b.PodGroup && a.Application == b.Application && w.known.groups[a.PodGroup].MinMember > 1
}
