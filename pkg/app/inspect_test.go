package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func TestViolationsAreCountedAndShownWhereTheyAre(t *testing.T) {
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
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
		steps: func(uint64) []ledger.Entry {
			return []ledger.Entry{{Name: "before", Queue: "root.a"}, {Name: "elsewhere", Queue: "root.b"}, {Name: "last", Queue: "root.a.x", State: ledger.Bound}}
		},
		victims: func() []ledger.Victim { return []ledger.Victim{{Namespace: "team", Name: "kept"}} },
	}
	look := func(is ledger.Inspection, want ...string) {
		t.Helper()
		next, events = is, nil
		i.look(klog.NewContext(t.Context(), logger))
		if diff := cmp.Diff(want, events); diff != "" {
			t.Errorf("events, -want +got:\n%s", diff)
		}
	}
	look(ledger.Inspection{})
	const says = "LedgerViolation: The scheduler's account is wrong, and preemption is stopped: "
	look(ledger.Inspection{Stopped: true, Violations: []ledger.Violation{{Queue: "root.a", Text: "usage"}, {Text: "node n"}}},
		"root.a "+says+"usage", "root "+says+"node n")
	look(ledger.Inspection{Stopped: true, Violations: make([]ledger.Violation, 9)}, "root "+says, "root "+says, "root "+says, "root "+says, "root "+says)
	if said := logger.GetSink().(ktesting.Underlier).GetBuffer().String(); strings.Count(said, "Preemption is stopped") != 1 ||
		!strings.Contains(said, `lastSteps=["last Bound root.a.x","elsewhere Waiting root.b","before Waiting root.a"] victimsThatStay=["team/kept"]`) {
		t.Errorf("logged:\n%s", said)
	}
	look(ledger.Inspection{Complete: true})
	if diff := cmp.Diff([]string{"0 false", "2 false", "9 false", "0 true"}, counts); diff != "" {
		t.Errorf("counted, -want +got:\n%s", diff)
	}
}
