package simulator

import "github.com/fairway-scheduler/fairway/pkg/core/heap"

// agenda is what is going to happen, the earliest first and at one time in the order it was planned.
type agenda struct {
	events   []event
	sequence uint64
}

type event struct {
	at       int64
	sequence uint64
	run      func()
}

func (e *event) Before(o *event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	return e.sequence < o.sequence
}

func (e *event) Moved(int) {}

func (a *agenda) plan(at int64, run func()) {
	a.sequence++
	a.events = heap.Push(a.events, event{at: at, sequence: a.sequence, run: run})
}

// next takes out the event that happens next. There must be one.
func (a *agenda) next() (e event) {
	e, a.events = heap.Pop(a.events)
	return e
}

func (a *agenda) len() int { return len(a.events) }
