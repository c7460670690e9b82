package reason

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Text returns the reason as a sentence for people: who, what, how much, and what would help. It has no full
// stop at the end, because events and conditions join sentences.
//
// It may quote what users wrote: it is one line that any terminal may show, and not long.
func (r Reason) Text() string {
	if r.PodGroup = Name(r.PodGroup); r.Code != QueueNameInvalid {
		r.Queue = Name(r.Queue)
	}
	return shown(r.text(), longestText)
}

func (r Reason) text() string {
	switch r.Code {
	case ParentMissing, ParentHasPods, Deleting, PolicyNotAllowed, PolicyBelowFair, FairResourceNotAllowed, MaxPodResourcesRaised,
		FieldIgnored, RunningBelowStopped, CapacityMissing, CapacitySumInvalid, MaxCapacityTooLow, Overcommitted, OverLimit,
		BelowGuaranteed, BelowFairShare, SpecInvalid:
		return r.queueText()
	default:
		return r.podText()
	}
}

// podText returns the sentences about a waiting pod.
func (r Reason) podText() string {
	switch r.Code {
	case QueueNameInvalid, QueueNotFound, QueueNotLeaf, QueueNotReady, PlacementRejected, CreatingQueue, QueueDeleted:
		return r.noQueueText()
	case ReservationNotFound, ReservationPending, ReservationRejected, ReservationNotStarted, ReservationEnded, ReservationCancelled, QueueReserved:
		return r.reservationText()
	case SubmitForbidden, SubmitUnchecked:
		return r.submitText()
	case QueueStopped:
		return r.stoppedText()
	case MaxResources:
		return r.maxResourcesText()
	case MaxPodResources:
		return "queue " + r.Queue + " takes pods of at most " + r.amount(r.Limit) + ", and this pod asks for " + r.amount(r.Asked) +
			"; ask for less, or raise maxPodResources"
	case MaxRunningApplications, UserMaxRunningApplications, MaxApplications, UserMaxApplications:
		return r.applicationLimitText()
	case MaxDriverShare, UserMaxDriverShare, WaitingForDriver:
		return r.driverText()
	case UserLimit:
		return r.userLimitText()
	case StateAware:
		return r.stateAwareText()
	case PodGroupNotFound, GangIncomplete, GangTooLarge, GangWaitsForRoom, BehindGang:
		return r.gangText()
	case Parked:
		return "no node fits this pod" + after(": ", As[Answer](r).Text) + "; it is tried again when a node gains room"
	case BackOff:
		if r.PodGroup != "" {
			return "pod group " + r.PodGroup + " did not get all its places in time; it is tried again shortly"
		}
		return "the last attempt to schedule this pod failed; it is tried again shortly"
	case SchedulingGate:
		return "held by " + orElse(As[Gate](r).Plugin, "another plugin") + "; it goes on when that plugin lets it pass"
	case WaitingForRoom, WaitingForPreferredNodes:
		return r.waitingForNodeText()
	case Terminating:
		return "the pod is being deleted, and gets no node any more"
	case WaitingTurn:
		return "waits for its turn in queue " + r.Queue
	case ApplicationPriorityInvalid:
		return quoted(As[Invalid](r).Why) +
			` in fairway.dev/application-priority has no effect: it must be a whole number from -2147483648 to 2147483647`
	}
	return string(r.Code)
}

func (r Reason) waitingForNodeText() string {
	if r.Code == WaitingForPreferredNodes {
		return r.preferredText()
	}
	return r.waitingForRoomText()
}

func (r Reason) driverText() string {
	if r.Code == WaitingForDriver {
		d := As[Driver](r)
		return "waits with " + orElse(d.Pod, "another pod") + ", the driver of its application" + after(": ", d.Why.Text())
	}
	asks := " and this driver asks for " + r.amount(r.Asked) + "; it waits"
	if r.PodGroup != "" {
		asks = " and those of pod group " + r.PodGroup + " ask for " + r.amount(r.Asked) + "; they wait"
	}
	if r.Code == UserMaxDriverShare {
		return r.userDriversText(asks)
	}
	return "the drivers in queue " + r.Queue + " may use at most " + r.amount(r.Limit) + ": they use " + r.amount(r.Used) + asks +
		" until a driver ends, for a larger fair share, or for a higher maxDriverShare"
}

// queueText returns the sentences about a declared queue.
func (r Reason) queueText() string {
	switch r.Code {
	case ParentMissing:
		parent := As[Parent](r).Path
		return "queue " + r.Queue + " is not in force: its parent " + parent + " does not exist; create Queue " + parent
	case ParentHasPods:
		parent := As[Parent](r).Path
		return "queue " + r.Queue + " is not in force: pods are in its parent " + parent +
			" itself, so " + parent + " stays a queue without children until they are gone"
	case Deleting:
		return r.deletingText()
	case PolicyNotAllowed:
		p := As[Policies](r)
		return "queue " + r.Queue + " has child queues, and policy " + p.Stated + " is only for queues without; " +
			p.InForce + " is in force until policy is changed"
	case PolicyBelowFair:
		p := As[Policies](r)
		return "the parent of queue " + r.Queue + " divides one resource (policy Fair), and policy " + p.Stated + " divides all; " +
			p.InForce + " is in force until one of the two is changed"
	case FairResourceNotAllowed:
		return r.fairResourceText()
	case MaxPodResourcesRaised:
		above := As[Parent](r).Path
		return "queue " + r.Queue + " states maxPodResources of " + r.amount(r.Asked) + ", but " + above + " above it takes pods of at most " +
			r.amount(r.Limit) + "; that is in force until one of the two is changed"
	case FieldIgnored:
		return r.fieldIgnoredText()
	case RunningBelowStopped:
		return r.runningBelowStoppedText()
	case CapacityMissing, CapacitySumInvalid, MaxCapacityTooLow:
		return r.capacityText()
	case Overcommitted:
		return r.overcommittedText()
	case OverLimit:
		return "queue " + r.Queue + " uses " + r.amount(r.Used) + ", above its max of " + r.amount(r.Limit) +
			"; nothing is stopped, and nothing more is released until its usage fits"
	case BelowGuaranteed, BelowFairShare:
		return r.starvationText()
	default:
		return r.specInvalidText()
	}
}

func (r Reason) fairResourceText() string {
	d, only := As[FairResource](r), string(r.Resource)
	why := "the parent of queue " + r.Queue + " divides " + only + " (policy Fair)"
	if d.ByCalculator {
		why = "resourceCalculator Memory of queue root counts " + only + " alone"
	}
	return why + ", so " + r.Queue + " has no share of " + string(d.Stated) + " to divide; fairResource " + only + " is in force until one of the two is changed"
}

func (r Reason) overcommittedText() string {
	d, divided := r.Details.(Divided)
	if !divided {
		g := As[Guarantees](r)
		return "the children of queue " + r.Queue + " are guaranteed " + r.amount(g.Children) + " together, but " +
			r.Queue + " itself only " + r.amount(g.Guaranteed) + "; raise its guaranteed or lower theirs"
	}
	has := "the steady share of " + r.Queue + " is only " + r.amount(d.Share) + "; lower their guarantees, or raise its guaranteed or weight"
	if r.Queue == "root" {
		has = "the cluster has only " + r.amount(d.Share) + "; lower their guarantees, or add nodes"
	}
	return "the children of queue " + r.Queue + " are guaranteed " + r.amount(d.Children) + " together, but " + has
}

func (r Reason) waitingForRoomText() string {
	n, ok := r.Details.(Room)
	nodes := ""
	switch {
	case !ok:
	case n.Usable == 0:
		nodes = "it may use none of the " + strconv.FormatInt(n.Nodes, 10) + " nodes: see its node selector, affinity and tolerations"
	case n.Full == n.Usable:
		nodes = "every node that it may use runs as many pods as it takes"
	default:
		nodes = strconv.FormatInt(n.Usable, 10) + " of " + strconv.FormatInt(n.Nodes, 10) + " nodes may be used by it"
	}
	nodes += n.Kept.text()
	if r.Resource == "" {
		return "no node has room for this pod" + after(": ", nodes)
	}
	return "no node has " + r.amount(r.Asked) + " free for this pod, the closest one has " + r.amount(n.Free) + after("; ", nodes)
}

func (r Reason) maxResourcesText() string {
	head := "queue " + r.Queue + " may use at most " + r.amount(r.Limit)
	who := "this pod"
	if r.PodGroup != "" {
		who = "pod group " + r.PodGroup
	}
	limit := "max"
	if c, ok := r.Details.(MaxCapacity); ok {
		head, limit = head+", with a maxCapacity of "+resource.Decimal(c.Percent)+"%", "max or maxCapacity"
	}
	if r.Asked > r.Limit { // waiting alone will not help
		return head + ", and " + who + " alone asks for " + r.amount(r.Asked) + "; raise " + limit + " or ask for less"
	}
	if k, ok := r.Details.(MaxKept); ok {
		head += ": it uses " + r.amount(r.Used) + ", another " + r.amount(k.Kept) + " are kept for pods for which room is made"
		return head + ", and " + who + " asks for " + r.amount(r.Asked) + "; the pod waits for another " +
			r.amount(resource.SatSub(resource.SatAdd(resource.SatAdd(r.Used, k.Kept), r.Asked), r.Limit)) + " below that max, or for a higher " + limit
	}
	// Asked is 0 if the pod does not ask for the resource: a queue above any of its maxima starts nothing.
	excess := resource.SatSub(resource.SatAdd(r.Used, r.Asked), r.Limit)
	return head + ": it uses " + r.amount(r.Used) + " and " + who + " asks for " + r.amount(r.Asked) +
		"; the pod waits for another " + r.amount(excess) + " below that max, or for a higher " + limit
}

func (r Reason) specInvalidText() string {
	if r.Resource == "" {
		return "queue " + r.Queue + " cannot be used as written" + after(": ", As[Invalid](r).Why) +
			"; until that is mended its last good state stays in force, if it ever had one"
	}
	guaranteed := r.amount(As[Guarantees](r).Guaranteed)
	return "queue " + r.Queue + " is guaranteed " + guaranteed + " but may use at most " + r.amount(r.Limit) +
		"; its max counts as " + guaranteed + " until one of the two is changed"
}

func (r Reason) deletingText() string {
	var keeps []string
	left := As[Leftovers](r)
	if left.Pods > 0 {
		keeps = append(keeps, counted(left.Pods, "1 pod still runs", "pods still run"))
	}
	if left.Children > 0 {
		keeps = append(keeps, counted(left.Children, "1 child queue exists", "child queues exist"))
	}
	if len(keeps) == 0 {
		return "queue " + r.Queue + " is deleted, and nothing keeps it any more"
	}
	return "queue " + r.Queue + " is deleted: " + strings.Join(keeps, " and ") + "; it goes when none is left"
}

// AccountsWrong is the sentence of the event on a Queue for a violation that the scheduler found in its own accounts.
func AccountsWrong(violation string) string {
	return "The scheduler's account is wrong, and preemption is stopped: " + violation
}

// counted prints a number of things.
func counted(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

// amount prints an amount with its resource: "50 cpu", "20Gi memory".
func (r Reason) amount(v int64) string {
	return amount(r.Resource, v)
}

// after joins the parts; if one of them is empty, it returns "".
func after(parts ...string) string {
	for _, p := range parts {
		if p == "" {
			return ""
		}
	}
	return strings.Join(parts, "")
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
