package gang_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
)

const second int64 = 1e9

// yard is groups that all lack room, in the order of the walk, and for which nodes are held by Holds.
type yard struct {
	gang.Holds[string]
	order []string
	waits map[string]*gang.Wait
	// notOwed are the groups to which nodes are refused.
	notOwed []string
}

func newYard(groups ...string) *yard {
	y := &yard{order: groups, waits: map[string]*gang.Wait{}}
	for _, g := range groups {
		y.waits[g] = &gang.Wait{}
	}
	return y
}

// walk returns the group for which nodes are held afterwards. useless: to whom held nodes are of no use.
func (y *yard) walk(now int64, useless ...string) string {
	if y.Held() {
		y.Expire(y.waits[y.For], now)
	}
	if y.Held() && now >= y.NextReview() {
		if slices.Contains(y.notOwed, y.For) {
			y.Refuse(y.waits[y.For], now)
		} else {
			y.Reviewed(now)
		}
	}
	y.Walk()
	for _, g := range y.order {
		y.LacksRoom(g, y.waits[g], now)
	}
	for {
		g, _, ok := y.Turn()
		if !ok {
			return y.For
		}
		switch {
		case slices.Contains(useless, g):
			y.PassOver()
		case slices.Contains(y.notOwed, g):
			y.Refuse(y.waits[g], now)
		default:
			y.Hold(g, now)
		}
	}
}

// Times are seconds from the first walk on: a group waits 15 of them, nodes are held for 300, and then nobody has any for 15.
func TestForWhichGroupNodesAreHeld(t *testing.T) {
	type step struct {
		at   int64
		want string
		next int64 // when that changes
	}
	for name, c := range map[string]struct {
		groups, useless []string
		steps           []step
	}{
		"nobody waits": {nil, nil, []step{{0, "", -1}, {600, "", -1}}},
		"one group": {[]string{"a"}, nil, []step{
			{0, "", 15}, {14, "", 15}, {15, "a", 315}, {100, "a", 315}, {314, "a", 315}, {315, "", 330}, {329, "", 330}, {330, "a", 630}}},
		"each has its turn, in the order of the walk": {[]string{"b", "a", "c"}, nil, []step{
			{0, "", 15}, {15, "b", 315}, {315, "", 330}, {330, "a", 630}, {630, "", 645}, {645, "c", 945}, {945, "", 960}, {960, "b", 1260}}},
		"held nodes are of no use to the first": {[]string{"large", "a"}, []string{"large"}, []step{
			{0, "", 15}, {15, "a", 315}, {315, "", 330}, {330, "a", 630}}},
		"held nodes are of no use to anybody": {[]string{"large", "larger"}, []string{"large", "larger"}, []step{
			{0, "", 15}, {15, "", -1}, {600, "", -1}}},
		"the walk comes late": {[]string{"a"}, nil, []step{{0, "", 15}, {1000, "a", 1300}, {2000, "", 2015}}},
	} {
		y := newYard(c.groups...)
		for _, s := range c.steps {
			start := second // 0 is no time
			if got := y.walk(start+s.at*second, c.useless...); got != s.want {
				t.Fatalf("%s, after %d s: nodes are held for %q, want %q", name, s.at, got, s.want)
			}
			want := start + s.next*second
			if s.next < 0 {
				want = 0
			}
			if got := y.NextChange(); got != want {
				t.Errorf("%s, after %d s: the next change is at %d, want %d", name, s.at, got, want)
			}
		}
	}
}

func TestATurnIsSureOnlyForAGroupThatHadNone(t *testing.T) {
	y := newYard("a", "b")
	now := second
	y.walk(now)
	now += gang.Patience
	y.walk(now) // a
	now += gang.LongestHold
	y.walk(now)
	now += gang.Patience
	y.Walk()
	y.LacksRoom("a", y.waits["a"], now)
	if g, sure, ok := y.Turn(); g != "a" || sure || !ok {
		t.Errorf("%q, sure %v, %v: a group that had no turn may come", g, sure, ok)
	}
	y.LacksRoom("b", y.waits["b"], now)
	if g, sure, ok := y.Turn(); g != "b" || !sure || !ok {
		t.Errorf("%q, sure %v, %v: nobody can have had fewer turns than b", g, sure, ok)
	}
}

// A refused group has the last turn, and waits for 15 seconds again. Others have theirs at once.
func TestNodesThatMayNotBeHeldAreRefused(t *testing.T) {
	y := newYard("greedy", "a")
	y.notOwed = []string{"greedy"}
	start := second
	y.walk(start)
	for _, s := range []struct {
		at   int64
		want string
		next int64
	}{{15, "a", 315}, {16, "a", 315}, {315, "", 330}, {330, "a", 630}} {
		now := start + s.at*second
		if got := y.walk(now); got != s.want || y.NextChange() != start+s.next*second {
			t.Errorf("after %d s: nodes are held for %q until the next change at %d, want %q and %d", s.at, got, y.NextChange(), s.want, start+s.next*second)
		}
	}
	y.notOwed = []string{"a"} // from now on: greedy was refused for the last time at 330
	for i, want := range []string{"", "greedy"} {
		if got := y.walk(start + []int64{331, 345}[i]*second); got != want {
			t.Errorf("nodes are held for %q, want %q", got, want)
		}
	}
}

// A look at all nodes and queues for each of a thousand groups would hold up everybody else.
func TestOneWalkRefusesFew(t *testing.T) {
	var all []string
	for i := range 20 {
		all = append(all, string(rune('a'+i)))
	}
	y := newYard(all...)
	y.notOwed = all
	now := second
	y.walk(now)
	now += gang.Patience
	refused := func() (n int) {
		for _, w := range y.waits {
			if w.RefusedAt == now {
				n++
			}
		}
		return n
	}
	for _, want := range []int{8, 8, 4} {
		y.walk(now)
		if n, next := refused(), y.NextChange(); n != want || want == 8 && next != now+gang.ReviewEvery {
			t.Fatalf("%d are refused, want %d; the next change is in %d s", n, want, (next-now)/second)
		}
		now += second
	}
}

func TestNodesThatAreGivenBackEarlyCostNoTurn(t *testing.T) {
	y := newYard("a")
	now := second
	y.walk(now)
	now += gang.Patience
	y.walk(now)
	y.End() // it has started
	*y.waits["a"] = gang.Wait{}
	if y.Held() || y.Until != 0 || y.NextChange() != 0 {
		t.Errorf("nodes are held for %q until %d", y.For, y.Until)
	}
	if got := y.walk(now); got != "" || y.NextChange() != now+gang.Patience {
		t.Errorf("nodes are held for %q, and the next change is at %d", got, y.NextChange())
	}
}

// journal remembers what happened and nothing else. It answers by reading all of it.
type journal []fact

type fact struct {
	what  string // "lacks", "holds", "gives back", "is refused", "leaves"
	group string
	at    int64
}

func (j journal) held() (group string, since int64) {
	for _, f := range j {
		switch {
		case f.what == "holds":
			group, since = f.group, f.at
		case f.group == group && f.what != "lacks":
			group = ""
		}
	}
	return group, since
}

// wait is since when a group waits and how often nodes were held for it in vain since it last left.
func (j journal) wait(group string) (since int64, turns int) {
	for _, f := range j {
		switch {
		case f.group != group:
		case f.what == "leaves":
			since, turns = 0, 0
		case f.what == "gives back", f.what == "is refused":
			since, turns = f.at, turns+1
		case f.what == "lacks" && since == 0:
			since = f.at
		}
	}
	return since, turns
}

func (j journal) lastGivenBack() (at int64) {
	for _, f := range j {
		if f.what == "gives back" {
			at = f.at
		}
	}
	return at
}

// turns are the groups that have waited for long enough, the next one first.
func (j journal) turns(walk []string, now int64) (due []string) {
	for _, g := range walk {
		if since, _ := j.wait(g); now-since >= 15*second && now-j.lastGivenBack() >= 15*second {
			due = append(due, g)
		}
	}
	slices.SortStableFunc(due, func(a, b string) int {
		_, x := j.wait(a)
		_, y := j.wait(b)
		return x - y
	})
	return due
}

// Whatever comes and goes, nodes are held for the group that the journal of all that happened gives the turn.
func TestHoldsFollowFromWhatHappened(t *testing.T) {
	all := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(rt *rapid.T) {
		y, j, now := newYard(all...), journal{}, second
		var reviewed int64
		for range rapid.IntRange(1, 40).Draw(rt, "walks") {
			now += rapid.SampledFrom([]int64{0, 1, second, 5 * second, 15 * second, 300 * second}).Draw(rt, "passes")
			if g := rapid.SampledFrom(append([]string{""}, all...)).Draw(rt, "leaves"); g != "" {
				if y.For == g {
					y.End()
				}
				*y.waits[g] = gang.Wait{}
				j = append(j, fact{"leaves", g, now})
			}
			if g, since := j.held(); g != "" && now-since >= 300*second {
				j = append(j, fact{"gives back", g, now})
			}
			y.order = rapid.Permutation(all).Draw(rt, "order")[:rapid.IntRange(0, len(all)).Draw(rt, "groups")]
			y.notOwed = rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID[string]).Draw(rt, "not owed")
			if g, since := j.held(); g != "" && slices.Contains(y.notOwed, g) && now-max(since, reviewed) >= second {
				j = append(j, fact{"is refused", g, now})
			} else if g != "" && now-max(since, reviewed) >= second {
				reviewed = now
			}
			useless := rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID[string]).Draw(rt, "useless")
			for _, g := range y.order {
				j = append(j, fact{"lacks", g, now})
			}
			if g, _ := j.held(); g == "" {
				for _, g := range j.turns(y.order, now) {
					if slices.Contains(useless, g) {
						continue
					}
					if slices.Contains(y.notOwed, g) {
						j = append(j, fact{"is refused", g, now})
						continue
					}
					j = append(j, fact{"holds", g, now})
					break
				}
			}
			got := y.walk(now, useless...)
			if want, _ := j.held(); got != want {
				rt.Fatalf("nodes are held for %q, want %q: %v", got, want, j)
			}
		}
	})
}

// Large pods have a patience of their own; after a turn in vain they wait as long as a group.
func TestALargePodHasItsOwnPatience(t *testing.T) {
	y := newYard("pod", "a")
	y.waits["pod"].Patience = 60 * second
	start := second
	y.walk(start)
	for _, s := range []struct {
		at   int64
		want string
		next int64
	}{{15, "a", 315}, {315, "", 330}, {330, "pod", 630}} {
		now := start + s.at*second
		if got := y.walk(now); got != s.want || y.NextChange() != start+s.next*second {
			t.Errorf("after %d s: nodes are held for %q until the next change at %d, want %q and %d", s.at, got, y.NextChange(), s.want, start+s.next*second)
		}
	}
	if !y.Others() {
		t.Error("a has waited for long enough, too")
	}
	y.order = []string{"pod"}
	if y.walk(start + 331*second); y.Others() {
		t.Error("nobody else waits")
	}
	y.GiveBackOne(y.waits["pod"], start+700*second)
	if y.For != "pod" || y.Until != start+700*second || y.waits["pod"].Turns != 1 {
		t.Errorf("%q has nodes until %d, after %d turns in vain", y.For, y.Until, y.waits["pod"].Turns)
	}
}
