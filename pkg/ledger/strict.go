package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// In a strict leaf (FIFO, strict: true) no pod passes one that waits for room. The pod whose turn it is, is the first of all that wait there and that no limit
// stops, whether its class takes part in the walk or not. If its class does not, since no node has room for it, the queue has no pod to release.

// oldest returns the pod of a strict leaf whose turn it is; nil: none may be released now.
func (w *treeWalk) oldest(a *queueAccount, open book.Lanes) *record {
	for c := a.appOrder.First(a.appOrder.Lanes(), nil); c != nil; c = a.appOrder.First(a.appOrder.Lanes(), c) {
		q := w.firstOf(c.Owner(), c.Own())
		if q == nil {
			continue // limits stop what it has
		}
		r, app := q.Next(), c.Owner()
		if !w.takesPart(q.class) || open&q.class.lane.Set() == 0 || !w.asks(q.class) || w.isBlocked(app, q.class) || w.someoneTries(r) {
			return nil
		}
		return r
	}
	return nil
}

// firstOf is the application's pod queue with the pod whose turn it is, of those that no limit stops; nil: there is none.
func (w *treeWalk) firstOf(a *appAccount, allowed book.Lanes) (first *podQueue) {
	for i := range a.podQueues {
		q := &a.podQueues[i]
		if allowed&q.class.lane.Set() == 0 || a.waitsWithDriver(q.class) || w.stopsOnPath(a, q.class) || w.delays.declines(a, q) {
			continue
		}
		if first == nil || q.Before(&first.PodQueue) {
			first = q
		}
	}
	return first
}

// someoneTries reports whether a pod of the same leaf that comes before this one is with kube-scheduler without room: it is parked, or its attempt is to show
// whether it fits.
func (w *treeWalk) someoneTries(r *record) bool {
	before := func(o *record) bool {
		if o.leaf != r.leaf || o.app == nil || w.stopsOnPath(o.app, o.class) {
			return false
		}
		if o.app == r.app {
			return compareInApp(o, r) < 0
		}
		n, _ := o.app.inOrder.Compare(&r.app.inOrder)
		return n < 0
	}
	return slices.ContainsFunc(w.window.parked, before) ||
		slices.ContainsFunc(w.window.released, func(o *record) bool { return o.assumedOn == nil && before(o) })
}
