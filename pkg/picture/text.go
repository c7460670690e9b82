package picture

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// changes are the change that was found, and where something that ends does the same, that.
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
	if len(s.edits) == 0 && s.nodes > 0 && len(s.ahead) == 0 {
		all = append(all, Change{
			Kind: ChangeEnd, Queue: queue.Root, Message: "starts when " + sizeText(pod.Request) + " are free on one node that it may use",
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

// end is what has to end instead of the edit.
func (e Edit) end() []Change {
	c := Change{Kind: ChangeEnd, Queue: e.Queue, Resource: e.Resource, Amount: e.To - e.From}
	switch e.Field {
	case FieldMax:
		c.Message = "starts when " + e.Spelled(c.Amount) + " more " + string(e.Resource) + " end in queue " + string(e.Queue)
	case FieldMaxRunningApplications, FieldUserApplications:
		n := int(c.Amount)
		c.Message = "starts when " + strconv.Itoa(n) + " more " + plural(n, "application") + " end in queue " + string(e.Queue)
		if n == 1 {
			c.Message = "starts when 1 more application ends in queue " + string(e.Queue)
		}
	default:
		return nil
	}
	return []Change{c}
}

// byHand says what would help where no change of limits and nodes does.
func byHand(why reason.Reason) []Change {
	var text string
	switch why.Code {
	case reason.QueueNameInvalid, reason.QueueNotLeaf, reason.QueueDeleted:
		text = "name another queue in " + queueKey
	case reason.SchedulingGate:
		text = why.Other + " lets the pod pass"
	case reason.WaitingForRoom:
		text = "a node that the pod may use: its node selector, affinity and tolerations admit none of those there are"
	default:
		return nil
	}
	return []Change{{Kind: ChangePod, Message: "starts with: " + text}}
}

// queueKey is where a pod names its queue.
const queueKey = "fairway.dev/queue"

func sizeText(l resource.List) string {
	parts := make([]string, 0, l.Len())
	for i := range l.Len() {
		e := l.At(i)
		parts = append(parts, resource.Format(e.Name, e.Value)+" "+string(e.Name))
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
