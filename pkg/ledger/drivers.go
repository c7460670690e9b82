package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Drivers of a leaf may use a part of its fair share. The share moves as queues become active, so a leaf that holds drivers back is looked at again
// when shares have changed.

// limitsDrivers reports whether the driver share can stop a driver of the leaf now. If it cannot, limit.MaxDriverShare admits every driver,
// too, but needs the fair share for that, which costs more.
func (a *queueAccount) limitsDrivers() bool {
	return a.driverPods > 0 && a.driverShare() < limit.WholeShare
}

// driversOf is what the limit on drivers needs to know of a leaf, with all drivers that are charged.
func (s *shares) driversOf(leaf *queueAccount) limit.Drivers {
	return limit.Drivers{
		Queue: string(leaf.path),
		Share: leaf.driverShare(), FairShare: s.of(leaf), Most: s.total.CapBy(leaf.spec.Max), Usage: &leaf.drivers, Idle: leaf.driverPods == 0,
		Calculator: leaf.spec.Calculator,
	}
}

// driverShare is the part of the leaf's share that drivers may use, in milli.
func (a *queueAccount) driverShare() int64 { return driverShareOf(&a.spec) }

func driverShareOf(spec *queue.Spec) int64 {
	if spec.MaxDriverShare.Stated {
		return spec.MaxDriverShare.Most
	}
	return limit.DefaultShare(spec.Capacity.Stated)
}

// driverLimit is what the drivers in the queue may use: of its fair share or, while it is not active, of its steady share.
func (q *QueueState) driverLimit(total resource.List) resource.List {
	if !q.Leaf {
		return resource.List{}
	}
	d := limit.Drivers{Share: driverShareOf(&q.Spec), FairShare: q.FairShare, Most: total.CapBy(q.Spec.Max), Calculator: q.Spec.Calculator}
	if !q.Active {
		d.FairShare = q.SteadyFairShare
	}
	return d.Limit(total)
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
	var used map[*queueAccount]*resource.Sum // what drivers use, by leaf
	var own map[*leafUser]*resource.Sum      // and by user
	var first map[*queueAccount]*appAccount  // whose drivers are the first
	pods := g.asksForRoom()
	for _, r := range pods {
		if !r.class.driver {
			continue
		}
		if used == nil {
			used, own, first = map[*queueAccount]*resource.Sum{}, map[*leafUser]*resource.Sum{}, map[*queueAccount]*appAccount{}
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
		u := r.app.user
		if u == nil || d.Idle {
			continue
		}
		if own[u] == nil {
			own[u] = copyOf(&u.drivers)
		}
		of := l.shares.userDriversOf(r.app)
		of.Usage = own[u]
		if why, over := limit.UserMaxDriverShare(of, r.Request); over {
			why.PodGroup = g.Key
			return why, true
		}
		own[u].Add(r.Request)
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

// driverTooMany says whether a charged driver is one too many by now. A driver is never too many if no other ran in its leaf when it was
// released, whatever was released later: else a driver that is larger than the driver share would lose its turn to every driver after it.
func (s *shares) driverTooMany(r *record) (reason.Reason, bool) {
	if r.Role != application.Driver || r.alone || r.leaf.driverPods == 1 || !r.leaf.limitsDrivers() || r.startsWithTheFirst() {
		return reason.Reason{}, false
	}
	var others resource.Sum
	others.AddSum(&r.leaf.drivers)
	others.Sub(r.Request)
	drivers := s.driversOf(r.leaf)
	drivers.Usage = &others
	if why, over := limit.MaxDriverShare(drivers, r.Request); over {
		return why, true
	}
	return s.userDriverTooMany(r)
}
