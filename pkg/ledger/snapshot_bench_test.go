package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// A snapshot of 10,000 queues below 100 parents, which the writer of statuses takes after each change.
func BenchmarkSnapshot(b *testing.B) {
	l := newLeader(Options{})
	l.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400), Usable: true})
	for i := range 100 {
		parent := queue.Path(fmt.Sprintf("root.p%02d", i))
		l.ObserveQueue(queue.Declaration{Path: parent, Spec: queue.DefaultSpec()})
		for j := range 100 {
			l.ObserveQueue(queue.Declaration{Path: parent + queue.Path(fmt.Sprintf(".q%02d", j)), Spec: queue.DefaultSpec()})
		}
	}
	l.Settle(1)
	for b.Loop() {
		l.Snapshot()
	}
}
