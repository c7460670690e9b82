package simulator

import (
	"math/rand/v2"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// show is a patch of a pod's status: its PodScheduled condition says Unschedulable with this message, or, where that is "", is taken away.
// kube-scheduler wakes no pod for a change of its status.
func (w *World) show(p *pod, message string) {
	if !p.exists || p.Node != "" || p.Terminating || p.Unschedulable == message {
		return
	}
	p.Unschedulable = message
	w.statusChanged(p)
}

// statusChanged has the ledger alone see a pod.
func (w *World) statusChanged(p *pod) {
	now := p.Pod
	w.deliver(podKind, func() {
		w.learn(p, now)
		w.Ledger.ObservePod(now, w.now)
	})
}

// showBacklog is the writer of these conditions. It has random numbers of its own, like tell.
func (w *World) showBacklog() {
	rng := rand.New(rand.NewPCG(w.seed, uint64(w.Steps)+1<<32))
	show, unshow := w.lookAtBacklog([]int{1, 3, 10, everyPod}[rng.IntN(4)])
	for _, b := range show {
		if p := w.pods[b.UID]; rng.IntN(5) > 0 && p != nil {
			w.show(p, w.backlogMessage(b))
			w.Shown++
		}
	}
	for _, b := range unshow {
		if p := w.pods[b.UID]; rng.IntN(5) > 0 && p != nil {
			w.show(p, "")
			w.Unshown++
		}
	}
}

// backlogMessage is what the writer says in the condition: what a look found, or else what nodes lack.
func (w *World) backlogMessage(b ledger.Backlogged) string {
	if b.Message != "" {
		return b.Message
	}
	s, _ := w.Ledger.Shortage(b.UID)
	return "0/1 nodes are available." + s.Kept.HeldFor()
}

// everyPod is more than any world has.
const everyPod = 10_000

// lookAtBacklog looks at n pods, without a delay: how long a pod has waited depends on the number of looks, and audits
// look too.
func (w *World) lookAtBacklog(n int) (show, unshow []ledger.Backlogged) {
	show, unshow = w.Ledger.Backlog(n, 0, w.now)
	w.auditBacklog(show, unshow, n == everyPod)
	return show, unshow
}

// sums are amounts of queues, subtrees included.
type sums map[queue.Path]size

func (s sums) add(leaf queue.Path, asks size) {
	for q := leaf; q != ""; q = q.Parent() {
		s[q] = s[q].plus(asks)
	}
}

// auditBacklog: a pod that should show Unschedulable waits, no rule blocks it, and every max on its path has space for
// all that are charged and all that will show it. all: the look went through all pods. Then a pod that should lose it is
// blocked, or is one too many for some limit.
func (w *World) auditBacklog(show, unshow []ledger.Backlogged, all bool) {
	loses := map[ledger.UID]bool{}
	for _, b := range unshow {
		loses[b.UID] = true
		if w.lookUp(b.UID).seen.Unschedulable == "" {
			w.fail("pod %s is to lose a condition that it does not show", b.UID)
		}
	}
	shown, waiting := sums{}, sums{}
	asked := len(show)+len(unshow) > 0 // else nobody asks for the sums
	for _, p := range w.known.pods {
		uid, now := p.UID, &p.seen
		shows := now.Unschedulable != "" && !loses[uid]
		if !asked && !shows {
			continue
		}
		state, ours := w.Ledger.PodState(uid)
		switch {
		case p.charged != "":
			shown.add(p.charged, p.asks)
			waiting.add(p.charged, p.asks)
		case ours && state.Leaf != "" && !now.Terminating && now.Node == "":
			waiting.add(p.home, p.asks)
			if shows {
				shown.add(p.home, p.asks)
			}
		}
		if shows && state.State == ledger.Waiting && isHeld(state) {
			w.fail("pod %s goes on to show Unschedulable, although %s holds it", uid, state.BlockedBy.Code)
		}
	}
	w.auditShown(show, shown, all)
	if all {
		w.auditShownAtGates(show, loses)
	}
	for _, b := range unshow {
		if w.mayRunWithAll(w.lookUp(b.UID), waiting) {
			w.fail("pod %s is to lose the condition Unschedulable, and nothing holds it", b.UID)
		}
	}
}

func isHeld(s ledger.PodState) bool {
	return s.Leaf == "" || s.BlockedBy.Code != "" && s.BlockedBy.Code != reason.BackOff
}

// auditShown takes what is charged and what shows it already. A pod that shows it is to show it again only with another message.
func (w *World) auditShown(show []ledger.Backlogged, used sums, all bool) {
	total := w.total()
	for _, b := range show {
		p := w.lookUp(b.UID)
		now := &p.seen
		state, _ := w.Ledger.PodState(b.UID)
		if state.State != ledger.Waiting && state.State != ledger.Parked || state.BlockedBy.Code != "" || now.Gate != "" ||
			(now.Unschedulable != "") != b.Again || w.tooLarge(p.home, p.asks, total) {
			w.fail("pod %s is to show Unschedulable (again: %v): %s %s, shows %q", b.UID, b.Again, state.State, state.BlockedBy.Code, now.Unschedulable)
		}
		if b.Again { // it is among those that show it
			if w.backlogMessage(b) == now.Unschedulable {
				w.fail("pod %s is to show again what it shows: %q", b.UID, now.Unschedulable)
			}
			continue
		}
		used.add(p.home, p.asks)
	}
	for _, b := range show {
		for q := w.lookUp(b.UID).home; q != "" && all; q = q.Parent() {
			if i, over := used[q].over(w.maxOf(q, total)); over {
				w.fail("pod %s is to show Unschedulable, and with those before it queue %s would use %d %s", b.UID, q, used[q][i], resources[i])
			}
		}
	}
}

// mayRunWithAll: nothing holds the pod, and its limits have place for all that wait.
func (w *World) mayRunWithAll(p *pod, waiting sums) bool {
	state, _ := w.Ledger.PodState(p.UID)
	if !ledNow(&p.seen, w.leads()[appKey{p.home, p.seen.Application}]) { // whether its driver may run is not known here
		return false
	}
	if state.BlockedBy.Code != "" || state.Leaf == "" || w.opts.Limits || w.atGate(p) || w.groupWaits(p) {
		return false
	}
	for q := p.home; q != ""; q = q.Parent() {
		if _, over := waiting[q].over(w.maxOf(q, w.total())); over {
			return false
		}
	}
	if p.seen.Role == application.Driver { // the adversary's queue limits drivers in every world
		accepting := w.accepting()
		i, _, _ := w.driverOverBeside(p.home, p.asks, func(o *pod) bool { return o != p && o.at(accepting) == p.home })
		return i < 0
	}
	return true
}
