package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// VictimPhase is how far the eviction of a victim has come.
type VictimPhase uint8

const (
	// Chosen means that the pod does not show it yet.
	Chosen VictimPhase = iota
	// Announced means that the pod shows it, and the wait before its eviction runs.
	Announced
	// Evicting means that the API server has accepted the eviction.
	Evicting
)

// Victim is a pod to be evicted so that another has room.
type Victim struct {
	UID                   UID
	Namespace, Name, Node string
	Queue                 queue.Path // of its leaf
	// ForQueue is the queue that claims; ForUID, ForNamespace and ForName are the pod that needs the room.
	ForQueue     queue.Path
	ForUID       UID
	ForNamespace string
	ForName      string
	Kind         preemption.Kind
	// Above is the queue from whose surplus the victim is taken. It had Surplus of Resource above its fair share, Share.
	Above    queue.Path
	Resource resource.Name
	Surplus  int64
	Share    int64

	Phase    VictimPhase
	Due      int64 // when it is to be evicted
	Attempts int   // that failed
}

// victim is what the record of a victim has in addition.
type victim struct {
	Victim
	claimant *record // the pod for whose nomination it is evicted
	claim    *account
	// unlike: the claimant would not fit beside it whatever room there is (a port, an affinity).
	unlike  bool
	with    string // the group that is evicted with it, "" for none
	retryAt int64
	refused int64                 // since when disruption budgets forbid it, 0: they do not
	why     preemption.Withdrawal // decided, and about to be carried out
}

// withdrawn is why a pod that was a victim stays, and the queue for which it was to go.
type withdrawn struct {
	why      preemption.Withdrawal
	forQueue queue.Path
}

const (
	// lastEvictBackOff bounds the pause between attempts to evict a victim.
	lastEvictBackOff int64 = 30e9
)

// reassign gives a victim to another claimant on its node that needs the room, and withdraws it if there is none.
func (l *Ledger) reassign(v *record, e *node) {
	if v.victim == nil || v.victim.Phase == Evicting {
		return
	}
	for _, o := range l.preempting.nominated {
		if o.nomination.node == e && o.nomination.claim != nil && l.needed(v) && v.leaf != nil && !v.leaf.isUnder(o.nomination.claim) {
			v.victim.claimant, v.victim.unlike = o, false
			v.victim.ForUID, v.victim.ForNamespace, v.victim.ForName = o.UID, o.Namespace, o.Name
			o.nomination.victims = append(o.nomination.victims, v)
			return
		}
	}
	l.withdraw(v, preemption.NoClaimant)
}

// needed reports whether the node of a victim lacks room for the pods nominated to it while the victim stays.
func (l *Ledger) needed(v *record) bool {
	e := v.assumedOn
	if e == nil {
		return false
	}
	left, pods := e.used.List(), e.assumed+e.foreignPods
	for _, o := range e.on {
		if o != v && (o.victim != nil || o.leavingAt(l.now)) {
			left, pods = left.Sub(o.Request), pods-1
		}
	}
	return l.overfull(e, left, pods, v.Request)
}

// leavingAt: the pod is terminating, and not for so long that it counts as stuck.
func (r *record) leavingAt(now int64) bool {
	return r.state == Bound && r.Terminating && now <= r.Deadline+preemption.Overstay
}

// withdraw lets a victim stay, and with it the group that was to be evicted with it.
func (l *Ledger) withdraw(v *record, why preemption.Withdrawal) {
	if v.victim == nil || v.victim.Phase == Evicting {
		return
	}
	with := v.victim.with
	why = cmp.Or(v.victim.why, why)
	l.withdrawOne(v, why)
	if with == "" || v.group == nil {
		return
	}
	for _, o := range v.group.pods {
		if o.victim != nil && o.victim.with == with && o.victim.Phase != Evicting {
			l.withdrawOne(o, why)
		}
	}
}

func (l *Ledger) withdrawOne(v *record, why preemption.Withdrawal) {
	if !v.Terminating {
		if l.preempting.withdrawn == nil {
			l.preempting.withdrawn = map[UID]withdrawn{}
		}
		l.preempting.withdrawn[v.UID] = withdrawn{why, v.victim.ForQueue}
	}
	l.preempting.counts.Withdrawn++
	l.dropVictim(v)
}

// dropVictim removes a pod from the victims.
func (l *Ledger) dropVictim(v *record) {
	if v.victim == nil {
		return
	}
	if c := v.victim.claimant; c.nomination != nil {
		c.nomination.victims = slices.DeleteFunc(c.nomination.victims, func(o *record) bool { return o == v })
	}
	v.victim = nil
	l.preempting.victims = slices.DeleteFunc(l.preempting.victims, func(o *record) bool { return o == v })
	v.touch()
	l.version++
}

// touch invalidates the copy of the pod's node.
func (r *record) touch() {
	if r.assumedOn != nil {
		r.assumedOn.changed()
	}
}

// Victims returns the victims of the plans that are being carried out, in the order in which they were chosen.
func (l *Ledger) Victims() []Victim {
	l.mu.Lock()
	defer l.mu.Unlock()
	vs := make([]Victim, 0, len(l.preempting.victims))
	for _, v := range l.preempting.victims {
		vs = append(vs, v.victim.Victim)
	}
	return vs
}
