package reservation

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// InProportion adds so much of other resources to guarantees that what is left of the plan has all resources in the proportion of its capacity, or less of some.
//
// Whether a queue is above its share is judged by its dominant share. If reservations took one resource only, the other pods of the queue would be entitled to
// all of the others, and by that could hold what is reserved without being above their share. What is added is taken from no one who needs it: a guarantee
// counts as far as pods ask for it.
func (p Plan) InProportion(guarantees []Guarantee) []Guarantee {
	var sum resource.List
	for i := range guarantees {
		sum = sum.Add(guarantees[i].Amounts)
	}
	scarce, left, of := resource.Name(""), int64(0), int64(1)
	for i := range p.Capacity.Len() {
		e := p.Capacity.At(i)
		rest := max(e.Value-sum.Get(e.Name), 0)
		if e.Value > 0 && (scarce == "" || resource.CompareFractions(rest, e.Value, left, of) < 0) {
			scarce, left, of = e.Name, rest, e.Value
		}
	}
	if sum.Get(scarce) <= 0 {
		return guarantees
	}
	out := make([]Guarantee, len(guarantees))
	var before, after int64 // of the scarce resource, up to this one: what is added sums up exactly
	for i, g := range guarantees {
		before, after = after, after+max(g.Amounts.Get(scarce), 0)
		var added []resource.Entry
		for j := range p.Capacity.Len() {
			e := p.Capacity.At(j)
			if over := e.Value - sum.Get(e.Name) - resource.Part(e.Value, left, of); over > 0 {
				upTo := func(part int64) int64 { return resource.Part(over, part, sum.Get(scarce)) }
				added = append(added, resource.Entry{Name: e.Name, Value: upTo(after) - upTo(before)})
			}
		}
		out[i] = Guarantee{g.Name, g.Amounts.Add(resource.Of(added...))}
	}
	return out
}

// largestPart is the largest part of some amounts that fits, of all resources the same: its pods can do nothing with one of them alone.
func largestPart(amounts, free resource.List) resource.List {
	num, den := int64(1), int64(1)
	for i := range amounts.Len() {
		e := amounts.At(i)
		if f := max(free.Get(e.Name), 0); e.Value > 0 && resource.CompareFractions(f, e.Value, num, den) < 0 {
			num, den = f, e.Value
		}
	}
	part := make([]resource.Entry, amounts.Len())
	for i := range part {
		e := amounts.At(i)
		part[i] = resource.Entry{Name: e.Name, Value: resource.Part(e.Value, num, den)}
	}
	return resource.Of(part...)
}
