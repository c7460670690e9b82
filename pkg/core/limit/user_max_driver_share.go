package limit

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// UserDrivers is what UserMaxDriverShare needs to know of one user of a leaf.
type UserDrivers struct {
	Drivers // of the leaf, but Usage is that of the user's drivers alone
	User    string
	Users   UserShare
	Weight  int64 // of the user, milli
}

// Amount is how much of a resource the drivers of the user may use: of what all drivers of the leaf may, an equal part for
// each active user, or MinShare if that is more, times Weight; of that no more than the whole, times Factor; rounded up once.
// YARN CapacityScheduler: the user's AM limit, as AbstractLeafQueue.getUserAMResourceLimitPerPartition has it since Hadoop
// 2.9. (There, activateApplications takes the weight of the first user that it meets for all.) The limit of all drivers
// holds besides. Where nothing limits all of them, nothing limits those of a user.
func (u UserDrivers) Amount(name resource.Name) int64 {
	if u.Share >= WholeShare {
		return math.MaxInt64
	}
	num, den := resource.SatMul(u.Share, u.Users.Factor), WholeShare*1000
	if part, whole := u.part(); part < whole {
		num, den = resource.SatMul(num, part), resource.SatMul(den, whole)
	}
	return resource.PartUp(u.base(name), num, den)
}

// part is the user's part, with the weight, of what all drivers may use: part of whole.
func (u UserDrivers) part() (part, whole int64) {
	active := max(u.Users.Active, 1)
	if resource.SatMul(u.Users.MinShare, active) >= 100 {
		return resource.SatMul(u.Users.MinShare, u.Weight), 100 * 1000
	}
	return u.Weight, resource.SatMul(active, 1000)
}

// UserMaxDriverShare reports whether, with one more driver of this size, the drivers of the user would use more of the leaf
// than those of one user may, and the reason for the first such resource in name order. A user whose drivers use nothing
// may always start one, as far as this limit goes.
func UserMaxDriverShare(u UserDrivers, request resource.List) (reason.Reason, bool) {
	if !UsesAnything(u.Usage) {
		return reason.Reason{}, false
	}
	for i := range request.Len() {
		e := request.At(i)
		most := u.Amount(e.Name)
		if e.Value <= 0 || !u.Calculator.Counts(e.Name) || resource.SatAdd(u.Usage.Get(e.Name), e.Value) <= most {
			continue
		}
		return reason.Reason{
			Code: reason.UserMaxDriverShare, Queue: u.Queue, Resource: e.Name, Limit: most, Used: u.Usage.Get(e.Name), Asked: e.Value,
			Details: reason.UserShare{User: u.User, Active: max(u.Users.Active, 1)},
		}, true
	}
	return reason.Reason{}, false
}
