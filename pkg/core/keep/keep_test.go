package keep_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/keep"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpu(n int64) resource.List { return resource.Of(resource.Entry{Name: resource.CPU, Value: n}) }

func both(c, m int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: c}, resource.Entry{Name: resource.Memory, Value: m})
}

var drf = queue.Rule{Policy: queue.DominantResourceFairness}

func level(usage, share resource.List, others ...keep.Queue) keep.Level {
	return keep.Level{Queue: keep.Queue{Rule: drf, Usage: usage, Share: share}, Others: slices.Values(others)}
}

func other(usage, share resource.List, waits bool) keep.Queue {
	return keep.Queue{Rule: drf, Usage: usage, Share: share, Waits: waits}
}

// The total is 100 of each resource.
func TestRoomIsKeptOnlyWithinWhatAQueueIsOwed(t *testing.T) {
	for name, c := range map[string]struct {
		levels []keep.Level
		want   bool
	}{
		"nobody else":                       {[]keep.Level{level(cpu(100), cpu(10))}, true},
		"within the share":                  {[]keep.Level{level(cpu(50), cpu(50), other(cpu(0), cpu(50), true))}, true},
		"above it, and another waits":       {[]keep.Level{level(cpu(51), cpu(50), other(cpu(49), cpu(50), true))}, false},
		"above it, and nobody waits":        {[]keep.Level{level(cpu(51), cpu(50), other(cpu(49), cpu(50), false))}, true},
		"the other has its share":           {[]keep.Level{level(cpu(51), cpu(50), other(cpu(50), cpu(50), true))}, true},
		"the second of the others waits":    {[]keep.Level{level(cpu(51), cpu(30), other(cpu(40), cpu(30), true), other(cpu(9), cpu(40), true))}, false},
		"the leaf is within, its parent is": {[]keep.Level{level(cpu(60), cpu(60)), level(cpu(60), cpu(50), other(cpu(40), cpu(50), true))}, false},
		"above in the leaf alone, where nobody waits": {
			[]keep.Level{level(cpu(40), cpu(20)), level(cpu(50), cpu(50), other(cpu(0), cpu(50), true))}, true},
		"the dominant resource counts: below by it": {[]keep.Level{level(both(20, 60), both(50, 60), other(cpu(0), cpu(50), true))}, true},
		"the dominant resource counts: above by it": {[]keep.Level{level(both(20, 70), both(60, 60), other(cpu(0), cpu(50), true))}, false},
		"a queue of weight 0 is owed nothing":       {[]keep.Level{level(cpu(1), cpu(0), other(cpu(0), cpu(100), true))}, false},
	} {
		if got := keep.Allowed(both(100, 100), c.levels); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestUnderFairOneResourceCounts(t *testing.T) {
	memory := queue.Rule{Policy: queue.Fair, Resource: resource.Memory}
	l := keep.Level{Queue: keep.Queue{Rule: memory, Usage: both(90, 40), Share: both(0, 50)},
		Others: slices.Values([]keep.Queue{{Rule: memory, Usage: both(0, 0), Share: both(0, 50), Waits: true}})}
	if !keep.Allowed(both(100, 100), []keep.Level{l}) {
		t.Error("90 of 100 cpu brings a queue above a share of memory")
	}
}

// The twin says it in one sentence, in fractions: there is no queue of the path above its share with an other below its own that waits.
func TestKeptRoomAgreesWithItsDefinition(t *testing.T) {
	names := []resource.Name{resource.CPU, resource.Memory}
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.Custom(func(t *rapid.T) resource.List {
			return both(rapid.Int64Range(0, 5).Draw(t, "cpu"), rapid.Int64Range(0, 5).Draw(t, "memory"))
		})
		total := both(rapid.Int64Range(0, 6).Draw(t, "all cpu"), rapid.Int64Range(1, 6).Draw(t, "all memory"))
		one := rapid.Custom(func(t *rapid.T) keep.Queue {
			return keep.Queue{Rule: drf, Usage: amounts.Draw(t, "usage"), Share: amounts.Draw(t, "share"), Waits: rapid.Bool().Draw(t, "waits")}
		})
		dominant := func(l resource.List) *big.Rat {
			most := new(big.Rat)
			for _, n := range names {
				part := new(big.Rat).SetInt64(l.Get(n) * 1_000_000) // of nothing: more than any other
				if all := total.Get(n); all > 0 {
					part = big.NewRat(l.Get(n), all)
				} else if l.Get(n) > 0 {
					part = big.NewRat(1_000_000, 1)
				}
				if part.Cmp(most) > 0 {
					most = part
				}
			}
			return most
		}
		var levels []keep.Level
		want := true
		for range rapid.IntRange(0, 3).Draw(t, "levels") {
			q, others := one.Draw(t, "queue"), rapid.SliceOfN(one, 0, 3).Draw(t, "others")
			levels = append(levels, keep.Level{Queue: q, Others: slices.Values(others)})
			for _, o := range others {
				if dominant(q.Usage).Cmp(dominant(q.Share)) > 0 && o.Waits && dominant(o.Usage).Cmp(dominant(o.Share)) < 0 {
					want = false
				}
			}
		}
		if got := keep.Allowed(total, levels); got != want {
			t.Fatalf("%v, want %v: %+v", got, want, levels)
		}
	})
}
