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
	return limit.DefaultDriverShare
}

// driverTooMany says whether a charged driver is one too many by now. One that was released where no driver ran is not, whatever was
// released after it: else a driver larger than its part would lose its turn to every one that follows it.
func (s *shares) driverTooMany(r *record) (reason.Reason, bool) {
	if r.Role != application.Driver || r.alone || r.leaf.driverPods == 1 || !r.leaf.limitsDrivers() {
		return reason.Reason{}, false
	}
	var others resource.Sum
	others.AddSum(&r.leaf.drivers)
	others.Sub(r.Request)
	drivers := s.driversOf(r.leaf)
	drivers.Usage = &others
	return limit.MaxDriverShare(drivers, r.Request)
}
