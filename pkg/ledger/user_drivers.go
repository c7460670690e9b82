package ledger

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Where a leaf limits its users, the drivers of one user have a part of what all its drivers may use. That is one more amount for each resource of a size
// of drivers (user_sizes.go), so that a driver too many of its user is stopped as a pod too many is: the applications of that user do not take part in the
// lane, and the others go on.

// userDriversOf is what the limit needs to know of the drivers of an application's user.
func (s *shares) userDriversOf(app *appAccount) limit.UserDrivers {
	d := s.userDriversIn(app.parent, app.user.weight)
	d.Usage, d.User = &app.user.drivers, app.user.name
	d.Users.Active += int64(btoi(app.user.asks == 0)) // the one that asks is among them
	return d
}

// userDriversIn is that for a user of this weight who has none in the leaf. The capacity of a leaf counts also while it is not active: it is about to be.
func (s *shares) userDriversIn(leaf *queueAccount, weight int64) limit.UserDrivers {
	d := limit.UserDrivers{
		Drivers: limit.Drivers{Queue: string(leaf.path), Share: leaf.driverShare(), Most: s.total.CapBy(leaf.spec.Max), Calculator: leaf.spec.Calculator},
		Users:   leaf.userShare(), Weight: weight,
	}
	if d.FairShare = leaf.share.capacity; !leaf.spec.Capacity.Stated {
		d.FairShare = s.of(leaf)
	}
	return d
}

// userDriversOn says that one more driver of the application is too many for its user, and whether it is.
func (s *shares) userDriversOn(app *appAccount, c *class) (reason.Reason, bool) {
	if app.user == nil || !c.driver {
		return reason.Reason{}, false
	}
	return limit.UserMaxDriverShare(s.userDriversOf(app), c.request)
}

// userDriversBind reports whether the part of the user stops one more driver, and is less than what all drivers may use. If it is not less, the reason is
// the limit of all drivers.
func (s *shares) userDriversBind(app *appAccount, c *class) (reason.Reason, bool) {
	why, over := s.userDriversOn(app, c)
	if !over {
		return reason.Reason{}, false
	}
	ofAll := s.driversOf(app.parent).Limit(resource.Of(resource.Entry{Name: why.Resource, Value: 1}))
	return why, why.Limit < ofAll.Get(why.Resource)
}

// userDriverTooMany says whether a charged driver is one too many of its user by now.
func (s *shares) userDriverTooMany(r *record) (reason.Reason, bool) {
	if r.app.user == nil {
		return reason.Reason{}, false
	}
	d := s.userDriversOf(r.app)
	d.Usage = copyOf(d.Usage)
	d.Usage.Sub(r.Request)
	return limit.UserMaxDriverShare(d, r.Request)
}

// chargedDrivers adds up what the drivers of an application use.
func (d *appDrivers) chargedDrivers() *resource.Sum {
	var sum resource.Sum
	for _, r := range d.all { // a sum: order does not matter
		if r.state.charged() {
			sum.Add(r.Request)
		}
	}
	return &sum
}

// stopsByUsage reports whether the limit of its user stops pods of a class, whatever its drivers use.
func (a *appAccount) stopsByUsage(c *class) bool {
	if a.user == nil {
		return false
	}
	z := a.user.sizeOf(c)
	for i := 0; z != nil && i < z.request.Len(); i++ {
		if z.needs[i].short {
			return true
		}
	}
	return false
}

// allowDrivers computes the amounts of a size of drivers, which come after those of its pods.
func (us *leafUsers) allowDrivers(leaf *queueAccount, z *leafSize, s *shares) {
	d := s.userDriversIn(leaf, z.weight)
	for i := range z.request.Len() {
		at := z.request.Len() + i
		us.allow(at, &z.parts[at], d.Amount(z.request.At(i).Name))
	}
}

// needOf is what a user needs for one more pod of the size, of its i-th amount.
func (z *userSize) needOf(i int, calculator queue.Calculator) need {
	n := z.request.Len()
	more, usage, weight := z.request.At(i%n), &z.user.usage, z.user.weight
	if !calculator.Counts(more.Name) {
		more.Value = 0 // the limit does not look at it
	}
	if i >= n {
		usage, weight = &z.user.drivers, 1000 // the weight is in the amount
	}
	if least, ok := limit.NeededAmount(usage, more, weight); ok {
		return need{least, false}
	}
	return need{math.MaxInt64, true}
}
