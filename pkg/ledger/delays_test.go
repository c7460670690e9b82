package ledger

import (
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func prefers(nodes string) func(*Pod) { return func(p *Pod) { p.PreferredNodes = nodes } }

// newDelays is a world in which pods wait for 40 opportunities: three nodes beside "node", which is gone, and one queue in order of submission.
func newDelays(t *testing.T) *fixture {
	f := newFixture(t, Options{Delay: locality.Delay{Node: 40, Rack: -1}})
	f.ForgetNode("node")
	for _, name := range []string{"n1", "n2", "n3"} {
		f.ObserveNode(Node{Name: name, Allocatable: amounts(1, 4), Usable: true})
	}
	f.declare("root.a", policy(queue.FIFO))
	return f
}

func (f *fixture) missed(uid UID) int { return int(f.pods[uid].app.missed.Missed) }

// A pod goes to the node that it prefers, and is tried there alone.
func TestAPodIsTriedOnThePreferredNodesWithRoom(t *testing.T) {
	f := newDelays(t)
	f.pod("p", "a", prefers("n2,n3,n9"))
	f.wantPods(f.choose(), "p")
	if got := f.PreferredNodes("p", 32); !slices.Equal(got, []string{"n2", "n3"}) {
		t.Errorf("tried on %v", got)
	}
	if got := f.PreferredNodes("nobody", 32); got != nil {
		t.Errorf("nobody is tried on %v", got)
	}
}

// An attempt that fails charges nothing, and an application counts one opportunity for one release, however many of its pods decline.
func TestAReleaseIsOneOpportunityForAnApplication(t *testing.T) {
	f := newDelays(t)
	f.ForgetNode("n3")
	f.pod("x", "a", prefers("n1"))
	f.wantPods(f.choose(), "x")
	f.pod("p1", "a", in("p"), at(1), prefers("n1"))
	f.pod("p2", "a", in("p"), at(2), prefers("n1"), ofClass("other"))
	f.pod("q", "a", at(3))
	if r, ok := f.Choose(f.now); ok {
		t.Fatalf("%s is released while the slow start of its class waits", r.UID)
	}
	if why, ok := f.Reserve("x", "n1", f.now); !ok {
		t.Fatal(why.Text())
	}
	if r, ok := f.Choose(f.now); !ok || r.UID != "q" { // one more would be tried without room, as no pod of the class has failed yet
		t.Fatalf("%q is released, want q", r.UID)
	}
	if n := f.missed("p1"); n != 1 {
		t.Errorf("missed %d opportunities, want 1", n)
	}
	f.wantUsage("root.a", "cpu=2 memory=8Gi")
	f.Survey(9, f.now+3*sec)
	var told []UID
	for _, u := range f.TakeConditionUpdates(9) {
		if u.Reason.Code == reason.WaitingForPreferredNodes {
			told = append(told, u.UID)
		}
	}
	slices.Sort(told)
	f.wantPods(told, "p1", "p2")
}

// What pods prefer is known as long as one waits that prefers it.
func TestPreferencesAreForgottenWithTheirPods(t *testing.T) {
	f := newDelays(t)
	f.pod("p", "a", prefers("n1,n2"))
	f.pod("q", "a", prefers("n1,n2"))
	if n := len(f.nodes.preferences.all); n != 1 {
		t.Errorf("%d preferences of two pods that prefer the same", n)
	}
	f.edit("q", prefers("n3"))
	if n := len(f.nodes.preferences.all); n != 2 {
		t.Errorf("%d preferences after one changed", n)
	}
	f.forget("p", "q")
	if p := f.nodes.preferences; len(p.all)+len(p.byNode)+len(p.byRack) != 0 {
		t.Errorf("left behind: %v", p)
	}
}

// Without the delay, annotations mean nothing.
func TestWithoutADelayNothingIsPreferred(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", prefers("elsewhere"))
	if f.pods["p"].preference != nil {
		t.Error("p prefers something")
	}
	f.run("p")
}
