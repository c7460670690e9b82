package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// DefaultDriverShare is the part of their queue's fair share that drivers may use if none is stated, in milli
// (YARN FairScheduler: maxAMShare 0.5).
const DefaultDriverShare int64 = 500

// DefaultDriverCapacity is that part of a queue that shares by capacity (YARN CapacityScheduler:
// maximum-am-resource-percent 0.1).
const DefaultDriverCapacity int64 = 100

// DefaultShare returns the part that drivers may use if none is stated.
func DefaultShare(byCapacity bool) int64 {
	if byCapacity {
		return DefaultDriverCapacity
	}
	return DefaultDriverShare
}

// WholeShare is a driver share of 1, which limits nothing.
const WholeShare int64 = 1000

// Drivers is what MaxDriverShare needs to know of a leaf.
type Drivers struct {
	Queue     string
	Share     int64         // milli
	FairShare resource.List // of the leaf, now
	Most      resource.List // what the leaf could ever hold; used for a resource without a fair share
	Usage     *resource.Sum // of its drivers
	Idle      bool          // no driver runs in the leaf
	// Calculator says of which resources the part is looked at.
	Calculator queue.Calculator
}

// MaxDriverShare reports whether, with one more driver of this size, the drivers would use more than their
// part of the leaf's fair share, rounded up, and the reason for the first such resource in name order. YARN
// FairScheduler: maxAMShare, in all resources the driver requests that the calculator counts. Under Fair, or with weight 0, a leaf has no
// share of some resources; then it is the part of what the leaf could hold. A leaf in which no driver runs may
// always start one: with many active queues the part may be smaller than any driver, and nothing would ever
// start.
func MaxDriverShare(d Drivers, request resource.List) (reason.Reason, bool) {
	e, part, over := d.exceeded(request)
	if !over {
		return reason.Reason{}, false
	}
	return reason.Reason{
		Code: reason.MaxDriverShare, Queue: d.Queue, Resource: e.Name, Limit: part, Used: d.Usage.Get(e.Name), Asked: e.Value,
	}, true
}

// ExceedsDriverShare is MaxDriverShare without the reason, which is a large value that a release does not
// need.
func ExceedsDriverShare(d Drivers, request resource.List) bool {
	_, _, over := d.exceeded(request)
	return over
}

func (d Drivers) exceeded(request resource.List) (e resource.Entry, part int64, over bool) {
	if d.Share >= WholeShare || d.Idle {
		return resource.Entry{}, 0, false
	}
	for i := range request.Len() {
		e := request.At(i)
		base := d.base(e.Name)
		part := resource.PartUp(base, d.Share, WholeShare)
		if e.Value > 0 && d.Calculator.Counts(e.Name) && resource.SatAdd(d.Usage.Get(e.Name), e.Value) > part {
			return e, part, true
		}
	}
	return resource.Entry{}, 0, false
}

// Limit returns what the drivers may use of each of these resources; nothing where no share limits them.
func (d Drivers) Limit(of resource.List) resource.List {
	if d.Share >= WholeShare {
		return resource.List{}
	}
	var parts []resource.Entry
	for i := range of.Len() {
		if name := of.At(i).Name; d.Calculator.Counts(name) {
			parts = append(parts, resource.Entry{Name: name, Value: resource.PartUp(d.base(name), d.Share, WholeShare)})
		}
	}
	return resource.OfSorted(parts)
}

// DriverShareFor returns the smallest share, in milli, at which MaxDriverShare admits one more driver of this
// size while others run; WholeShare if no smaller one does.
func DriverShareFor(d Drivers, request resource.List) int64 {
	most := int64(0)
	for i := range request.Len() {
		e := request.At(i)
		base := d.base(e.Name)
		need := resource.SatAdd(d.Usage.Get(e.Name), e.Value)
		switch {
		case e.Value <= 0, !d.Calculator.Counts(e.Name):
		case need > base:
			return WholeShare
		default:
			// PartUp(base, s) >= need, rounded up, is base*s > WholeShare*(need-1).
			most = max(most, resource.Part(WholeShare, need-1, base)+1)
		}
	}
	return min(most, WholeShare)
}

// base is the whole amount; the drivers may use their part.
func (d Drivers) base(n resource.Name) int64 {
	if share := d.FairShare.Get(n); share != 0 {
		return share
	}
	return d.Most.Get(n)
}
