package report

import (
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Event is something that was said of an object.
type Event struct {
	At            int64 // when it was said last, unix nanoseconds
	Type, Reason  string
	Message, From string
	Times         int64 // how often
	// Pod is namespace/name of the pod that it is about, where events of several are listed.
	Pod string
}

// Events are those of one object, or of one kind, the newest first.
type Events []Event

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (es Events) MarshalJSON() ([]byte, error) {
	type event struct {
		At      string `json:"at"`
		Type    string `json:"type"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
		From    string `json:"from"`
		Times   int64  `json:"times"`
		Pod     string `json:"pod"`
	}
	rows := make([]event, len(es))
	for i, e := range es {
		rows[i] = event{timestamp(e.At), e.Type, e.Reason, e.Message, e.From, e.Times, e.Pod}
	}
	return marshal(rows)
}

// Table has a row for each event.
func (es Events) Table(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{{Title: "AGE"}, {Title: "POD", Usual: nothing}, {Title: "TYPE"}, {Title: "REASON"}, {Title: "TIMES", Right: true}, {Title: "FROM"}, {Title: "MESSAGE"}}}
	for _, e := range es {
		if e.Type != "Normal" {
			t.emphasise(len(t.Rows), yellow)
		}
		t.Keys = append(t.Keys, timestamp(e.At)+" "+e.Pod+" "+e.Reason+" "+e.Message)
		t.Rows = append(t.Rows, []string{
			l.age(e.At), orNothing(reason.Name(e.Pod)), reason.Name(e.Type), reason.Name(e.Reason), strconv.FormatInt(e.Times, 10), reason.Name(e.From),
			reason.Printable(e.Message),
		})
	}
	return t
}
