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

const gpu resource.Name = "nvidia.com/gpu"

// list takes cores and Gi.
func list(cores, gi int64) resource.List {
	return resource.Of(
		resource.Entry{Name: resource.CPU, Value: cores * 1000},
		resource.Entry{Name: resource.Memory, Value: gi << 30})
}

func only(n resource.Name, v int64) resource.List {
	return resource.Of(resource.Entry{Name: n, Value: v})
}

func sum(lists ...resource.List) *resource.Sum {
	var s resource.Sum
	for _, l := range lists {
		s.Add(l)
	}
	return &s
}

func TestMaxResources(t *testing.T) {
	pod := list(4, 8)
	for name, c := range map[string]struct {
		usage   *resource.Sum
		request resource.List
		max     resource.List
		want    resource.Name // "" when the pod may pass
	}{
		"no max":                    {sum(list(90, 90)), pod, resource.List{}, ""},
		"room for more":             {sum(list(10, 10)), pod, list(50, 50), ""},
		"room for exactly this pod": {sum(list(46, 42)), pod, list(50, 50), ""},
		"one core short, although there is room now": {sum(list(47, 0)), pod, list(50, 50), resource.CPU},
		"memory short":                                {sum(list(0, 43)), pod, list(50, 50), resource.Memory},
		"both short, the first in name order":         {sum(list(50, 50)), pod, list(50, 50), resource.CPU},
		"a max in one resource leaves the others":     {sum(list(1000, 0)), pod, only(resource.Memory, 1<<40), ""},
		"a max of 0 lets nothing in":                  {sum(), pod, only(resource.CPU, 0), resource.CPU},
		"a max of 0 lets in what does not ask":        {sum(), pod, only(gpu, 0), ""},
		"a resource that has no max":                  {sum(), only(gpu, 5), list(50, 50), ""},
		"above a lowered max that the pod adds to":    {sum(list(60, 0)), pod, list(50, 50), resource.CPU},
		"above a lowered max the pod does not add to": {sum(list(60, 0)), only(resource.Memory, 1), list(50, 50), resource.CPU},
		"at its max, and the pod does not add to it":  {sum(list(50, 0)), only(resource.Memory, 1), list(50, 50), ""},
		"a pod that asks for nothing, below max":      {sum(list(50, 50)), resource.List{}, list(50, 50), ""},
		"an unlimited max":                            {sum(only(gpu, math.MaxInt64)), only(gpu, math.MaxInt64), only(gpu, resource.Unlimited), ""},
		"a request that would wrap":                   {sum(only(gpu, 5)), only(gpu, math.MaxInt64), only(gpu, 100), gpu},
		"usage past the end":                          {sum(only(gpu, math.MaxInt64), only(gpu, math.MaxInt64)), only(gpu, 0), only(gpu, 100), gpu},
		"no usage yet":                                {nil, pod, list(4, 8), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, exceeded := limit.MaxResources("root.a", c.usage, c.request, c.max)
			var want reason.Reason
			if c.want != "" {
				want = reason.Reason{
					Code: reason.MaxResources, Queue: "root.a", Resource: c.want,
					Limit: c.max.Get(c.want), Used: c.usage.Get(c.want), Asked: c.request.Get(c.want),
				}
			}
			if got != want || exceeded != (c.want != "") {
				t.Errorf("got %+v, %t, want %+v", got, exceeded, want)
			}
		})
	}
}

// The twin computes with big integers and reads an absent max as none.
func TestMaxResourcesEqualsItsTwin(t *testing.T) {
	names := []resource.Name{resource.CPU, resource.Memory, gpu}
	amount := rapid.OneOf(rapid.Int64Range(0, 5), rapid.SampledFrom([]int64{math.MaxInt64 - 1, 1 << 62}))
	lists := rapid.Custom(func(t *rapid.T) resource.List {
		var out []resource.Entry
		for _, n := range names {
			if rapid.Bool().Draw(t, "has it") {
				out = append(out, resource.Entry{Name: n, Value: amount.Draw(t, string(n))})
			}
		}
		return resource.Of(out...)
	})
	rapid.Check(t, func(t *rapid.T) {
		usage, request, limits := lists.Draw(t, "usage"), lists.Draw(t, "request"), lists.Draw(t, "max")
		var want resource.Name
		for _, n := range names {
			after := new(big.Int).Add(big.NewInt(usage.Get(n)), big.NewInt(request.Get(n)))
			if v, ok := limits.Lookup(n); ok && want == "" && after.Cmp(big.NewInt(v)) > 0 {
				want = n
			}
		}
		got, exceeded := limit.MaxResources("root.a", sum(usage), request, limits)
		if got.Resource != want || exceeded != (want != "") {
			t.Fatalf("got %q, %t, want %q", got.Resource, exceeded, want)
		}
		if limit.ExceedsMax(sum(usage), request, limits) != exceeded {
			t.Fatalf("the short test says %t", !exceeded)
		}
	})
}
