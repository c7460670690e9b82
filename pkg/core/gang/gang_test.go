package gang_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
)

func TestMembers(t *testing.T) {
	for name, c := range map[string]struct {
		m                                   gang.Members
		together, complete, partial, broken bool
		need                                int
		mayStart                            bool
	}{
		"all wait":                     {gang.Members{Minimum: 3, Live: 3, Ready: 3}, true, true, false, false, 3, true},
		"one is missing":               {gang.Members{Minimum: 3, Live: 2, Ready: 2}, true, false, false, false, 3, false},
		"more than it takes":           {gang.Members{Minimum: 3, Live: 5, Ready: 5}, true, true, false, false, 3, true},
		"all are on their way":         {gang.Members{Minimum: 3, Live: 3, Taken: 3}, true, true, false, false, 0, false},
		"one of them came back":        {gang.Members{Minimum: 3, Live: 3, Taken: 2, Ready: 1}, true, true, false, true, 1, false},
		"a binding failed":             {gang.Members{Minimum: 3, Live: 3, Bound: 2, Ready: 1}, true, true, true, false, 1, true},
		"the last one is on its way":   {gang.Members{Minimum: 3, Live: 3, Bound: 2, Taken: 1}, true, true, true, false, 0, false},
		"it was whole, and two ended":  {gang.Members{Minimum: 3, Live: 1, Bound: 1, Whole: true}, false, false, false, false, 2, false},
		"one pod makes it whole":       {gang.Members{Minimum: 1, Live: 1, Ready: 1}, false, true, false, false, 1, true},
		"a minimum of nothing":         {gang.Members{Live: 1, Ready: 1}, false, true, false, false, 0, true},
		"more are bound than it takes": {gang.Members{Minimum: 2, Live: 3, Bound: 3}, true, true, false, false, 0, true},
	} {
		m := c.m
		if m.Together() != c.together || m.Complete() != c.complete || m.Partial() != c.partial || m.Broken() != c.broken || m.Need() != c.need || m.MayStart() != c.mayStart {
			t.Errorf("%s: together %v, complete %v, partial %v, broken %v, need %d, may start %v", name, m.Together(), m.Complete(), m.Partial(), m.Broken(), m.Need(), m.MayStart())
		}
	}
}

// What is placed fits, and adds up; where all pods are equal, all that fit are placed.
func TestPackPlacesNothingThatDoesNotFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 8).Draw(t, "free")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 3).Draw(t, "sizes")
		need := rapid.SliceOfN(rapid.IntRange(0, 9), len(sizes), len(sizes)).Draw(t, "need")
		places, placed := gang.Pack(len(free), need, func(node, kind int, taken []int) int {
			left := free[node]
			for g, n := range taken {
				left -= n * sizes[g]
			}
			return left / sizes[kind]
		})
		used, of, sum := make([]int, len(free)), make([]int, len(sizes)), 0
		for _, p := range places {
			used[p.Node] += p.Pods * sizes[p.Kind]
			of[p.Kind] += p.Pods
			sum += p.Pods
		}
		for i := range free {
			if used[i] > free[i] {
				t.Fatalf("node %d has %d and holds %d", i, free[i], used[i])
			}
		}
		want, asked := 0, 0
		for g := range sizes {
			if of[g] > need[g] {
				t.Fatalf("%d of %d pods of a group are placed", of[g], need[g])
			}
			asked += need[g]
		}
		if sum != placed {
			t.Fatalf("%d pods have places, %d are counted", sum, placed)
		}
		if len(sizes) == 1 {
			for _, f := range free {
				want += f / sizes[0]
			}
			if want = min(want, asked); placed != want {
				t.Fatalf("%d are placed, %d fit", placed, want)
			}
		}
	})
}
