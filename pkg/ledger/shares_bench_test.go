package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// BenchmarkActivityFlip: one operation makes one of ten siblings active, or inactive, and reads its share, in a tree of ten thousand
// queues. Nothing but the ten is divided again. The yardstick is in pkg/dispatch.
func BenchmarkActivityFlip(b *testing.B) {
	l := New(Options{})
	l.ObserveNode(Node{Name: "n", Allocatable: amounts(64_000, 256_000), Usable: true})
	var leaves []queue.Path
	declare := func(p queue.Path) {
		s := queue.DefaultSpec()
		s.Weight = 1000 + int64(len(p)%3)*500
		l.ObserveQueue(queue.Declaration{Path: p, Spec: s})
	}
	for i := range 10 {
		for j := range 100 {
			declare(queue.Path(fmt.Sprintf("root.t%d", i)))
			declare(queue.Path(fmt.Sprintf("root.t%d.m%d", i, j)))
			for k := range 10 {
				leaves = append(leaves, queue.Path(fmt.Sprintf("root.t%d.m%d.l%d", i, j, k)))
				declare(leaves[len(leaves)-1])
			}
		}
	}
	for i, p := range leaves {
		if i%2 == 0 {
			l.ObservePod(Pod{UID: UID(p), Name: string(p), Queue: string(p), Application: string(p), Class: "c", Request: amounts(1, 4)}, 1)
		}
	}
	l.Lead(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range leaves {
		l.shares.of(l.queues.accounts[p])
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		// Leaves without an application, whose parents stay active.
		a := l.queues.accounts[leaves[(i*20+1)%len(leaves)]]
		a.admission.Running = 1 - a.admission.Running
		for up := a.parent; up != nil; up = up.parent {
			up.admission.Running += 2*a.admission.Running - 1
		}
		l.shares.noteActive(a)
		l.shares.of(a)
	}
}
