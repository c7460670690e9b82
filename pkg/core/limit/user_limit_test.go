package limit_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestUserShare(t *testing.T) {
	for name, c := range map[string]struct {
		minShare, factor, active       int64
		entitled, most, used, required int64
		want                           int64
	}{
		"one idle user: classic, not 80":                     {50, 5000, 1, 160, 400, 0, 1, 160},
		"25%: one user":                                      {25, 1000, 1, 100, 100, 0, 1, 100},
		"25%: two users":                                     {25, 1000, 2, 100, 100, 0, 1, 50},
		"25%: three users, rounded up":                       {25, 1000, 3, 100, 100, 0, 1, 34},
		"25%: four users":                                    {25, 1000, 4, 100, 100, 0, 1, 25},
		"25%: ten users":                                     {25, 1000, 10, 100, 100, 0, 1, 25},
		"100% is no limit but the factor":                    {100, 1000, 10, 100, 100, 0, 1, 100},
		"nobody active counts as one":                        {25, 1000, 0, 100, 100, 0, 1, 100},
		"usage of others does not matter below the capacity": {25, 1000, 2, 100, 300, 99, 1, 50},
		"it does not with the last pod either":               {25, 1000, 2, 100, 300, 90, 10, 50},
		"the capacity is used: half of it, and the pod":      {25, 3000, 2, 100, 300, 100, 10, 60},
		"a pod that goes beyond the capacity":                {100, 5000, 1, 100, 500, 95, 10, 105},
		"far above it":                                       {25, 3000, 2, 100, 300, 240, 10, 130},
		"but at most half of what the queue may use":         {25, 3000, 2, 100, 240, 240, 10, 120},
		"which is the capacity if it may use no more":        {25, 3000, 2, 100, 100, 100, 10, 50},
		"or if that was lowered":                             {25, 3000, 2, 100, 70, 100, 10, 50},
		"25% of what is used with the pod":                   {25, 3000, 10, 100, 300, 190, 10, 50},
		"but of no more than the queue may use":              {25, 3000, 10, 100, 192, 190, 10, 48},
		"one user may have all of it":                        {25, 3000, 1, 100, 240, 240, 10, 250},
		"100%: so may each":                                  {100, 3000, 2, 100, 240, 240, 10, 250},
		"the factor bounds what is above":                    {100, 1000, 1, 100, 300, 200, 10, 100},
		"also the first pod beyond the capacity":             {100, 1000, 1, 100, 300, 95, 10, 100},
		"a factor below 1":                                   {100, 500, 1, 100, 100, 0, 1, 50},
		"a factor, rounded up":                               {100, 500, 1, 3, 3, 0, 1, 2},
		"a large factor lifts the limit with the usage":      {100, 1_000_000, 1, 100, 500, 300, 10, 310},
		"no capacity: the request takes its place":           {100, 1000, 1, 0, 100, 0, 7, 7},
		"a capacity below the request: likewise":             {50, 1000, 2, 4, 100, 0, 8, 4},
		"the request takes the place, and is used":           {100, 1000, 1, 4, 100, 8, 8, 8},
		"nothing":                       {100, 1000, 1, 0, 0, 0, 0, 0},
		"saturates instead of wrapping": {100, 1000, 1, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64},
		"a factor that would wrap":      {100, math.MaxInt64, 1, 1 << 40, 1 << 40, 0, 1, 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			s := limit.UserShare{MinShare: c.minShare, Factor: c.factor, Active: c.active}
			if got := s.Amount(c.entitled, c.most, c.used, c.required); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestWeightedAmountIsRoundedDown(t *testing.T) {
	for _, c := range []struct{ amount, weight, want int64 }{{50, 1000, 50}, {50, 2000, 100}, {51, 500, 25}, {50, 0, 0}, {math.MaxInt64, 2000, math.MaxInt64}} {
		if got := limit.WeightedAmount(c.amount, c.weight); got != c.want {
			t.Errorf("%d at weight %d: got %d, want %d", c.amount, c.weight, got, c.want)
		}
	}
}

func TestNeededAmount(t *testing.T) {
	most := int64(math.MaxInt64)
	for name, c := range map[string]struct {
		usage, more, weight, least int64
		ok                         bool
	}{
		"weight 1":                     {40, 10, 1000, 50, true},
		"weight 2, rounded up":         {40, 11, 2000, 26, true},
		"weight a half":                {40, 10, 500, 100, true},
		"a user without anything":      {0, 10, 500, 0, true},
		"weight 0":                     {40, 10, 0, 0, false},
		"a pod that asks for none":     {40, 0, 0, 0, true},
		"more than there can be":       {most - 10, 20, 1000, most, true},
		"likewise, at a larger weight": {most - 10, 20, 2000, most/2 + 1, true},
		"at a smaller, never":          {most / 2, 10, 500, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			least, ok := limit.NeededAmount(sum(only(gpu, c.usage)), resource.Entry{Name: gpu, Value: c.more}, c.weight)
			if least != c.least || ok != c.ok {
				t.Errorf("got %d, %t, want %d, %t", least, ok, c.least, c.ok)
			}
		})
	}
}

func TestUsageForIsTheInverseOfNeededAmount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Int64Range(1, 60)
		amount, more, usage, weight := small.Draw(t, "amount"), only(gpu, small.Draw(t, "more")).At(0), small.Draw(t, "usage"), rapid.Int64Range(0, 3000).Draw(t, "weight")
		least, ok := limit.NeededAmount(sum(only(gpu, usage)), more, weight)
		if enough := ok && least <= amount; enough != (usage <= limit.UsageFor(amount, more, weight)) {
			t.Fatalf("an amount of %d is enough: %t, but not up to %d", amount, enough, limit.UsageFor(amount, more, weight))
		}
	})
}

func TestUserLimit(t *testing.T) {
	leaf := list(100, 400)
	two := limit.UserShare{MinShare: 25, Factor: 1000, Active: 2} // half of 100 cores and of 400 Gi
	for name, c := range map[string]struct {
		share       limit.UserShare
		weight      int64
		usage, used *resource.Sum
		request     resource.List
		want        resource.Name // "" when the pod may start
		most        int64
		byFactor    bool
	}{
		"below the limit":                        {two, 1000, sum(list(40, 0)), sum(list(40, 0)), list(10, 0), "", 0, false},
		"no overshoot, not by one core":          {two, 1000, sum(list(41, 0)), sum(list(41, 0)), list(10, 0), resource.CPU, 50_000, false},
		"memory":                                 {two, 1000, sum(list(1, 195)), sum(list(1, 195)), list(1, 10), resource.Memory, 200 << 30, false},
		"a user without pods may have one":       {two, 1000, sum(), sum(list(100, 0)), list(90, 0), "", 0, false},
		"also at weight 0":                       {two, 0, sum(), sum(), list(1, 0), "", 0, false},
		"but not two":                            {two, 0, sum(list(1, 0)), sum(list(1, 0)), list(1, 0), resource.CPU, 0, false},
		"pods that have ended count no more":     {two, 0, ended(list(1, 0)), ended(list(1, 0)), list(1, 0), "", 0, false},
		"weight 2":                               {two, 2000, sum(list(90, 0)), sum(list(90, 0)), list(10, 0), "", 0, false},
		"only what it asks for":                  {two, 1000, sum(list(50, 0)), sum(list(50, 0)), only(resource.Memory, 1), "", 0, false},
		"the factor":                             {limit.UserShare{MinShare: 100, Factor: 1000, Active: 1}, 1000, sum(list(95, 0)), sum(list(95, 0)), list(10, 0), resource.CPU, 100_000, true},
		"a resource of which the leaf has none":  {two, 1000, sum(only(gpu, 1)), sum(only(gpu, 1)), only(gpu, 1), gpu, 1, true},
		"usage of a user and request would wrap": {two, 1000, sum(only(gpu, math.MaxInt64)), sum(), only(gpu, math.MaxInt64), gpu, math.MaxInt64/2 + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := limit.User{Queue: "root.a", Name: "ann", Usage: c.usage, Weight: c.weight, Share: c.share, Entitled: leaf.Get, Most: leaf.Get, Used: c.used}
			got, over := limit.UserLimit(u, c.request)
			var want reason.Reason
			if c.want != "" {
				want = reason.Reason{
					Code: reason.UserLimit, Queue: "root.a", Resource: c.want, Limit: c.most, Used: c.usage.Get(c.want), Asked: c.request.Get(c.want),
					Details: reason.UserShare{User: "ann", Active: c.share.Active, ByFactor: c.byFactor},
				}
			}
			if got != want || over != (c.want != "") {
				t.Errorf("got %+v, %t, want %+v", got, over, want)
			}
		})
	}
}

func ended(l resource.List) *resource.Sum {
	s := sum(l)
	s.Sub(l)
	return s
}

// The twin computes in fractions, step by step as the formula stands: an equal part of what the queue has, not below
// the least part, not above the factor, each rounded up; times the weight, rounded down.
func TestUserLimitEqualsItsTwin(t *testing.T) {
	names := []resource.Name{resource.CPU, resource.Memory, gpu}
	lists := amountsOf(names)
	rapid.Check(t, func(t *rapid.T) {
		leaf, most, request := lists.Draw(t, "leaf"), lists.Draw(t, "most"), lists.Draw(t, "request")
		usage, others := lists.Draw(t, "usage"), lists.Draw(t, "others")
		percent, factor := rapid.Int64Range(1, 100).Draw(t, "percent"), rapid.Int64Range(1, 5000).Draw(t, "factor")
		active, weight := rapid.Int64Range(1, 6).Draw(t, "active"), rapid.Int64Range(0, 4000).Draw(t, "weight")
		s := limit.UserShare{MinShare: percent, Factor: factor, Active: active}
		used := sum(usage, others)
		var want resource.Name
		stopped := false
		nothing := true
		for _, n := range names {
			nothing = nothing && usage.Get(n) == 0
		}
		for i := range request.Len() {
			e := request.At(i)
			may := twin(s, [4]int64{leaf.Get(e.Name), most.Get(e.Name), used.Get(e.Name), e.Value}, weight)
			with := new(big.Int).Add(big.NewInt(usage.Get(e.Name)), big.NewInt(e.Value))
			if want == "" && !nothing && e.Value > 0 && with.Cmp(may) > 0 {
				want = e.Name
			}
			least, ok := limit.NeededAmount(sum(usage), e, weight)
			stopped = stopped || !ok || least > s.Amount(leaf.Get(e.Name), most.Get(e.Name), used.Get(e.Name), e.Value)
		}
		got, over := limit.UserLimit(limit.User{Usage: sum(usage), Weight: weight, Share: s, Entitled: leaf.Get, Most: most.Get, Used: used}, request)
		if got.Resource != want || over != (want != "") {
			t.Fatalf("got %q, %t, want %q", got.Resource, over, want)
		}
		if stopped != over {
			t.Fatalf("the amounts that the user needs say %t", stopped)
		}
	})
}

func twin(s limit.UserShare, of [4]int64, weight int64) *big.Int {
	rat := func(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
	entitled, most, used, required := of[0], of[1], rat(of[2]), rat(of[3])
	q := rat(max(entitled, of[3]))
	top := rat(max(entitled, most, of[3]))
	users, percent := big.NewRat(1, s.Active), big.NewRat(s.MinShare, 100)
	part, whole := up(new(big.Rat).Mul(q, users)), q
	if with := new(big.Rat).Add(used, required); with.Cmp(q) > 0 {
		part = new(big.Int).Add(up(new(big.Rat).Mul(used, users)), required.Num())
		if whole = with; whole.Cmp(top) > 0 {
			whole = top
		}
		if most := up(new(big.Rat).Mul(top, users)); most.Cmp(part) < 0 {
			part = most
		}
		if s.Active == 1 || s.MinShare == 100 {
			whole, percent = with, big.NewRat(1, 1)
		}
	}
	if least := up(new(big.Rat).Mul(whole, percent)); least.Cmp(part) > 0 {
		part = least
	}
	if most := up(new(big.Rat).Mul(q, big.NewRat(s.Factor, 1000))); most.Cmp(part) < 0 {
		part = most
	}
	weighted := new(big.Rat).Mul(new(big.Rat).SetInt(part), big.NewRat(weight, 1000))
	return new(big.Int).Quo(weighted.Num(), weighted.Denom())
}

func up(r *big.Rat) *big.Int {
	n := new(big.Int).Add(r.Num(), r.Denom())
	n.Sub(n, big.NewInt(1))
	return n.Quo(n, r.Denom())
}

// As long as a queue may use more, one of the active users may have one more pod: the limits of users alone never block
// a queue that several users share at a factor that is large enough, neither below the entitlement nor above it. Where
// pods are larger than one unit, a part may be left below the entitlement and below the most that the queue may use.
func TestUserLimitsDoNotBlockAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		active := rapid.Int64Range(1, 5).Draw(t, "active")
		s := limit.UserShare{MinShare: rapid.Int64Range(1, 100).Draw(t, "percent"), Factor: 1000 * rapid.Int64Range(1, 4).Draw(t, "factor")}
		s.Active = active
		entitled, more := rapid.Int64Range(1, 40).Draw(t, "entitled"), rapid.Int64Range(0, 40).Draw(t, "more")
		usages, total := make([]int64, active), int64(0)
		for i := range usages {
			usages[i] = rapid.Int64Range(0, 20).Draw(t, fmt.Sprint("usage", i))
			total += usages[i]
		}
		if total >= entitled+more || slices.Min(usages) >= entitled*s.Factor/1000 {
			return
		}
		used := sum(only(gpu, total))
		e, most := func(resource.Name) int64 { return entitled }, func(resource.Name) int64 { return entitled + more }
		for _, usage := range usages {
			u := limit.User{Usage: sum(only(gpu, usage)), Weight: 1000, Share: s, Entitled: e, Most: most, Used: used}
			if _, over := limit.UserLimit(u, only(gpu, 1)); !over {
				return
			}
		}
		t.Fatalf("all of %v are over their limit, and %d is free", usages, entitled+more-total)
	})
}

// Two users grow beyond a capacity of 100 together, one pod of 10 at a time, up to the most that the queue may use.
func TestUsersGrowTogetherBeyondTheCapacity(t *testing.T) {
	share := limit.UserShare{MinShare: 50, Factor: 10_000, Active: 2}
	e, most := func(resource.Name) int64 { return 100 }, func(resource.Name) int64 { return 205 }
	var usage [2]int64
	for grown := true; grown; {
		grown = false
		for i := range usage {
			u := limit.User{Usage: sum(only(gpu, usage[i])), Weight: 1000, Share: share, Entitled: e, Most: most, Used: sum(only(gpu, usage[0]+usage[1]))}
			if _, over := limit.UserLimit(u, only(gpu, 10)); !over {
				usage[i] += 10
				grown = true
			}
		}
	}
	if usage != [2]int64{100, 100} {
		t.Errorf("they have %v", usage)
	}
}

func TestPotential(t *testing.T) {
	for _, c := range []struct {
		share          limit.UserShare
		entitled, most int64
		want           int64
	}{
		{limit.UserShare{MinShare: 100, Factor: 9000, Active: 1}, 40, 100, 100}, // one user may have all
		{limit.UserShare{MinShare: 100, Factor: 9000, Active: 3}, 40, 100, 100}, // so may each of three
		{limit.UserShare{MinShare: 25, Factor: 9000, Active: 2}, 40, 100, 50},
		{limit.UserShare{MinShare: 25, Factor: 9000, Active: 5}, 40, 100, 25},
		{limit.UserShare{MinShare: 25, Factor: 1000, Active: 2}, 40, 100, 40}, // no more than the entitlement
		{limit.UserShare{MinShare: 25, Factor: 9000, Active: 2}, 40, 30, 20},  // the entitlement is the least that counts
	} {
		if got := c.share.Potential(c.entitled, c.most, 1); got != c.want {
			t.Errorf("%+v of %d, at most %d: %d, want %d", c.share, c.entitled, c.most, got, c.want)
		}
	}
}

// As a leaf fills up, what one user may have grows to the potential, and never beyond it.
func TestPotentialIsTheLargestAmount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(1, 60)
		share := limit.UserShare{MinShare: rapid.Int64Range(1, 100).Draw(t, "percent"), Factor: rapid.Int64Range(1, 4000).Draw(t, "factor"), Active: rapid.Int64Range(1, 5).Draw(t, "users")}
		entitled, most, required := amount.Draw(t, "entitled"), amount.Draw(t, "most"), amount.Draw(t, "required")
		var largest int64
		for used := int64(0); used+required <= max(entitled, most, required); used++ {
			largest = max(largest, share.Amount(entitled, most, used, required))
		}
		if got := share.Potential(entitled, most, required); got != largest {
			t.Fatalf("%d, but the largest amount is %d", got, largest)
		}
	})
}
