package preemption_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const gi = int64(1) << 30

// amounts are cores and gibibytes.
func amounts(cores, gibibytes int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000}, resource.Entry{Name: resource.Memory, Value: gibibytes * gi})
}

func TestStarvedComparesDominantShares(t *testing.T) {
	total := amounts(200, 800)
	dominant := queue.Rule{}
	fair := queue.Rule{Policy: queue.Fair, Resource: resource.Memory}
	gpu := resource.Of(resource.Entry{Name: "gpu", Value: 1})
	for name, c := range map[string]struct {
		rule         queue.Rule
		usage, bound resource.List
		starved      bool
	}{
		"equal":                             {dominant, amounts(50, 200), amounts(50, 200), false},
		"one unit below":                    {dominant, amounts(50, 200).Sub(amounts(1, 4)), amounts(50, 200), true},
		"less of the lesser resource only":  {dominant, amounts(10, 200), amounts(50, 200), false},
		"cpu heavy, as far as memory heavy": {dominant, amounts(50, 0), amounts(0, 200), false},
		"cpu heavy, a bit less":             {dominant, amounts(49, 0), amounts(0, 200), true},
		"fair looks at memory":              {fair, amounts(100, 199), amounts(50, 200), true},
		"fair does not look at cpu":         {fair, amounts(0, 200), amounts(50, 200), false},
		"nothing used, nothing due":         {dominant, resource.List{}, resource.List{}, false},
		"nothing used, something due":       {dominant, resource.List{}, amounts(1, 0), true},
		"what is not there is endless":      {dominant, gpu, amounts(200, 800), false},
		"due of what is not there":          {dominant, amounts(200, 800), gpu, true},
	} {
		if got := preemption.Starved(c.rule, total, c.usage, c.bound); got != c.starved {
			t.Errorf("%s: starved is %v", name, got)
		}
		if got := preemption.BelowFairShare.Below(c.rule, total, c.usage, c.bound); got != c.starved {
			t.Errorf("%s: below a fair share is %v", name, got)
		}
	}
}

func TestAGuaranteeIsJudgedResourceByResource(t *testing.T) {
	dominant := queue.Rule{}
	fair := queue.Rule{Policy: queue.Fair, Resource: resource.Memory}
	gpus := func(n int64) resource.List { return resource.Of(resource.Entry{Name: "nvidia.com/gpu", Value: n}) }
	for name, c := range map[string]struct {
		rule                      queue.Rule
		usage, guaranteed, demand resource.List
		below                     bool
		target                    resource.List
	}{
		"equal":                           {dominant, amounts(50, 200), amounts(50, 200), amounts(90, 900), false, amounts(50, 200)},
		"less of one, more of the other":  {dominant, amounts(10, 200), amounts(50, 200), amounts(90, 900), true, amounts(50, 200)},
		"no GPU, and most of the cpu":     {dominant, amounts(150, 0), gpus(2), amounts(150, 0).Add(gpus(9)), true, gpus(2)},
		"as many GPUs as it asks for":     {dominant, gpus(1), gpus(2), gpus(1), false, gpus(1)},
		"nobody asks":                     {dominant, resource.List{}, gpus(2), amounts(9, 9), false, gpus(0)},
		"nothing is guaranteed":           {dominant, resource.List{}, resource.List{}, amounts(9, 9), false, resource.List{}},
		"fair does not look at cpu":       {fair, amounts(0, 200), amounts(50, 200), amounts(90, 900), false, amounts(0, 200)},
		"fair looks at memory":            {fair, amounts(60, 199), amounts(50, 200), amounts(90, 900), true, amounts(0, 200)},
		"more than the cluster has of it": {dominant, gpus(1), gpus(5), gpus(5), true, gpus(5)},
	} {
		target := preemption.GuaranteedTarget(c.rule, c.guaranteed, c.demand)
		if !target.Equal(c.target) {
			t.Errorf("%s: the target is (%s), want (%s)", name, target, c.target)
		}
		if got := preemption.BelowGuaranteed.Below(c.rule, amounts(200, 800), c.usage, target); got != c.below {
			t.Errorf("%s: below is %v", name, got)
		}
	}
}

func TestWhatAUnitPaysOfAGuarantee(t *testing.T) {
	const cards, chips = "amd.com/gpu", "nvidia.com/gpu"
	list := func(cpu, card, chip int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: cards, Value: card}, resource.Entry{Name: chips, Value: chip})
	}
	for name, c := range map[string]struct {
		asks, usage, target resource.List
		want                resource.Name
	}{
		"what it asks for and the queue lacks":   {list(9, 0, 1), list(99, 0, 2), list(0, 0, 2), chips},
		"nothing without asking for it":          {list(9, 0, 0), list(99, 0, 0), list(0, 0, 2), ""},
		"nothing if it is larger than the rest":  {list(9, 0, 2), list(99, 0, 3), list(0, 0, 2), ""},
		"devices before cpu":                     {list(9, 0, 1), list(9, 0, 1), list(9, 0, 1), chips},
		"cpu if there are devices enough":        {list(9, 0, 1), list(9, 0, 2), list(9, 0, 1), resource.CPU},
		"of several devices, the first by name":  {list(9, 1, 1), list(9, 1, 1), list(9, 1, 1), cards},
		"nothing if nothing of it is guaranteed": {list(9, 1, 1), list(9, 1, 1), resource.List{}, ""},
	} {
		if got := preemption.Pays(queue.Rule{}, c.asks, c.usage, c.target); got != c.want {
			t.Errorf("%s: it pays %q, want %q", name, got, c.want)
		}
	}
}

func TestThresholdBoundAndTarget(t *testing.T) {
	units := func(n int64) resource.List { return resource.Of(resource.Entry{Name: "gpu", Value: n}) }
	for _, c := range []struct{ share, thousandths, demand, want int64 }{
		{600, 500, 1000, 300},
		{7, 500, 1000, 4},  // below 3.5 is below 4
		{7, 500, 3, 3},     // no more than it asks for
		{7, 1000, 1000, 7}, // all of it
		{1, 1, 1000, 1},    // a tiny share does not vanish
		{0, 500, 1000, 0},
		{600, 500, 0, 0},
	} {
		if got := preemption.ThresholdBound(units(c.share), c.thousandths, units(c.demand)).Get("gpu"); got != c.want {
			t.Errorf("share %d, threshold %d, demand %d: bound is %d, want %d", c.share, c.thousandths, c.demand, got, c.want)
		}
	}
	if got, want := preemption.Target(amounts(150, 600), amounts(20, 900)), amounts(20, 600); !got.Equal(want) {
		t.Errorf("the target is (%s), want (%s)", got, want)
	}
	if got := preemption.Target(amounts(150, 600), units(5)); !got.IsZero() {
		t.Errorf("a target of what the share does not name is (%s)", got)
	}
}

func TestDominantNamesItsResource(t *testing.T) {
	got := preemption.Dominant(queue.Rule{}, amounts(200, 800), amounts(50, 300))
	if want := (preemption.Share{Resource: resource.Memory, Amount: 300 * gi, Of: 800 * gi}); got != want {
		t.Errorf("the dominant share is %+v, want %+v", got, want)
	}
	// Of equal parts, the first by name.
	got = preemption.Dominant(queue.Rule{}, amounts(200, 800), amounts(50, 200))
	if want := (preemption.Share{Resource: resource.CPU, Amount: 50_000, Of: 200_000}); got != want {
		t.Errorf("the dominant share is %+v, want %+v", got, want)
	}
}
