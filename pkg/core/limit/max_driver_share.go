package limit

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// DefaultDriverShare is what drivers may use of their queue's fair share where nothing is
// stated, in milli (YARN FairScheduler: maxAMShare 0.5).
const DefaultDriverShare int64 = 500

// WholeShare is a driver share of 1, which limits nothing.
const WholeShare int64 = 1000

// Drivers is a leaf as far as its drivers go.
type Drivers struct {
	Queue     string
	Share     int64         // milli
	FairShare resource.List // of the leaf, now
	Most      resource.List // what the leaf could ever hold: the base of a resource that it has no share of
	Usage     *resource.Sum // of its drivers
	Idle      bool          // no driver runs in the leaf
}

// MaxDriverShare says that with one more driver of this size the drivers would use more than
// their part of the leaf's fair share, rounded up, of the first such resource in name order,
// and whether they would. YARN FairScheduler: maxAMShare, in all resources the driver asks for.
// Under Fair, or with weight 0, a leaf has no share of some resources; then the part is of
// what it could hold. In a leaf where no driver runs one may always start: with many
// active queues the part may be less than any driver, and nothing would ever start.
func MaxDriverShare(d Drivers, request resource.List) (reason.Reason, bool) {
	e, part, over := d.exceeded(request)
	if !over {
		return reason.Reason{}, false
	}
	return reason.Reason{
		Code: reason.MaxDriverShare, Queue: d.Queue, Resource: e.Name, Limit: part, Used: d.Usage.Get(e.Name), Asked: e.Value,
	}, true
}

// ExceedsDriverShare is the verdict of MaxDriverShare alone. A release asks for no more, and
// a reason is not small.
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
		if e.Value > 0 && resource.SatAdd(d.Usage.Get(e.Name), e.Value) > part {
			return e, part, true
		}
	}
	return resource.Entry{}, 0, false
}

// DriverShareFor returns the smallest share, in milli, with which MaxDriverShare admits one
// more driver of this size where others run; WholeShare where no smaller one does.
func DriverShareFor(d Drivers, request resource.List) int64 {
	most := int64(0)
	for i := range request.Len() {
		e := request.At(i)
		base := d.base(e.Name)
		need := resource.SatAdd(d.Usage.Get(e.Name), e.Value)
		switch {
		case e.Value <= 0:
		case need > base:
			return WholeShare
		default:
			// PartUp(base, s) >= need, rounded up, is base*s > WholeShare*(need-1).
			most = max(most, resource.Part(WholeShare, need-1, base)+1)
		}
	}
	return min(most, WholeShare)
}

// base is what the share is a part of.
func (d Drivers) base(n resource.Name) int64 {
	if share := d.FairShare.Get(n); share != 0 {
		return share
	}
	return d.Most.Get(n)
}
