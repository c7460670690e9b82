package simulator

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// keepQueues is what the leader does for placement: it creates the queues that pods wait for, and deletes empty ones. Now and then a write fails.
func (w *World) keepQueues() {
	do := w.Ledger.PlacementActions(w.now)
	if !w.closing || len(do.Create) > 0 {
		w.within(w.rng.Int64N(second/10), w.keepQueues)
	}
	for _, q := range do.Create {
		if _, exists := w.queues[q.Path]; exists || w.rng.IntN(8) == 0 {
			continue // the watch has yet to show it
		}
		w.auditCreation(q.Path, q.For)
		w.queues[q.Path] = queue.Declaration{
			Path: q.Path, Spec: unlimited(), Created: w.now, Parent: q.Parent, Origin: queue.Origin{Placement: q.Path != queue.Default, For: q.For},
		}
		w.CreatedQueues++
		w.queueChanged(q.Path)
	}
	for _, q := range do.Remove {
		w.auditRemoval(q)
		if d, ok := w.queues[q]; ok && d.Origin.Placement && !d.Origin.Edited && w.rng.IntN(8) > 0 {
			w.RemovedQueues++
			delete(w.queues, q)
			w.queueChanged(q)
		}
	}
}

// auditCreation: a pod that waits belongs there or below, and the name is that of its user or group.
func (w *World) auditCreation(q queue.Path, name string) {
	if !w.opts.Placement || len(w.known.policy) == 0 {
		w.fail("queue %s is to be created without a policy", q)
	}
	if parent := q.Parent(); parent != queue.Root {
		if _, ok := w.known.queues[parent]; !ok {
			w.fail("queue %s is to be created, and %s above it does not exist", q, parent)
		}
	}
	for _, p := range w.known.pods {
		now := &p.seen
		if now.Foreign || now.Node != "" || now.Terminating || p.charged != "" || !q.Contains(p.home) {
			continue
		}
		named := name == "" || name == now.User
		for _, g := range now.Groups {
			named = named || name == g
		}
		if named {
			return
		}
	}
	w.fail("queue %s is to be created for %q, and no pod belongs there", q, name)
}

// auditRemoval: placement created it, no person changed it, nothing is in it or asks for it, and there is nothing below.
func (w *World) auditRemoval(q queue.Path) {
	d, ok := w.known.queues[q]
	if !ok || !d.Origin.Placement || d.Origin.Edited {
		w.fail("queue %s is to be removed, which is %+v", q, d)
	}
	for o := range w.known.queues {
		if o.Parent() == q {
			w.fail("queue %s is to be removed, and %s is below it", q, o)
		}
	}
	for _, p := range w.known.pods {
		now := &p.seen
		if p.charged == q && !p.boundByOthers() || !now.Foreign && now.Node == "" && !now.Terminating && p.home == q {
			w.fail("queue %s is to be removed, and pod %s is in it", q, p.UID)
		}
	}
}

// auditPlaced: a pod that waits is where it belongs, and says why if that is nowhere.
func (w *World) auditPlaced() {
	if !w.opts.Placement {
		return
	}
	for _, p := range w.known.pods {
		now := &p.seen
		if now.Foreign || now.Node != "" || now.Terminating {
			continue
		}
		s, _ := w.Ledger.PodState(p.UID)
		if s.State == ledger.Released || s.State == ledger.Reserved || p.charged != "" {
			if s.Leaf != p.charged {
				w.fail("pod %s is in %s, and was released in %s", p.UID, s.Leaf, p.charged)
			}
			continue
		}
		_, exists := w.known.queues[p.home]
		switch why := s.BlockedBy.Code; {
		case s.Leaf != "" && s.Leaf != p.home:
			w.fail("pod %s of %s %v, which asks for %q, waits in %s and belongs in %s", p.UID, now.User, now.Groups, now.Queue, s.Leaf, p.home)
		case why == reason.CreatingQueue && (exists || s.BlockedBy.Queue != string(p.home)):
			w.fail("pod %s waits for %s to be created, and belongs in %s", p.UID, s.BlockedBy.Queue, p.home)
		case why == reason.PlacementRejected && p.home != queue.Root:
			w.fail("pod %s of %s %v is rejected (%s), and belongs in %s", p.UID, now.User, now.Groups, s.BlockedBy.Text(), p.home)
		case s.Leaf == "" && exists && w.accepting()[p.home]:
			w.fail("pod %s waits in no queue (%s), and belongs in %s", p.UID, why, p.home)
		}
	}
}
