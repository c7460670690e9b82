package admission

import (
	"strconv"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Applications of other users end and start, while thousands of one user, who is at the limit, wait before them.
func BenchmarkHandOnBehindAUserAtTheLimit(b *testing.B) {
	for _, waiting := range []int{100, 10_000} {
		b.Run(strconv.Itoa(waiting), func(b *testing.B) {
			no := queue.Limit{}
			qs := tree(no, queue.AtMost(2), no, no, no)
			s := Slots{PerUser: queue.AtMost(1)}
			s.Start(&Application{Leaf: qs["x"], Name: "ann", User: "ann"})
			for i := range waiting {
				s.Wait(&Application{Leaf: qs["x"], Name: "waits" + strconv.Itoa(i), User: "ann", Submitted: int64(i)})
			}
			runs, next := &Application{Leaf: qs["x"], Name: "runs", User: "bob", Submitted: 1 << 40}, &Application{Leaf: qs["x"], Name: "next", User: "cat", Submitted: 1 << 40}
			s.Start(runs)
			b.ReportAllocs()
			for b.Loop() {
				s.Wait(next)
				if started := s.HandOn(s.End(runs)); len(started) != 1 || started[0] != next {
					b.Fatal(started)
				}
				runs, next = next, runs
			}
		})
	}
}
