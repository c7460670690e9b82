package reason

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Taking is why a pod of one queue is preempted for a pod of another: the sentence of plans, events and
// conditions.
type Taking struct {
	Above    string        // the queue from which the pod is taken
	Resource resource.Name // that queue has Surplus of it above its fair share, Share
	Surplus  int64
	Share    int64
	For      string        // the queue that has the claim
	Owed     resource.List // what that queue is owed
	With     string        // the pod group that is evicted with it, "" if it goes alone
}

// Text names both queues, and what one has too much and the other too little of.
func (t Taking) Text() string {
	owed := spelled(t.Owed)
	if v := t.Owed.Get(t.Resource); v > 0 { // the resource was named before
		owed = again(t.Resource, v)
	}
	return t.SurplusText() + "; " + t.For + " is owed " + owed + after("; it goes with its pod group ", t.With)
}

// Eviction is why a pod is evicted: the sentence of the announcement and of the event, without its beginning,
// which the API fixes ("Preempted by queue ").
type Eviction struct {
	Taking        // Above is "" if the claim is not known
	Below  Code   // BelowGuaranteed or BelowFairShare: what the queue with the claim lacks
	Pod    string // namespace/name of the pod that needs the room
	Due    int64  // when it is evicted, unix nanoseconds; 0: now
}

// Text names the claim, the surplus and the time, such as "root.a, which is below its fair share, for pod
// team/p: root.b has 4 cpu above its fair share of 8 cpu".
func (e Eviction) Text() string {
	text := e.For + ", which is below " + Reason{Code: e.Below}.entitlement() + ", for pod " + e.Pod
	if e.Above != "" {
		text += ": " + e.SurplusText()
	}
	return text + after("; it is evicted at ", clock(e.Due), " if that is still so")
}

// SurplusText is the half about the queue from which the pod is taken.
func (t Taking) SurplusText() string {
	return t.Above + " has " + amount(t.Resource, t.Surplus) + " above its fair share of " + again(t.Resource, t.Share)
}

// UnpaidCause is why a claim, or what is left of it, is not covered.
type UnpaidCause string

// The causes, the first that applies.
const (
	// NothingOwed: less than a whole pod is owed.
	NothingOwed UnpaidCause = "NothingOwed"
	// NoSurplus: no queue from which pods could be taken is far enough above its entitlement.
	NoSurplus UnpaidCause = "NoSurplus"
	// InDeadZone: the only surplus is in queues that use no more than preemption.maxIgnoredOverCapacity above their entitlement.
	InDeadZone UnpaidCause = "InDeadZone"
	// NoPlace: there is surplus, but no node on which a claimant would fit if it were given up.
	NoPlace UnpaidCause = "NoPlace"
	// LimitForbids: a max above the claim's queue leaves no room.
	LimitForbids UnpaidCause = "LimitForbids"
	// RoundSpent: the budget of the round is spent, the rest comes in the next.
	RoundSpent UnpaidCause = "RoundSpent"
)

// Unpaid is a claim of Queue, or the rest of it, for which no more pods are preempted.
type Unpaid struct {
	Why   UnpaidCause
	Queue string
	Left  resource.List
	NoPod bool // no pod is left for which more could be preempted: all have nodes by now
}

// Text says how much is left, why, and what would help.
func (u Unpaid) Text() string {
	head := u.Queue + " is still owed " + spelled(u.Left)
	switch u.Why {
	case NothingOwed:
		if u.NoPod {
			return head + ", and all pods for which it claims have nodes by now"
		}
		return head + ", less than its next pod asks for, and no pod is taken for a part of one; it comes as pods end"
	case NoSurplus:
		return head + ", and no other queue has a whole pod more than its fair share that may be taken: what is left is preemptible: false, " +
			"protected by a PodDisruptionBudget, stands in for a pod that was evicted already, or would put its queue under its share; it comes as pods " +
			"end, or with other weights"
	case InDeadZone:
		return head + ", and every queue that has more than its fair share has so little more that it is ignored (preemption.maxIgnoredOverCapacity " +
			"in Queue root); the claim ends, and opens again after its timeout if the queue is still below"
	case NoPlace:
		return head + ", and on no node would its next pod fit if pods above their queue's fair share went: because of taints, selectors, node " +
			"affinity, room or PodDisruptionBudgets; it comes as pods end, or with nodes that its pods may use"
	case LimitForbids:
		return head + ", but a max of it or of a queue above leaves no room for its next pod; it comes with a higher max"
	case RoundSpent:
		return head + ", and one round takes no more; the rest comes in the next (rounds are bounded by the number of pods that they look at, and by " +
			"preemption.totalPerRound and naturalTerminationFactor in Queue root, where pods count that are announced and still run)"
	}
	return head + after(": ", string(u.Why))
}

// NotBusy is why no round is made: Resource is the one that is used most, Used of Total are used, and that is
// not above Threshold, in thousandths.
type NotBusy struct {
	Resource               resource.Name
	Used, Total, Threshold int64
}

// Text says which resource is used most, and when a round would be made.
func (n NotBusy) Text() string {
	return "nothing is taken while the cluster is not busy: of " + amount(n.Resource, n.Total) + " pods hold " + resource.Format(n.Resource, n.Used) +
		", and preemption begins above " + resource.Decimal(n.Threshold) + " of what is used most (preemption.utilizationThreshold in Queue root)"
}

// Round is what a plan found for one claim: the sentence of the event on its queue.
type Round struct {
	Places      int   // waiting pods that got a node
	Victims     int   // pods that are evicted for them
	PodSeconds  int64 // for how long the victims have run together
	ObserveOnly bool
}

// Text counts the pods.
func (r Round) Text() string {
	text := "Places found for waiting pods: " + strconv.Itoa(r.Places) + "; pods of other queues to be evicted for them: " + strconv.Itoa(r.Victims)
	if r.Victims > 0 {
		text += ", which have run for " + strconv.FormatInt(r.PodSeconds, 10) + " pod-seconds"
	}
	if r.ObserveOnly {
		text += "; observeOnly: none of them is"
	}
	return text
}

// PlanRefused is the sentence for a plan that breaks a rule.
func PlanRefused(why string) string { return "No pod is evicted by a plan that breaks a rule: " + why }

// RoomIsMade is the sentence for a pod that waits for victims: so many on its node were announced.
func RoomIsMade(node string, announced int) string {
	return "room is being made for it on node " + node + ", where " + counted(int64(announced), "1 pod is", "pods are") + " announced to be evicted"
}

// WithdrawnCause is why a victim stays after all.
type WithdrawnCause string

// The causes, the first that applies.
const (
	// NotWithdrawn: the victim goes.
	NotWithdrawn WithdrawnCause = ""
	// NoClaimant: the pod for which the victim was to go is not nominated to the node any more: it is gone, runs
	// elsewhere, or its claim has ended.
	NoClaimant WithdrawnCause = "NoClaimant"
	// NotPreemptible: the victim's queue was set to preemptible: false, or the victim is in no queue.
	NotPreemptible WithdrawnCause = "NotPreemptible"
	// BelowShare: without its victims the victim's queue, or one above it, would be below its fair share by now.
	BelowShare WithdrawnCause = "BelowShare"
	// BelowGuarantee: it was to go for a guarantee, and without the victims its queue, or one above it, would have less than its own by now.
	BelowGuarantee WithdrawnCause = "BelowGuarantee"
	// NotNeeded: the claimant has its room without the victim.
	NotNeeded WithdrawnCause = "NotNeeded"
	// BudgetRefuses: disruption budgets have refused the eviction for too long.
	BudgetRefuses WithdrawnCause = "BudgetRefuses"
	// NotPlanned: an earlier process announced the eviction, and no plan of this one takes the pod.
	NotPlanned WithdrawnCause = "NotPlanned"
)

// Withdrawn is why an announced eviction is withdrawn. For is the queue that needed the room, "" if not known.
type Withdrawn struct {
	Why WithdrawnCause
	For string
}

// Text says why the pod stays.
func (w Withdrawn) Text() string {
	who := w.For
	if who == "" {
		who = "another queue"
	}
	const stays = "it is not evicted: "
	switch w.Why {
	case NoClaimant:
		return stays + "no pod of " + who + " is to have its room any more"
	case NotPreemptible:
		return stays + "its queue is not preemptible any more"
	case BelowShare:
		return stays + "its queue, or one above it, would have less than its fair share"
	case BelowGuarantee:
		return stays + "its queue, or one above it, would have less than it is guaranteed"
	case NotNeeded:
		return stays + who + " has room without it"
	case BudgetRefuses:
		return stays + "a PodDisruptionBudget refuses the eviction"
	case NotPlanned:
		return stays + "an earlier process of the scheduler announced it, and no plan takes it now"
	}
	return stays + string(w.Why)
}

// again prints an amount of a resource that was named before: bytes need no name, a bare number does.
func again(n resource.Name, v int64) string {
	if n == resource.Memory {
		return resource.Format(n, v)
	}
	return amount(n, v)
}

func amount(n resource.Name, v int64) string { return resource.Format(n, v) + " " + Name(string(n)) }

// spelled prints the amounts of a list, "nothing" if it is empty.
func spelled(l resource.List) string {
	var words []string
	for i := range l.Len() {
		if e := l.At(i); e.Value > 0 {
			words = append(words, amount(e.Name, e.Value))
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
