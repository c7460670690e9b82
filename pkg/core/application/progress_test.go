package application

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestProgress(t *testing.T) {
	driver := Pods{Holding: 1, Bound: 1, BoundDrivers: 1, Drivers: 1}
	executor := Pods{Holding: 2, Bound: 2, BoundDrivers: 1, BoundExecutors: 1, Drivers: 1}
	driverEnds := Pods{Waiting: 1, Holding: 1, Drivers: 1}
	one := Pods{Holding: 1, Bound: 1}
	for name, c := range map[string]struct {
		looks   []Look
		started bool
		took    int64 // -1: nothing was measured
	}{
		"a driver alone is starting":                     {[]Look{{Pods: driver, Leading: true}}, false, -1},
		"its first executor ends the start":              {[]Look{{Pods: driver, Leading: true}, {Pods: executor, Leading: true}}, true, 7},
		"a start is measured once":                       {[]Look{{Pods: executor, Leading: true}, {Pods: executor, Leading: true}}, true, 7},
		"a driver that ends has started":                 {[]Look{{Pods: driver, Leading: true}, {Pods: driverEnds, Leading: true}}, true, -1},
		"pods on the way without a driver have not":      {[]Look{{Pods: driverEnds, Leading: true}}, false, -1},
		"an application of one pod starts with it":       {[]Look{{Pods: one, Single: true, Leading: true}}, true, -1},
		"but not while a process only takes in":          {[]Look{{Pods: one, Single: true}}, false, -1},
		"what is taken in is not measured":               {[]Look{{Pods: executor}, {Pods: executor, Leading: true}}, true, -1},
		"an application that holds nothing begins again": {[]Look{{Pods: executor, Leading: true}, {Pods: Pods{Waiting: 1}, Leading: true}}, false, 7},
	} {
		p, took := Progress{}.Bound(10, 100).Bound(17, 100), int64(-1)
		for _, l := range c.looks {
			var d int64
			var measured bool
			if p, d, measured = p.Next(l); measured {
				if took >= 0 {
					t.Errorf("%s: measured twice", name)
				}
				took = d
			}
		}
		if p.Started != c.started || took != c.took {
			t.Errorf("%s: started %v after %d, want %v after %d", name, p.Started, took, c.started, c.took)
		}
	}
}

// A pod that comes with its node from another queue may end a start, which is never measured. One that ends none changes nothing.
func TestAPodThatMovesEndsNoStartThatIsMeasured(t *testing.T) {
	driver := Pods{Holding: 1, Bound: 1, BoundDrivers: 1, Drivers: 1}
	executor := Pods{Holding: 2, Bound: 2, BoundDrivers: 1, BoundExecutors: 1, Drivers: 1}
	p := Progress{}.Bound(10, 100).Bound(17, 100)
	if next, _, measured := p.Moved(executor).Next(Look{Pods: executor, Leading: true}); !next.Started || measured {
		t.Errorf("with its executor: %+v, measured %v", next, measured)
	}
	if next, took, _ := p.Moved(driver).Next(Look{Pods: executor, Leading: true}); !next.Started || took != 7 {
		t.Errorf("before its executor: %+v after %d", next, took)
	}
}

// A pod says when it got its node; a time in the future counts as now.
func TestWhenPodsGotTheirNodes(t *testing.T) {
	p := Progress{}.Bound(0, 50).Bound(900, 60).Bound(40, 70)
	if p.FirstBound != 40 || p.LastBound != 60 || p.Since(5) != 40 {
		t.Errorf("%+v, since %d", p, p.Since(5))
	}
	if since := (Progress{}).Since(5); since != 5 {
		t.Errorf("released at 5, without a node: since %d", since)
	}
}

// The twin keeps every look and reads the whole story each time.
func TestProgressEqualsItsTwin(t *testing.T) {
	count := rapid.Int32Range(0, 2)
	rapid.Check(t, func(t *rapid.T) {
		var p Progress
		var story []Look // since it last held nothing
		for range rapid.IntRange(1, 20).Draw(t, "looks") {
			l := Look{Single: rapid.Bool().Draw(t, "single"), Leading: rapid.Bool().Draw(t, "leading"), Pods: Pods{
				Holding: count.Draw(t, "holding"), Bound: count.Draw(t, "bound"), BoundDrivers: count.Draw(t, "bound drivers"),
				BoundExecutors: count.Draw(t, "bound executors"), Drivers: count.Draw(t, "drivers"),
			}}
			story = append(story, l)
			if l.Pods.Holding == 0 {
				story = nil
			}
			var measured bool
			p, _, measured = p.Next(l)
			getsOn := func(l Look) bool { return l.Pods.Progresses() }
			onlyDriver := func(l Look) bool { return !l.Pods.Progresses() && !l.Single && l.Pods.BoundDrivers > 0 }
			started := slices.ContainsFunc(story, func(l Look) bool { return getsOn(l) || l.Single && l.Leading })
			if first := slices.IndexFunc(story, onlyDriver); first >= 0 {
				started = started || slices.ContainsFunc(story[first:], func(l Look) bool { return !getsOn(l) && !l.Single && l.Pods.BoundDrivers == 0 })
			}
			if p.Started != started {
				t.Fatalf("started %v, the story says %v: %+v", p.Started, started, story)
			}
			if want := slices.IndexFunc(story, getsOn) == len(story)-1 && len(story) > 0 && l.Leading; measured != want {
				t.Fatalf("measured %v, the story says %v: %+v", measured, want, story)
			}
		}
	})
}
