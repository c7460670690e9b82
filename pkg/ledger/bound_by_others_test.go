package ledger

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// paths are the queues in the tree.
func (f *fixture) paths() (all []queue.Path) {
	for _, q := range f.Snapshot().Queues {
		if q.InTree {
			all = append(all, q.Path)
		}
	}
	return all
}

// A pod that is created with a nodeName names any queue. It closes no leaf, keeps no child out, and its charge is in the nearest queue above the one
// that it names, in whatever order pods and Queues are seen.
func TestAPodThatSomebodyElseBoundChangesNoTree(t *testing.T) {
	for name, c := range map[string]struct {
		asked string
		in    queue.Path
	}{
		"below a leaf":             {"ads.adhoc.zzz", "root.ads.adhoc"},
		"far below a leaf":         {"ads.adhoc.z.z.z", "root.ads.adhoc"},
		"in a parent":              {"ads.etl", "root.ads.etl"},
		"in a parent of the top":   {"ads", "root.ads"},
		"below a parent":           {"ads.etl.zzz", "root.ads.etl"},
		"in a leaf":                {"ads.adhoc", "root.ads.adhoc"},
		"in a queue for queues":    {"fleet", "root.fleet"},
		"below a queue for queues": {"fleet.zzz", "root.fleet"},
		"below the root":           {"zzz", "root"},
		"in the root":              {"root", "root"},
		"in no queue":              {"No_Queue", "root"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := func(f *fixture) {
				f.declare("root.ads")
				f.declare("root.ads.adhoc", created(10))
				f.declare("root.ads.etl", created(10))
				f.declare("root.ads.etl.day", created(20))
				f.declare("root.fleet", func(d *queue.Declaration) { d.Parent = true })
			}
			clean := newFixture(t, Options{})
			tree(clean)
			want := clean.paths()

			attack := func(f *fixture) { f.pod("attacker", c.asked, boundTo("node"), at(1)) }
			for order, steps := range [][]func(*fixture){{tree, attack}, {attack, tree}} {
				f := newFixture(t, Options{})
				for _, step := range steps {
					step(f)
				}
				f.Settle(f.now)
				f.sound()
				if got := f.paths(); !slices.Equal(got, want) {
					t.Errorf("order %d: queues %q, want %q", order, got, want)
				}
				f.wantState("attacker", "Bound "+string(c.in))
				f.pod("leaf", "ads.adhoc")
				f.pod("child", "ads.etl.day")
				var released []UID
				for range 2 {
					next := f.choose()
					f.reserve(next...)
					f.bindAll(next...)
					released = append(released, next...)
				}
				slices.Sort(released)
				f.wantPods(released, "child", "leaf")
				f.wantUsage("root", "cpu=3 memory=12Gi")
				f.forget("attacker")
				f.wantUsage("root", "cpu=2 memory=8Gi")
				f.wantUsage("root.ads", "cpu=2 memory=8Gi")
			}
		})
	}
}

// The charge follows the tree: to a queue that appears, back above it when that goes, and it keeps no queue from leaving.
func TestAPodThatSomebodyElseBoundMovesWithTheTree(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", created(10))
	f.pod("others", "a.b.c", boundTo("node"), at(1))
	f.wantState("others", "Bound root.a")
	f.declare("root.a.b", created(20))
	f.Settle(f.now)
	f.wantState("others", "Bound root.a.b")
	f.wantUsage("root.a.b", "cpu=1 memory=4Gi")
	f.declare("root.a.b.c", created(30))
	f.pod("p", "a.b.c", at(40))
	f.run("p")
	f.wantState("others", "Bound root.a.b.c")
	f.wantUsage("root.a.b.c", "cpu=2 memory=8Gi")

	f.declare("root.a.b.c", created(30), deleting)
	f.wantLeaving(Leaving{Path: "root.a.b.c", Pods: 1})
	f.forget("p")
	f.wantLeaving(Leaving{Path: "root.a.b.c"})
	f.ForgetQueue("root.a.b.c")
	f.Settle(f.now)
	f.sound()
	f.wantState("others", "Bound root.a.b")
	f.ForgetQueue("root.a")
	f.ForgetQueue("root.a.b")
	f.Settle(f.now)
	f.sound()
	f.wantState("others", "Bound root")
	if got := f.paths(); !slices.Equal(got, []queue.Path{"root"}) {
		t.Errorf("queues %q", got)
	}
	f.wantUsage("root", "cpu=1 memory=4Gi")
}

// What this scheduler placed keeps its queue, as before; beside it, a pod that somebody else bound does not.
func TestAQueueStaysForThePodsThatWerePlacedThere(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", created(10))
	f.pod("placed", "a", placedIn("root.a.gone"), boundTo("node"))
	f.pod("others", "a.gone.x", boundTo("node"))
	f.Settle(f.now)
	f.wantState("placed", "Bound root.a.gone")
	f.wantState("others", "Bound root.a.gone")
	f.pod("p", "a")
	f.wantState("p", "Waiting - QueueNotLeaf")
	f.forget("placed")
	f.wantState("p", "Waiting root.a")
	f.wantState("others", "Bound root.a")
}

// A pod on its way to a node may be bound by somebody else meanwhile. From then on it shapes the tree no more.
func TestAReleasedPodThatSomebodyElseBindsShapesTheTreeNoMore(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", created(10))
	f.pod("p", "a", at(20))
	f.wantPods(f.choose(), "p")
	f.reserve("p")
	f.declare("root.a.b", created(30))
	f.pod("q", "a.b", at(40))
	f.wantState("q", "Waiting - QueueNotReady")
	if got := f.queue("root.a.b").Problems; len(got) != 1 || got[0].Code != reason.ParentHasPods {
		t.Errorf("problems %+v", got)
	}
	f.edit("p", boundTo("other"))
	f.wantState("q", "Waiting root.a.b")
	f.wantState("p", "Bound root.a")
	f.wantUsage("root.a", "cpu=1 memory=4Gi")
	f.run("q")
	f.wantUsage("root.a", "cpu=2 memory=8Gi")
}

// It counts as its labels say, also when they change, so that a ledger that is built again comes to the same.
func TestAPodThatSomebodyElseBoundFollowsItsLabel(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b", maximum(amounts(1, 4)))
	f.pod("others", "a", boundTo("node"))
	f.pod("placed", "a", placedIn("root.a"), boundTo("node"))
	f.edit("others", relabelled("b.below"))
	f.edit("placed", relabelled("b"))
	f.wantState("others", "Bound root.b")
	f.wantState("placed", "Bound root.a")
	f.pod("p", "b")
	f.wantPods(f.choose()) // root.b is at its max
	f.edit("others", relabelled("a"))
	f.wantPods(f.choose(), "p")
	f.wantUsage("root.a", "cpu=2 memory=8Gi")
	f.wantUsage("root.b", "cpu=1 memory=4Gi")
}

// Placement removes a queue that it created although a pod with a nodeName is in it: anybody may name it.
func TestAPodThatSomebodyElseBoundKeepsNoCreatedQueue(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.users")
	f.declare("root.users.ada", func(d *queue.Declaration) { d.Origin.Placement = true })
	f.pod("others", "users.ada", boundTo("node"))
	f.pod("placed", "users.ada", placedIn("root.users.ada"), boundTo("node"))
	f.PlacementActions(f.now)
	f.now += 3600 * sec
	if do := f.PlacementActions(f.now); len(do.Remove) != 0 {
		t.Errorf("removes %q", do.Remove)
	}
	f.forget("placed")
	f.PlacementActions(f.now)
	f.now += 3600 * sec
	if do := f.PlacementActions(f.now); !slices.Equal(do.Remove, []queue.Path{"root.users.ada"}) {
		t.Errorf("removes %q", do.Remove)
	}
}

// A pod that somebody else has bound goes to another queue when its label says so. On the way its application leaves no slot to others: the queue above
// both is as full as before.
func TestAPodThatMovesGivesUpNoSlotOnTheWay(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", runs(1))
	f.declare("root.a.x")
	f.declare("root.a.y")
	f.pod("l", "a.x", boundTo("node"))
	f.pod("k", "a.x")
	f.wantWhy("k", "MaxRunningApplications root.a 1/1+0")
	f.pod("l", "a.y", boundTo("node"))
	f.sound()
	f.wantState("l", "Bound root.a.y")
	f.wantWhy("k", "MaxRunningApplications root.a 1/1+0")
}
