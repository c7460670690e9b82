package report

import (
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Starved lists the queues below what they are entitled to, and the pods that are announced as victims.
type Starved struct {
	Queues  []StarvedQueue // in path order
	Victims []AnnouncedVictim
}

// StarvedQueue is one kind of starvation of a queue. Times are unix nanoseconds; 0: not known, or never.
type StarvedQueue struct {
	Queue      string
	Kind       preemption.Kind
	Since, Due int64
	// Claiming: preemption is due, and the queue did not get back all of Owed yet. Each kind has its own amount.
	Claiming bool
	Owed     resource.List
}

// AnnouncedVictim is a pod whose eviction is announced, with the content of its condition.
type AnnouncedVictim struct {
	Pod      ledger.PodState
	For      string // the pod that needs the room, namespace/name
	ForQueue string
	Message  string
}

// NewStarved selects the starved queues of a snapshot.
func NewStarved(s ledger.Snapshot, victims []AnnouncedVictim) Starved {
	out := Starved{Victims: victims}
	for _, q := range s.Queues {
		is := q.Starvation
		// A claim outlives its clock, which stops at the threshold and not at the full share.
		rows := []StarvedQueue{
			{
				Queue: string(q.Path), Kind: preemption.BelowGuaranteed, Since: is.BelowGuaranteedSince, Due: is.GuaranteedDue,
				Claiming: is.GuaranteedClaims, Owed: is.GuaranteedOwed,
			},
			{
				Queue: string(q.Path), Kind: preemption.BelowFairShare, Since: is.BelowFairShareSince, Due: is.FairShareDue,
				Claiming: is.FairShareClaims, Owed: is.FairShareOwed,
			},
		}
		for _, row := range rows {
			if row.Since != 0 || row.Claiming {
				out.Queues = append(out.Queues, row)
			}
		}
	}
	return out
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (s Starved) MarshalJSON() ([]byte, error) {
	type starved struct {
		Queue    string            `json:"queue"`
		Kind     string            `json:"kind"`
		Since    string            `json:"since"`
		Due      string            `json:"due"`
		Claiming bool              `json:"claiming"`
		Owed     map[string]string `json:"owed"`
	}
	type victim struct {
		Pod      string `json:"pod"`
		Queue    string `json:"queue"`
		Node     string `json:"node"`
		For      string `json:"for"`
		ForQueue string `json:"forQueue"`
		Since    string `json:"since"`
		Message  string `json:"message"`
	}
	queues, victims := make([]starved, len(s.Queues)), make([]victim, len(s.Victims))
	for i, q := range s.Queues {
		queues[i] = starved{q.Queue, q.Kind.String(), timestamp(q.Since), timestamp(q.Due), q.Claiming, quantities(q.Owed)}
	}
	for i, v := range s.Victims {
		victims[i] = victim{fullName(v.Pod), string(v.Pod.Leaf), v.Pod.Node, v.For, v.ForQueue, timestamp(v.Pod.Announced), v.Message}
	}
	return marshal(struct {
		Starved []starved `json:"starved"`
		Victims []victim  `json:"victims"`
	}{queues, victims})
}

func fullName(p ledger.PodState) string { return p.Namespace + "/" + p.Name }

// podText is the name of a pod in a sentence.
func podText(p ledger.PodState) string { return reason.Name(fullName(p)) }

// Lines has a row for each queue, and one for each announced pod.
func (s Starved) Lines(l Layout) []string {
	if len(s.Queues) == 0 && len(s.Victims) == 0 {
		return []string{Clip("(no queue is starved, and no eviction is announced)", l.Width)}
	}
	return linesOf(s.Sections(l), l)
}

// Since has the rows of both.
func (s Starved) Since(before Document, l Layout) []string {
	b, _ := before.(Starved)
	if len(s.Queues)+len(s.Victims)+len(b.Queues)+len(b.Victims) == 0 {
		return s.Lines(l)
	}
	return linesOf(s.sections(Compare(b.queues(l), s.queues(l), l.Style), Compare(b.victims(l), s.victims(l), l.Style)), l)
}

func (s Starved) queues(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "QUEUE"}, {Title: "BELOW"}, {Title: "SINCE", Right: true, Rank: 1}, {Title: "DUE", Right: true}, {Title: "OWED", Rank: 2},
	}}
	for i, q := range s.Queues {
		t.Keys = append(t.Keys, q.Queue+" "+q.Kind.String())
		t.Rows = append(t.Rows, []string{q.Queue, q.Kind.String(), l.age(q.Since), l.due(q), l.stated(q.Owed)})
		if q.Claiming {
			t.emphasise(i, yellow)
		}
	}
	return t
}

// due says in how long pods are preempted for the queue.
func (l Layout) due(q StarvedQueue) string {
	switch {
	case q.Claiming:
		return "now"
	case q.Due == 0:
		return "never"
	}
	return "in " + l.age(2*l.Now-max(q.Due, l.Now))
}

func (s Starved) victims(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "POD"}, {Title: "QUEUE"}, {Title: "NODE", Rank: 3}, {Title: "FOR", Rank: 2, Usual: nothing}, {Title: "FOR-QUEUE"},
		{Title: "SINCE", Right: true, Rank: 1},
	}}
	if l.Wide {
		t.Columns = append(t.Columns, Column{Title: "MESSAGE"})
	}
	for _, v := range s.Victims {
		row := []string{fullName(v.Pod), string(v.Pod.Leaf), v.Pod.Node, orNothing(v.For), orNothing(v.ForQueue), l.age(v.Pod.Announced)}
		if l.Wide {
			row = append(row, v.Message)
		}
		t.Keys, t.Rows = append(t.Keys, string(v.Pod.UID)), append(t.Rows, row)
	}
	return t
}
