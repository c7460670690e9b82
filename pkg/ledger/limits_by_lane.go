package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// A lane is one of 64 bits. It stands for a class of pods, or for several if there are more than 64 classes. Each queue and application
// has a set of lanes (lanesBelow, lanesOf). If the set has the lane of a class, a pod of that class waits below, and nothing in this queue or below
// it stops the pod: no limit, no closed gate, no driver or group for which it waits. So a walk down the tree looks at one bit, and not
// at every limit and pod.
//
// If classes share a lane (book.LaneTable), the bit says only that a pod of one of them may be released, perhaps. There, and for classes of
// drivers, the walk checks the limits again for the pod that it has found (treeWalk.head).

// lanesBelow returns the lanes in which something may be released below the queue under the limits of its subtree.
func (b *orderBooks) lanesBelow(a *queueAccount) book.Lanes {
	below := a.queueOrder.Lanes() | a.appOrder.Lanes()
	if a.gated && a.gateIsOpen() {
		below |= a.gateOrder.Lanes()
	}
	return below &^ b.barred(a, below)
}

// lanesOf returns the lanes in which the application may have something released.
func (b *orderBooks) lanesOf(app *appAccount) book.Lanes {
	if b.behind.has(app) {
		return 0
	}
	if app.podCounts.WaitsForDriver() {
		return app.driverLanes() & app.allowedLanes()
	}
	return app.allowedLanes()
}

// offerApplication has the application take part in the order of its leaf with the lanes that it has now.
func (b *orderBooks) offerApplication(app *appAccount) {
	app.book().Offer(&app.inOrder, b.lanesOf(app))
}

// barred returns those of the lanes in which a limit of the queue admits no further pod of any class.
func (b *orderBooks) barred(a *queueAccount, among book.Lanes) (barred book.Lanes) {
	limitsDrivers := len(a.kids) == 0 && among&b.classes.driverLanes != 0
	if a.spec.Max.Len() == 0 && !limitsDrivers {
		return 0
	}
	for rest := among; rest != 0; {
		lane := rest.First()
		rest &^= lane.Set()
		if a.stopsAll(b.classes.lanes.Classes(lane), b.shares) {
			barred |= lane.Set()
		}
	}
	if limitsDrivers && barred&b.classes.driverLanes != 0 {
		b.waitForShare(a)
	}
	return barred
}

// stopsAll reports whether the queue stops every one of the classes.
func (a *queueAccount) stopsAll(classes []*class, s *shares) bool {
	for _, c := range classes {
		if !a.stops(c, s) {
			return false
		}
	}
	return true
}

// stops reports whether one more pod of the class would break a hard limit of this very queue.
func (a *queueAccount) stops(c *class, s *shares) bool {
	if a.exceedsMax(c.request) {
		return true
	}
	if !c.driver || len(a.kids) > 0 {
		return false
	}
	return a.limitsDrivers() && limit.ExceedsDriverShare(s.driversOf(a), c.request)
}
