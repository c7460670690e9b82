package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// An application keeps its pods in a heap, whose order depends on the order in which they were seen.
func TestTheOldestBlockedPodSaysWhyAnApplicationWaits(t *testing.T) {
	gates := []string{"first", "second", "third"} // by age
	for _, seen := range [][]int{{0, 1, 2}, {0, 2, 1}, {2, 1, 0}} {
		f := newFixture(t, Options{})
		f.declare("root.a")
		for _, i := range seen {
			f.pod(UID(gates[i]), "a", in("app"), at(int64(i+1)), gatedBy(gates[i]))
		}
		apps := f.Applications()
		if len(apps) != 1 || apps[0].BlockedBy.Details != (reason.Gate{Plugin: "first"}) {
			t.Errorf("seen in the order %v: %+v", seen, apps)
		}
	}
}
