package ordering_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// With the calculator Memory, siblings come in the order in which they would come if there were no other resource, by the same criterion.
func TestTheOrderWithMemoryIsThatOfMemoryAlone(t *testing.T) {
	memoryOf := func(l resource.List) resource.List {
		return resource.Of(resource.Entry{Name: resource.Memory, Value: l.Get(resource.Memory)})
	}
	rapid.Check(t, func(t *rapid.T) {
		p, total := policies().Draw(t, "policy"), lists().Draw(t, "total")
		with, alone := queue.Spec{Policy: p, Calculator: queue.MemoryCalculator}.Rule(), queue.Spec{Policy: p}.Rule()
		var keys, keysAlone [2]ordering.Key
		for i := range keys {
			s := standings().Draw(t, "standing")
			keys[i].Set(with, s.Standing, total)
			s.Usage = sum(memoryOf(s.Usage.List()))
			keysAlone[i].Set(alone, s.Standing, memoryOf(total))
		}
		got, by := ordering.Compare(p, &keys[0], &keys[1])
		want, wantBy := ordering.Compare(p, &keysAlone[0], &keysAlone[1])
		if sign(got) != sign(want) || by != wantBy {
			t.Fatalf("got %d by %s, of memory alone %d by %s", got, by, want, wantBy)
		}
		if keys[0].Rank() != keysAlone[0].Rank() {
			t.Fatalf("rank %v, of memory alone %v", keys[0].Rank(), keysAlone[0].Rank())
		}
	})
}
