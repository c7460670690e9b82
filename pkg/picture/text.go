package picture

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// changes returns the change that was found and, if the end of something has the same effect, that end.
func (s *search) changes(pod ledger.PodState) []Change {
	c := Change{Edits: s.edits, Nodes: s.nodes, Node: s.node, Kind: ChangeBoth}
	switch {
	case s.nodes == 0:
		c.Kind = ChangeQueues
	case len(s.edits) == 0:
		c.Kind = ChangeNodes
	}
	parts := make([]string, 0, len(s.edits)+1)
	for _, e := range s.edits {
		parts = append(parts, e.text())
	}
	if s.nodes > 0 {
		parts = append(parts, strconv.Itoa(s.nodes)+" more "+plural(s.nodes, "node")+" of "+sizeText(s.node.Allocatable))
	}
	c.Message = "starts with " + strings.Join(parts, ", and ")
	all := []Change{c}
	if len(s.edits) == 1 && s.nodes == 0 {
		all = append(all, s.edits[0].end()...)
	}
	if len(s.edits) == 0 && s.nodes > 0 && len(s.ahead) == 0 && !s.grown {
		all = append(all, Change{
			Kind: ChangeEnd, Message: "starts when " + sizeText(pod.Request) + " are free on one node that it may use",
		})
	}
	return all
}

func (e Edit) text() string {
	to := e.Spelled(e.To)
	switch e.Field {
	case FieldExists:
		return "a Queue " + string(e.Queue)
	case FieldMax, FieldMaxPodResources:
		return "spec." + string(e.Field) + "." + string(e.Resource) + " " + to + " in Queue " + string(e.Queue) + " (now " + e.Spelled(e.From) + ")"
	}
	return "spec." + string(e.Field) + " " + to + " in Queue " + string(e.Queue) + " (now " + e.Spelled(e.From) + ")"
}

// end returns what could end instead of making the edit.
func (e Edit) end() []Change {
	c, amount := Change{Kind: ChangeEnd}, e.To-e.From
	switch e.Field {
	case FieldMax:
		c.Message = "starts when " + e.Spelled(amount) + " more " + string(e.Resource) + " end in queue " + string(e.Queue)
	case FieldMaxRunningApplications, FieldMaxApplications, FieldUserApplications:
		n := int(amount)
		c.Message = "starts when " + strconv.Itoa(n) + " more " + plural(n, "application") + " end in queue " + string(e.Queue)
		if n == 1 {
			c.Message = "starts when 1 more application ends in queue " + string(e.Queue)
		}
	case FieldMaxStarting:
		c.Message = "starts when " + strconv.FormatInt(amount, 10) + " more applications of queue " + string(e.Queue) + " have got on or ended"
		if amount == 1 {
			c.Message = "starts when 1 more application of queue " + string(e.Queue) + " has got on or ended"
		}
	default:
		return nil
	}
	return []Change{c}
}

// neededAtOnce is how many pods of a group must start at once.
func neededAtOnce(why reason.Reason) int64 {
	if n, ok := why.Details.(reason.MinResources); ok {
		return n.Needed
	}
	return reason.As[reason.Packing](why).Needed
}

// byHand says what would help if no change of limits and nodes does.
func (s *search) byHand(why reason.Reason) []Change {
	text := manual(why.Cause())
	switch {
	case text == "":
		return nil
	case why.Cause().Code == reason.WaitingForRoom && len(s.nodeFor) > 0 && !slices.Contains(s.nodeFor, s.stopped):
		text = "a node for its driver and a node for the pod: none that there is may be used by both"
	case s.stopped != s.pod:
		driver, _ := s.ledger.PodState(s.stopped)
		return []Change{{Kind: ChangePod, Message: "starts with its driver, " + driver.Name + ", which starts with: " + text}}
	}
	return []Change{{Kind: ChangePod, Message: "starts with: " + text}}
}

// manual is what somebody can do about a reason that no limit and no node of today is behind; "" for nothing.
func manual(why reason.Reason) (text string) {
	switch why.Code {
	case reason.ReservationNotFound, reason.ReservationPending, reason.ReservationRejected, reason.ReservationNotStarted, reason.ReservationEnded,
		reason.ReservationCancelled:
		text = reservationManual(why)
	case reason.QueueNameInvalid, reason.QueueNotLeaf, reason.QueueDeleted, reason.QueueReserved:
		text = "name another queue in " + queueKey
	case reason.SubmitForbidden:
		text = "a role that grants user " + reason.Name(reason.As[reason.Submitter](why).User) + " the verb submit or administer for queue " + why.Queue + " or one above it"
	case reason.MaxResources:
		text = "a higher maxCapacity of queue " + why.Queue + ", or when other pods of it end"
		if _, kept := why.Details.(reason.MaxKept); kept {
			text = "a higher max of queue " + why.Queue + ", or when other pods of it end"
		}
	case reason.UserLimit:
		field := "users.minSharePercent"
		if reason.As[reason.UserShare](why).ByFactor {
			field = "users.shareFactor"
		}
		text = "a higher " + field + " of queue " + why.Queue + ", or when other pods of user " + reason.Name(reason.As[reason.UserShare](why).User) + " end there"
	case reason.UserMaxDriverShare:
		text = "a higher maxDriverShare, users.minSharePercent or users.shareFactor of queue " + why.Queue + ", or when another driver of user " +
			reason.Name(reason.As[reason.UserShare](why).User) + " ends there"
	case reason.UserMaxApplications:
		text = "a higher maxApplications, users.minSharePercent or users.shareFactor of queue " + why.Queue + ", or when another application of user " +
			reason.Name(reason.As[reason.Applications](why).User) + " ends there"
	case reason.PodGroupNotFound:
		text = "a PodGroup " + reason.Name(why.PodGroup)
	case reason.GangIncomplete:
		n := reason.As[reason.Members](why)
		missing := int(max(n.Needed-n.Exist, 1))
		text = strconv.Itoa(missing) + " more " + plural(missing, "pod") + " in pod group " + reason.Name(why.PodGroup) + ", or a lower " + why.MinimumField() + " of it"
	case reason.GangTooLarge:
		text = "more or larger nodes, or a lower " + why.MinimumField() + " of pod group " + reason.Name(why.PodGroup)
	case reason.GangWaitsForRoom:
		text = "room for " + strconv.FormatInt(neededAtOnce(why), 10) + " pods of pod group " + reason.Name(why.PodGroup) + " at once"
	case reason.BehindGang:
		text = "the start of pod group " + reason.Name(why.PodGroup) + ", or the end of its turn"
	case reason.SchedulingGate:
		text = reason.As[reason.Gate](why).Plugin + " lets the pod pass"
	case reason.Parked:
		text = "what the scheduler's answer asks for: " + reason.As[reason.Answer](why).Text
	case reason.WaitingForRoom:
		text = "a node that the pod may use: its node selector, affinity and tolerations admit none of those there are"
	}
	return text
}

// queueKey is the label or annotation by which a pod names its queue.
const queueKey = "fairway.dev/queue"

// reservationKey is the label by which a pod names its reservation.
const reservationKey = "fairway.dev/reservation"

func sizeText(l resource.List) string {
	parts := make([]string, 0, l.Len())
	for i := range l.Len() {
		e := l.At(i)
		parts = append(parts, resource.Format(e.Name, e.Value)+" "+reason.Name(string(e.Name)))
	}
	if len(parts) == 0 {
		return "any size"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Text says what decided, with the numbers that were compared.
func (p *Picture) Text(d ledger.Decision) string {
	a, b := d.Chosen, d.Over
	if d.By == ledger.ByNomination {
		return a.Name + ": room is kept for the pod on node " + d.Node + ", so it goes before the order of the queues"
	}
	if b.Name == "" && d.Asking {
		return a.Name + ": nobody else in " + string(d.At) + " has such a pod"
	}
	if b.Name == "" {
		return a.Name + ": nobody else in " + string(d.At) + " has a pod that may be released"
	}
	head := a.Name + " before " + b.Name + ": "
	switch d.By {
	case ordering.CriterionGuarantee:
		if b.Below.Below() {
			return head + "it is further below its guarantee, " + partText(a.Below) + " against " + partText(b.Below)
		}
		return head + "it is below its guarantee, " + partText(a.Below) + ", with a pod that asks for what it lacks"
	case ordering.CriterionWeight:
		return head + b.Name + " has weight 0 and gets what nobody with a weight wants"
	case ordering.CriterionCapacity:
		if b.Weight <= 0 {
			return head + b.Name + " has capacity 0% and gets what nobody with a capacity wants"
		}
		return head + "it has the larger capacity, " + capacityText(a) + " against " + capacityText(b)
	case ordering.CriterionShare:
		return head + p.sharesText(d.Rule, a, b)
	case ordering.CriterionPriority:
		return head + "priority " + strconv.Itoa(int(a.Priority)) + " against " + strconv.Itoa(int(b.Priority))
	case ordering.CriterionSubmitted:
		return head + "submitted " + timeText(a.Submitted) + " against " + timeText(b.Submitted)
	default:
		return head + "equal in all else, so by name"
	}
}

// partText says what a queue has of what it is guaranteed, as far as it asks for it.
func partText(p guarantee.Part) string {
	return resource.Format(p.Resource, p.Used) + " of " + resource.Format(p.Resource, p.Owed) + " " + string(p.Resource)
}

// capacityText is the capacity of a queue, or the weight of one that has none.
func capacityText(c ledger.Competitor) string {
	if c.ByCapacity {
		return "capacity " + resource.Decimal(c.Weight) + "%"
	}
	return "weight " + resource.Decimal(c.Weight)
}

func timeText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// reservationManual is what somebody can do for a pod whose reservation gives it no queue.
func reservationManual(why reason.Reason) string {
	switch why.Code {
	case reason.ReservationNotStarted:
		return "the beginning of its reservation"
	case reason.ReservationPending:
		return "an accepted reservation"
	}
	return "another reservation in label " + reservationKey + ", or without the label"
}
