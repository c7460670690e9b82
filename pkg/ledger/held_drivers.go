package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// holdsDrivers reports whether the driver share may hold some drivers of a leaf back. If none runs, one may always start, whatever the share.
func (a *queueAccount) holdsDrivers() bool {
	return a.limitsDrivers() && !a.driverDemand.Equal(&a.drivers)
}

// heldDrivers is what waiting drivers of a leaf request beyond its driver share, together with the same part of what waits with drivers.
func (s *shares) heldDrivers(leaf *queueAccount) resource.List {
	drivers := s.driversOf(leaf)
	if !limit.ExceedsDriverShare(drivers, leaf.driverDemand.List().Sub(leaf.drivers.List())) {
		return resource.List{} // not even with those that wait at a gate, which are no demand
	}
	var waits waitsForDrivers
	for _, app := range leaf.apps { // sums: order does not matter
		waits.add(app)
	}
	why, over := limit.MaxDriverShare(drivers, waits.drivers.List())
	if !over {
		return resource.List{}
	}
	return partHeld(waits.all(), max(why.Limit-why.Used, 0), waits.drivers.Get(why.Resource))
}

// heldDriversOf is that beyond what the drivers of one user may use. A user without a driver may start one.
func (s *shares) heldDriversOf(leaf *queueAccount, u *leafUser) resource.List {
	var waits waitsForDrivers
	for _, app := range u.apps {
		waits.add(app)
	}
	may, uses := s.userDriversIn(leaf, u.weight), limit.UsesAnything(&u.drivers)
	var least scarcest
	for i := range waits.drivers.Len() {
		e := waits.drivers.At(i)
		if !may.Calculator.Counts(e.Name) {
			continue
		}
		free := max(resource.SatSub(may.Amount(e.Name), u.drivers.Get(e.Name)), 0)
		if !uses {
			free = max(free, waits.largest.Get(e.Name))
		}
		least.look(free, e.Value)
	}
	return least.heldOf(waits.all())
}

// waitsForDrivers is what drivers of some applications wait for, and what waits with them, as far as it is demand of their leaf.
type waitsForDrivers struct {
	drivers, others resource.Sum
	largest         resource.List // of each resource, the most that one driver requests
}

func (w *waitsForDrivers) add(app *appAccount) {
	if !app.counted || app.podCounts.WaitingDrivers == 0 {
		return
	}
	var own resource.Sum
	for _, r := range app.appDrivers.all { // sums, and the most of all: order does not matter
		if r.footprint().outstanding() {
			own.Add(r.Request)
			w.largest = w.largest.Max(r.Request)
		}
	}
	w.drivers.AddSum(&own)
	if app.podCounts.WaitsForDriver() {
		w.others.AddSum(&app.demand)
		w.others.SubSum(&app.usage)
		w.others.SubSum(&own)
	}
}

func (w *waitsForDrivers) all() resource.List { return w.drivers.List().Add(w.others.List()) }
