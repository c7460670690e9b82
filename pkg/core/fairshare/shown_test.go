package fairshare_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Below Fair there is no share of cpu, neither under the queue with that policy nor further down, but for what is guaranteed. A share of 0 of a resource
// that is shared out is shown.
func TestWhatIsNotSharedOutIsNotShown(t *testing.T) {
	l := func(cpu, memory int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory})
	}
	declare := func(p queue.Path, policy queue.Policy, guaranteed resource.List) queue.Declaration {
		d := queue.Declaration{Path: p, Spec: queue.DefaultSpec()}
		d.Spec.Policy, d.Spec.Guaranteed = policy, guaranteed
		return d
	}
	none := resource.List{}
	tree := queue.Build([]queue.Declaration{
		declare("root", queue.DominantResourceFairness, none), declare("root.drf", queue.DominantResourceFairness, none),
		declare("root.fair", queue.Fair, none), declare("root.fair.a", queue.DominantResourceFairness, none),
		declare("root.fair.a.x", queue.DominantResourceFairness, none), declare("root.fair.b", queue.FIFO, resource.Of(resource.Entry{Name: resource.CPU, Value: 7})),
	}, nil, l(100, 400))
	active := make([]bool, len(tree.Nodes))
	steady, instantaneous := fairshare.SteadyAndInstantaneous(tree, l(100, 400), active)
	for i, got := range fairshare.Shown(tree, steady) {
		want := map[queue.Path]string{
			"root": l(100, 400).String(), "root.drf": l(50, 200).String(), "root.fair": l(50, 200).String(),
			"root.fair.a": "memory=100", "root.fair.a.x": "memory=100", "root.fair.b": "memory=100",
		}[tree.Nodes[i].Path]
		if got.String() != want {
			t.Errorf("%s: %s, want %s", tree.Nodes[i].Path, got, want)
		}
	}
	for i, got := range fairshare.Shown(tree, instantaneous) { // nobody is active
		want := l(0, 0).String()
		switch tree.Nodes[i].Path.Parent() {
		case "":
			want = l(100, 400).String()
		case "root.fair", "root.fair.a":
			want = "memory=0"
		}
		if got.String() != want {
			t.Errorf("nobody is active: %s: %s, want %s", tree.Nodes[i].Path, got, want)
		}
	}
}
