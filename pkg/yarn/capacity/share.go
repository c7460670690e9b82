package capacity

import (
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// mode is how the children of a queue share it. All have the same.
type mode int

const (
	percentages mode = iota
	weights          // 2w
	amounts          // [memory=1024,vcores=4]
	vectors          // [memory=50%,vcores=20%]
)

// byWeight reports whether the children share by weight here.
func (m mode) byWeight() bool { return m == weights || m == amounts }

var hundred = big.NewRat(100, 1)

// share translates capacity and maximum-capacity of a queue's children.
func (t *translation) share(d *declared) {
	if d.parent == nil {
		t.shareOfRoot(d)
	}
	for i, child := range d.children {
		m := modeOf(child)
		if i > 0 && m != d.mode {
			t.fail(child.listed, "the queues in %s must all have percentages, or all weights, or all amounts", d.yarn)
			return
		}
		d.mode = m
	}
	switch d.mode {
	case weights:
		t.weights(d)
	case amounts:
		t.amounts(d)
	case percentages, vectors:
		t.percentages(d)
	}
}

func (t *translation) shareOfRoot(d *declared) {
	for _, name := range []string{"capacity", "maximum-capacity"} {
		s := d.stated[name]
		if s == nil {
			continue
		}
		text := strings.TrimSpace(s.Value)
		if r, err := value.Decimal(text); err == nil && (r.Cmp(hundred) == 0 || name == "maximum-capacity" && r.Cmp(big.NewRat(-1, 1)) == 0) {
			s.note.Skip("root has the whole cluster")
		} else {
			s.note.Lose("root has the whole cluster")
		}
	}
}

func modeOf(d *declared) mode {
	s := d.stated["capacity"]
	if s == nil {
		return percentages
	}
	text := strings.TrimSpace(s.Value)
	switch {
	case strings.HasSuffix(text, "w"):
		return weights
	case value.Bracketed(text) && strings.Contains(text, "%"):
		return vectors
	case value.Bracketed(text):
		return amounts
	}
	return percentages
}

// percentages translates percentages of the parent, rounded to two decimals so that their sum stays what it was.
func (t *translation) percentages(d *declared) {
	exact := make([]*big.Rat, len(d.children))
	sum := new(big.Rat)
	for i, child := range d.children {
		exact[i] = new(big.Rat)
		if s := child.stated["capacity"]; s != nil {
			r, ok := t.percent(d.mode, s)
			if !ok {
				return
			}
			exact[i] = r
		}
		sum.Add(sum, exact[i])
		child.ofParent = new(big.Rat).Quo(exact[i], hundred)
		if d.part != nil {
			child.part = new(big.Rat).Mul(d.part, child.ofParent)
		}
	}
	t.checkSum(d, sum)
	for i, hundredths := range round(exact) {
		child := d.children[i]
		r := big.NewRat(hundredths, 100)
		text, _ := value.Rounded(r, 2)
		if s := child.stated["capacity"]; s == nil {
			child.object.Set(t.plan.Note(plan.Origin{File: t.file, Queue: child.yarn, Property: "capacity", Value: "0"}).
				Remark("not stated, and the default of YARN"), "capacity", "0%")
		} else {
			if r.Cmp(exact[i]) != 0 {
				s.note.Approximate("rounded to two decimals")
			}
			child.object.Set(s.note, "capacity", text+"%")
		}
		t.maximum(child)
	}
}

// percent reads a capacity; of a vector it is that of memory.
func (t *translation) percent(m mode, s *setting) (*big.Rat, bool) {
	text := s.Value
	if m == vectors {
		r, err := value.ParseBracket(text)
		if err != nil {
			t.fail(s.Property, "%w", err)
			return nil, false
		}
		text = strings.TrimSuffix(r.Of("memory"), "%")
		s.note.Approximate("a capacity is one number for all resources here: that of memory")
	}
	r, err := value.Decimal(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	switch {
	case err != nil:
		t.fail(s.Property, "%w", err)
		return nil, false
	case r.Sign() < 0 || r.Cmp(hundred) > 0:
		t.fail(s.Property, "%s is not between 0 and 100", strings.TrimSpace(s.Value))
		return nil, false
	}
	return r, true
}

// tolerance is how far from 100 a sum may be.
var tolerance = big.NewRat(5, 100)

func (t *translation) checkSum(d *declared, sum *big.Rat) {
	if len(d.children) == 0 {
		return
	}
	shown, _ := value.Rounded(sum, 4)
	off := new(big.Rat).Sub(sum, hundred)
	if s := t.system[prefix+"legacy-queue-mode.enabled"]; s != nil && !boolean(s.Value) {
		if off.Abs(off).Cmp(tolerance) > 0 {
			s.note.Lose("the capacities of the queues in %s sum to %s; here they must sum to 100, and condition Ready says so", d.yarn, shown)
		}
		return
	}
	zero := d.stated["allow-zero-capacity-sum"]
	switch {
	case d.part != nil && d.part.Sign() == 0:
		if sum.Sign() != 0 {
			t.fail(d.children[0].listed, "the capacities of the queues in %s sum to %s, and must sum to 0, as its own is 0", d.yarn, shown)
		}
	case sum.Sign() == 0 && zero != nil && boolean(zero.Value):
		zero.note.Lose("the capacities of the queues in %s sum to 0; here they must sum to 100, and condition Ready says so", d.yarn)
	case off.Abs(off).Cmp(tolerance) > 0:
		t.fail(d.children[0].listed, "the capacities of the queues in %s sum to %s, and must sum to 100", d.yarn, shown)
	}
}

// round rounds to hundredths, so that the sum of all is the sum rounded: those with the largest remainders are rounded up.
func round(exact []*big.Rat) []int64 {
	rounded, remainders := make([]int64, len(exact)), make([]*big.Rat, len(exact))
	sum, floors := new(big.Rat), int64(0)
	for i, r := range exact {
		h := new(big.Rat).Mul(r, hundred)
		sum.Add(sum, h)
		floor := new(big.Int).Quo(h.Num(), h.Denom())
		rounded[i] = floor.Int64()
		floors += rounded[i]
		remainders[i] = h.Sub(h, new(big.Rat).SetInt(floor))
	}
	half := sum.Add(sum, big.NewRat(1, 2))
	for missing := new(big.Int).Quo(half.Num(), half.Denom()).Int64() - floors; missing > 0; missing-- {
		best := 0
		for i, r := range remainders {
			if r.Cmp(remainders[best]) > 0 {
				best = i
			}
		}
		rounded[best]++
		remainders[best] = new(big.Rat)
	}
	return rounded
}

// maximum translates maximum-capacity in percent.
func (t *translation) maximum(d *declared) {
	d.largest = d.parent.largest
	s := d.stated["maximum-capacity"]
	if s == nil {
		return
	}
	text := s.Value
	if value.Bracketed(text) {
		t.largestAmounts(d, s)
		return
	}
	r, ok := t.number(s)
	switch {
	case !ok:
		return
	case r.Cmp(big.NewRat(-1, 1)) == 0:
		s.note.Remark("-1 is no limit, which is the default")
		return
	case r.Sign() < 0 || r.Cmp(hundred) > 0:
		t.fail(s.Property, "%s is not between 0 and 100, nor -1", strings.TrimSpace(s.Value))
		return
	}
	if d.parent.largest != nil {
		d.largest = new(big.Rat).Quo(new(big.Rat).Mul(d.parent.largest, r), hundred)
	}
	if d.part != nil && d.largest != nil && d.largest.Cmp(d.part) < 0 {
		most, _ := value.Rounded(new(big.Rat).Mul(d.largest, hundred), 4)
		has, _ := value.Rounded(new(big.Rat).Mul(d.part, hundred), 4)
		t.fail(s.Property, "it is %s%% of the cluster, and less than the capacity of %s, which is %s%%", most, d.yarn, has)
		return
	}
	if d.parent.mode == weights {
		t.maxOfCluster(d, s)
		return
	}
	shown, exact := value.Rounded(r, 2)
	if !exact {
		s.note.Approximate("rounded to two decimals")
	}
	d.object.Set(s.note, "maxCapacity", shown+"%")
}
