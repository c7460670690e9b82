package ledger

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// exempt reports whether a plan for those who wait may not take the pod.
func (f *fixture) exempt(uid UID) bool {
	f.t.Helper()
	f.now += 60 * sec
	f.clocks()
	w, ok := f.Preemption(f.now)
	if !ok {
		f.t.Fatal("nobody claims")
	}
	f.sound()
	i := slices.IndexFunc(w.Nodes[0].Candidates, func(c preemption.Candidate) bool { return c.UID == string(uid) })
	c := &w.Nodes[0].Candidates[i]
	if c.Replaces != 0 && c.Replaces != 160*sec {
		f.t.Errorf("%s replaces a pod that left at %d", uid, c.Replaces)
	}
	return w.Claims[0].Exempts(c)
}

// The replacement of a victim is exempt until a share has changed, and one change between two looks may have come before the eviction.
func TestAReplacementIsExemptWhileNoShareChanges(t *testing.T) {
	const again = UID("again")
	like := func(p *Pod) { p.Application = "busy-089" }
	for name, c := range map[string]struct {
		evict  func(*fixture)
		again  func(*Pod)
		exempt bool
	}{
		"made when the victim terminates": {func(f *fixture) { f.edit("busy-089", func(p *Pod) { p.Terminating, p.Deadline = true, f.now }) }, like, true},
		"made when the victim is gone":    {func(f *fixture) { f.forget("busy-089") }, like, true},
		"of another application":          {func(f *fixture) { f.forget("busy-089") }, func(*Pod) {}, false},
		"of another size":                 {func(f *fixture) { f.forget("busy-089") }, func(p *Pod) { like(p); p.Request = amounts(2, 4) }, false},
		"of another priority":             {func(f *fixture) { f.forget("busy-089") }, func(p *Pod) { like(p); p.Priority = 1 }, false},
		"of one that was no victim":       {func(f *fixture) { f.forget("busy-000") }, func(p *Pod) { p.Application = "busy-000" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			share := 0
			changed := func(f *fixture) {
				share++
				f.declare("root.busy", weight(int64(1+share)))
			}
			begin := func() *fixture {
				f := planned(t, 1)
				f.announce("busy-089")
				c.evict(f)
				f.pod(again, "busy", c.again, boundTo("node"), func(p *Pod) { p.Bound = f.now })
				return f
			}
			f := begin()
			for range 3 {
				if f.exempt(again) != c.exempt {
					t.Fatalf("it is exempt: %v, and no share has changed", !c.exempt)
				}
			}
			changed(f)
			if f.exempt(again) {
				t.Error("it is exempt after a share has changed")
			}

			f = begin()
			changed(f)
			if f.exempt(again) != c.exempt {
				t.Errorf("it is exempt: %v, and the share may have changed before the eviction", !c.exempt)
			}
			changed(f)
			if f.exempt(again) {
				t.Error("it is exempt after a share has changed again")
			}
		})
	}
}

// Each victim is replaced once, and one that has not been replaced when a share changes is not remembered.
func TestAVictimIsReplacedOnce(t *testing.T) {
	f := planned(t, 2)
	f.announce("busy-089", "busy-088")
	f.forget("busy-089", "busy-088")
	f.pod("one", "busy", func(p *Pod) { p.Application = "busy-089" }, boundTo("node"))
	f.pod("two", "busy", func(p *Pod) { p.Application = "busy-089" }, boundTo("node"))
	if !f.exempt("one") || f.exempt("two") {
		t.Error("the first replaces the victim, and the second does not")
	}
	f.declare("root.busy", weight(2))
	f.exempt("one")
	f.pod("three", "busy", func(p *Pod) { p.Application = "busy-088" }, boundTo("node"))
	if f.exempt("three") {
		t.Error("a share has changed since the victim left")
	}
	if left := f.evictions.memory.Unreplaced() + len(f.evictions.memory.replacements); left != 0 {
		t.Errorf("%d are remembered for nothing", left)
	}
}
