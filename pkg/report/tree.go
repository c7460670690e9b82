package report

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Tree is all queues, or one queue and those below it.
type Tree struct {
	Cluster  resource.List
	Queues   []Queue // in path order; last those whose names are no paths
	Unplaced []ledger.Unplaced
}

// NewTree selects the queues of a snapshot from top down.
func NewTree(s ledger.Snapshot, unplaced []ledger.Unplaced, top queue.Path) Tree {
	t := Tree{Cluster: s.Total}
	var elsewhere []Queue // their names are no paths from the root
	for _, q := range s.Queues {
		switch {
		case top.Contains(q.Path):
			t.Queues = append(t.Queues, queueOf(q))
		case top == queue.Root:
			elsewhere = append(elsewhere, queueOf(q))
		}
	}
	t.Queues = append(t.Queues, elsewhere...)
	for _, u := range unplaced {
		if top == queue.Root || top.Contains(u.Queue) {
			t.Unplaced = append(t.Unplaced, u)
		}
	}
	return t
}

func queueOf(q ledger.QueueState) Queue {
	out := Queue{
		Name: string(q.Path), Weight: q.Spec.Weight, Absolute: q.Absolute, State: stateOf(q), Active: q.Active,
		SteadyFairShare: q.SteadyFairShare, FairShare: q.FairShare, Guaranteed: q.Spec.Guaranteed, Max: q.Spec.Max,
		Allocated: q.Allocated, Demand: q.Demand, Pending: int64(q.PodsPending), Running: int64(q.PodsRunning),
		ApplicationsPending: int64(q.ApplicationsPending), ApplicationsStarting: int64(q.ApplicationsStarting),
		ApplicationsRunning: int64(q.ApplicationsRunning),
		ApplicationLimit:    q.ApplicationLimit, DriverLimit: q.DriverLimit, Limits: limitsOf(q), Effective: EffectiveOf(q),
		Holds: q.Holds, Problems: q.Problems,
	}
	if q.InTree && q.Spec.Capacity.Stated {
		out.Capacity = resource.Decimal(q.Spec.Capacity.Most) + "%"
	}
	if q.Starts != nil {
		out.StartingTimeout, out.Starting = q.Starts.Timeout, q.Starts.Starting
	}
	if q.InTree {
		out.Policy, out.Calculator = q.Spec.Policy.String(), q.Spec.Calculator
	} else if len(q.Problems) == 0 { // as in its condition Ready
		out.Problems = []reason.Reason{{Code: reason.QueueNotReady, Queue: string(q.Path)}}
	}
	return out
}

func stateOf(q ledger.QueueState) string {
	unreadable := false
	for _, p := range q.Problems {
		if p.Code == reason.Deleting {
			return StateDraining
		}
		unreadable = unreadable || p.Code == reason.SpecInvalid
	}
	switch {
	case !q.InTree, !q.Declared && unreadable:
		return StateNotReady
	case !q.Declared && q.Path != queue.Root:
		return StateUndeclared
	case q.StoppedSince != 0:
		return q.State.String()
	}
	return StateRunning
}

// MarshalJSON returns the shape that tools rely on; see Queue.
func (t Tree) MarshalJSON() ([]byte, error) {
	type unplaced struct {
		Queue   string      `json:"queue"`
		Reason  reason.Code `json:"reason"`
		Message string      `json:"message"`
		Pods    int         `json:"pods"`
	}
	outside := make([]unplaced, len(t.Unplaced))
	for i, u := range t.Unplaced {
		outside[i] = unplaced{string(u.Queue), u.Reason.Code, u.Reason.Text(), u.Pods}
	}
	return marshal(struct {
		Cluster  map[string]string `json:"cluster"`
		Queues   []Queue           `json:"queues"`
		Unplaced []unplaced        `json:"unplaced"`
	}{quantities(t.Cluster), list(t.Queues), outside})
}

// Lines has a row for each queue, then the problems in sentences.
func (t Tree) Lines(l Layout) []string {
	table := t.table(l)
	if l.Terminal && !l.Wide {
		table.Bars = t.bars()
	}
	return append(table.Lines(l.Width, l.Style), linesOf(t.Remarks(), l)...)
}

// Since has the rows of both. New problems are in the Changes.
func (t Tree) Since(before Document, l Layout) []string {
	b, _ := before.(Tree)
	table := Compare(b.table(l), t.table(l), l.Style)
	return append(table.Lines(l.Width, l.Style), t.outside().lines(l)...)
}

func (t Tree) table(l Layout) Table {
	table := queueTable(t.Queues, l, true)
	table.Full = l.full()
	depth := make(map[queue.Path]int, len(t.Queues)) // of the queues shown so far
	for i, q := range t.Queues {
		table.Keys = append(table.Keys, q.Name)
		if len(q.Problems) > 0 {
			table.emphasise(i, yellow)
		}
		path := queue.Path(q.Name)
		// If the parent is not shown, indenting would put the queue below another one.
		if above, shown := depth[path.Parent()]; shown {
			depth[path] = above + 1
			if l.Terminal {
				table.Rows[i][0] = strings.Repeat("  ", above+1) + reason.Name(path.Leaf())
			}
		} else {
			depth[path] = 0
		}
	}
	return table
}

// bars show parts of what the top queue has: of the cluster, if that is the root.
func (t Tree) bars() []Bar {
	bars := make([]Bar, len(t.Queues))
	whole := t.Cluster
	if len(t.Queues) > 0 && t.Queues[0].Name != string(queue.Root) {
		whole = t.Queues[0].SteadyFairShare.Max(t.Queues[0].FairShare).Max(t.Queues[0].Allocated)
	}
	for i, q := range t.Queues {
		bars[i] = QueueBar(q, whole)
	}
	return bars
}

// calculator says what counts, if that is not as usual.
func (t Tree) calculator() []string {
	if slices.ContainsFunc(t.Queues, func(q Queue) bool { return q.Calculator == queue.MemoryCalculator }) {
		return []string{memoryText}
	}
	return nil
}

func (t Tree) outside() Section {
	var items []string
	for _, u := range t.Unplaced {
		items = append(items, counted(u.Pods, "pod waits", "pods wait")+": "+u.Reason.Text())
	}
	return Section{Heading: "In no queue:", Items: items}
}
