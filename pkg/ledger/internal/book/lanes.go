package book

import (
	"math/bits"
	"slices"
)

// Lanes is a set of lanes. A lane is a bit that stands for one class of pods, as long as there never were more than LaneCount classes
// at a time. After that, classes share lanes: then a lane promises a pod of one of its classes, and a walk that finds none of the class
// it looks for goes on elsewhere. (Sets of any size were rejected: if each pod had a class of its own, the sets in all accounts would
// fill the memory.)
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

// Add gives the class a lane: one that no class has. If there is none, it is the lane with the fewest classes among those that began with a
// class of the same kind. If there is none of these either, it is the lane with the fewest classes of all.
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
