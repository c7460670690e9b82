package limit

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// UserShare is what one user may have of a leaf. YARN CapacityScheduler: minimum-user-limit-percent and
// user-limit-factor, by the classic formula, not the one of Hadoop 2.9 and later.
type UserShare struct {
	MinShare int64 // percent
	Factor   int64 // milli
	Active   int64 // users with pods that wait, the one that asks among them
}

// Amount is how much of a resource one user of weight 1 may have: an equal part among the active users, but not less
// than MinShare, and not more than Factor of what the leaf is entitled to. They are parts of the entitlement. Where the
// leaf uses more with this request, up to most, they are parts of that, and a user with no more than an equal part may
// have the request besides. (YARN compares without the request, and lets a user overshoot by one container instead.
// Nobody overshoots here, so without that no user could have the first pod beyond the entitlement.)
func (s UserShare) Amount(entitled, most, used, required int64) int64 {
	z := s.Of(entitled, most, required)
	return z.Amount(used)
}

// SizedShare is what a UserShare comes to for pods of one size, of one resource.
type SizedShare struct {
	UserShare
	required, whole, most      int64
	within, equalOfMost, limit int64 // the part while the leaf uses no more than the whole; an equal part of most; the limit by Factor
}

// Of is the share for pods that require so much, in a leaf that is entitled to so much and could use most.
func (s UserShare) Of(entitled, most, required int64) SizedShare {
	z := SizedShare{UserShare: s, required: required, whole: max(entitled, required, 0)}
	z.most = max(most, z.whole)
	z.within = max(s.equal(z.whole), s.least(z.whole))
	z.equalOfMost = s.equal(z.most)
	z.limit = resource.PartUp(z.whole, s.Factor, 1000)
	return z
}

// Amount is that of the UserShare in a leaf that uses so much.
func (z *SizedShare) Amount(used int64) int64 { return min(z.part(used), z.limit) }

// Within is the most that the leaf may use while the amount depends on nothing that it uses.
func (z *SizedShare) Within() int64 { return resource.SatSub(z.whole, z.required) }

func (z *SizedShare) part(used int64) int64 {
	with := resource.SatAdd(used, z.required)
	if with <= z.whole {
		return z.within
	}
	if z.Active <= 1 || z.MinShare >= 100 {
		return with // one user may have all
	}
	return max(min(resource.SatAdd(z.equal(used), z.required), z.equalOfMost), z.least(min(with, z.most)))
}

// Potential is how much of a resource one user of weight 1 may have in the end if there is room: its Amount once the leaf uses
// most with the last pod.
func (s UserShare) Potential(entitled, most, required int64) int64 {
	most = max(entitled, required, most, 0)
	return s.Amount(entitled, most, most-required, required)
}

// equal is the part of each active user, least what each may have however many there are.
func (s UserShare) equal(of int64) int64 { return resource.PartUp(of, 1, max(s.Active, 1)) }
func (s UserShare) least(of int64) int64 { return resource.PartUp(of, s.MinShare, 100) }

// WeightedAmount is the amount of a user of this weight, in milli.
func WeightedAmount(amount, weight int64) int64 {
	if weight == 1000 {
		return amount
	}
	return resource.Part(amount, weight, 1000)
}

// User is what UserLimit needs to know of one user of a leaf.
type User struct {
	Queue, Name string
	Usage       *resource.Sum // of the user in this leaf
	Weight      int64         // milli
	Share       UserShare
	Calculator  queue.Calculator
	// Entitled, Most and Used are of the leaf: what it is entitled to, could ever use, and uses.
	Entitled, Most func(resource.Name) int64
	Used           *resource.Sum
}

// UserLimit reports whether, with one more pod of this size, the user would use more of the leaf than one user may, and
// the reason for the first such resource in name order. Only the resources that the pod requests and the calculator counts
// are looked at. A user who uses nothing there may always have one pod, however small the part.
func UserLimit(u User, request resource.List) (reason.Reason, bool) {
	if !UsesAnything(u.Usage) {
		return reason.Reason{}, false
	}
	for i := range request.Len() {
		e := request.At(i)
		if !u.Calculator.Counts(e.Name) {
			continue
		}
		share, used := u.Share.Of(u.Entitled(e.Name), u.Most(e.Name), e.Value), u.Used.Get(e.Name)
		most := WeightedAmount(share.Amount(used), u.Weight)
		if e.Value <= 0 || resource.SatAdd(u.Usage.Get(e.Name), e.Value) <= most {
			continue
		}
		return reason.Reason{
			Code: reason.UserLimit, Queue: u.Queue, Resource: e.Name, Limit: most, Used: u.Usage.Get(e.Name), Asked: e.Value,
			Details: reason.UserShare{User: u.Name, Active: max(u.Share.Active, 1), ByFactor: share.limit <= share.part(used)},
		}, true
	}
	return reason.Reason{}, false
}

// NeededAmount is the least amount of a user of weight 1 with which a user of this weight may have so much more of a
// resource. ok is false if no amount is enough. A user who uses nothing needs none, and neither does a pod that asks for
// nothing. For each user this is one number, and the limit stops the pod if and only if the amount is less.
func NeededAmount(usage *resource.Sum, more resource.Entry, weight int64) (least int64, ok bool) {
	if more.Value <= 0 || !UsesAnything(usage) {
		return 0, true
	}
	with := resource.SatAdd(usage.Get(more.Name), more.Value)
	switch {
	case weight == 1000:
		return with, true
	case WeightedAmount(math.MaxInt64, weight) < with:
		return 0, false
	default:
		return resource.PartUp(with, 1000, weight), true
	}
}

// UsageFor is the inverse of NeededAmount: a user who uses something needs at most this amount for so much more if and only
// if the usage is at most that. With amounts that saturate it may be less.
func UsageFor(amount int64, more resource.Entry, weight int64) int64 {
	return resource.SatSub(WeightedAmount(amount, weight), more.Value)
}

// UsesAnything reports whether anything is used.
func UsesAnything(usage *resource.Sum) bool {
	for i := range usage.Len() {
		if usage.At(i).Value != 0 {
			return true
		}
	}
	return false
}
