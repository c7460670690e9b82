package picture

import (
	"slices"
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Kind says what a change changes.
type Kind string

// The kinds of changes.
const (
	// ChangeQueues: fields of Queues, or Queues that are created.
	ChangeQueues Kind = "queues"
	// ChangeNodes: more nodes.
	ChangeNodes Kind = "nodes"
	// ChangeBoth: Queues and nodes.
	ChangeBoth Kind = "queues and nodes"
	// ChangeEnd: pods or applications must end.
	ChangeEnd Kind = "end"
	// ChangePod: something about the pod itself.
	ChangePod Kind = "pod"
)

// Change is a change that would let a pod start.
type Change struct {
	Kind  Kind
	Edits []Edit
	// Nodes is the number of nodes to add, all like Node.
	Nodes   int
	Node    ledger.Node
	Message string
}

// Field is a field of a Queue.
type Field string

// The fields that stop pods.
const (
	FieldMax                    Field = "max"
	FieldMaxPodResources        Field = "maxPodResources"
	FieldMaxRunningApplications Field = "maxRunningApplications"
	FieldMaxApplications        Field = "maxApplications"
	FieldUserApplications       Field = "users.maxRunningApplications"
	FieldMaxDriverShare         Field = "maxDriverShare"
	FieldMaxStarting            Field = "maxStarting"
	// FieldState: the Queue is started. From and To are states.
	FieldState Field = "state"
	// FieldExists: the Queue is created, with an empty spec.
	FieldExists Field = ""
)

// Edit raises a field of a Queue.
type Edit struct {
	Queue    queue.Path
	Field    Field
	Resource resource.Name // for max and maxPodResources
	From, To int64         // amounts of Resource, applications, milli of a share, or states
}

// Spelled returns a value of the field as a Queue spells it.
func (e Edit) Spelled(v int64) string {
	switch e.Field {
	case FieldMax, FieldMaxPodResources:
		return resource.Format(e.Resource, v)
	case FieldMaxDriverShare:
		return resource.Decimal(v)
	case FieldState:
		return queue.State(v).String()
	}
	return strconv.FormatInt(v, 10)
}

// Apply returns the declaration after the edit.
func (e Edit) Apply(d queue.Declaration) queue.Declaration {
	switch e.Field {
	case FieldMax:
		d.Spec.Max, d.Percent.Max = with(d.Spec.Max, e.Resource, e.To), without(d.Percent.Max, e.Resource)
	case FieldMaxPodResources:
		d.Spec.MaxPod, d.Percent.MaxPod = with(d.Spec.MaxPod, e.Resource, e.To), without(d.Percent.MaxPod, e.Resource)
	case FieldMaxRunningApplications:
		d.Spec.MaxRunningApplications = queue.AtMost(e.To)
	case FieldMaxApplications:
		d.Spec.MaxApplications = queue.AtMost(e.To)
	case FieldUserApplications:
		d.Spec.MaxRunningApplicationsPerUser = queue.AtMost(e.To)
	case FieldMaxDriverShare:
		d.Spec.MaxDriverShare = queue.AtMost(e.To)
	case FieldMaxStarting:
		d.Spec.MaxStarting = queue.AtMost(e.To)
	case FieldState:
		d.Spec.State = queue.State(e.To)
	}
	return d
}

func with(l resource.List, n resource.Name, v int64) resource.List {
	return resource.Of(append(entries(without(l, n)), resource.Entry{Name: n, Value: v})...)
}

func without(l resource.List, n resource.Name) resource.List {
	return resource.Of(slices.DeleteFunc(entries(l), func(e resource.Entry) bool { return e.Name == n })...)
}

func entries(l resource.List) []resource.Entry {
	es := make([]resource.Entry, 0, l.Len()+1)
	for i := range l.Len() {
		es = append(es, l.At(i))
	}
	return es
}
