package guarantee_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const gpu resource.Name = "nvidia.com/gpu"

func amounts(cpu, memory, gpus int64) resource.List {
	return resource.Of(
		resource.Entry{Name: resource.CPU, Value: cpu},
		resource.Entry{Name: resource.Memory, Value: memory},
		resource.Entry{Name: gpu, Value: gpus})
}

func rule(p queue.Policy) queue.Rule { return queue.Spec{Policy: p}.Rule() }

func TestHowFarAQueueIsBelowItsGuarantee(t *testing.T) {
	plenty := amounts(1000, 1000, 1000)
	for name, c := range map[string]struct {
		policy                   queue.Policy
		guaranteed, demand, used resource.List
		want                     guarantee.Part
		lacks                    []resource.Name
	}{
		"nothing of its GPUs, however much cpu": {
			queue.DominantResourceFairness, amounts(0, 0, 2), plenty, amounts(55, 0, 0), guarantee.Part{gpu, 0, 2}, []resource.Name{gpu}},
		"all of it": {
			queue.DominantResourceFairness, amounts(10, 10, 2), plenty, amounts(10, 10, 2), guarantee.Part{}, nil},
		"nothing is guaranteed": {
			queue.DominantResourceFairness, resource.List{}, plenty, amounts(0, 0, 0), guarantee.Part{}, nil},
		"nobody asks for the rest": {
			queue.DominantResourceFairness, amounts(10, 0, 4), amounts(10, 5, 3), amounts(10, 5, 3), guarantee.Part{}, nil},
		"of two resources, the smaller part": {
			queue.DominantResourceFairness, amounts(10, 10, 0), plenty, amounts(6, 5, 0), guarantee.Part{resource.Memory, 5, 10},
			[]resource.Name{resource.CPU, resource.Memory}},
		"of equal parts, the first by name": {
			queue.DominantResourceFairness, amounts(10, 20, 0), plenty, amounts(5, 10, 0), guarantee.Part{resource.CPU, 5, 10},
			[]resource.Name{resource.CPU, resource.Memory}},
		"the part is of what is asked for": {
			queue.DominantResourceFairness, amounts(10, 10, 0), amounts(10, 6, 0), amounts(4, 3, 0), guarantee.Part{resource.CPU, 4, 10},
			[]resource.Name{resource.CPU, resource.Memory}},
		"under Fair, memory alone counts": {
			queue.Fair, amounts(10, 10, 2), plenty, amounts(0, 9, 0), guarantee.Part{resource.Memory, 9, 10}, []resource.Name{resource.Memory}},
		"a usage below nothing is nothing": {
			queue.DominantResourceFairness, amounts(10, 0, 0), plenty, amounts(-1, 0, 0), guarantee.Part{resource.CPU, 0, 10}, []resource.Name{resource.CPU}},
	} {
		t.Run(name, func(t *testing.T) {
			got := guarantee.Smallest(rule(c.policy), c.guaranteed, c.demand, c.used)
			if got != c.want || got.Below() != (len(c.lacks) > 0) {
				t.Errorf("smallest part is %+v, want %+v", got, c.want)
			}
			if lacks := guarantee.Lacking(rule(c.policy), c.guaranteed, c.demand, c.used, nil); !slices.Equal(lacks, c.lacks) {
				t.Errorf("lacks %v, want %v", lacks, c.lacks)
			}
		})
	}
}

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		request resource.List
		names   []resource.Name
		want    bool
	}{
		{amounts(1, 1, 0), []resource.Name{gpu}, false},
		{amounts(1, 1, 1), []resource.Name{gpu}, true},
		{amounts(1, 0, 0), []resource.Name{gpu, resource.CPU}, true},
		{amounts(1, 1, 1), nil, false},
	} {
		if got := guarantee.Asks(c.request, c.names); got != c.want {
			t.Errorf("(%s) asks for %v: %v", c.request, c.names, got)
		}
	}
}

// The twin divides as a big.Rat.
func TestTheSmallestPartIsTheSmallestRatio(t *testing.T) {
	amount := rapid.OneOf(rapid.Int64Range(-1, 4), rapid.SampledFrom([]int64{1 << 40, 1<<62 - 1, 1<<63 - 1}))
	list := rapid.Custom(func(t *rapid.T) resource.List {
		return amounts(amount.Draw(t, "cpu"), amount.Draw(t, "memory"), amount.Draw(t, "gpu"))
	})
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]queue.Policy{queue.DominantResourceFairness, queue.Fair}).Draw(t, "policy")
		guaranteed, demand, used := list.Draw(t, "guaranteed"), list.Draw(t, "demand"), list.Draw(t, "used")
		var want *big.Rat
		var lacks []resource.Name
		for _, n := range []resource.Name{resource.CPU, resource.Memory, gpu} {
			owed := min(guaranteed.Get(n), demand.Get(n))
			if p == queue.Fair && n != resource.Memory || max(used.Get(n), 0) >= owed {
				continue
			}
			lacks = append(lacks, n)
			if ratio := big.NewRat(max(used.Get(n), 0), owed); want == nil || ratio.Cmp(want) < 0 {
				want = ratio
			}
		}
		got := guarantee.Smallest(rule(p), guaranteed, demand, used)
		if got.Below() != (want != nil) || want != nil && big.NewRat(got.Used, got.Owed).Cmp(want) != 0 {
			t.Fatalf("smallest part %+v, the twin's %v", got, want)
		}
		if l := guarantee.Lacking(rule(p), guaranteed, demand, used, nil); !slices.Equal(l, lacks) {
			t.Fatalf("lacks %v, the twin says %v", l, lacks)
		}
	})
}
