package book

import (
	"math/bits"
	"slices"
)

// Lanes is a set of lanes. A lane stands for one class as long as there were never more than LaneCount at a time. Beyond that, classes
// share lanes: a lane then promises a pod of one of its classes, and a walk that finds none of its own class there looks elsewhere. (A set
// of any size in every account was rejected: work with a class for each pod would fill the memory with bits.)
type Lanes uint64

// Lane is one bit of Lanes.
type Lane uint8

// LaneCount is how many lanes there are.
const LaneCount = 64

// Set returns the set of this lane alone.
func (l Lane) Set() Lanes { return 1 << l }

// First returns the lowest lane of the set, which is not empty.
func (s Lanes) First() Lane { return Lane(bits.TrailingZeros64(uint64(s))) }

// LaneTable says which classes have which lane.
type LaneTable[C comparable] struct {
	classes [LaneCount][]C
	kinds   [LaneCount]string // of the class that came to the lane first
	shared  bool
}

// Add gives the class a lane: one that no class has; else, of those that began with a class of its kind, the one that the fewest classes have; else, of
// all.
func (t *LaneTable[C]) Add(c C, kind string) Lane {
	least, alike := 0, -1
	for i := range t.classes {
		if len(t.classes[i]) < len(t.classes[least]) {
			least = i
		}
		if t.kinds[i] == kind && (alike < 0 || len(t.classes[i]) < len(t.classes[alike])) {
			alike = i
		}
	}
	switch {
	case len(t.classes[least]) == 0:
		t.kinds[least] = kind
	case alike >= 0:
		least = alike
	}
	t.shared = t.shared || len(t.classes[least]) > 0
	t.classes[least] = append(t.classes[least], c)
	return Lane(least)
}

// Remove takes the class out of its lane.
func (t *LaneTable[C]) Remove(c C, l Lane) {
	i := slices.Index(t.classes[l], c)
	t.classes[l] = slices.Delete(t.classes[l], i, i+1)
}

// Classes returns those that have the lane.
func (t *LaneTable[C]) Classes(l Lane) []C { return t.classes[l] }

// Shared reports whether some lane has, or once had, several classes at a time.
func (t *LaneTable[C]) Shared() bool { return t.shared }
