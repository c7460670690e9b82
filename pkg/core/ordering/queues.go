package ordering

import (
	"cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Criterion is the step of the comparison that decided.
type Criterion string

// The criteria, in the order in which they are compared.
const (
	// CriterionGuarantee: one is below its guarantee, or further below it than the other.
	CriterionGuarantee Criterion = "guarantee"
	// CriterionWeight: one has weight 0 and comes after those with a weight.
	CriterionWeight Criterion = "weight"
	// CriterionShare: the smaller usage per weight or capacity.
	CriterionShare Criterion = "share"
	// CriterionCapacity: the larger capacity of two that use the same part of theirs; and a capacity of 0 comes after all
	// others. It is for queues that share by capacity.
	CriterionCapacity Criterion = "capacity"
	// CriterionPriority: the higher priority.
	CriterionPriority Criterion = "priority"
	// CriterionSubmitted: the earlier submission.
	CriterionSubmitted Criterion = "submitted"
	// CriterionName: path order, so that the order is total.
	CriterionName Criterion = "name"
)

// Compare says which of two siblings comes first (negative: a) and by which criterion. Both keys must have
// been set for this policy.
//
// It compares a tuple position by position, so it is transitive. YARN's comparison judged one side by the
// dominant resource of the other and was not transitive (YARN-11482).
func Compare(policy queue.Policy, a, b *Key) (int, Criterion) {
	if !policy.ByAge() {
		if c := compareGuarantee(a, b); c != 0 {
			return c, CriterionGuarantee
		}
		// "Fixed at its guarantee, then only what nobody with weight wants".
		if (a.weight == 0) != (b.weight == 0) {
			by := CriterionWeight
			if a.byCapacity {
				by = CriterionCapacity
			}
			if a.weight == 0 {
				return 1, by
			}
			return -1, by
		}
		if c := compareShares(a, b); c != 0 {
			return c, CriterionShare
		}
		if c := cmp.Compare(b.capacity(), a.capacity()); c != 0 {
			return c, CriterionCapacity
		}
	}
	if c := cmp.Compare(b.priority, a.priority); c != 0 {
		return c, CriterionPriority
	}
	if c := cmp.Compare(a.submitted, b.submitted); c != 0 {
		return c, CriterionSubmitted
	}
	if a.ordinal > 0 && b.ordinal > 0 {
		return cmp.Compare(a.ordinal, b.ordinal), CriterionName
	}
	return queue.ComparePaths(queue.Path(a.name), queue.Path(b.name)), CriterionName
}

// compareGuarantee puts siblings below their guarantee first, and among them the one with the smallest part of
// what it is owed.
func compareGuarantee(a, b *Key) int {
	switch {
	case a.below && !b.below:
		return -1
	case !a.below && b.below:
		return 1
	case !a.below:
		return 0
	}
	return a.part.compare(b.part)
}

// compareShares compares usage over total and weight: the largest share of each first, then the second largest
// and so on. Two siblings with equal dominant shares still differ in the rest.
func compareShares(a, b *Key) int {
	aw, bw := a.weight, b.weight
	if aw == 0 { // then both are 0, and shares are compared without weights
		aw, bw = 1, 1
	}
	for i := range max(len(a.shares), len(b.shares)) {
		if c := compareWeighted(a.share(i), aw, b.share(i), bw); c != 0 {
			return c
		}
	}
	return 0
}

// share returns 0 past the resources in use.
func (k *Key) share(i int) fraction {
	if i < len(k.shares) {
		return k.shares[i]
	}
	return fraction{0, 1}
}

// capacity is 0 of those that share by weight.
func (k *Key) capacity() uint64 {
	if !k.byCapacity {
		return 0
	}
	return min(k.weight, mostCapacity)
}
