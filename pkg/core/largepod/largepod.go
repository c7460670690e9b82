// Package largepod says when a pod is passed by smaller ones, how many nodes may be held for such pods, and which node will probably have room
// first.
//
// A pod that needs most of a node finds none that is free enough while smaller pods take each place that becomes free. So after a while a node
// is held for it, as nodes are for a pod group: core/gang says whose turn it is, and core/keep whether its queue is owed that.
//
// Input are the sizes of pods, what is free on a node, and what is known of the ends of its pods; output are verdicts and an order among nodes. The
// package knows neither nodes nor queues.
package largepod

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// LongestUseful is the longest time after which a pod that is known to run on makes its node useless: a hold does not last longer.
const LongestUseful int64 = 5 * 60 * 1_000_000_000

// nodesPerHeld bounds what is idle: of so many nodes, one may be held for large pods.
const nodesPerHeld = 10

// Passes reports whether a pod that was placed is smaller than one that waits: it asks for no more of anything, and for less of something. Between
// other pods nobody can say which would leave more room to the other.
func Passes(placed, waits resource.List) bool { return placed.Fits(waits) && !waits.Fits(placed) }

// MostHeld is how many of so many nodes may be held for large pods: a tenth, and one in any case.
func MostHeld(nodes int) int { return max(nodes/nodesPerHeld, 1) }

// Running is a pod on a node.
type Running struct {
	Request resource.List
	Since   int64 // when it got the node
	Ends    int64 // when it will have ended; 0: nobody knows
}

// Drain is how a node will come to have room if no further pod is placed there.
type Drain struct {
	At      int64 // when that will be, of a node with Unknown 0
	Unknown int   // how many pods must end of which nobody knows when
	Since   int64 // of a node with such pods: when the last of them was placed
}

// DrainOf says what has to end on a node until as much has become free as it lacks: first the pods of which the end is known, in that order, then the
// others, the one that has run for longest first. false: nothing that ends soon enough makes room.
func DrainOf(lacks resource.List, pods []Running, now int64) (d Drain, some bool) {
	pods = slices.Clone(pods)
	slices.SortStableFunc(pods, func(a, b Running) int {
		return cmp.Or(cmp.Compare(unknown(a), unknown(b)), cmp.Compare(a.Ends, b.Ends), cmp.Compare(a.Since, b.Since))
	})
	d.At = now
	var ended resource.List
	for _, p := range pods {
		if lacks.Fits(ended) {
			break
		}
		switch {
		case p.Ends == 0:
			d.Unknown++
			d.Since = p.Since
		case p.Ends <= now+LongestUseful:
			d.At = max(p.Ends, now)
		default:
			continue
		}
		ended = ended.Add(p.Request)
	}
	return d, lacks.Fits(ended)
}

func unknown(p Running) int {
	if p.Ends == 0 {
		return 1
	}
	return 0
}

// Compare is negative if d is the drain that will probably be over first: one of which all is known, by its time; then the one whose last pod was placed
// first, since of pods that run about as long it ends last; then the one that waits for the fewest pods.
func (d Drain) Compare(o Drain) int {
	if d.Unknown == 0 && o.Unknown == 0 {
		return cmp.Compare(d.At, o.At)
	}
	return cmp.Or(cmp.Compare(min(d.Unknown, 1), min(o.Unknown, 1)), cmp.Compare(d.Since, o.Since), cmp.Compare(d.Unknown, o.Unknown), cmp.Compare(d.At, o.At))
}
