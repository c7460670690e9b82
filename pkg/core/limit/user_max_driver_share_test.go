package limit_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A tenth of 100 is for drivers, if nothing else is said.
func TestAmountOfAUsersDrivers(t *testing.T) {
	for name, c := range map[string]struct {
		share, minShare, factor, active, weight, whole, want int64
	}{
		"one user has the part of all":           {100, 25, 1000, 1, 1000, 100, 10},
		"two users: half of it":                  {100, 25, 1000, 2, 1000, 100, 5},
		"three, rounded up":                      {100, 25, 1000, 3, 1000, 100, 4},
		"four: a quarter, rounded up":            {100, 25, 1000, 4, 1000, 100, 3},
		"ten: a quarter":                         {100, 25, 1000, 10, 1000, 100, 3},
		"100%: all of it for each":               {100, 100, 1000, 10, 1000, 100, 10},
		"nobody active counts as one":            {100, 25, 1000, 0, 1000, 100, 10},
		"times the factor":                       {100, 25, 2000, 4, 1000, 100, 5},
		"a factor below 1":                       {100, 100, 500, 1, 1000, 100, 5},
		"rounded once":                           {333, 33, 500, 9, 1000, 100, 6}, // 5.49
		"no part for drivers":                    {0, 25, 1000, 2, 1000, 100, 0},
		"drivers may use all: so may a user's":   {1000, 25, 500, 2, 1000, 100, math.MaxInt64},
		"what has no share is parts of the most": {100, 50, 1000, 2, 1000, 0, 20},
		"saturates instead of wrapping":          {999, 100, math.MaxInt64, 1, 1000, math.MaxInt64, math.MaxInt64},
		"a weight of a half":                     {100, 25, 1000, 2, 500, 100, 3},  // 2.5
		"of three halves, on the stated part":    {100, 25, 1000, 8, 1500, 100, 4}, // 3.75
		"no more than the whole":                 {100, 50, 1000, 2, 2000, 100, 10},
		"nor with a larger weight":               {100, 1, 1000, 2, 100_000, 100, 10},
		"the factor comes after the whole":       {100, 25, 500, 1, 4000, 100, 5},
		"weight 0":                               {100, 25, 1000, 2, 0, 100, 0},
		"drivers may use all: a weight is none":  {1000, 25, 1000, 2, 0, 100, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			u := limit.UserDrivers{Drivers: limit.Drivers{Share: c.share, FairShare: only(gpu, c.whole), Most: only(gpu, 400)},
				Users: limit.UserShare{MinShare: c.minShare, Factor: c.factor, Active: c.active}, Weight: c.weight}
			if got := u.Amount(gpu); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestUserMaxDriverShare(t *testing.T) {
	two := limit.UserShare{MinShare: 25, Factor: 1000, Active: 2} // half of a tenth of 100 cores and of 400 Gi
	for name, c := range map[string]struct {
		usage, request resource.List
		want           resource.Name
	}{
		"within":                           {list(3, 0), list(2, 20), ""},
		"one core too many":                {list(3, 0), list(3, 0), resource.CPU},
		"only what is asked for counts":    {list(9, 0), list(0, 20), ""},
		"the first that uses something":    {list(0, 0), list(9, 0), ""},
		"memory":                           {list(1, 20), list(1, 1), resource.Memory},
		"nothing more, and it is too much": {list(9, 90), list(0, 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := limit.UserDrivers{Drivers: limit.Drivers{Queue: "root.a", Share: 100, FairShare: list(100, 400), Usage: sum(c.usage)}, User: "ann", Users: two, Weight: 1000}
			got, over := limit.UserMaxDriverShare(u, c.request)
			if over != (c.want != "") || got.Resource != c.want {
				t.Fatalf("got %+v, %v", got, over)
			}
			want := reason.Reason{
				Code: reason.UserMaxDriverShare, Queue: "root.a", Resource: c.want, Limit: list(5, 20).Get(c.want),
				Used: c.usage.Get(c.want), Asked: c.request.Get(c.want), Details: reason.UserShare{User: "ann", Active: 2},
			}
			if over && got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// The twin computes in fractions and rounds up once; by the amounts that a user needs, the same is stopped.
func TestUserMaxDriverShareEqualsItsTwin(t *testing.T) {
	names := []resource.Name{resource.CPU, resource.Memory, gpu}
	lists := amountsOf(names)
	rapid.Check(t, func(t *rapid.T) {
		leaf, most, request, usage := lists.Draw(t, "leaf"), lists.Draw(t, "most"), lists.Draw(t, "request"), lists.Draw(t, "usage")
		share := rapid.Int64Range(0, 1000).Draw(t, "share")
		s := limit.UserShare{
			MinShare: rapid.Int64Range(1, 100).Draw(t, "percent"), Factor: rapid.Int64Range(1, 5000).Draw(t, "factor"), Active: rapid.Int64Range(1, 6).Draw(t, "active"),
		}
		weight := rapid.Int64Range(0, 100_000/s.MinShare).Draw(t, "weight")
		u := limit.UserDrivers{Drivers: limit.Drivers{Share: share, FairShare: leaf, Most: most, Usage: sum(usage)}, Users: s, Weight: weight}
		var want resource.Name
		stopped, nothing := false, true
		for _, n := range names {
			nothing = nothing && usage.Get(n) == 0
		}
		for i := range request.Len() {
			e := request.At(i)
			whole := leaf.Get(e.Name)
			if whole == 0 {
				whole = most.Get(e.Name)
			}
			part := big.NewRat(s.MinShare, 100)
			if equal := big.NewRat(1, s.Active); equal.Cmp(part) > 0 {
				part = equal
			}
			if part.Mul(part, big.NewRat(weight, 1000)); part.Cmp(big.NewRat(1, 1)) > 0 {
				part.SetInt64(1)
			}
			may := new(big.Rat).Mul(new(big.Rat).SetInt64(whole), big.NewRat(share, 1000))
			may.Mul(may.Mul(may, part), big.NewRat(s.Factor, 1000))
			with := new(big.Int).Add(big.NewInt(usage.Get(e.Name)), big.NewInt(e.Value))
			if want == "" && !nothing && share < 1000 && e.Value > 0 && with.Cmp(up(may)) > 0 {
				want = e.Name
			}
			least, ok := limit.NeededAmount(sum(usage), e, 1000)
			stopped = stopped || !ok || least > u.Amount(e.Name)
		}
		got, over := limit.UserMaxDriverShare(u, request)
		if got.Resource != want || over != (want != "") || stopped != over {
			t.Fatalf("got %q, %t, and %t by amounts, want %q", got.Resource, over, stopped, want)
		}
	})
}
