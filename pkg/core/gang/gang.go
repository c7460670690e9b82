// Package gang says when the pods of a pod group start: all that the group needs at once, or none. If groups wait for room for long, it
// says for which group nodes are held.
//
// Input are counts of a group's pods, how many pods fit on nodes, and since when groups wait; output are verdicts, places on nodes and turns. The
// package holds nothing itself, and knows neither nodes nor pods.
package gang

// Members are the pods of a group that exist and are not being deleted.
type Members struct {
	Minimum int // without so many, the group does not start
	Live    int // all
	Ready   int // nothing but limits, room and their turn keeps them
	Taken   int // on their way to a node
	Bound   int // have one
	Whole   bool
}

// Together reports whether the pods that have no node yet start together or not at all. Once the group was whole, or where one pod makes it
// whole, its pods are pods like any others.
func (m Members) Together() bool { return m.Minimum > 1 && !m.Whole }

// Complete reports whether enough pods exist for the group to start.
func (m Members) Complete() bool { return m.Live >= m.Minimum }

// Need is how many pods must get a place at once.
func (m Members) Need() int { return max(m.Minimum-m.Taken-m.Bound, 0) }

// MayStart reports whether the pods that the group needs wait for nothing but limits, room and their turn, and none is on its way yet.
func (m Members) MayStart() bool { return m.Taken == 0 && m.Ready >= m.Need() }

// Partial reports whether the group has some of its nodes, and not all: a binding failed, or a restart came between.
func (m Members) Partial() bool { return m.Together() && m.Bound > 0 && m.Bound < m.Minimum }

// Broken reports whether pods are on their way although the group cannot be whole with them any more.
func (m Members) Broken() bool { return m.Together() && m.Taken > 0 && m.Taken+m.Bound < m.Minimum }

// Place is a number of pods of one kind on one node.
type Place struct{ Node, Kind, Pods int }

// Pack places pods of several kinds, need[i] of the i-th, on nodes, one node after the other, and on each as many of the first kind as fit,
// then of the next. Pods of a kind are equal. room is how many pods of a kind fit on a node where so many of each kind have been placed already.
// placed counts all pods that found a place; they are all of them, or places is of no use.
//
// It goes through the nodes once. Where kinds differ in shape it may miss a way to place them all that a search would find; it never places
// what does not fit.
func Pack(nodes int, need []int, room func(node, kind int, taken []int) int) (places []Place, placed int) {
	left, open := append([]int(nil), need...), 0
	for _, n := range need {
		open += n
	}
	taken := make([]int, len(need))
	for node := 0; node < nodes && open > 0; node++ {
		clear(taken)
		for k := range left {
			if left[k] == 0 {
				continue
			}
			n := min(room(node, k, taken), left[k])
			if n <= 0 {
				continue
			}
			places = append(places, Place{Node: node, Kind: k, Pods: n})
			taken[k] += n
			left[k] -= n
			open -= n
			placed += n
		}
	}
	return places, placed
}
