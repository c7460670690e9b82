package limit_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestMaxPodResources(t *testing.T) {
	for name, c := range map[string]struct {
		request, most resource.List
		want          resource.Name // "" when the pod is not too large
	}{
		"nothing stated":                      {list(900, 900), resource.List{}, ""},
		"exactly as large":                    {list(4, 8), list(4, 8), ""},
		"a thousandth of a core more":         {only(resource.CPU, 4001), list(4, 8), resource.CPU},
		"a byte more":                         {only(resource.Memory, 8<<30+1), list(4, 8), resource.Memory},
		"both, the first in name order":       {list(5, 9), list(4, 8), resource.CPU},
		"what is not stated is not limited":   {only(gpu, 99), list(4, 8), ""},
		"what is not asked for does not hold": {only(resource.Memory, 1), list(0, 8), ""},
		"none of it":                          {only(gpu, 1), only(gpu, 0), gpu},
		"asks for none, and may have none":    {only(gpu, 0), only(gpu, 0), ""},
		"unlimited":                           {only(gpu, math.MaxInt64), only(gpu, resource.Unlimited), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, over := limit.MaxPodResources(c.request, c.most, func(n resource.Name) string { return "root." + string(n) })
			var want reason.Reason
			if c.want != "" {
				want = reason.Reason{
					Code: reason.MaxPodResources, Queue: "root." + string(c.want), Resource: c.want, Limit: c.most.Get(c.want), Asked: c.request.Get(c.want),
				}
			}
			if got != want || over != (c.want != "") {
				t.Errorf("got %+v, %t, want %+v", got, over, want)
			}
		})
	}
}

// A pod is too large exactly if it would not fit into an empty queue with that limit as its max, in the
// resources that it requests.
func TestMaxPodResourcesIsMaxOfAnEmptyQueue(t *testing.T) {
	lists := amountsOf([]resource.Name{resource.CPU, resource.Memory, gpu})
	rapid.Check(t, func(t *rapid.T) {
		request, most := lists.Draw(t, "request"), lists.Draw(t, "most")
		got, over := limit.MaxPodResources(request, most, func(resource.Name) string { return "root.a" })
		got.Code = reason.MaxResources
		if want, full := limit.MaxResources("root.a", nil, request, most); over != full || over && got != want {
			t.Fatalf("got %+v, %t, want %+v, %t", got, over, want, full)
		}
	})
}
