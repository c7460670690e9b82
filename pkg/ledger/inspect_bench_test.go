package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// inspected is a ledger of 100,000 pods, half of them bound, in so many queues and applications.
func inspected(queues, applications int) *Ledger {
	const pods = 100_000
	l := New(Options{Window: pods})
	for i := range pods / 20 {
		l.ObserveNode(Node{Name: fmt.Sprint("n", i), Allocatable: amounts(64, 256), Usable: true})
	}
	leaf := func(i int) queue.Path { return queue.Path(fmt.Sprintf("root.m%d.l%d", i%100, i)) }
	for i := range queues {
		if i < 100 {
			l.ObserveQueue(queue.Declaration{Path: leaf(i).Parent(), Spec: queue.DefaultSpec()})
		}
		l.ObserveQueue(queue.Declaration{Path: leaf(i), Spec: queue.DefaultSpec()})
	}
	for i := range pods {
		app := fmt.Sprint("a", i%applications)
		p := Pod{UID: UID(fmt.Sprint("p", i)), Name: fmt.Sprint("p", i), Queue: string(leaf(i % applications % queues)), Application: app,
			Class: "c", Request: amounts(1, 4), Created: int64(i)}
		if i%2 == 0 {
			p.Node = fmt.Sprint("n", i/20)
		}
		l.ObservePod(p, 1)
	}
	l.Lead(2)
	return l
}

// BenchmarkInspect: one operation is a round. longest-ms is its longest look, for which the lock is held, in the round in which that is
// shortest: in the others the machine did something else meanwhile.
func BenchmarkInspect(b *testing.B) {
	for _, c := range []struct{ queues, applications int }{{10_000, 10_000}, {10_000, 100_000}, {1, 100_000}, {1, 1}} {
		b.Run(fmt.Sprintf("queues=%d/applications=%d", c.queues, c.applications), func(b *testing.B) {
			l := inspected(c.queues, c.applications)
			longest, looks := time.Hour, 0
			for b.Loop() {
				var worst time.Duration
				for complete := false; !complete; looks++ {
					began := time.Now()
					is := l.Inspect(LookCost)
					worst = max(worst, time.Since(began))
					if complete = is.Complete; len(is.Violations) > 0 {
						b.Fatal(is.Violations)
					}
				}
				longest = min(longest, worst)
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
			b.ReportMetric(float64(looks)/float64(b.N), "looks/op")
		})
	}
}

// BenchmarkCheck is the whole of it in one look, as tests have it.
func BenchmarkCheck(b *testing.B) {
	l := inspected(10_000, 10_000)
	for b.Loop() {
		if wrong := l.Check(); len(wrong) > 0 {
			b.Fatal(wrong[0])
		}
	}
}
