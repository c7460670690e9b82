package preemption

import (
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Guarantees inside a queue may sum to more than the queue has. If claim and victim are both inside that queue, each guarantee counts
// in full. If one of them is outside, a guarantee counts only as far as the queue's own share covers it: see fairshare.Covered. So
// whatever is guaranteed inside a queue, the queue keeps no more from others, and takes no more from them, than it is entitled to as a
// whole.
//
// Below, two queues meet at their last common ancestor.

// dues are the entitlement, the ideal and the guarantee of a queue, as far as they count for queues that meet it at one of its ancestors.
type dues struct {
	// entitled and above are the entitlement as usages, ideal and aboveIdeal the ideal: see bounds.
	entitled, above   []int64
	ideal, aboveIdeal []int64
	guaranteed        []int64 // as far as the queue asks for it
	bar               []int64 // nil: no excess is ignored; else the leaf is touched only if some usage was above
	// touchable: it was above its bar when the round began, or rather before any of its pods that still run was announced.
	touchable bool
}

// seen are the dues of the queue for queues that meet it at its ancestor that is at levels below the root.
func (a *account) seen(at int) *dues {
	if at < len(a.covered) {
		return &a.covered[at]
	}
	return &a.dues
}

// coveredOf is what is covered of the entitlements and the ideals: see fairshare.Covered.
func coveredOf(w *World, ideal []resource.List) (entitlements, ideals [][]resource.List) {
	parents, all := make([]int, len(w.Queues)), make([]resource.List, len(w.Queues))
	for i := range w.Queues {
		parents[i], all[i] = w.Queues[i].Parent, w.Queues[i].Entitlement
	}
	return fairshare.Covered(parents, all), fairshare.Covered(parents, ideal)
}

// addDues adds what a queue is due.
func (p *picture) addDues(w *World, i int, ideal resource.List, entitlements, ideals []resource.List) {
	q, a := &w.Queues[i], &p.queues[i]
	guaranteed := q.Guaranteed.Min(q.Demand)
	a.dues, a.entitlements = p.due(w, q, q.Entitlement, ideal, guaranteed), entitlements
	for at := range max(len(entitlements), len(ideals)) {
		e, id, g := q.Entitlement, ideal, guaranteed
		if at < len(entitlements) {
			e = entitlements[at]
			g = g.Min(e)
		}
		if at < len(ideals) {
			id = ideals[at]
		}
		a.covered = append(a.covered, p.due(w, q, e, id, g))
	}
}

func (p *picture) due(w *World, q *Queue, entitlement, ideal, guaranteed resource.List) (d dues) {
	d.entitled, d.above = p.bounds(q, w.Total, entitlement)
	d.ideal, d.aboveIdeal = p.bounds(q, w.Total, ideal)
	d.guaranteed = p.dense(guaranteed, 0)
	if ignored := w.Settings.MaxIgnoredOverCapacity; ignored > 0 {
		_, d.bar = p.bounds(q, w.Total, more(entitlement, ignored))
	}
	return d
}

// outside spells paysOutside as a string, to be part of a key. All units of a claim have the same number of entries there.
func (rs *roomSearch) outside() (s string) {
	for _, at := range rs.paysOutside {
		s += strconv.Itoa(at) + " "
	}
	return s
}
