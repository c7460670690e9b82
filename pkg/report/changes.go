package report

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Changes are the effects of a change of Queues.
type Changes struct {
	Queues []QueueChange
	// WouldStart are waiting applications whose pods would be released after the change but not before it;
	// WouldNotStart are the opposite.
	WouldStart, WouldNotStart []Application
	BelowGuarantee            []Shortfall
	// Problems are the additional problems that queues would have.
	Problems []reason.Reason
}

// QueueChange names what changes in a queue.
type QueueChange struct {
	Name   string
	Change string // new, gone or changed
	Fields []string
}

// Shortfall is a guarantee that the queue would no longer have.
type Shortfall struct {
	Queue      string
	Resource   resource.Name
	Guaranteed int64
	Has        int64
	// Covered: the queue may have its guarantee but has less than it asks for, so from now on its pods that ask for the resource come first.
	// Otherwise the queues above it do not have what the guarantees below them sum to.
	Covered bool
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (c Changes) MarshalJSON() ([]byte, error) {
	type queueChange struct {
		Name   string   `json:"name"`
		Change string   `json:"change"`
		Fields []string `json:"fields"`
	}
	type application struct {
		Application string `json:"application"`
		Queue       string `json:"queue"`
		User        string `json:"user"`
	}
	type shortfall struct {
		Queue      string        `json:"queue"`
		Resource   resource.Name `json:"resource"`
		Guaranteed string        `json:"guaranteed"`
		Has        string        `json:"has"`
		Covered    bool          `json:"covered"`
		Message    string        `json:"message"`
	}
	type queueProblem struct {
		Queue string `json:"queue"`
		problem
	}
	applications := func(as []Application) []application {
		out := make([]application, len(as))
		for i, a := range as {
			out[i] = application{a.Name, a.Queue, a.User}
		}
		return out
	}
	queues := make([]queueChange, len(c.Queues))
	for i, q := range c.Queues {
		queues[i] = queueChange{q.Name, q.Change, list(q.Fields)}
	}
	below := make([]shortfall, len(c.BelowGuarantee))
	for i, s := range c.BelowGuarantee {
		below[i] = shortfall{s.Queue, s.Resource, quantity(s.Resource, s.Guaranteed), quantity(s.Resource, s.Has), s.Covered, s.text()}
	}
	found := make([]queueProblem, len(c.Problems))
	for i, p := range c.Problems {
		found[i] = queueProblem{p.Queue, problem{p.Code, p.Text()}}
	}
	return marshal(struct {
		Queues         []queueChange  `json:"queues"`
		WouldStart     []application  `json:"wouldStart"`
		WouldNotStart  []application  `json:"wouldNotStart"`
		BelowGuarantee []shortfall    `json:"belowGuarantee"`
		Problems       []queueProblem `json:"problems"`
	}{queues, applications(c.WouldStart), applications(c.WouldNotStart), below, found})
}

// Lines has the effects in sentences. The tables show what changed in queues.
func (c Changes) Lines(l Layout) []string {
	lines := linesOf(c.Sections(l), l)
	if text := c.nothing(); text != "" {
		lines = append([]string{""}, Wrap(text, l.Width, "")...)
	}
	return lines
}

// Sections are the kinds of effects.
func (c Changes) Sections(Layout) []Section {
	names := func(as []Application) []string {
		out := make([]string, len(as))
		for i, a := range as {
			out[i] = reason.Name(a.Name) + " in " + a.Queue
		}
		return out
	}
	var below, found []string
	for _, s := range c.BelowGuarantee {
		below = append(below, s.text())
	}
	for _, p := range c.Problems {
		found = append(found, string(p.Code)+": "+p.Text())
	}
	return []Section{
		{Heading: "Applications that would start now:", Items: names(c.WouldStart)},
		{Heading: "Applications that would no longer start now:", Items: names(c.WouldNotStart)},
		{Heading: "Queues that would fall under their guarantee:", Items: below},
		{Heading: "New problems:", Items: found},
	}
}

// nothing says that there are no such effects; "" if there are.
func (c Changes) nothing() string {
	switch {
	case len(c.WouldStart)+len(c.WouldNotStart)+len(c.BelowGuarantee)+len(c.Problems) > 0:
		return ""
	case len(c.Queues) == 0:
		return "Nothing would change."
	}
	return "Nothing would start or stop waiting, and no guarantee would break."
}

// Comparison is a document before and after a change, and the effects of the change.
type Comparison struct {
	Before, After Compared
	Changes       Changes
}

// MarshalJSON returns all three.
func (c Comparison) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Before  Document `json:"before"`
		After   Document `json:"after"`
		Changes Changes  `json:"changes"`
	}{c.Before, c.After, c.Changes})
}

// Lines shows both side by side, then the effects.
func (c Comparison) Lines(l Layout) []string {
	return append(c.After.Since(c.Before, l), c.Changes.Lines(l)...)
}

// Sections are, of two trees, the queues that differ, then the effects.
func (c Comparison) Sections(l Layout) []Section {
	before, _ := c.Before.(Tree)
	after, _ := c.After.(Tree)
	whole := l
	whole.Terminal = false // names are complete: the queues above are not among the rows
	both := Compare(before.table(whole), after.table(whole), l.Style)
	differing := Table{Columns: both.Columns, Full: l.full()}
	for i, row := range both.Rows {
		if row[1] != "" {
			differing.Keys, differing.Rows = append(differing.Keys, both.Keys[i]), append(differing.Rows, row)
		}
	}
	sections := []Section{{Heading: "Queues before and after:", Table: &differing, None: "no queue differs"}}
	if text := c.Changes.nothing(); text != "" {
		return append(sections, Section{Heading: "Effects:", Items: []string{text}})
	}
	return append(sections, c.Changes.Sections(l)...)
}
