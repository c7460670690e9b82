package ledger

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// What a pod is charged as is fixed from its release until it is bound or goes back: its application, its role, its user.
func TestLabelsMoveNoChargeWhileAPodStarts(t *testing.T) {
	another := func(p *Pod) { p.Application, p.User, p.Role = "other", "eve", application.Executor }
	counts := func(t *testing.T, f *fixture, app, user string, role application.Role) {
		t.Helper()
		if s, _ := f.PodState("a"); s.Application != app || s.User != user || s.Role != role {
			t.Errorf("a counts as %q of %q, a %v; want %q of %q, a %v", s.Application, s.User, s.Role, app, user, role)
		}
	}
	asBefore := func(t *testing.T, f *fixture) { t.Helper(); counts(t, f, "mine", "ann", application.Driver) }
	asItSays := func(t *testing.T, f *fixture) { t.Helper(); counts(t, f, "other", "eve", application.Executor) }
	start := func(t *testing.T) *fixture {
		f := newFixture(t, Options{})
		f.declare("root.q")
		f.pod("a", "root.q", func(p *Pod) { p.Application, p.User, p.Role = "mine", "ann", application.Driver })
		f.choose()
		f.edit("a", another)
		asBefore(t, f)
		return f
	}
	t.Run("it is bound", func(t *testing.T) {
		f := start(t)
		f.reserve("a")
		asBefore(t, f)
		f.edit("a", func(p *Pod) { p.Node = "node" }) // with what the binding says
		asBefore(t, f)
	})
	t.Run("it goes back", func(t *testing.T) {
		f := start(t)
		f.Fail("a", Refused, f.now)
		f.sound()
		asItSays(t, f)
		f.choose()
	})
	t.Run("it goes back after Reserve", func(t *testing.T) {
		f := start(t)
		f.reserve("a")
		f.Fail("a", Errored, f.now)
		f.sound()
		asItSays(t, f)
	})
	t.Run("it is parked", func(t *testing.T) {
		f := start(t)
		f.Fail("a", NoFit, f.now)
		f.sound()
		asItSays(t, f)
	})
	t.Run("the label is put right", func(t *testing.T) {
		f := start(t)
		f.edit("a", func(p *Pod) { p.Application, p.User, p.Role = "mine", "ann", application.Driver })
		f.Fail("a", Refused, f.now)
		f.sound()
		asBefore(t, f)
	})
	t.Run("another scheduler bound it", func(t *testing.T) {
		f := start(t)
		f.edit("a", func(p *Pod) { another(p); p.Node = "node" })
		asItSays(t, f)
	})
}

// A pod that leaves its application while it starts would free a slot that it uses.
func TestRelabelledPodsFreeNoSlotWhileTheyStart(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.q", func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(1) })
	f.pod("a", "root.q", in("one"), at(1))
	f.pod("b", "root.q", in("two"), at(2))
	releases := func(want ...UID) {
		t.Helper()
		if got := f.choose(); !slices.Equal(got, want) {
			t.Errorf("released %v, want %v", got, want)
		}
	}
	releases("a")
	f.edit("a", in("three"))
	releases()
	f.reserve("a")
	f.bindAll("a")
	releases()
	f.forget("a")
	releases("b")
}
