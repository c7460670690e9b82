package ordering_test

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	drf  = queue.DominantResourceFairness
	fair = queue.Fair
	fifo = queue.FIFO
)

// list takes cores and Gi.
func list(cores, gi int64) resource.List {
	return resource.Of(
		resource.Entry{Name: resource.CPU, Value: cores * 1000},
		resource.Entry{Name: resource.Memory, Value: gi << 30})
}

func gpus(n int64) resource.List {
	return resource.Of(resource.Entry{Name: "nvidia.com/gpu", Value: n})
}

// total makes percent easy to read: 1 core is 1%, 1 Gi is 1%.
var total = list(100, 100)

// standing is a standing, and what the queue has of what it is owed where it is below its guarantee.
type standing struct {
	ordering.Standing
	below guarantee.Part
}

// stands is a queue of weight 1 that uses this much.
func stands(name string, usage resource.List, options ...option) standing {
	s := standing{Standing: ordering.Standing{Name: name, Usage: sum(usage), Weight: 1000}}
	for _, o := range options {
		o(&s)
	}
	return s
}

func sum(l resource.List) *resource.Sum {
	var s resource.Sum
	s.Add(l)
	return &s
}

type option = func(*standing)

func weight(w int64) option     { return func(s *standing) { s.Weight = w } }
func priority(p int32) option   { return func(s *standing) { s.Priority = p } }
func submitted(at int64) option { return func(s *standing) { s.Submitted = at } }

// has is a queue below its guarantee, that has this much of what it is owed.
func has(used, owed int64) option {
	return func(s *standing) { s.below = guarantee.Part{Resource: resource.CPU, Used: used, Owed: owed} }
}

func key(p queue.Policy, s standing) *ordering.Key {
	var k ordering.Key
	k.Set(queue.Spec{Policy: p}.Rule(), s.Standing, total)
	if s.below.Below() {
		var below ordering.Key
		below.SetBelow(&k, s.below)
		return &below
	}
	return &k
}

// In every case a comes first.
func TestWhichQueueComesFirst(t *testing.T) {
	for name, c := range map[string]struct {
		policy queue.Policy
		a, b   standing
		by     ordering.Criterion
	}{
		"less usage": {
			drf, stands("a", list(10, 10)), stands("b", list(20, 20)), ordering.CriterionShare},
		"less usage for its weight": {
			drf, stands("a", list(20, 20), weight(3000)), stands("b", list(10, 10)), ordering.CriterionShare},
		"less of what it uses most": {
			drf, stands("a", list(30, 30)), stands("b", list(0, 40)), ordering.CriterionShare},
		"less of the second, the most being equal": {
			drf, stands("a", list(40, 10)), stands("b", list(20, 40)), ordering.CriterionShare},
		"nothing of a third resource, the others being equal": {
			drf, stands("a", list(40, 10)), stands("b", list(40, 10).Add(gpus(1))), ordering.CriterionShare},
		"one that uses no resource the cluster does not have": {
			drf, stands("a", list(100, 100)), stands("b", gpus(1)), ordering.CriterionShare},
		"a weight of 0 is after any weight": {
			drf, stands("a", list(90, 90), weight(1)), stands("b", list(0, 0), weight(0)), ordering.CriterionWeight},
		"a negative weight is a weight of 0": {
			drf, stands("a", list(90, 90)), stands("b", list(0, 0), weight(-1000)), ordering.CriterionWeight},
		"two without weight, by usage": {
			drf, stands("a", list(10, 10), weight(0)), stands("b", list(20, 20), weight(0)), ordering.CriterionShare},
		"below its guarantee": {
			drf, stands("a", list(40, 40), has(40, 50)), stands("b", list(10, 10)), ordering.CriterionGuarantee},
		"below its guarantee, without weight": {
			drf, stands("a", list(40, 40), has(40, 50), weight(0)), stands("b", list(10, 10)), ordering.CriterionGuarantee},
		"below its guarantee, though it uses most of what there is": {
			drf, stands("a", list(90, 0), has(0, 2)), stands("b", list(10, 0)), ordering.CriterionGuarantee},
		"the smaller part of its guarantee": {
			drf, stands("a", list(20, 0), has(20, 80)), stands("b", list(10, 0), has(10, 20)), ordering.CriterionGuarantee},
		"the smaller part, by a part in 2^62": {
			drf, stands("a", list(20, 0), has(1<<61, 1<<62)), stands("b", list(10, 0), has(1<<61+1, 1<<62)), ordering.CriterionGuarantee},
		"nothing of its guarantee, however large that is": {
			drf, stands("a", list(20, 0), has(0, 1)), stands("b", list(10, 0), has(1, 1<<62)), ordering.CriterionGuarantee},
		"an equal part goes on to the share": {
			drf, stands("a", list(10, 0), has(10, 20)), stands("b", list(20, 0), has(20, 40)), ordering.CriterionShare},
		"nothing of their guarantees goes on to the share": {
			drf, stands("a", list(10, 0), has(0, 20)), stands("b", list(20, 0), has(0, 40)), ordering.CriterionShare},
		"nothing of their guarantees and nothing used goes on to the name": {
			drf, stands("a", list(0, 0), has(0, 20)), stands("b", list(0, 0), has(0, 40)), ordering.CriterionName},
		"an equal part goes on to the weight": {
			drf, stands("a", list(20, 0), has(20, 40)), stands("b", list(10, 0), has(10, 20), weight(0)), ordering.CriterionWeight},
		"the higher priority, shares being equal": {
			drf, stands("b", list(10, 20), priority(2)), stands("a", list(20, 10), priority(1)), ordering.CriterionPriority},
		"not the higher priority where shares differ": {
			drf, stands("a", list(10, 10)), stands("b", list(11, 10), priority(9)), ordering.CriterionShare},
		"the earlier submission": {
			drf, stands("b", list(0, 0), submitted(1)), stands("a", list(0, 0), submitted(2)), ordering.CriterionSubmitted},
		"the name, all else being equal": {
			drf, stands("root.a.x", list(0, 0)), stands("root.a-b", list(0, 0)), ordering.CriterionName},

		"Fair: less memory": {
			fair, stands("a", list(90, 10)), stands("b", list(0, 20)), ordering.CriterionShare},
		"Fair: less memory for its weight": {
			fair, stands("a", list(90, 20), weight(3000)), stands("b", list(0, 10)), ordering.CriterionShare},
		"Fair: below its guarantee of memory": {
			fair, stands("a", list(90, 20), has(20, 30)), stands("b", list(0, 10)), ordering.CriterionGuarantee},
		"Fair: equal memory goes on to the name": {
			fair, stands("a", list(90, 20)), stands("b", list(0, 20)), ordering.CriterionName},

		"FIFO: the higher priority, whatever it uses": {
			fifo, stands("b", list(90, 90), priority(2), submitted(2)), stands("a", list(0, 0), priority(1), submitted(1)), ordering.CriterionPriority},
		"FIFO: the earlier submission, whatever it uses": {
			fifo, stands("b", list(90, 90), submitted(1)), stands("a", list(0, 0), submitted(2)), ordering.CriterionSubmitted},
		"FIFO: the name": {
			fifo, stands("a", list(90, 90), weight(0)), stands("b", list(0, 0)), ordering.CriterionName},
		"a negative priority is below none": {
			fifo, stands("b", list(0, 0)), stands("a", list(0, 0), priority(-1)), ordering.CriterionPriority},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := key(c.policy, c.a), key(c.policy, c.b)
			if got, by := ordering.Compare(c.policy, a, b); got >= 0 || by != c.by {
				t.Errorf("a against b: %d by %s, want a first by %s", got, by, c.by)
			}
			if got, by := ordering.Compare(c.policy, b, a); got <= 0 || by != c.by {
				t.Errorf("b against a: %d by %s, want a first by %s", got, by, c.by)
			}
			if got, _ := ordering.Compare(c.policy, a, a); got != 0 {
				t.Errorf("a against itself: %d", got)
			}
		})
	}
}

// The documented cluster: busy (weight 1) has nine tenths, sometimes-busy (weight 3) one tenth. What becomes
// free is offered to sometimes-busy, until both have their share.
func TestBusyAndSometimesBusy(t *testing.T) {
	cluster := list(200, 800)
	busy, sometimes := list(180, 720), list(20, 80)
	first := func() string {
		var a, b ordering.Key
		a.Set(queue.Spec{Policy: drf}.Rule(), stands("root.busy", busy).Standing, cluster)
		b.Set(queue.Spec{Policy: drf}.Rule(), stands("root.sometimes-busy", sometimes, weight(3000)).Standing, cluster)
		if c, _ := ordering.Compare(drf, &a, &b); c < 0 {
			return "root.busy"
		}
		return "root.sometimes-busy"
	}
	pod, moved := list(1, 4), 0
	for ; first() == "root.sometimes-busy" && moved < 500; moved++ {
		busy, sometimes = busy.Sub(pod), sometimes.Add(pod)
	}
	// At 50 and 150 the two are equal, and the name puts busy first.
	if !busy.Equal(list(50, 200)) || !sometimes.Equal(list(150, 600)) {
		t.Errorf("after %d pods: busy %v, sometimes-busy %v", moved, busy, sometimes)
	}
}

func TestAKeyThatIsRenewedIsAsGoodAsNew(t *testing.T) {
	full := stands("a", list(50, 60).Add(gpus(2)), has(5, 9), priority(3), submitted(4))
	empty := stands("b", resource.List{})
	for _, p := range []queue.Policy{drf, fair, fifo} {
		renewed := key(drf, full)
		renewed.Set(queue.Spec{Policy: p}.Rule(), empty.Standing, total)
		if c, by := ordering.Compare(p, renewed, key(p, empty)); c != 0 {
			t.Errorf("%v: differs by %s", p, by)
		}
	}
}

func TestComparingAndRenewingDoNotAllocate(t *testing.T) {
	s := stands("root.a", list(50, 60).Add(gpus(2)))
	a, b := key(drf, s), key(drf, stands("root.b", list(60, 50).Add(gpus(2)), has(5, 9)))
	var below ordering.Key
	if n := testing.AllocsPerRun(100, func() {
		a.Set(queue.Spec{Policy: drf}.Rule(), s.Standing, total)
		below.SetBelow(a, guarantee.Part{Resource: resource.CPU, Used: 1, Owed: 2})
		ordering.Compare(drf, &below, b)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestAStandingWithoutSumsUsesNothing(t *testing.T) {
	var a, b ordering.Key
	a.Set(queue.Spec{Policy: drf}.Rule(), ordering.Standing{Name: "a", Weight: 1000}, total)
	b.Set(queue.Spec{Policy: drf}.Rule(), stands("b", list(1, 0)).Standing, total)
	if c, by := ordering.Compare(drf, &a, &b); c >= 0 || by != ordering.CriterionShare {
		t.Errorf("%d by %s", c, by)
	}
}

func TestSortingFollowsCompare(t *testing.T) {
	all := []standing{
		stands("root.d", list(0, 0), weight(0)), stands("root.c", list(9, 9)), stands("root.b", list(1, 1)),
		stands("root.a", list(80, 80), has(80, 90)),
	}
	slices.SortFunc(all, func(x, y standing) int {
		c, _ := ordering.Compare(drf, key(drf, x), key(drf, y))
		return c
	})
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	if want := []string{"root.a", "root.b", "root.c", "root.d"}; !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}

func BenchmarkCompare(b *testing.B) {
	x, y := key(drf, stands("root.a", list(50, 60))), key(drf, stands("root.b", list(60, 50), weight(3000)))
	for b.Loop() {
		ordering.Compare(drf, x, y)
	}
}

func BenchmarkSet(b *testing.B) {
	s, k := stands("root.a", list(50, 60)), key(drf, stands("", total))
	for b.Loop() {
		k.Set(queue.Spec{Policy: drf}.Rule(), s.Standing, total)
	}
}
