package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Drivers of a leaf may use a part of its fair share. The share moves as queues become active, so a leaf that holds drivers back is looked at again
// when shares have changed.

// limitsDrivers: there is a driver too many for the leaf, or could be. Where not, the rule says so too; this way no share is computed.
func (a *account) limitsDrivers() bool { return a.driverPods > 0 && a.driverShare() < limit.WholeShare }

// driversOf is the leaf as far as its drivers go, all of those that are charged.
func (s *shares) driversOf(leaf *account) limit.Drivers {
	return limit.Drivers{
		Queue: string(leaf.path),
		Share: leaf.driverShare(), FairShare: s.of(leaf), Most: s.total.CapBy(leaf.spec.Max), Usage: &leaf.drivers, Idle: leaf.driverPods == 0,
	}
}

// driverShare is the part of the leaf's share that drivers may use, in milli.
func (a *account) driverShare() int64 {
	if a.spec.MaxDriverShare.Stated {
		return a.spec.MaxDriverShare.Most
	}
	return limit.DefaultShare(a.spec.Capacity.Stated)
}

// startsAlone: no driver runs in the leaf of this one, so it may start, whatever its size. An application that starts as a group may start with all of its
// drivers.
func (r *record) startsAlone() bool { return r.leaf.driverPods == 0 || r.startsWithTheFirst() }

// startsWithTheFirst: the only drivers that are charged in the leaf are those with which this driver starts at once.
func (r *record) startsWithTheFirst() bool {
	if r.Role != application.Driver || !r.group.startsTogether() {
		return false
	}
	with := 0
	for _, o := range r.app.appDrivers.all { // a sum: order does not matter
		with += btoi(o.group == r.group && o.state.charged())
	}
	return with > 0 && with == r.leaf.driverPods
}

// groupDriversTooMany says in which leaf the drivers that start with a group are too many.
func (l *contents) groupDriversTooMany(g *group) (reason.Reason, bool) {
	var used map[*account]*resource.Sum // what drivers use, by leaf
	var first map[*account]*account     // whose drivers are the first
	pods := g.asksForRoom()
	for _, r := range pods {
		if !r.class.driver {
			continue
		}
		if used == nil {
			used, first = map[*account]*resource.Sum{}, map[*account]*account{}
		}
		if used[r.leaf] == nil {
			used[r.leaf] = &resource.Sum{}
			used[r.leaf].AddSum(&r.leaf.drivers)
			if r.leaf.driverPods == 0 || r.startsWithTheFirst() {
				first[r.leaf] = r.app
			}
		}
		d := l.shares.driversOf(r.leaf)
		d.Usage, d.Idle = used[r.leaf], first[r.leaf] == r.app
		if why, over := limit.MaxDriverShare(d, r.Request); over {
			return forAllDrivers(why, r, pods), true
		}
		used[r.leaf].Add(r.Request)
	}
	return reason.Reason{}, false
}

// forAllDrivers is the reason for which a driver is one too many, in the numbers of all drivers that start with it.
func forAllDrivers(why reason.Reason, r *record, pods []*record) reason.Reason {
	var asked int64
	for _, o := range pods { // a sum: order does not matter
		if o.class.driver && o.leaf == r.leaf {
			asked = resource.SatAdd(asked, o.Request.Get(why.Resource))
		}
	}
	if asked > why.Asked {
		why.PodGroup, why.Used, why.Asked = r.group.Key, r.leaf.drivers.Get(why.Resource), asked
	}
	return why
}

// driverTooMany says whether a charged driver is one too many by now. One that was released where no driver ran is not, whatever was
// released after it: else a driver larger than its part would lose its turn to every one that follows it.
func (s *shares) driverTooMany(r *record) (reason.Reason, bool) {
	if r.Role != application.Driver || r.alone || r.leaf.driverPods == 1 || !r.leaf.limitsDrivers() || r.startsWithTheFirst() {
		return reason.Reason{}, false
	}
	var others resource.Sum
	others.AddSum(&r.leaf.drivers)
	others.Sub(r.Request)
	drivers := s.driversOf(r.leaf)
	drivers.Usage = &others
	return limit.MaxDriverShare(drivers, r.Request)
}
