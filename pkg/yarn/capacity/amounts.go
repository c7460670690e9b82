package capacity

import (
	"math/big"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// weights translates capacities such as 2w.
func (t *translation) weights(d *declared) {
	of := make([]*big.Rat, len(d.children))
	for i, child := range d.children {
		s := child.stated["capacity"]
		w, err := value.Decimal(strings.TrimSuffix(strings.TrimSpace(s.Value), "w"))
		if err != nil || w.Sign() < 0 {
			t.fail(s.Property, "%q is no weight", strings.TrimSpace(s.Value))
			return
		}
		child.setWeight(s.note, w)
		of[i] = w
		t.maximum(child)
	}
	d.dividedBy(of)
}

// dividedBy notes which part of the queue each child has, if it is divided by these.
func (d *declared) dividedBy(by []*big.Rat) {
	sum := new(big.Rat)
	for _, w := range by {
		sum.Add(sum, w)
	}
	for i, child := range d.children {
		child.ofParent = new(big.Rat)
		if sum.Sign() > 0 {
			child.ofParent.Quo(by[i], sum)
		}
	}
}

// maxOfCluster states a maximum of a queue that shares by weight: a max, which is a part of the cluster.
func (t *translation) maxOfCluster(d *declared, s *setting) {
	if d.largest == nil {
		s.note.Lose("a queue above has a maximum in amounts, of which there is no percentage")
		return
	}
	text := s.note.Rounded(new(big.Rat).Mul(d.largest, hundred))
	s.note.Remark("of the cluster")
	d.object.Set(s.note, "max", t.limited(s, plan.Map{{Key: "cpu", Value: text + "%"}, {Key: "memory", Value: text + "%"}}))
}

var million = big.NewRat(1_000_000, 1)

func (d *declared) setWeight(n *plan.Note, w *big.Rat) {
	if w.Cmp(million) > 0 {
		w = million
		n.Approximate("the largest weight is 1000000")
	}
	text := n.RoundedAboveZero(w)
	d.object.Set(n, "weight", value.Number(text))
}

// amounts translates capacities such as [memory=1024,vcores=4]: they are guaranteed, and the memory is the weight by which the rest is divided.
func (t *translation) amounts(d *declared) {
	memory := make([]*big.Rat, len(d.children))
	for i, child := range d.children {
		s := child.stated["capacity"]
		r, err := value.ParseBracket(s.Value)
		if err != nil {
			t.fail(s.Property, "%w", err)
			return
		}
		child.object.Set(s.note, "guaranteed", plan.Amounts(s.note, r))
		memory[i] = bytes(r.Of("memory"))
		t.maximum(child)
	}
	d.dividedBy(memory)
	for _, child := range d.children {
		n := child.stated["capacity"].note
		n.Approximate("what nobody is guaranteed is divided by weight, here the part in percent of the memory that the siblings are guaranteed")
		text, _ := value.Rounded(new(big.Rat).Mul(child.ofParent, hundred), 3)
		child.object.Set(n, "weight", value.Number(text))
	}
}

// bytes is an amount with a unit as a number.
func bytes(text string) *big.Rat {
	number := strings.TrimRight(text, "numkKMGTPi")
	r, err := value.Decimal(number)
	if err != nil {
		return new(big.Rat)
	}
	if factor, ok := units[text[len(number):]]; ok {
		r.Mul(r, new(big.Rat).SetInt64(factor))
	}
	return r
}

var units = map[string]int64{
	"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50,
}

func (t *translation) largestAmounts(d *declared, s *setting) {
	r, err := value.ParseBracket(s.Value)
	if err != nil {
		t.fail(s.Property, "%w", err)
		return
	}
	if r.Percent {
		s.note.Approximate("percentages of single resources are of the cluster here, and of %s in YARN", d.parent.yarn)
	}
	d.largest = nil // in percent it is not known
	d.object.Set(s.note, "max", t.limited(s, plan.Amounts(s.note, r)))
}

// limited are those of some amounts that limit anything in YARN.
func (t *translation) limited(s *setting, all plan.Map) plan.Map {
	if !t.memoryOnly() {
		return all
	}
	memory := slices.DeleteFunc(slices.Clone(all), func(e plan.Entry) bool { return e.Key != "memory" })
	if len(memory) < len(all) {
		s.note.Remark("DefaultResourceCalculator limits memory alone")
	}
	return memory
}
