package queue_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const never = int64(math.MaxInt64)

// declare is a queue created at time 10 with the default spec, changed by the options.
func declare(p queue.Path, options ...func(*queue.Declaration)) queue.Declaration {
	d := queue.Declaration{Path: p, Spec: queue.DefaultSpec(), Created: 10}
	for _, o := range options {
		o(&d)
	}
	return d
}

func created(at int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Created = at }
}

func policy(p queue.Policy) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Policy = p }
}

func lastGood(p queue.Policy) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.PolicyInForce = p }
}

func guaranteed(l resource.List) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Guaranteed = l }
}

func limited(l resource.List) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Max = l }
}

func deleting(d *queue.Declaration) { d.Deleting = true }

func charged(p queue.Path) queue.Occupancy {
	return queue.Occupancy{Path: p, Charged: true, OldestWaiting: never}
}

func waitingSince(p queue.Path, at int64) queue.Occupancy {
	return queue.Occupancy{Path: p, OldestWaiting: at}
}

// outline is the tree in short: each node, a "+" where pods may enter, a "?" where it
// is not declared, "weight 0" where it has none; then the blocked queues in brackets.
func outline(t queue.Tree) []string {
	out := []string{}
	for _, n := range t.Nodes {
		line := string(n.Path)
		if !n.Declared {
			line += "?"
		}
		if n.Accepting {
			line += "+"
		}
		if n.Spec.Weight == 0 {
			line += " weight 0"
		}
		out = append(out, line)
	}
	for _, p := range t.Blocked {
		out = append(out, "["+string(p)+"]")
	}
	return out
}

// short is a problem as "path: code", with the other party where there is one.
func short(problems []queue.Problem) []string {
	out := []string{}
	for _, p := range problems {
		line := string(p.Path) + ": " + string(p.Reason.Code)
		switch d := p.Reason.Details.(type) {
		case reason.Cause:
			line += " " + d.Queue
		case reason.Parent:
			line += " " + d.Path
		case reason.Policies:
			line += " " + d.Stated
		case reason.FairResource:
			line += " " + string(d.Stated)
		}
		out = append(out, line)
	}
	return out
}

type treeCase struct {
	declared []queue.Declaration
	occupied []queue.Occupancy
	want     []string // outline
	problems []string // short
}

func (c treeCase) run(t *testing.T) {
	t.Helper()
	tree := queue.Build(c.declared, c.occupied, resource.List{})
	if diff := cmp.Diff(c.want, outline(tree)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append([]string{}, c.problems...), short(tree.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestTheRoot(t *testing.T) {
	for name, c := range map[string]treeCase{
		"is there although nobody declared it": {
			want: []string{"root?"},
		},
		"takes no pods, even without children": {
			declared: []queue.Declaration{declare("root")},
			want:     []string{"root"},
		},
		"cannot be blocked by a pod that names it": {
			declared: []queue.Declaration{declare("root"), declare("root.a", created(50))},
			occupied: []queue.Occupancy{waitingSince("root", 1)},
			want:     []string{"root", "root.a+"},
		},
		"is not even blocked by pods charged to it": {
			declared: []queue.Declaration{declare("root"), declare("root.a")},
			occupied: []queue.Occupancy{charged("root")},
			want:     []string{"root", "root.a+"},
		},
	} {
		t.Run(name, c.run)
	}
}

func TestQueuesInTheTree(t *testing.T) {
	for name, c := range map[string]treeCase{
		"parents come before children, and a subtree is one stretch": {
			declared: []queue.Declaration{declare("root.a-b"), declare("root.a.c"), declare("root"), declare("root.a")},
			want:     []string{"root", "root.a", "root.a.c+", "root.a-b+"},
		},
		"a queue being deleted stays but takes no more pods": {
			declared: []queue.Declaration{declare("root"), declare("root.a", deleting)},
			want:     []string{"root", "root.a"},
		},
		"a child of a queue being deleted is still there": {
			declared: []queue.Declaration{declare("root"), declare("root.a", deleting), declare("root.a.b")},
			want:     []string{"root", "root.a", "root.a.b+"},
		},
		"pods keep a deleted queue and its ancestors, without weight": {
			declared: []queue.Declaration{declare("root")},
			occupied: []queue.Occupancy{charged("root.a.b")},
			want:     []string{"root", "root.a? weight 0", "root.a.b? weight 0"},
		},
		"waiting pods keep nothing": {
			declared: []queue.Declaration{declare("root")},
			occupied: []queue.Occupancy{waitingSince("root.a.b", 1)},
			want:     []string{"root"},
		},
		"pods under a name that is no path keep nothing": {
			declared: []queue.Declaration{declare("root")},
			occupied: []queue.Occupancy{charged("root.A"), charged("elsewhere")},
			want:     []string{"root"},
		},
		"a queue beside an undeclared one is in the tree below the same parent": {
			declared: []queue.Declaration{declare("root"), declare("root.a.c")},
			occupied: []queue.Occupancy{charged("root.a.b")},
			want:     []string{"root", "root.a? weight 0", "root.a.b? weight 0", "root.a.c+"},
		},
	} {
		t.Run(name, c.run)
	}
}

func TestBlockedQueues(t *testing.T) {
	for name, c := range map[string]treeCase{
		"a queue whose parent is not declared": {
			declared: []queue.Declaration{declare("root"), declare("root.a.b")},
			want:     []string{"root", "[root.a.b]"},
			problems: []string{"root.a.b: ParentMissing root.a"},
		},
		"what is below it waits for it and not for a parent that exists": {
			declared: []queue.Declaration{declare("root"), declare("root.a.b"), declare("root.a.b.c"), declare("root.a.b.c.d")},
			want:     []string{"root", "[root.a.b]", "[root.a.b.c]", "[root.a.b.c.d]"},
			problems: []string{
				"root.a.b: ParentMissing root.a", "root.a.b.c: QueueNotReady root.a.b", "root.a.b.c.d: QueueNotReady root.a.b",
			},
		},
		"what is below it lacks a parent of its own": {
			declared: []queue.Declaration{declare("root"), declare("root.a.b"), declare("root.a.b.c.d")},
			want:     []string{"root", "[root.a.b]", "[root.a.b.c.d]"},
			problems: []string{"root.a.b: ParentMissing root.a", "root.a.b.c.d: ParentMissing root.a.b.c"},
		},
		"not a queue whose parent is missing while its pods run": {
			declared: []queue.Declaration{declare("root"), declare("root.a.b")},
			occupied: []queue.Occupancy{charged("root.a.b")},
			want:     []string{"root", "root.a? weight 0", "root.a.b+"},
		},
		"a queue under one with charged pods": {
			declared: []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b"), declare("root.a.b.c")},
			occupied: []queue.Occupancy{charged("root.a")},
			want:     []string{"root", "root.a+", "[root.a.b]", "[root.a.b.c]"},
			problems: []string{"root.a.b: ParentHasPods root.a", "root.a.b.c: QueueNotReady root.a.b"},
		},
		"a queue under a deleted one that still has pods": {
			declared: []queue.Declaration{declare("root"), declare("root.a.b")},
			occupied: []queue.Occupancy{charged("root.a")},
			want:     []string{"root", "root.a? weight 0", "[root.a.b]"},
			problems: []string{"root.a.b: ParentHasPods root.a"},
		},
		"a queue under one with an older waiting pod": {
			declared: []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b", created(20))},
			occupied: []queue.Occupancy{waitingSince("root.a", 19)},
			want:     []string{"root", "root.a+", "[root.a.b]"},
			problems: []string{"root.a.b: ParentHasPods root.a"},
		},
		"not by a pod as old as the queue": {
			declared: []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b", created(20))},
			occupied: []queue.Occupancy{waitingSince("root.a", 20)},
			want:     []string{"root", "root.a", "root.a.b+"},
		},
		"not by a pod that came when there were children": {
			declared: []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b", created(20)), declare("root.a.c", created(40))},
			occupied: []queue.Occupancy{waitingSince("root.a", 30)},
			want:     []string{"root", "root.a", "root.a.b+", "root.a.c+"},
		},
		"not by a waiting pod while a child has pods": {
			declared: []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b", created(20)), declare("root.a.c", created(20))},
			occupied: []queue.Occupancy{waitingSince("root.a", 1), charged("root.a.b")},
			want:     []string{"root", "root.a", "root.a.b+", "root.a.c+"},
		},
		"only the children without pods, where parent and child both have some": {
			declared: []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b"), declare("root.a.c")},
			occupied: []queue.Occupancy{charged("root.a"), charged("root.a.b.x")},
			want:     []string{"root", "root.a", "root.a.b", "root.a.b.x? weight 0", "[root.a.c]"},
			problems: []string{"root.a.c: ParentHasPods root.a"},
		},
		"a queue with a name that is no path": {
			declared: []queue.Declaration{declare("root"), declare("elsewhere"), declare("root.A"), declare("root.A.b")},
			want:     []string{"root", "[elsewhere]", "[root.A]", "[root.A.b]"},
			problems: []string{"elsewhere: QueueNameInvalid", "root.A: QueueNameInvalid", "root.A.b: QueueNameInvalid"},
		},
	} {
		t.Run(name, c.run)
	}
}

func TestOccupanciesOfOneQueueAddUp(t *testing.T) {
	declared := []queue.Declaration{declare("root"), declare("root.a"), declare("root.a.b")}
	for name, occupied := range map[string][]queue.Occupancy{
		"charged and then not":             {charged("root.a"), waitingSince("root.a", never)},
		"not charged and then so":          {waitingSince("root.a", never), charged("root.a")},
		"waiting, the older one first":     {waitingSince("root.a", 1), waitingSince("root.a", 20)},
		"waiting, the older one afterward": {waitingSince("root.a", 20), waitingSince("root.a", 1)},
	} {
		t.Run(name, treeCase{
			declared: declared,
			occupied: occupied,
			want:     []string{"root", "root.a+", "[root.a.b]"},
			problems: []string{"root.a.b: ParentHasPods root.a"},
		}.run)
	}
}

func TestFind(t *testing.T) {
	tree := queue.Build([]queue.Declaration{declare("root"), declare("root.a"), declare("root.a.c"), declare("root.a-b")}, nil, resource.List{})
	for i, n := range tree.Nodes {
		if got, ok := tree.Find(n.Path); !ok || got != i {
			t.Errorf("%s: got %d, %t, want %d", n.Path, got, ok, i)
		}
	}
	for _, p := range []queue.Path{"", "root.b", "root.a.b", "a"} {
		if _, ok := tree.Find(p); ok {
			t.Errorf("%q is found", p)
		}
	}
	if _, ok := (queue.Tree{}).Find("root"); ok {
		t.Error("something is found in no tree")
	}
}

func TestEveryProblemHasASentence(t *testing.T) {
	tree := queue.Build([]queue.Declaration{
		declare("root"), declare("root.A"), declare("root.a", policy(queue.FIFO)), declare("root.a.b"), declare("root.b.c"), declare("root.b.c.d"),
	}, nil, resource.List{})
	if len(tree.Problems) != 4 {
		t.Fatalf("problems: %+v", tree.Problems)
	}
	for _, p := range tree.Problems {
		if text := p.Reason.Text(); !strings.Contains(text, string(p.Path)) {
			t.Errorf("%s does not name its queue: %s", p.Path, text)
		}
	}
}
