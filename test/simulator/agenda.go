package simulator

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

func (a *agenda) Len() int { return len(a.events) }
func (a *agenda) Less(i, j int) bool {
	e, o := a.events[i], a.events[j]
	if e.at != o.at {
		return e.at < o.at
	}
	return e.sequence < o.sequence
}
func (a *agenda) Swap(i, j int) { a.events[i], a.events[j] = a.events[j], a.events[i] }
func (a *agenda) Push(x any)    { a.events = append(a.events, x.(event)) }
func (a *agenda) Pop() any {
	e := a.events[len(a.events)-1]
	a.events = a.events[:len(a.events)-1]
	return e
}
