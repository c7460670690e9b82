package app

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func TestViolationsAreCountedAndShownWhereTheyAre(t *testing.T) {
	var next ledger.Inspection
	var events, counts []string
	i := &inspector{
		inspect: func(cost int) ledger.Inspection {
			if cost != ledger.LookCost {
				t.Errorf("a look costs %d", cost)
			}
			return next
		},
		counted: func(n int, complete bool) { counts = append(counts, fmt.Sprint(n, complete)) },
		event:   func(queue, reason, note string) { events = append(events, queue+" "+reason+": "+note) },
	}
	look := func(is ledger.Inspection, want ...string) {
		t.Helper()
		next, events = is, nil
		i.look(t.Context())
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("events, -want +got:\n%s", diff)
		}
	}
	look(ledger.Inspection{})
	const says = "LedgerViolation: The scheduler's account is wrong, and preemption is stopped: "
	look(ledger.Inspection{Stopped: true, Violations: []ledger.Violation{{Queue: "root.a", Text: "usage"}, {Text: "node n"}}},
		"root.a "+says+"usage", "root "+says+"node n")
	look(ledger.Inspection{Stopped: true, Violations: make([]ledger.Violation, 9)}, "root "+says, "root "+says, "root "+says, "root "+says, "root "+says)
	look(ledger.Inspection{Complete: true})
	if diff := cmp.Diff([]string{"0 false", "2 false", "9 false", "0 true"}, counts); diff != "" {
		t.Errorf("counted, -want +got:\n%s", diff)
	}
}
