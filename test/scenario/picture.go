package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

// picture is the picture that kubectl fairway makes of the objects.
func (w *World) picture() *picture.Picture {
	l := w.inLive()
	w.writeStatus()
	copied := newLive(l.delay).with(l)
	w.fill(copied)
	copied.ledger.Lead(w.now * second)
	copied.ledger.RestoreHolds(w.now * second)
	return picture.New(copied.ledger)
}

// answer NAME... prints why pods wait, what is ahead of them, and what would let them start.
func (w *World) showAnswer(s statement) (string, error) {
	if _, err := w.inLive().named(s.words); err != nil {
		return "", err
	}
	p := w.picture()
	var out strings.Builder
	for _, name := range s.words {
		a, ok := p.Why(ledger.UID(name))
		if !ok {
			return "", fmt.Errorf("there is no answer for %s", name)
		}
		fmt.Fprintf(&out, "%s: %s", name, a.Verdict)
		if a.Reason.Code != "" {
			fmt.Fprintf(&out, ": %s: %s", a.Reason.Code, a.Reason.Text())
		}
		out.WriteString("\n")
		if a.Ahead > 0 {
			names := make([]string, 0, len(a.First))
			for _, pod := range a.First {
				names = append(names, pod.Name)
			}
			fmt.Fprintf(&out, "  ahead: %d: %s\n", a.Ahead, strings.Join(names, ", "))
		}
		for i, b := range a.Blockers {
			if i > 0 {
				fmt.Fprintf(&out, "  then: %s\n", b.Reason.Text())
			}
			for _, h := range b.Holders {
				fmt.Fprintf(&out, "  held by: %s in %s\n", h.Application, h.Queue)
			}
		}
		for _, c := range a.WouldStartIf {
			fmt.Fprintf(&out, "  %s\n", c.Message)
		}
	}
	return out.String(), nil
}

// next [QUEUE] [n=3] prints the next releases with what decided each.
func (w *World) showNext(s statement) (string, error) {
	below, n := queue.Root, int64(10)
	if len(s.words) > 0 {
		var err error
		if below, err = queue.ParsePath(s.words[0]); err != nil {
			return "", err
		}
	}
	for _, o := range s.options {
		var err error
		if n, err = strconv.ParseInt(o.value(), 10, 32); o.Key != "n" || err != nil {
			return "", fmt.Errorf("%s: only n= and a number may stand here", o.Key)
		}
	}
	p := w.picture()
	var out strings.Builder
	for _, step := range p.Order(below, int(n)) {
		fmt.Fprintf(&out, "%d %s in %s", step.Position, step.Pod.Name, step.Pod.Leaf)
		if !step.Room {
			out.WriteString(", once there is room")
		}
		out.WriteString("\n")
		for _, d := range step.Decisions {
			fmt.Fprintf(&out, "  %s\n", p.Text(d))
		}
	}
	return out.String(), nil
}

// fill tells a new ledger of all objects, the last pod first.
func (w *World) fill(l *live) {
	l.ledger.ObservePlacementPolicy(l.policy)
	for _, p := range slices.Backward(l.pods) {
		l.ledger.ObservePod(p, w.now*second)
	}
	for name, amounts := range l.nodes {
		l.ledger.ObserveNode(ledger.Node{Name: name, Allocatable: amounts, Usable: true, Rack: l.racks[name]})
	}
	for _, g := range l.groups {
		l.ledger.ObservePodGroup(g)
	}
	for _, d := range w.queues {
		l.ledger.ObserveQueue(d)
	}
}
