package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// treeWalk owns one walk down the tree: from a queue to the pod below it whose turn it is.
//
// begin and beginBelow say which classes take part, and next finds the pod. If that pod is of no use, its class is left out (leaveOut), or blocked
// below one queue (block), and next is asked again. The walk changes nothing but the marks of classes, and corrects the order books of a leaf that
// misled it (refreshStale).
type treeWalk struct {
	books   *orderBooks
	number  uint64 // of this walk: a class takes part as long as this is its mark
	open    book.Lanes
	blocked []blockedBelow
	ceiling *queueAccount // limits from this queue up are not asked, see beginBelow; nil: all are
	// asking has, for each queue above that has its turn because of its guarantee, what it lacks. A pod must ask for something of each.
	asking [][]resource.Name
	stale  *queueAccount // a leaf that promised a driver which its share does not allow any more
	delays *delays
	window *window
}

// blockedBelow is a class, and a queue below which no pod of it may be released.
type blockedBelow struct {
	class *class
	queue *queueAccount
}

// begin begins a walk in which those classes take part that have pods in pod queues and for which takesPart holds.
func (w *treeWalk) begin(takesPart func(*class) bool) {
	w.number++
	w.open, w.blocked = 0, w.blocked[:0]
	for _, c := range w.books.classes.queued { // each for itself: order does not matter
		if takesPart(c) {
			c.mark = w.number
			w.open |= c.lane.Set()
		}
	}
}

// beginWithAll begins a walk in which all classes take part.
func (w *treeWalk) beginWithAll() { w.begin(func(*class) bool { return true }) }

// beginBelow begins a walk in which all classes take part, whatever limits a queue and those above it have. It ends with endBelow.
func (w *treeWalk) beginBelow(a *queueAccount) {
	w.ceiling = a
	w.beginWithAll()
}

// endBelow has all limits be asked again.
func (w *treeWalk) endBelow() {
	w.refreshStale()
	w.ceiling = nil
}

func (w *treeWalk) takesPart(c *class) bool { return c.mark == w.number }

// leaveOut has a class take part no more. Its lane is closed with the last of its classes: else each further step would go to every application that
// waits in the lane.
func (w *treeWalk) leaveOut(c *class) {
	c.mark = 0
	if !slices.ContainsFunc(w.books.classes.lanes.Classes(c.lane), w.takesPart) {
		w.open &^= c.lane.Set()
	}
}

// block has a class take part no more below a queue.
func (w *treeWalk) block(c *class, below *queueAccount) {
	w.blocked = append(w.blocked, blockedBelow{c, below})
}

// next returns the pod below the queue whose turn it is, in those of the lanes that are open; nil: there is none. At each step it goes to the queue or
// application that the parent's policy puts first, after the turn of those below their guarantees (see guarantees.go). What a lane promised may not be
// there, where classes share it; then the next one has its turn.
func (w *treeWalk) next(a *queueAccount, lanes book.Lanes) *record {
	return w.down(a, lanes&w.open)
}

// nextOf returns the next pod of one application.
func (w *treeWalk) nextOf(app *appAccount, lanes book.Lanes) *record {
	return w.head(app, lanes&w.open)
}

func (w *treeWalk) down(a *queueAccount, open book.Lanes) *record {
	if len(w.blocked) > 0 {
		open = w.withoutBlocked(a, open)
	}
	if len(a.kids) == 0 {
		return w.inLeaf(a, open)
	}
	for c := a.firstBelow(open, nil); c != nil; c = a.firstBelow(open, c) { // with those pods alone that ask for what the queue lacks of its guarantee
		w.ask(c.Owner().lacking())
		r := w.down(c.Owner(), open&c.Own())
		w.askNoMore()
		if r != nil {
			return r
		}
	}
	for c := a.queueOrder.First(open, nil); c != nil; c = a.queueOrder.First(open, c) {
		if r := w.down(c.Owner(), open&c.Own()); r != nil {
			return r
		}
	}
	return nil
}

func (w *treeWalk) inLeaf(a *queueAccount, open book.Lanes) *record {
	if a.spec.Strict && a.spec.Policy == queue.FIFO {
		return w.oldest(a, open)
	}
	for c := a.firstApplication(open, nil); c != nil; c = a.firstApplication(open, c) {
		if r := w.head(c.Owner(), open&c.Own()); r != nil {
			return r
		}
	}
	if open&w.books.classes.driverLanes != 0 {
		w.stale = a
	}
	return nil
}

// ask has only those pods take part, until askNoMore, that ask for one of these resources.
func (w *treeWalk) ask(names []resource.Name) { w.asking = append(w.asking, names) }

func (w *treeWalk) askNoMore() { w.asking = w.asking[:len(w.asking)-1] }

// askForNothing ends all that was asked for.
func (w *treeWalk) askForNothing() { w.asking = w.asking[:0] }

// exceedsMax returns the first max that does not admit the pods of a group together.
func (w *treeWalk) exceedsMax(g *group, pods []*record) (reason.Reason, bool) {
	return g.exceedsMax(pods, w.ceiling)
}

// asks reports whether a class asks for something of all that is asked for.
func (w *treeWalk) asks(c *class) bool {
	for _, names := range w.asking {
		if !guarantee.Asks(c.request, names) {
			return false
		}
	}
	return true
}

// head is the application's next pod of the classes that take part, in the lanes that are open down to here, and that no limit above the application
// stops. Pods that wait for nodes that they prefer are passed over: see delays.go.
func (w *treeWalk) head(a *appAccount, open book.Lanes) *record {
	var first *podQueue
	for i := range a.podQueues {
		q := &a.podQueues[i]
		c := q.class
		if !w.takesPart(c) || a.waitsWithDriver(c) || open&c.lane.Set() == 0 || len(w.asking) > 0 && !w.asks(c) ||
			(w.books.classes.lanes.Shared() || c.driver) && w.stopsOnPath(a, c) ||
			len(w.blocked) > 0 && w.isBlocked(a, c) || w.delays.declines(a, q) {
			continue
		}
		if first == nil || q.Before(&first.PodQueue) {
			first = q
		}
	}
	if first == nil {
		return nil
	}
	return first.Next()
}

// withoutBlocked removes the lanes that hold only classes that are blocked below a queue, so that the walk does not visit every pod there.
func (w *treeWalk) withoutBlocked(a *queueAccount, open book.Lanes) book.Lanes {
	for _, k := range w.blocked {
		alone := !slices.ContainsFunc(w.books.classes.lanes.Classes(k.class.lane), func(c *class) bool { return c != k.class && w.takesPart(c) })
		if k.queue == a && alone {
			open &^= k.class.lane.Set()
		}
	}
	return open
}

func (w *treeWalk) isBlocked(app *appAccount, c *class) bool {
	return slices.ContainsFunc(w.blocked, func(k blockedBelow) bool { return k.class == c && app.parent.isUnder(k.queue) })
}

// stopsOnPath reports whether a limit on the path admits no further pod of the class. The walk has asked already, but by lanes, which
// several classes may share, and of drivers what was so when their leaf was last looked at.
func (w *treeWalk) stopsOnPath(app *appAccount, c *class) bool {
	if app.userStops(c) {
		return true
	}
	for a := app.parent; a != nil && a != w.ceiling; a = a.parent {
		if a.stops(c, w.books.shares) {
			return true
		}
	}
	return false
}

// stopsNow: a limit or a gate admits no further pod of this kind, or it waits with its driver.
func (w *treeWalk) stopsNow(r *record) bool {
	return r.app.waitsWithDriver(r.class) || w.limitStops(r)
}

// limitStops is stopsNow without the part for pods that wait with their driver.
func (w *treeWalk) limitStops(r *record) bool {
	return w.stopsOnPath(r.app, r.class) || r.app.atGate && !r.app.parent.gateIsOpen()
}

// stopsButForDrivers is stopsNow without the parts for drivers.
func (w *treeWalk) stopsButForDrivers(r *record) bool {
	for a := r.app.parent; a != nil && a != w.ceiling; a = a.parent {
		if a.exceedsMax(r.class.request) {
			return true
		}
	}
	return r.app.stopsByUsage(r.class) || r.app.atGate && !r.app.parent.gateIsOpen()
}

// refreshStale looks again at the leaf that misled the walk, if one did.
func (w *treeWalk) refreshStale() {
	if leaf := w.stale; leaf != nil {
		w.stale = nil
		w.books.refresh(leaf)
	}
}
