package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestParseState(t *testing.T) {
	for name, want := range map[string]State{"": StateUnstated, "Running": StateRunning, "Stopped": StateStopped} {
		if got, err := ParseState(name); got != want || err != nil {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"Draining", "stopped", "RUNNING", " Stopped", "Paused"} {
		if got, err := ParseState(name); err == nil || err.Error() != fmt.Sprintf("state %q is not one of Running, Stopped", name) {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}

func TestWhatAQueueShows(t *testing.T) {
	for _, c := range []struct {
		stopped bool
		goingOn int
		want    State
	}{{false, 0, StateRunning}, {false, 3, StateRunning}, {true, 0, StateStopped}, {true, 1, StateDraining}} {
		if got := StateOf(c.stopped, c.goingOn); got != c.want {
			t.Errorf("stopped %v with %d applications: %s", c.stopped, c.goingOn, got)
		}
	}
}

func TestWhichApplicationsGoOn(t *testing.T) {
	const s = 1_000_000_000
	for _, c := range []struct {
		submitted, since int64
		holds, want      bool
	}{
		{submitted: 7 * s, since: 0, want: true},
		{submitted: 4 * s, since: 5 * s, want: true},
		{submitted: 5 * s, since: 5 * s, want: false}, // in the second of the stop
		{submitted: 5 * s, since: 5 * s, holds: true, want: true},
		{submitted: 6 * s, since: 5 * s, want: false},
		{submitted: 6 * s, since: 5 * s, holds: true, want: true},
	} {
		if got := GoesOn(c.submitted, c.since, c.holds); got != c.want {
			t.Errorf("submitted %d, stopped %d, holds %v: %v", c.submitted, c.since, c.holds, got)
		}
	}
}

func TestSinceWhenAQueueIsStopped(t *testing.T) {
	const s = 1_000_000_000
	for _, c := range []struct {
		name               string
		by                 string
		before, above, now int64
		want               int64
	}{
		{name: "it runs", before: 3 * s, above: 0, now: 9 * s},
		{name: "it stops", by: "root.a", now: 9*s + 5, want: 9 * s},
		{name: "it stops with the one above", by: "root", above: 9 * s, now: 9*s + 5, want: 9 * s},
		{name: "it stays", by: "root.a", before: 3 * s, now: 9 * s, want: 3 * s},
		{name: "it was stopped before the one above", by: "root root.a", before: 3 * s, above: 6 * s, now: 9 * s, want: 3 * s},
		{name: "it is new below a stopped one", by: "root", above: 6 * s, now: 9 * s, want: 6 * s},
		{name: "in the first second", by: "root.a", now: 5, want: s},
	} {
		n := Node{Path: "root.a", StoppedBy: c.by}
		if got := n.StoppedSince(c.before, c.above, c.now); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}

// The twin looks along each path on its own.
func TestStoppedQueuesEqualTheirTwin(t *testing.T) {
	paths := []Path{"root", "root.a", "root.a.x", "root.a.x.y", "root.a.z", "root.a-b", "root.b", "root.b.c"}
	rapid.Check(t, func(t *rapid.T) {
		var declared []Declaration
		states := map[Path]State{}
		for _, p := range paths {
			d := Declaration{Path: p, Spec: DefaultSpec(), PolicyInForce: Unstated}
			d.Spec.State = rapid.SampledFrom([]State{StateUnstated, StateUnstated, StateRunning, StateStopped}).Draw(t, string(p))
			states[p] = d.Spec.State
			declared = append(declared, d)
		}
		tree := Build(rapid.Permutation(declared).Draw(t, "order"), nil, resource.List{})
		var top []Path
		for _, n := range tree.Nodes {
			var by, above []string
			for p := n.Path; p != ""; p = p.Parent() {
				if states[p] == StateStopped {
					by = append([]string{string(p)}, by...)
					if p != n.Path {
						above = by
					}
				}
			}
			if n.StoppedBy != strings.Join(by, " ") {
				t.Fatalf("%s is stopped by %q, the twin says %q", n.Path, n.StoppedBy, by)
			}
			if len(by) == 1 && by[0] == string(n.Path) {
				top = append(top, n.Path)
			}
			told := slices.ContainsFunc(tree.Problems, func(p Problem) bool {
				return p.Path == n.Path && p.Reason == reason.Reason{Code: reason.RunningBelowStopped, Queue: string(n.Path), Details: reason.Stop{By: n.StoppedBy}}
			})
			if want := states[n.Path] == StateRunning && len(above) > 0; told != want {
				t.Fatalf("%s states %s below %q, and that is a problem: %v", n.Path, states[n.Path], above, told)
			}
		}
		if !slices.Equal(tree.Stopped(), top) {
			t.Fatalf("on top %v are stopped, the twin says %v", tree.Stopped(), top)
		}
	})
}

// The twin keeps the whole history of each queue: it has been stopped since the first moment after the last at which it was not.
func TestAQueueStaysStoppedWhicheverQueueStatesIt(t *testing.T) {
	paths := []Path{"root", "root.a", "root.a.x"}
	rapid.Check(t, func(t *rapid.T) {
		states, since, twin := map[Path]State{}, map[Path]int64{}, map[Path]int64{}
		for now := int64(1); now <= 30; now++ {
			p := rapid.SampledFrom(paths).Draw(t, "queue")
			states[p] = rapid.SampledFrom([]State{StateUnstated, StateRunning, StateStopped}).Draw(t, "state")
			var declared []Declaration
			for _, p := range paths {
				d := Declaration{Path: p, Spec: DefaultSpec(), PolicyInForce: Unstated}
				d.Spec.State = states[p]
				declared = append(declared, d)
			}
			tree := Build(declared, nil, resource.List{})
			for i, stopped := range []bool{
				states["root"] == StateStopped,
				states["root"] == StateStopped || states["root.a"] == StateStopped,
				states["root"] == StateStopped || states["root.a"] == StateStopped || states["root.a.x"] == StateStopped,
			} {
				n := &tree.Nodes[i]
				since[n.Path] = n.StoppedSince(since[n.Path], since[n.Path.Parent()], now*1e9)
				switch {
				case !stopped:
					twin[n.Path] = 0
				case twin[n.Path] == 0:
					twin[n.Path] = now * 1e9
				}
				if since[n.Path] != twin[n.Path] {
					t.Fatalf("%s at %d: stopped since %d, the twin says %d", n.Path, now, since[n.Path], twin[n.Path])
				}
			}
		}
	})
}
