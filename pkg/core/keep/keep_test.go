package keep_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/keep"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpu(n int64) resource.List { return resource.Of(resource.Entry{Name: resource.CPU, Value: n}) }

func both(c, m int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: c}, resource.Entry{Name: resource.Memory, Value: m})
}

var drf = queue.Rule{Policy: queue.DominantResourceFairness}

// level is a queue with one sibling, in which these are.
func level(usage, share resource.List, others ...keep.Queue) keep.Level {
	l := keep.Level{Queue: keep.Queue{Rule: drf, Usage: usage, Share: share}, Started: usage, Siblings: slices.Values([]keep.Sibling{})}
	if len(others) > 0 {
		l.Siblings = slices.Values([]keep.Sibling{{Rule: drf, Queues: slices.Values(others)}})
	}
	return l
}

// withGroups is a level whose sibling, which waits below its share, waits with pod groups alone.
func withGroups(started, share, itsStarted, itsShare resource.List) keep.Level {
	l := level(started, share)
	l.Siblings = slices.Values([]keep.Sibling{{Rule: drf, Share: itsShare, GroupsOnly: true, Started: itsStarted,
		Queues: slices.Values([]keep.Queue{other(cpu(0), itsShare, true)})}})
	return l
}

func demand(amounts resource.List, waits bool) func() (resource.List, bool) {
	return func() (resource.List, bool) { return amounts, waits }
}

func other(usage, share resource.List, waits bool) keep.Queue {
	return keep.Queue{Rule: drf, Usage: usage, Share: share, Demand: demand(both(100, 100), waits)}
}

func guaranteed(amounts resource.List, q keep.Queue) keep.Queue {
	q.Guaranteed = amounts
	return q
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
		"the other is above its share, and lacks guaranteed memory": {
			[]keep.Level{level(cpu(20), cpu(10), guaranteed(both(0, 5), other(both(60, 4), both(40, 40), true)))}, false},
		"the other lacks guaranteed memory, and does not wait": {
			[]keep.Level{level(cpu(20), cpu(10), guaranteed(both(0, 5), other(both(60, 4), both(40, 40), false)))}, true},
		"the other lacks guaranteed memory, and asks for no more": {
			[]keep.Level{level(cpu(20), cpu(10), guaranteed(both(0, 200), other(both(60, 100), both(40, 40), true)))}, true},
		"the other has all of its guarantee": {
			[]keep.Level{level(cpu(20), cpu(10), guaranteed(both(60, 4), other(both(60, 4), both(40, 40), true)))}, true},
		"the group of another is closer to its share":     {[]keep.Level{withGroups(cpu(60), cpu(40), cpu(50), cpu(40))}, false},
		"the group of another is not":                     {[]keep.Level{withGroups(cpu(50), cpu(40), cpu(60), cpu(40))}, true},
		"both groups are as far above":                    {[]keep.Level{withGroups(cpu(50), cpu(40), cpu(50), cpu(40))}, true},
		"a small group of a small share is farther above": {[]keep.Level{withGroups(cpu(60), cpu(40), cpu(4), cpu(1))}, true},
		"the group of another is within its share":        {[]keep.Level{withGroups(cpu(60), cpu(40), cpu(40), cpu(40))}, false},
		"weight 0 is farther above than any":              {[]keep.Level{withGroups(cpu(1), cpu(0), cpu(90), cpu(1))}, false},
		"a queue of weight 0 is owed nothing":             {[]keep.Level{level(cpu(1), cpu(0), other(cpu(0), cpu(100), true))}, false},
	} {
		if _, got := keep.Allowed(both(100, 100), c.levels); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A refusal names the queue that would be above its share, by what it would have most of, and the first that waits.
func TestARefusalSaysWhichShareForbidsTheRoom(t *testing.T) {
	named := func(path queue.Path, q keep.Queue) keep.Queue {
		q.Path = path
		return q
	}
	leaf := func(l keep.Level) keep.Level {
		l.Path = "root.p.a"
		return l
	}
	parent := func(l keep.Level) keep.Level {
		l.Path = "root.p"
		return l
	}
	starved, above := named("root.q", other(cpu(9), cpu(50), true)), named("root.r", other(cpu(60), cpu(50), true))
	for name, c := range map[string]struct {
		levels []keep.Level
		want   reason.ShareForbids
	}{
		"a leaf": {
			[]keep.Level{leaf(level(both(70, 60), both(50, 60), above, starved)), parent(level(both(90, 60), both(10, 10), starved))},
			reason.ShareForbids{Queue: "root.p.a", Resource: resource.CPU, Share: 50, Usage: 70, Waiting: "root.q", Below: reason.BelowFairShare},
		},
		"a queue above it": {
			[]keep.Level{leaf(level(cpu(40), cpu(50), starved)), parent(level(both(60, 80), both(50, 50), starved))},
			reason.ShareForbids{Queue: "root.p", Resource: resource.Memory, Share: 50, Usage: 80, Waiting: "root.q", Below: reason.BelowFairShare},
		},
		"another lacks what it is guaranteed": {
			[]keep.Level{leaf(level(cpu(20), cpu(10), guaranteed(both(0, 5), above)))},
			reason.ShareForbids{Queue: "root.p.a", Resource: resource.CPU, Share: 10, Usage: 20, Waiting: "root.r", Below: reason.BelowGuaranteed},
		},
		"of weight 0": {
			[]keep.Level{leaf(level(cpu(20), cpu(0), starved))},
			reason.ShareForbids{Queue: "root.p.a", Resource: resource.CPU, Share: 0, Usage: 20, Waiting: "root.q", Below: reason.BelowFairShare},
		},
		"nothing forbids it": {[]keep.Level{leaf(level(cpu(20), cpu(10), above))}, reason.ShareForbids{}},
	} {
		if got, _ := keep.Allowed(both(100, 100), c.levels); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestUnderFairOneResourceCounts(t *testing.T) {
	memory := queue.Rule{Policy: queue.Fair, Resource: resource.Memory}
	l := level(both(90, 40), both(0, 50), keep.Queue{Rule: memory, Usage: both(0, 0), Share: both(0, 50), Demand: demand(both(9, 9), true)})
	l.Rule = memory
	if _, allowed := keep.Allowed(both(100, 100), []keep.Level{l}); !allowed {
		t.Error("90 of 100 cpu brings a queue above a share of memory")
	}
}

// dominant is the largest part of the total.
func dominant(total, l resource.List) *big.Rat {
	most := new(big.Rat)
	for _, n := range []resource.Name{resource.CPU, resource.Memory} {
		part := new(big.Rat)
		if all := total.Get(n); all > 0 {
			part = big.NewRat(l.Get(n), all)
		} else if l.Get(n) > 0 {
			part = big.NewRat(1_000_000, 1) // of nothing: more than any other
		}
		if part.Cmp(most) > 0 {
			most = part
		}
	}
	return most
}

// The twin says it in one sentence, in fractions: there is no queue of the path above its share, and not within its guarantee, with a sibling in which a queue waits that is below its own
// share or has less of something than it is guaranteed; if groups alone wait there, only where the sibling would use the smaller part of its share with one.
func TestKeptRoomAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.Custom(func(t *rapid.T) resource.List {
			return both(rapid.Int64Range(0, 5).Draw(t, "cpu"), rapid.Int64Range(0, 5).Draw(t, "memory"))
		})
		total := both(rapid.Int64Range(1, 6).Draw(t, "all cpu"), rapid.Int64Range(1, 6).Draw(t, "all memory"))
		one := rapid.Custom(func(t *rapid.T) keep.Queue {
			q := keep.Queue{Rule: drf, Usage: amounts.Draw(t, "usage"), Share: amounts.Draw(t, "share"),
				Demand: demand(amounts.Draw(t, "demand"), rapid.Bool().Draw(t, "waits"))}
			if rapid.IntRange(0, 3).Draw(t, "is guaranteed something if 0") == 0 {
				q.Guaranteed = amounts.Draw(t, "guaranteed")
			}
			return q
		})
		of := func(l resource.List) *big.Rat { return dominant(total, l) }
		// closer: a is the smaller part of its share. Nothing is no part of any share; something of no share is more than any part.
		closer := func(a, aShare, b, bShare resource.List) bool {
			switch {
			case of(a).Sign() == 0 || of(b).Sign() == 0:
				return of(b).Sign() > 0
			case of(aShare).Sign() == 0 || of(bShare).Sign() == 0:
				return of(aShare).Sign() > 0
			}
			return new(big.Rat).Quo(of(a), of(aShare)).Cmp(new(big.Rat).Quo(of(b), of(bShare))) < 0
		}
		var levels []keep.Level
		want := true
		for range rapid.IntRange(0, 3).Draw(t, "levels") {
			l := keep.Level{Queue: one.Draw(t, "queue"), Started: amounts.Draw(t, "started"), WithinGuarantee: rapid.IntRange(0, 3).Draw(t, "guarantees if 0") == 0}
			var siblings []keep.Sibling
			for range rapid.IntRange(0, 2).Draw(t, "siblings") {
				others := rapid.SliceOfN(one, 0, 2).Draw(t, "others")
				s := keep.Sibling{Rule: drf, Share: amounts.Draw(t, "its share"), GroupsOnly: rapid.Bool().Draw(t, "groups only"), Started: amounts.Draw(t, "started"),
					Queues: slices.Values(others)}
				siblings = append(siblings, s)
				for _, o := range others {
					demand, waits := o.Demand()
					lacks := func(n resource.Name) bool { return o.Usage.Get(n) < min(o.Guaranteed.Get(n), demand.Get(n)) }
					below := of(o.Usage).Cmp(of(o.Share)) < 0 || lacks(resource.CPU) || lacks(resource.Memory)
					counts := !s.GroupsOnly || closer(s.Started, s.Share, l.Started, l.Share)
					if !l.WithinGuarantee && of(l.Usage).Cmp(of(l.Share)) > 0 && waits && below && counts {
						want = false
					}
				}
			}
			l.Siblings = slices.Values(siblings)
			levels = append(levels, l)
		}
		why, got := keep.Allowed(total, levels)
		if got != want {
			t.Fatalf("%v, want %v: %+v", got, want, levels)
		}
		if (why == reason.ShareForbids{}) != got {
			t.Fatalf("%v, because of %+v: %+v", got, why, levels)
		}
	})
}
