package queue

import (
	"cmp"
	"slices"
)

// What holds for each user of a leaf if it is not stated: YARN CapacityScheduler, minimum-user-limit-percent and
// user-limit-factor.
const (
	DefaultMinUserShare    int64 = 100
	DefaultUserShareFactor int64 = 1000
	DefaultUserWeight      int64 = 1000
)

// Users says how much of a leaf one user may use. Only what the leaf itself states counts.
type Users struct {
	// MinShare is the part that a user may always have, in percent, however many ask.
	MinShare Limit
	// ShareFactor is the largest part that one user may have, in milli of what the leaf is entitled to.
	ShareFactor Limit
	// Weights are those of single users, in milli, sorted by user.
	Weights []UserWeight
}

// UserWeight multiplies the limit of one user.
type UserWeight struct {
	User   string
	Weight int64
}

// WeightsOf sorts the weights by user.
func WeightsOf(weights ...UserWeight) []UserWeight {
	sorted := slices.Clone(weights)
	slices.SortFunc(sorted, func(a, b UserWeight) int { return cmp.Compare(a.User, b.User) })
	return sorted
}

// WeightOf returns the weight of a user, in milli.
func (u Users) WeightOf(user string) int64 {
	i, stated := slices.BinarySearchFunc(u.Weights, user, func(w UserWeight, user string) int { return cmp.Compare(w.User, user) })
	if !stated {
		return DefaultUserWeight
	}
	return u.Weights[i].Weight
}

// Least is the part that a user may always have, in percent.
func (u Users) Least() int64 {
	if u.MinShare.Stated {
		return u.MinShare.Most
	}
	return DefaultMinUserShare
}

// Factor is the largest part that one user may have, in milli.
func (u Users) Factor() int64 {
	if u.ShareFactor.Stated {
		return u.ShareFactor.Most
	}
	return DefaultUserShareFactor
}

func (u Users) equal(o Users) bool {
	return u.MinShare == o.MinShare && u.ShareFactor == o.ShareFactor && slices.Equal(u.Weights, o.Weights)
}

// LimitsUsers reports whether a leaf limits what each user may use: one that shares by capacity always does, another
// one if it states so.
func (s Spec) LimitsUsers() bool {
	return s.Capacity.Stated || s.Users.MinShare.Stated || s.Users.ShareFactor.Stated
}
