package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// plan [capacity=(AMOUNTS)] [window=D] [averageShare=P%] [instantaneousShare=P%] [enforcementWindow=D] changes the plan in which reserve reserves, and
// prints which reservations go for that.
func (w *World) setPlan(s statement) (string, error) {
	p := w.inPlan()
	for _, o := range s.options {
		var err error
		switch o.Key {
		case "capacity":
			p.Capacity, err = parseList(o)
		case "window":
			p.Policy.Window, err = parseSeconds(o)
		case "enforcementWindow":
			p.Policy.EnforcementWindow, err = parseSeconds(o)
		case "averageShare":
			p.Policy.AverageShare, err = parseShare(o)
		case "instantaneousShare":
			p.Policy.InstantaneousShare, err = parseShare(o)
		default:
			err = fmt.Errorf("a plan has no %s", o.Key)
		}
		if err != nil {
			return "", err
		}
	}
	var out strings.Builder
	p, dropped := p.Enforce(w.now)
	for _, d := range dropped {
		fmt.Fprintf(&out, "%s goes: %s\n", d.Reservation.Name, d.Text())
	}
	w.plan = &p
	return out.String(), nil
}

// inPlan returns the plan at the present time.
func (w *World) inPlan() reservation.Plan {
	if w.plan == nil {
		return reservation.Plan{Policy: reservation.DefaultPolicy()}
	}
	return w.plan.Advance(w.now)
}

// reserve NAME user=NAME arrival=D deadline=D [interpreter=NAME] [recurrence=D] [request=(pods=N, AMOUNTS, duration=D, concurrency=N) ...] asks for a
// reservation, between times since the beginning, and prints the verdict.
func (w *World) reserve(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	user, d, err := parseDefinition(s)
	if err != nil {
		return "", err
	}
	p, verdict := w.inPlan().Submit(w.now, name, user, d)
	w.plan = &p
	return showVerdict(verdict), nil
}

// parseDefinition reads the options of reserve.
func parseDefinition(s statement) (user string, d reservation.Definition, err error) {
	for _, o := range s.options {
		switch o.Key {
		case "user":
			user = o.value()
		case "arrival":
			d.Arrival, err = parseSeconds(o)
		case "deadline":
			d.Deadline, err = parseSeconds(o)
		case "recurrence":
			d.Recurrence, err = parseSeconds(o)
		case "interpreter":
			d.Interpreter, err = reservation.ParseInterpreter(o.value())
		case "request":
			var r reservation.Request
			r, err = parseRequest(o)
			d.Requests = append(d.Requests, r)
		default:
			err = fmt.Errorf("a reservation has no %s", o.Key)
		}
		if err != nil {
			return "", d, err
		}
	}
	return user, d, nil
}

func showVerdict(v reservation.Verdict) string {
	var out strings.Builder
	switch v.Outcome {
	case reservation.Rejected:
		return fmt.Sprintf("rejected: %s: %s\n", v.Refusal.Code, v.Refusal.Text())
	case reservation.Kept:
		return fmt.Sprintf("not updated: %s: %s\n", v.Refusal.Code, v.Refusal.Text())
	case reservation.Unchanged:
		return "unchanged\n"
	case reservation.Accepted:
		out.WriteString("accepted\n")
	case reservation.Updated:
		out.WriteString("updated\n")
	}
	for _, b := range v.Blocks {
		fmt.Fprintf(&out, "  requests[%d]: %d pods from %s to %s\n", b.Request, b.Pods, instant(b.From), instant(b.To))
	}
	return out.String()
}

// cancel NAME gives a reservation back.
func (w *World) cancel(s statement) (string, error) {
	name, err := s.word("name")
	if err == nil {
		p := w.inPlan().Cancel(w.now, name)
		w.plan = &p
	}
	return "", err
}

// timeline from=D to=D prints what is reserved.
func (w *World) showTimeline(s statement) (string, error) {
	var from, to int64
	for _, o := range s.options {
		at, err := parseSeconds(o)
		if err != nil {
			return "", err
		}
		if o.Key == "from" {
			from = at
		} else {
			to = at
		}
	}
	var out strings.Builder
	for _, step := range w.inPlan().Booked(from, to) {
		fmt.Fprintf(&out, "%s to %s: %s\n", instant(step.From), instant(step.To), step.Amounts)
	}
	if out.Len() == 0 {
		return "nothing is reserved\n", nil
	}
	return out.String(), nil
}

// reservations prints where each reservation stands, and what it has now.
func (w *World) showReservations(statement) (string, error) {
	p := w.inPlan()
	w.plan = &p
	var out strings.Builder
	for _, r := range p.Accepted {
		phase := [...]string{"Accepted", "Active", "Ended"}[r.Phase(w.now)]
		fmt.Fprintf(&out, "%s: %s, %s\n", r.Name, phase, orNothing(r.At(w.now)))
	}
	if out.Len() == 0 {
		return "no reservations\n", nil
	}
	return out.String(), nil
}

func orNothing(l resource.List) string {
	if l.IsZero() {
		return "nothing now"
	}
	return l.String()
}

// parseRequest reads (pods=4, cpu=1, duration=1h, concurrency=2).
func parseRequest(o option) (reservation.Request, error) {
	r := reservation.Request{Concurrency: 1}
	var amounts []resource.Entry
	for _, part := range o.Vals {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch key {
		case "pods":
			r.Pods, err = strconv.ParseInt(value, 10, 64)
		case "concurrency":
			r.Concurrency, err = strconv.ParseInt(value, 10, 64)
		case "duration":
			r.Duration, err = seconds(value)
		default:
			var v int64
			v, err = parseQuantity(resource.Name(key), value)
			amounts = append(amounts, resource.Entry{Name: resource.Name(key), Value: v})
		}
		if err != nil {
			return r, fmt.Errorf("%s: %s: %w", o.Key, key, err)
		}
	}
	r.Resources = resource.Of(amounts...)
	return r, nil
}

func parseSeconds(o option) (int64, error) {
	n, err := seconds(o.value())
	if err != nil {
		return 0, fmt.Errorf("%s: %w", o.Key, err)
	}
	return n, nil
}

func seconds(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d%time.Second != 0 {
		return 0, fmt.Errorf("%q is no duration in whole seconds", text)
	}
	return int64(d / time.Second), nil
}

func parseShare(o option) (int64, error) {
	share, err := parsePercent(o)
	if err == nil && !share.Stated {
		err = errors.New(o.Key + " must be a percentage")
	}
	return share.Most, err
}

// instant prints a time of the scenario.
func instant(at int64) string { return time.Unix(at, 0).UTC().Format(time.RFC3339) }
