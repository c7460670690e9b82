package book

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkPodQueue: one operation takes the first of a thousand pods out of its queue, and puts it in again as a pod of any age. So the
// sorted run is of no use, and all is done by the heap.
func BenchmarkPodQueue(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var q PodQueue[*pod]
	for i := range 1000 {
		p := &pod{name: i, created: r.Int64()}
		q.Push(p, p.key())
	}
	b.ReportAllocs()
	for b.Loop() {
		p := q.Next()
		q.Remove(p)
		p.created = r.Int64()
		q.Push(p, p.key())
	}
}
