package reason

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestWhatIsSaidOfHeldNodes(t *testing.T) {
	for _, c := range []struct {
		kept       Kept
		text, held string
	}{
		{Kept{}, "", ""},
		{Kept{Held: 1, PodGroup: "ns/g", Until: 60e9}, "; 1 node with room is held for pod group ns/g until 1970-01-01T00:01:00Z at the latest",
			" node(s) with room that is held for pod group ns/g until 1970-01-01T00:01:00Z"},
		{Kept{Held: 2, LargeOf: "root.b", Until: 60e9}, "; 2 nodes with room are held for larger pods of queue root.b until 1970-01-01T00:01:00Z at the latest",
			" node(s) with room that is held for larger pods of queue root.b"},
		{Kept{Own: 1, Until: 60e9}, "; smaller pods passed it, so 1 node is held for pods like it until 1970-01-01T00:01:00Z at the latest", ""},
	} {
		why := Reason{Code: WaitingForRoom, Resource: resource.CPU, Asked: 4000, Details: Room{Nodes: 2, Usable: 2, Kept: c.kept}}
		if got, want := why.Text(), "no node has 4 cpu free for this pod, the closest one has 0 cpu; 2 of 2 nodes may be used by it"+c.text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := c.kept.HeldFor(); got != c.held {
			t.Errorf("%q, want %q", got, c.held)
		}
	}
}
