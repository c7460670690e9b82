package preemption

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// whole is all of something stated in thousandths.
const whole int64 = 1000

// Share is the largest part that some amounts are of the total, among the resources that a rule counts. The zero Share is none.
type Share struct {
	Resource resource.Name
	Amount   int64 // more than 0, or there is no share
	Of       int64
}

// Dominant returns the largest part that the amounts are of total; of equal parts that of the first resource by name. Below and above a
// share is judged by it alone, so a cpu-heavy and a memory-heavy queue in balance are neither.
func Dominant(rule queue.Rule, total, amounts resource.List) Share {
	var most Share
	for i := range amounts.Len() {
		e := amounts.At(i)
		if e.Value <= 0 || !rule.Counts(e.Name) {
			continue
		}
		if s := (Share{Resource: e.Name, Amount: e.Value, Of: total.Get(e.Name)}); s.Compare(most) > 0 {
			most = s
		}
	}
	return most
}

// Compare compares s with o (-1, 0, +1), exactly. A share of a resource of which there is nothing is larger than any other.
func (s Share) Compare(o Share) int {
	return resource.CompareFractions(s.Amount, s.Of, o.Amount, o.Of)
}

// CompareDominant compares the dominant share of a with that of b.
func CompareDominant(rule queue.Rule, total, a, b resource.List) int {
	return Dominant(rule, total, a).Compare(Dominant(rule, total, b))
}

// Starved reports whether a queue is below a bound of its fair share: ThresholdBound, or Target. See Kind for guarantees.
func Starved(rule queue.Rule, total, usage, bound resource.List) bool {
	return CompareDominant(rule, total, usage, bound) < 0
}

// ThresholdBound is the usage below which a queue is starved for its fair share: a part of it in thousandths, but never more than it asks
// for. It is rounded up. That is exact: a whole amount is below a fraction if and only if it is below the next whole number.
func ThresholdBound(fairShare resource.List, thousandths int64, demand resource.List) resource.List {
	entries := make([]resource.Entry, fairShare.Len())
	for i := range entries {
		e := fairShare.At(i)
		entries[i] = resource.Entry{Name: e.Name, Value: resource.PartUp(e.Value, thousandths, whole)}
	}
	return Target(resource.OfSorted(entries), demand)
}

// Target is the usage up to which a claim of a fair share goes: the whole share, but never more than the queue asks for.
func Target(share, demand resource.List) resource.List {
	return share.Min(demand)
}
