package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// The other pods of an application wait with its driver (application.Pods.WaitsForDriver). That is done in two ways:
//
//   - Its driver may be released when its turn comes, or was tried and fitted nowhere. Then the application offers only the lanes of its
//     drivers (orderBooks.lanesOf), until one is charged. Its other pods stay in their pod queues and count as demand, as the driver does.
//   - A rule blocks its driver, such as its size, a scheduling gate or its pod group. Then its other pods are blocked, too (blockIn).
//     Neither they nor the driver count as demand or make the application run. (A limit on applications blocks each pod by itself.)

// appDrivers are the drivers of an application, in any state.
type appDrivers struct {
	all roster
	// stuck counts those that a rule blocks, other than a limit on applications or their back-off: see isStuck.
	stuck int32
	// allStuck: some wait, all of those are stuck, and no other holds anything. Then the other pods are blocked.
	allStuck bool
	first    *record       // the answer of firstWaiting; nil: it is to be looked for
	byAge    []driverEntry // all, as a heap
}

// isStuck reports whether the pod is a driver that a rule blocks, other than a limit on applications or its back-off.
func (r *record) isStuck() bool {
	return r.Role == application.Driver && (r.state == Waiting || r.state == Parked) && !r.wants()
}

// join lists a driver that enters the application.
func (d *appDrivers) join(r *record) {
	if r.Role == application.Driver {
		d.all.add(r, ofDrivers)
		d.byAge = heap.Push(d.byAge, driverEntry{r})
	}
}

// quit takes a driver off the list.
func (d *appDrivers) quit(r *record) {
	if r.Role == application.Driver {
		d.all.remove(r, ofDrivers)
		d.first = nil
		d.byAge = heap.Remove(d.byAge, r.inDrivers)
	}
}

// driverEntry is a driver in the heap by age.
type driverEntry struct{ *record }

// Before: the oldest driver gives its application its priority.
func (e *driverEntry) Before(o *driverEntry) bool { return e.record.older(o.record) }
func (e *driverEntry) Moved(to int)               { e.inDrivers = to }

// oldest is the driver that was created first; nil: there is none.
func (d *appDrivers) oldest() *record {
	if len(d.byAge) == 0 {
		return nil
	}
	return d.byAge[0].record
}

// changed hears that a pod of the application has moved, or that something else blocks it.
func (d *appDrivers) changed(r *record) {
	if r.Role == application.Driver {
		d.first = nil
	}
}

// firstWaiting is the driver that goes first of those that wait: one that is not stuck before one that is, then in the order inside an application.
// nil: none waits.
func (d *appDrivers) firstWaiting() *record {
	if d.first != nil {
		return d.first
	}
	var first *record
	for _, r := range d.all { // the first of all: order does not matter
		if r.state.charged() {
			continue
		}
		switch {
		case first == nil, first.isStuck() && !r.isStuck(), first.isStuck() == r.isStuck() && compareInApp(r, first) < 0:
			first = r
		}
	}
	d.first = first
	return first
}

// waitsWithDriver reports whether a pod of the class waits with the driver of the application.
func (a *appAccount) waitsWithDriver(c *class) bool { return !c.driver && a.podCounts.WaitsForDriver() }

// driverLanes are the lanes of the application's pod queues that have drivers.
func (a *appAccount) driverLanes() (lanes book.Lanes) {
	for i := range a.podQueues {
		if c := a.podQueues[i].class; c.driver {
			lanes |= c.lane.Set()
		}
	}
	return lanes
}

// followDrivers has the other pods of an application judged again when all of its drivers become stuck, or are not any more.
func (l *consequences) followDrivers(app *appAccount) {
	d := &app.appDrivers
	is := d.stuck > 0 && d.stuck == app.podCounts.WaitingDrivers && app.podCounts.WaitsForDriver()
	if is == d.allStuck {
		return
	}
	d.allStuck = is
	for _, e := range app.members { // each for itself: order does not matter
		if e.Role != application.Driver && (e.state == Waiting || e.state == Parked) {
			l.effects.judgeLater(e.record)
		}
	}
}

// stuckDriver says whether a pod of the leaf is blocked because its drivers are. With which driver it waits, and why, is worked out when it is read: see
// blockNow.
func (r *record) stuckDriver(leaf *queueAccount) (reason.Reason, bool) {
	app := leaf.apps[r.Application]
	if r.Role == application.Driver || app == nil || !app.appDrivers.allStuck {
		return reason.Reason{}, false
	}
	return reason.Reason{Code: reason.WaitingForDriver, Queue: string(leaf.path)}, true
}

// withDriver is the reason for which the other pods of a driver's application wait.
func withDriver(driver *record, why reason.Reason) reason.Reason {
	return reason.Reason{Code: reason.WaitingForDriver, Queue: why.Queue, Details: reason.Driver{Pod: driver.Name, Why: why}}
}

// limitOnDriver says which limit stops the driver with which a pod of the class waits; false: it waits with none, or no limit stops that one. Where both
// are of one pod group, what stops the group stops both.
func (l *contents) limitOnDriver(app *appAccount, c *class) (reason.Reason, bool) {
	if !app.waitsWithDriver(c) {
		return reason.Reason{}, false
	}
	driver := app.appDrivers.firstWaiting()
	switch {
	case driver.isStuck():
		return withDriver(driver, l.applications.blockNow(driver)), true
	case driver.state != Waiting:
		return reason.Reason{}, false
	}
	why, limited := l.limitOnClass(app, driver.class)
	if limited && (why.Code == reason.MaxDriverShare || why.Code == reason.UserMaxDriverShare || !c.group.startsTogether() || driver.group != c.group) {
		return withDriver(driver, why), true
	}
	return why, limited
}

// waitsForDriverOutside reports whether the pod waits for a driver that does not start together with it, in the same group.
func (r *record) waitsForDriverOutside() bool {
	return r.app.waitsWithDriver(r.class) && (!r.group.startsTogether() || r.app.appDrivers.firstWaiting().group != r.group)
}

// lacksDriver reports whether one of these pods of a group waits with a driver that is not among those before it.
func lacksDriver(pods []*record) bool {
	for i, r := range pods {
		if r.app.waitsWithDriver(r.class) && !slices.ContainsFunc(pods[:i], func(o *record) bool { return o.app == r.app && o.class.driver }) {
			return true
		}
	}
	return false
}

// leads reports whether other pods of the application wait with this one.
func (r *record) leads() bool { return r.class.driver && r.app.podCounts.WaitsForDriver() }
