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
	shared  bool // some lane has had several classes at a time
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
}

func (t *laneTable) dismiss(c *class) {
	l := t.classes[c.bit]
	i := slices.Index(l, c)
	t.classes[c.bit] = slices.Delete(l, i, i+1)
}

// barred returns those of the lanes in which a limit of the account admits no further pod of any class.
func (t *laneTable) barred(a *account, among lanes) (barred lanes) {
	if a.spec.Max.Len() == 0 {
		return 0
	}
	for rest := among; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros64(uint64(rest))
		if a.overAll(t.classes[lane]) {
			barred |= 1 << lane
		}
	}
	return barred
}

func (a *account) overAll(classes []*class) bool {
	for _, c := range classes {
		if !a.over(c) {
			return false
		}
	}
	return true
}
