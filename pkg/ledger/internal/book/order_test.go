package book

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

type rival struct {
	Competitor[*rival]
	name string
	own  Lanes
}

func (r *rival) stand(cpu int64) {
	var usage resource.Sum
	usage.Add(cores(cpu))
	rule, standing := queue.DefaultSpec().Rule(), ordering.Standing{Usage: &usage, Weight: 1000, Name: r.name}
	r.KeyUnder(rule.Policy).Set(rule, standing, cores(100))
}

func cores(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: 1000 * n})
}

func name(r *rival) string { return r.name }

// An order finds what a sorted list finds that is read from the start, whichever lanes are open.
func TestOrderEqualsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Order[*rival]
		rivals := make([]*rival, rapid.IntRange(1, 30).Draw(t, "rivals"))
		for i := range rivals {
			rivals[i] = &rival{name: fmt.Sprintf("root.q-%02d", i)}
			rivals[i].Init(rivals[i])
			rivals[i].stand(0)
		}
		draw := rapid.Uint64Range(0, 7)
		change := func() *rival {
			r := rapid.SampledFrom(rivals).Draw(t, "rival")
			r.stand(rapid.Int64Range(0, 3).Draw(t, "cpu"))
			return r
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what changes") {
			case 0:
				for range 5 {
					change()
				}
				o.Rebuild()
			case 1, 2, 3:
				r := rapid.SampledFrom(rivals).Draw(t, "rival")
				r.own = Lanes(draw.Draw(t, "lanes"))
				o.SetLanes(&r.Competitor, r.own)
			default:
				r := change()
				r.own = Lanes(draw.Draw(t, "lanes"))
				o.Offer(&r.Competitor, r.own)
			}
			if wrong := o.Check(name); len(wrong) > 0 {
				t.Fatal(wrong)
			}
			open := Lanes(draw.Draw(t, "open"))
			var got []*rival
			for e := o.First(open, nil); e != nil; e = o.First(open, e) {
				got = append(got, e.Owner())
			}
			if want := sorted(rivals, open); !slices.Equal(got, want) {
				t.Fatalf("open %b: got %v, want %v", open, names(got), names(want))
			}
			checkLanes(t, o, rivals)
		}
	})
}

// checkLanes: the order knows of each lane in which any of its competitors has something, and of no other.
func checkLanes(t *rapid.T, o Order[*rival], rivals []*rival) {
	var all Lanes
	for _, r := range rivals {
		all |= r.own
		if !r.Competes() && r.own != 0 || o.OwnOf(&r.Competitor) != r.own {
			t.Fatalf("%s competes in lanes %b, want %b", r.name, o.OwnOf(&r.Competitor), r.own)
		}
	}
	if o.Lanes() != all {
		t.Fatalf("lanes are %b, want %b", o.Lanes(), all)
	}
}

func sorted(all []*rival, open Lanes) (some []*rival) {
	for _, r := range all {
		if r.own&open != 0 {
			some = append(some, r)
		}
	}
	slices.SortFunc(some, func(a, b *rival) int {
		n, _ := ordering.Compare(queue.DominantResourceFairness, &a.key, &b.key)
		return n
	})
	return some
}

func names(rs []*rival) (ns []string) {
	for _, r := range rs {
		ns = append(ns, r.name)
	}
	return ns
}
