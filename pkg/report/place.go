package report

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
)

// leastOutcome is the shortest line on which an outcome is readable.
const leastOutcome = 24

// Place says in which queue a pod would go, and what each rule answered.
type Place struct {
	Decision placement.Decision
}

// MarshalJSON returns one of two shapes: with the queue, or with the reason why there is none.
func (p Place) MarshalJSON() ([]byte, error) {
	type step struct {
		Rule    string `json:"rule"`
		Outcome string `json:"outcome"`
	}
	d, trace := p.Decision, make([]step, len(p.Decision.Trace))
	for i, s := range d.Trace {
		trace[i] = step(s)
	}
	if d.Rejected.Code != "" {
		return marshal(struct {
			Rejected bool   `json:"rejected"`
			Reason   string `json:"reason"`
			Trace    []step `json:"trace"`
		}{true, d.Rejected.Text(), trace})
	}
	return marshal(struct {
		Queue   string `json:"queue"`
		Created bool   `json:"created"`
		Rule    string `json:"rule"`
		Trace   []step `json:"trace"`
	}{string(d.Queue), len(d.Create) > 0, d.Rule, trace})
}

// Lines are the answer in a sentence, and the rules that were asked.
func (p Place) Lines(l Layout) []string {
	lines := Wrap(p.sentence(), l.Width, "")
	lines = append(lines, "")
	table, room := Table{Columns: []Column{{Title: "RULE"}, {Title: "OUTCOME"}}}, l.Width
	for _, s := range p.Decision.Trace {
		room = min(room, l.Width-wideGap-len(s.Rule))
	}
	if l.Width > 0 {
		room = max(room, leastOutcome)
	}
	for _, s := range p.Decision.Trace {
		rule := s.Rule
		for _, line := range Wrap(s.Outcome, room, "") {
			table.Rows = append(table.Rows, []string{rule, line})
			rule = ""
		}
	}
	return append(lines, table.Lines(l.Width, l.Style)...)
}

func (p Place) sentence() string {
	d := p.Decision
	if d.Rejected.Code != "" {
		return "rejected: " + d.Rejected.Text()
	}
	text := "queue " + string(d.Queue) + ", by rule " + d.Rule
	if len(d.Create) == 0 {
		return text
	}
	var names []string
	for _, c := range d.Create {
		names = append(names, string(c.Path))
	}
	return text + "; created for it: " + strings.Join(names, ", ")
}
