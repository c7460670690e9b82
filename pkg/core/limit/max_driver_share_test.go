package limit_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestMaxDriverShare(t *testing.T) {
	whole := list(200, 1000) // of the worked example: 1000 GB and 200 cores
	quarter := list(50, 250)
	for name, c := range map[string]struct {
		share      int64
		fair, most resource.List
		usage      *resource.Sum
		busy       bool
		request    resource.List
		want       resource.Name // "" when the driver may start
		part       int64
	}{
		"0.3 of 50 cores is 15":                  {300, quarter, whole, sum(list(14, 0)), true, list(1, 0), "", 0},
		"and not a core more":                    {300, quarter, whole, sum(list(15, 0)), true, list(1, 0), resource.CPU, 15_000},
		"0.3 of 250 Gi is 75":                    {300, quarter, whole, sum(list(0, 75)), true, list(0, 1), resource.Memory, 75 << 30},
		"in all resources it asks for":           {300, quarter, whole, sum(list(1, 75)), true, list(1, 1), resource.Memory, 75 << 30},
		"the first of several":                   {300, quarter, whole, sum(list(15, 75)), true, list(1, 1), resource.CPU, 15_000},
		"what it does not ask for does not hold": {300, quarter, whole, sum(list(0, 900)), true, list(15, 0), "", 0},
		"rounded up":                             {500, only(gpu, 3), whole, sum(only(gpu, 1)), true, only(gpu, 1), "", 0},
		"by one at most":                         {500, only(gpu, 3), whole, sum(only(gpu, 2)), true, only(gpu, 1), gpu, 2},
		"the least part is rounded up as well":   {1, only(gpu, 1), whole, sum(), true, only(gpu, 1), "", 0},
		"nothing runs":                           {0, quarter, whole, sum(), false, list(500, 9000), "", 0},
		"share 0, and something runs":            {0, quarter, whole, sum(), true, list(1, 1), resource.CPU, 0},
		"share 1 limits nothing":                 {1000, quarter, whole, sum(list(900, 900)), true, list(900, 900), "", 0},
		"more than 1 counts as 1":                {5000, quarter, whole, sum(list(900, 900)), true, list(900, 900), "", 0},
		"no share: of what the leaf could hold":  {500, only(resource.Memory, 1), list(10, 0), sum(list(4, 0)), true, list(1, 0), "", 0},
		"and no more than that":                  {500, only(resource.Memory, 1), list(10, 0), sum(list(5, 0)), true, list(1, 0), resource.CPU, 5_000},
		"no share, and none to hold":             {500, quarter, whole, sum(), true, only(gpu, 1), gpu, 0},
		"asks for none of what is full":          {500, quarter, whole, sum(only(gpu, 9)), true, only(gpu, 0), "", 0},
		"usage and request would wrap":           {500, only(gpu, math.MaxInt64), whole, sum(only(gpu, math.MaxInt64)), true, only(gpu, math.MaxInt64), gpu, math.MaxInt64/2 + 1},
		"no usage":                               {500, quarter, whole, nil, true, list(25, 125), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := limit.Drivers{Queue: "root.a", Share: c.share, FairShare: c.fair, Most: c.most, Usage: c.usage, Idle: !c.busy}
			got, over := limit.MaxDriverShare(d, c.request)
			var want reason.Reason
			if c.want != "" {
				want = reason.Reason{
					Code: reason.MaxDriverShare, Queue: "root.a", Resource: c.want, Limit: c.part, Used: c.usage.Get(c.want), Asked: c.request.Get(c.want),
				}
			}
			if got != want || over != (c.want != "") {
				t.Errorf("got %+v, %t, want %+v", got, over, want)
			}
		})
	}
}

// With the calculator Memory, the drivers may use any cpu.
func TestMaxDriverShareOfMemoryAlone(t *testing.T) {
	d := limit.Drivers{Share: 300, FairShare: list(0, 250), Most: list(200, 1000), Usage: sum(list(200, 74)), Calculator: queue.MemoryCalculator}
	if why, over := limit.MaxDriverShare(d, list(50, 1)); over {
		t.Errorf("%+v", why)
	}
	if why, over := limit.MaxDriverShare(d, list(1, 2)); !over || why.Resource != resource.Memory || why.Limit != 75<<30 {
		t.Errorf("%t, %+v", over, why)
	}
	if got := limit.DriverShareFor(d, list(50, 26)); got != 400 { // 100 of 250
		t.Errorf("a share of %d would do", got)
	}
}

// The twin computes with big fractions: usage + request <= ceil(share x base).
func TestMaxDriverShareEqualsItsTwin(t *testing.T) {
	names := []resource.Name{resource.CPU, resource.Memory, gpu}
	lists := amountsOf(names)
	rapid.Check(t, func(t *rapid.T) {
		fair, most, usage, request := lists.Draw(t, "fair share"), lists.Draw(t, "most"), lists.Draw(t, "usage"), lists.Draw(t, "request")
		share := rapid.Int64Range(0, 1200).Draw(t, "share")
		idle := rapid.Bool().Draw(t, "idle")
		calculator := rapid.SampledFrom([]queue.Calculator{queue.DominantCalculator, queue.MemoryCalculator}).Draw(t, "calculator")
		var want resource.Name
		for _, n := range names {
			base := fair.Get(n)
			if base == 0 {
				base = most.Get(n)
			}
			part := new(big.Rat).Mul(big.NewRat(share, 1000), new(big.Rat).SetInt64(base))
			above := new(big.Int).Add(big.NewInt(usage.Get(n)), big.NewInt(request.Get(n)))
			above.Sub(above, big.NewInt(1)) // above <= ceil(part) is above-1 < part, of whole numbers
			counts := calculator == queue.DominantCalculator || n == resource.Memory
			if request.Get(n) > 0 && counts && new(big.Rat).SetInt(above).Cmp(part) >= 0 && want == "" && share < 1000 && !idle {
				want = n
			}
		}
		d := limit.Drivers{Share: share, FairShare: fair, Most: most, Usage: sum(usage), Idle: idle, Calculator: calculator}
		got, over := limit.MaxDriverShare(d, request)
		if got.Resource != want || over != (want != "") {
			t.Fatalf("got %q, %t, want %q", got.Resource, over, want)
		}
		if limit.ExceedsDriverShare(d, request) != over {
			t.Fatalf("the short test says %t", !over)
		}
	})
}

// amountsOf draws lists of some of the resources, up to 2^62: larger amounts saturate, which the twins do not.
func amountsOf(names []resource.Name) *rapid.Generator[resource.List] {
	amount := rapid.OneOf(rapid.Int64Range(0, 12), rapid.Int64Range(0, 1<<61))
	return rapid.Custom(func(t *rapid.T) resource.List {
		var out []resource.Entry
		for _, n := range names {
			if rapid.Bool().Draw(t, "has it") {
				out = append(out, resource.Entry{Name: n, Value: amount.Draw(t, string(n))})
			}
		}
		return resource.Of(out...)
	})
}
