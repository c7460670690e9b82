package ledger

import (
	"math/bits"
	"slices"
)

// lanes is a set of classes, one bit for each while there are at most laneCount of them. Beyond that classes share lanes: a lane then
// promises a pod that one of its classes may have, and the walk looks again where it leads nowhere. (A set of any size in every
// account was rejected: work with a class per pod would fill the memory with bits.)
type lanes uint64

const laneCount = 64

// laneTable says which classes have which lane.
type laneTable struct {
	classes [laneCount][]*class
	shared  bool  // some lane has had several classes at a time
	drivers lanes // those that a class of drivers has or had
}

func (c *class) lane() lanes { return 1 << c.bit }

// enroll gives the class the lane that fewest others have.
func (t *laneTable) enroll(c *class) {
	for i := range t.classes {
		if len(t.classes[i]) < len(t.classes[c.bit]) {
			c.bit = i
		}
	}
	t.shared = t.shared || len(t.classes[c.bit]) > 0
	t.classes[c.bit] = append(t.classes[c.bit], c)
	if c.driver {
		t.drivers |= c.lane()
	}
}

func (t *laneTable) dismiss(c *class) {
	l := t.classes[c.bit]
	i := slices.Index(l, c)
	t.classes[c.bit] = slices.Delete(l, i, i+1)
}

// barred returns those of the lanes in which a limit of the account admits no further pod of any class.
func (l *Ledger) barred(a *account, among lanes) (barred lanes) {
	limitsDrivers := len(a.kids) == 0 && among&l.lanes.drivers != 0
	if a.spec.Max.Len() == 0 && !limitsDrivers {
		return 0
	}
	for rest := among; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros64(uint64(rest))
		if l.stopsAll(a, l.lanes.classes[lane]) {
			barred |= 1 << lane
		}
	}
	if limitsDrivers && barred&l.lanes.drivers != 0 && !a.driversWait {
		a.driversWait = true
		l.driversWait = append(l.driversWait, a)
	}
	return barred
}

func (l *Ledger) stopsAll(a *account, classes []*class) bool {
	for _, c := range classes {
		if !l.stops(a, c) {
			return false
		}
	}
	return true
}

// stops reports whether one more pod of the class would break a hard limit of this very account.
func (l *Ledger) stops(a *account, c *class) bool {
	if a.over(c) {
		return true
	}
	if !c.driver || len(a.kids) > 0 || a.isApplication() {
		return false
	}
	_, _, over := l.driversFull(a, c.request)
	return over
}

// without takes the lane of a class that has had its turn in this walk out, once none of the others in it has one: else each step would go to
// everybody who waits in it, for nothing.
func (l *Ledger) without(open lanes, c *class) lanes {
	for _, o := range l.lanes.classes[c.bit] {
		if o.mark == l.mark {
			return open
		}
	}
	return open &^ c.lane()
}
