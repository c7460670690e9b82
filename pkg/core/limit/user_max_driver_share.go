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
}

// Amount is how much of a resource the drivers of one user may use: of what all drivers of the leaf may, an equal part for
// each active user, or MinShare if that is more, times Factor; rounded up once. YARN CapacityScheduler: the user's AM limit.
// That of all drivers holds besides. Where nothing limits all of them, nothing limits those of a user.
func (u UserDrivers) Amount(name resource.Name) int64 {
	if u.Share >= WholeShare {
		return math.MaxInt64
	}
	active := max(u.Users.Active, 1)
	num, den := resource.SatMul(u.Share, u.Users.Factor), WholeShare*1000
	if resource.SatMul(u.Users.MinShare, active) >= 100 {
		num, den = resource.SatMul(num, u.Users.MinShare), den*100
	} else {
		den = resource.SatMul(den, active)
	}
	return resource.PartUp(u.base(name), num, den)
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
