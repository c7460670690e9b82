package report

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// Reservations is what is reserved in the reservable queues.
type Reservations struct {
	Plans []ReservationPlan
	// Others are of queues in which nothing can be reserved.
	Others []Reservation
}

// ReservationPlan is what is reserved in one queue.
type ReservationPlan struct {
	Queue        queue.Path
	Capacity     resource.List
	Timeline     []reservation.Step
	Reservations []Reservation
}

// Reservation is one Reservation, by namespace/name.
type Reservation struct {
	Name, User string
	reservations.Status
	Now resource.List // what it has now
}

type stepJSON struct {
	From     string            `json:"from"`
	To       string            `json:"to"`
	Reserved map[string]string `json:"reserved"`
}

type reservationJSON struct {
	Name   string `json:"name"`
	User   string `json:"user"`
	Phase  string `json:"phase"`
	Start  string `json:"start"`
	Queue  string `json:"queue"`
	Reason string `json:"reason"`
	// Message is the sentence to the reason, FitsWithDeadline a deadline that helps; "" for none.
	Message          string            `json:"message"`
	FitsWithDeadline string            `json:"fitsWithDeadline"`
	Now              map[string]string `json:"now"`
	Allocation       []stepJSON        `json:"allocation"`
}

func stepsJSON(steps []reservation.Step) []stepJSON {
	out := make([]stepJSON, len(steps))
	for i, s := range steps {
		out[i] = stepJSON{timestamp(s.From * 1e9), timestamp(s.To * 1e9), quantities(s.Amounts)}
	}
	return out
}

func (r Reservation) json() reservationJSON {
	return reservationJSON{
		Name: r.Name, User: r.User, Phase: string(r.Phase), Start: timestamp(r.Start * 1e9), Queue: string(r.At), Reason: r.Refusal.Reason,
		Message: r.Refusal.Message, FitsWithDeadline: timestamp(r.Refusal.Fits * 1e9), Now: quantities(r.Now), Allocation: stepsJSON(r.Steps),
	}
}

func reservationsJSON(all []Reservation) []reservationJSON {
	out := make([]reservationJSON, len(all))
	for i, r := range all {
		out[i] = r.json()
	}
	return out
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (r Reservations) MarshalJSON() ([]byte, error) {
	type plan struct {
		Queue        string            `json:"queue"`
		Capacity     map[string]string `json:"capacity"`
		Timeline     []stepJSON        `json:"timeline"`
		Reservations []reservationJSON `json:"reservations"`
	}
	plans := make([]plan, len(r.Plans))
	for i, p := range r.Plans {
		plans[i] = plan{string(p.Queue), quantities(p.Capacity), stepsJSON(p.Timeline), reservationsJSON(p.Reservations)}
	}
	return marshal(struct {
		Queues []plan            `json:"queues"`
		Others []reservationJSON `json:"others"`
	}{plans, reservationsJSON(r.Others)})
}

// Lines are, for each queue, what is reserved over time and by which reservations.
func (r Reservations) Lines(l Layout) []string {
	var lines []string
	for _, p := range r.Plans {
		lines = append(lines, Wrap("queue "+string(p.Queue)+", entitled to "+l.amounts(p.Capacity)+":", l.Width, "")...)
		if len(p.Timeline) == 0 {
			lines = append(lines, "nothing is reserved")
		} else {
			lines = append(lines, timeline(p, l)...)
		}
		lines = append(lines, "")
		if len(p.Reservations) > 0 {
			lines = append(append(lines, reservationLines(p.Reservations, l)...), "")
		}
	}
	if len(r.Others) > 0 {
		lines = append(append(lines, reservationLines(r.Others, l)...), "")
	}
	if len(lines) == 0 {
		return []string{"no queue is reservable, and there are no reservations"}
	}
	return lines[:len(lines)-1]
}

// timeline has a row for each step. A bar shows which part of the queue is reserved.
func timeline(p ReservationPlan, l Layout) []string {
	t := Table{Columns: []Column{{Title: "FROM"}, {Title: "TO"}, {Title: "RESERVED", Right: true}, {Title: "OF-QUEUE", Right: true}}, Full: l.full()}
	for _, s := range p.Timeline {
		part := thousandths(s.Amounts, p.Capacity)
		t.Rows = append(t.Rows, []string{timestamp(s.From * 1e9), timestamp(s.To * 1e9), l.stated(s.Amounts), strings.TrimSpace(percent(part))})
		if l.Terminal {
			t.Bars = append(t.Bars, Bar{Held: part, Mark: 1000})
		}
	}
	return t.Lines(l.Width, l.Style)
}

func reservationLines(all []Reservation, l Layout) []string {
	t := Table{Columns: []Column{
		{Title: "RESERVATION"}, {Title: "USER", Rank: 3}, {Title: "PHASE"}, {Title: "START"}, {Title: "NOW", Right: true, Rank: 1, Usual: nothing},
		{Title: "QUEUE", Rank: 2, Usual: nothing},
	}, Full: l.full()}
	var notes []string
	for _, r := range all {
		t.Rows = append(t.Rows, []string{
			r.Name, r.User, string(r.Phase), orNothing(timestamp(r.Start * 1e9)), l.stated(r.Now), orNothing(string(r.At)),
		})
		if r.Refusal.Reason != "" {
			notes = append(notes, Wrap(r.Name+": "+r.Refusal.Reason+": "+r.Refusal.Message, l.Width, "")...)
		}
	}
	lines := t.Lines(l.Width, l.Style)
	if len(notes) > 0 {
		lines = append(append(lines, ""), notes...)
	}
	return lines
}

// Reserve is where Reservations would be put that do not exist yet.
type Reserve struct {
	Queue        map[string]queue.Path // by name
	Reservations []Reservation
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (r Reserve) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Reservations []reservationJSON `json:"reservations"`
	}{reservationsJSON(r.Reservations)})
}

// Lines say for each where it would be put, or why not.
func (r Reserve) Lines(l Layout) []string {
	var lines []string
	for _, one := range r.Reservations {
		text := one.Name + " would be accepted in queue " + string(r.Queue[one.Name]) + ":"
		if one.Refusal.Reason != "" {
			text = one.Name + " would not be accepted: " + one.Refusal.Reason + ": " + one.Refusal.Message
		}
		lines = append(lines, Wrap(text, l.Width, "")...)
		t := Table{Columns: []Column{{Title: "FROM"}, {Title: "TO"}, {Title: "RESERVED", Right: true}}, Full: true}
		for _, s := range one.Steps {
			t.Rows = append(t.Rows, []string{timestamp(s.From * 1e9), timestamp(s.To * 1e9), l.stated(s.Amounts)})
		}
		if len(t.Rows) > 0 {
			lines = append(lines, t.Lines(l.Width, l.Style)...)
		}
	}
	return lines
}
