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

// BenchmarkOrder: one operation charges the first of a hundred competitors, as a release does at each level.
func BenchmarkOrder(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var o Order[*rival]
	keys := make([]rival, 1000)
	for i := range keys {
		keys[i].name = "root.q"
		keys[i].stand(int64(i))
	}
	for i := range 100 {
		c := &rival{name: "root.q"}
		c.Init(c)
		c.key = keys[i].key
		o.Offer(&c.Competitor, 1<<(i%4))
	}
	b.ReportAllocs()
	for b.Loop() {
		e := o.First(^Lanes(0), nil)
		e.key = keys[r.IntN(len(keys))].key
		o.Offer(e.Competitor, e.own)
	}
}
