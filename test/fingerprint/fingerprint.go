// Package fingerprint writes what must be the same in two ledgers that were given the same objects, in whatever order and at whatever time.
//
// In: a ledger. Out: a text with a line for each queue and each pod, so that a test can show the lines that differ. It
// uses only what every reader of a ledger sees.
package fingerprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Of returns the fingerprint of a ledger.
func Of(l *ledger.Ledger) string {
	var text strings.Builder
	s := l.Snapshot()
	leaving, _ := l.Leaving()
	deleted := func(q queue.Path) bool {
		return slices.ContainsFunc(leaving, func(o ledger.Leaving) bool { return o.Path == q })
	}
	fmt.Fprintf(&text, "total %v\n", s.Total)
	for i := range s.Queues {
		q := &s.Queues[i]
		if !q.InTree {
			continue
		}
		fmt.Fprintf(&text, "queue %s accepting %v usage %v demand %v pods %d/%d applications accepted %d starting %d\n", q.Path, q.Leaf && q.Declared && !deleted(q.Path),
			q.Allocated, q.Demand, q.PodsPending, q.PodsRunning, q.ApplicationsPending, q.ApplicationsStarting)
	}
	for _, p := range l.Pods() {
		state := p.State
		if state == ledger.Parked { // a ledger built again has not tried it yet
			state = ledger.Waiting
		}
		fmt.Fprintf(&text, "pod %s %s %s %s\n", p.UID, state, p.Leaf, p.BlockedBy.Code)
	}
	return text.String()
}
