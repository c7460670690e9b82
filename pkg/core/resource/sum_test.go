package resource_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestASumIsExactWhereItReadsSaturated(t *testing.T) {
	most := only(resource.Memory, math.MaxInt64)
	var s resource.Sum
	s.Add(most)
	s.Add(most)
	s.Add(only(resource.Memory, 5))
	if got := s.Get(resource.Memory); got != math.MaxInt64 {
		t.Errorf("twice the largest reads as %d", got)
	}
	s.Sub(most)
	s.Sub(most)
	if got := s.Get(resource.Memory); got != 5 {
		t.Errorf("after taking away what was added, %d are left, want 5", got)
	}
}

func TestASumGoesBelowZeroAndBack(t *testing.T) {
	least := only("a", math.MinInt64)
	var s resource.Sum
	s.Add(least)
	s.Add(least)
	if got := s.Get("a"); got != math.MinInt64 {
		t.Errorf("twice the smallest reads as %d", got)
	}
	s.Sub(least)
	if got := s.Get("a"); got != math.MinInt64 {
		t.Errorf("the smallest reads as %d", got)
	}
	s.Sub(least)
	if !s.Equal(&resource.Sum{}) {
		t.Errorf("%v is left", s.List())
	}
}

func TestAnEmptySum(t *testing.T) {
	var none *resource.Sum
	if none.Get("a") != 0 || none.Len() != 0 || none.List().Len() != 0 || !none.Equal(&resource.Sum{}) {
		t.Error("no sum does not read as an empty one")
	}
	var s resource.Sum
	s.AddSum(none)
	s.SubSum(none)
	if s.Len() != 0 {
		t.Error("adding no sum added something")
	}
}

func TestASumKeepsItsPlacesAndListsOnlyWhatDiffersFromZero(t *testing.T) {
	var s resource.Sum
	s.Add(list(1000, gi))
	s.Sub(only(resource.CPU, 1000))
	if s.Len() != 2 || s.At(0) != (resource.Entry{Name: resource.CPU}) {
		t.Errorf("a total that returned to 0 lost its place: %d", s.Len())
	}
	if got := s.List(); got.Len() != 1 || got.Get(resource.Memory) != gi {
		t.Errorf("listed: %v", got)
	}
	s.Reset()
	if !s.Equal(&resource.Sum{}) || s.Len() != 2 {
		t.Error("Reset should zero the totals and keep their places")
	}
}

func TestASumAddedToItselfDoubles(t *testing.T) {
	var s resource.Sum
	s.Add(list(3, 4))
	s.AddSum(&s)
	if !s.List().Equal(list(6, 8)) {
		t.Errorf("got %v", s.List())
	}
	s.SubSum(&s)
	if !s.Equal(&resource.Sum{}) {
		t.Errorf("got %v", s.List())
	}
}

func TestASumThatKnowsItsNamesDoesNotAllocate(t *testing.T) {
	var s, o resource.Sum
	pod := list(1500, 2*gi)
	s.Add(pod)
	o.Add(pod)
	if n := testing.AllocsPerRun(100, func() {
		s.Add(pod)
		s.AddSum(&o)
		s.Sub(pod)
		s.SubSum(&o)
		_ = s.Get(resource.Memory) + s.At(0).Value
		_ = s.Equal(&o)
	}); n != 0 {
		t.Errorf("%v allocations for each round, want none", n)
	}
}

// The twin keeps one big.Int for each name.
func TestSumsAreBigSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s resource.Sum
		twin := map[resource.Name]*big.Int{}
		count := func(l resource.List, f func(z, x, y *big.Int) *big.Int) {
			for i := range l.Len() {
				e := l.At(i)
				if twin[e.Name] == nil {
					twin[e.Name] = new(big.Int)
				}
				f(twin[e.Name], twin[e.Name], big.NewInt(e.Value))
			}
		}
		var added []resource.List
		for _, l := range rapid.SliceOfN(lists(), 0, 20).Draw(t, "lists") {
			if rapid.Bool().Draw(t, "through another sum") {
				var o resource.Sum
				o.Add(l)
				s.AddSum(&o)
			} else {
				s.Add(l)
			}
			count(l, (*big.Int).Add)
			added = append(added, l)
		}
		for n, v := range twin {
			if got, want := s.Get(n), saturated(v); got != want {
				t.Fatalf("%s: got %d, want %d", n, got, want)
			}
		}
		for i := 1; i < s.Len(); i++ {
			if s.At(i-1).Name >= s.At(i).Name {
				t.Fatalf("out of order at %d", i)
			}
		}
		// Whatever was added can be taken away in any order, and nothing is left.
		for len(added) > 0 {
			i := rapid.IntRange(0, len(added)-1).Draw(t, "taken away")
			s.Sub(added[i])
			added = append(added[:i], added[i+1:]...)
		}
		if !s.Equal(&resource.Sum{}) {
			t.Fatalf("left over: %v", s.List())
		}
	})
}

func TestSumsAreEqualOnlyExactly(t *testing.T) {
	most := only("a", math.MaxInt64)
	var one, two resource.Sum
	one.Add(most)
	two.Add(most)
	two.Add(most)
	if one.Equal(&two) || two.Equal(&one) {
		t.Error("two sums that both read as the largest amount are not therefore equal")
	}
	one.Add(most)
	one.Add(only("b", 0))
	if !one.Equal(&two) || !two.Equal(&one) {
		t.Error("a total of 0 makes a difference")
	}
}
