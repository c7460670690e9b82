package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func TestPodsThatNoQueueTakesAreCountedByWhatTheyAskFor(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.b")
	f.pod("placed", "a.b")
	f.pod("bound", "gone", boundTo("node"))
	f.pod("one", "nowhere")
	f.pod("two", "root.nowhere") // the same queue by its full name
	f.pod("parent", "a")
	f.pod("wrong", "A b")
	var got []string
	pods := map[queue.Path]int{}
	for _, u := range f.Unplaced() {
		got = append(got, string(u.Queue)+" "+string(u.Reason.Code))
		pods[u.Queue] = u.Pods
	}
	want := []string{"A b " + string(reason.QueueNameInvalid), "root.a " + string(reason.QueueNotLeaf), "root.nowhere " + string(reason.QueueNotFound)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if pods["root.nowhere"] != 2 || pods["root.a"] != 1 {
		t.Errorf("got %v", pods)
	}
	f.declare("root.nowhere")
	if got := f.Unplaced(); len(got) != 2 {
		t.Errorf("got %v after the queue came to be", got)
	}
}
