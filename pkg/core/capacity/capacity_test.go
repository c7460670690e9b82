package capacity_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/capacity"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const (
	cpu resource.Name = "cpu"
	gpu resource.Name = "example.com/gpu"
	tpu resource.Name = "example.com/tpu"
)

func list(entries ...resource.Entry) resource.List { return resource.Of(entries...) }

func of(n resource.Name, v int64) resource.Entry { return resource.Entry{Name: n, Value: v} }

func TestWhatFits(t *testing.T) {
	gpus := capacity.Unlisted{gpu: true}
	for name, c := range map[string]struct {
		listed   resource.List
		unlisted capacity.Unlisted
		used     resource.List
		want     resource.List
		fits     int // so many, beside what is used
	}{
		"nothing is asked for":                        {list(of(cpu, 4)), nil, list(of(cpu, 4)), list(), 100},
		"two fit, and a part of a third":              {list(of(cpu, 5)), nil, list(), list(of(cpu, 2)), 2},
		"to the last unit":                            {list(of(cpu, 5)), nil, list(of(cpu, 3)), list(of(cpu, 2)), 1},
		"one unit too few":                            {list(of(cpu, 5)), nil, list(of(cpu, 4)), list(of(cpu, 2)), 0},
		"the scarcest resource decides":               {list(of(cpu, 9), of(gpu, 2)), nil, list(of(gpu, 1)), list(of(cpu, 3), of(gpu, 1)), 1},
		"what is not listed is not there":             {list(of(cpu, 5)), nil, list(), list(of(gpu, 1)), 0},
		"unless it need not be listed":                {list(of(cpu, 5)), gpus, list(of(gpu, 7)), list(of(cpu, 1), of(gpu, 1)), 5},
		"nor the group it is of":                      {list(of(cpu, 5)), capacity.Unlisted{"example.com": true}, list(), list(of(cpu, 1), of(gpu, 1)), 5},
		"another one need not be listed":              {list(of(cpu, 5)), capacity.Unlisted{tpu: true}, list(), list(of(cpu, 1), of(gpu, 1)), 0},
		"the listed count, although they need not be": {list(of(gpu, 2)), gpus, list(of(gpu, 1)), list(of(gpu, 1)), 1},
		"all listed are used":                         {list(of(gpu, 2)), gpus, list(of(gpu, 2)), list(of(gpu, 1)), 0},
		"listed as none":                              {list(of(gpu, 0)), gpus, list(), list(of(gpu, 1)), 0},
		"overfull, and none is asked for":             {list(of(cpu, 5), of(gpu, 1)), nil, list(of(gpu, 3)), list(of(cpu, 1), of(gpu, 0)), 5},
		"overfull":                                    {list(of(gpu, 1)), nil, list(of(gpu, 3)), list(of(gpu, 1)), 0},
		"a debt past the end of int64": {
			list(of(cpu, -2)), nil, list(of(cpu, math.MaxInt64)), list(of(cpu, math.MaxInt64)), 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := capacity.Node{Listed: c.listed, Unlisted: c.unlisted}
			var used resource.Sum
			used.Add(c.used)
			if got := n.Count(c.want, 100, used.Get); got != c.fits {
				t.Errorf("%d fit, want %d", got, c.fits)
			}
			if got := n.Fits(&used, c.want); got != (c.fits > 0) {
				t.Errorf("fits: %v", got)
			}
			if got := n.Count(c.want, 1, used.Get); got != min(c.fits, 1) {
				t.Errorf("%d of at most 1 fit", got)
			}
			if got := n.Count(c.want, -1, used.Get); got != 0 {
				t.Errorf("%d of at most -1 fit", got)
			}
		})
	}
}

// twin adds requests one by one until one does not fit, following the words of the rule: each resource that is
// asked for, and that the node lists or has to list, must not be used beyond what the node lists.
type twin struct {
	names    []resource.Name
	lists    map[resource.Name]bool
	has      map[resource.Name]int64
	need     map[resource.Name]bool // to be listed
	used     map[resource.Name]int64
	requests map[resource.Name]int64
}

func (w *twin) within(times int64) bool {
	for _, n := range w.names {
		asked := w.requests[n]
		if asked <= 0 || !w.lists[n] && !w.need[n] {
			continue
		}
		if w.used[n]+times*asked > w.has[n] {
			return false
		}
	}
	return true
}

func (w *twin) count(most int) int {
	n := 0
	for n < most && w.within(int64(n+1)) {
		n++
	}
	return n
}

func TestWhatFitsIsWhatCountingOneByOneFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &twin{
			names: []resource.Name{cpu, gpu, tpu}, lists: map[resource.Name]bool{}, has: map[resource.Name]int64{},
			need: map[resource.Name]bool{}, used: map[resource.Name]int64{}, requests: map[resource.Name]int64{},
		}
		small := rapid.Int64Range(0, 12)
		unlisted := capacity.Unlisted{}
		group := rapid.Bool().Draw(t, "the group need not be listed")
		if group {
			unlisted["example.com"] = true
		}
		var listed, used, request resource.List
		for _, n := range w.names {
			if w.need[n] = !rapid.Bool().Draw(t, string(n)+" need not be listed"); !w.need[n] {
				unlisted[n] = true
			}
			w.need[n] = w.need[n] && !(group && n != cpu)
			if w.lists[n] = rapid.Bool().Draw(t, string(n)+" is listed"); w.lists[n] {
				w.has[n] = small.Draw(t, string(n))
				listed = listed.Add(list(of(n, w.has[n])))
			}
			w.used[n], w.requests[n] = small.Draw(t, string(n)+" used"), small.Draw(t, string(n)+" asked for")
			used, request = used.Add(list(of(n, w.used[n]))), request.Add(list(of(n, w.requests[n])))
		}
		most := rapid.IntRange(0, 15).Draw(t, "at most")
		n := capacity.Node{Listed: listed, Unlisted: unlisted}
		var sum resource.Sum
		sum.Add(used)
		if got, want := n.Count(request, most, sum.Get), w.count(most); got != want {
			t.Fatalf("%d fit, want %d", got, want)
		}
		if got, want := n.Fits(&sum, request), w.within(1); got != want {
			t.Fatalf("one more fits: %v, want %v", got, want)
		}
		if got, want := n.Overfull(listed.Sub(used), request), !w.within(0); got != want {
			t.Fatalf("overfull: %v, want %v", got, want)
		}
		for _, name := range w.names {
			free := n.Free(name, w.used[name])
			switch limits := w.lists[name] || w.need[name]; {
			case n.Limits(name) != limits:
				t.Fatalf("limits %s: %v, want %v", name, !limits, limits)
			case limits && free != w.has[name]-w.used[name], !limits && free != resource.Unlimited:
				t.Fatalf("%s: %d are free", name, free)
			}
		}
	})
}

func TestSlots(t *testing.T) {
	for _, c := range []struct{ most, pods, want int }{
		{0, 0, capacity.AnyNumber}, {0, 500, capacity.AnyNumber}, {110, 100, 10}, {110, 110, 0}, {110, 112, -2},
	} {
		if got := capacity.Slots(c.most, c.pods); got != c.want {
			t.Errorf("Slots(%d, %d) = %d, want %d", c.most, c.pods, got, c.want)
		}
	}
}

func TestFittingAllocatesNothing(t *testing.T) {
	n := capacity.Node{Listed: list(of(cpu, 100)), Unlisted: capacity.Unlisted{gpu: true}}
	var used resource.Sum
	used.Add(list(of(cpu, 3)))
	want := list(of(cpu, 1), of(gpu, 1))
	if allocs := testing.AllocsPerRun(100, func() {
		if !n.Fits(&used, want) || n.Count(want, 10, func(name resource.Name) int64 { return used.Get(name) + 1 }) != 10 {
			t.Error("it does not fit")
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
