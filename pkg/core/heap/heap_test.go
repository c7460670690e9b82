package heap_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/heap"
)

// card is an element that knows its index. Elements are values, so its content is behind a pointer.
type card struct{ *face }

type face struct{ rank, id, at int }

func (c *card) Before(o *card) bool {
	return cmp.Or(cmp.Compare(c.rank, o.rank), cmp.Compare(c.id, o.id)) < 0
}

func (c *card) Moved(to int) { c.at = to }

// number is an element that needs no index.
type number int

func (n *number) Before(o *number) bool { return *n < *o }
func (n *number) Moved(int)             {}

// twin is a heap that searches all its elements.
type twin []*face

func (t twin) first() *face {
	return slices.MinFunc(t, func(a, b *face) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id)) })
}

func (t twin) without(f *face) twin {
	return slices.DeleteFunc(t, func(o *face) bool { return o == f })
}

// both are a heap and its twin, which get the same calls.
type both struct {
	*rapid.T
	cards []card
	twin  twin
	ids   int
}

func (b *both) rank() int { return rapid.IntRange(0, 9).Draw(b.T, "rank") }

func (b *both) one() *face { return rapid.SampledFrom(b.twin).Draw(b.T, "card") }

func (b *both) push() {
	b.ids++
	f := &face{rank: b.rank(), id: b.ids, at: heap.Out}
	b.cards, b.twin = heap.Push(b.cards, card{f}), append(b.twin, f)
}

func (b *both) gone(f *face) {
	b.twin = b.twin.without(f)
	if f.at != heap.Out {
		b.Fatalf("card %d is removed and still at %d", f.id, f.at)
	}
	if beyond := b.cards[:len(b.cards)+1]; beyond[len(b.cards)] != (card{}) {
		b.Fatal("what was removed is kept alive")
	}
}

func (b *both) pop() {
	var got card
	want := b.twin.first()
	if got, b.cards = heap.Pop(b.cards); got.face != want {
		b.Fatalf("popped %+v, want %+v", *got.face, *want)
	}
	b.gone(want)
}

func (b *both) remove() {
	f := b.one()
	b.cards = heap.Remove(b.cards, f.at)
	b.gone(f)
}

func (b *both) fix() {
	f := b.one()
	f.rank = b.rank()
	if end := heap.Fix(b.cards, f.at); end != f.at {
		b.Fatalf("Fix says %d, the card is at %d", end, f.at)
	}
}

// lower and raise change a rank in a known direction, which is all that Down and Up can repair.
func (b *both) lower() {
	f := b.one()
	f.rank += b.rank()
	if end := heap.Down(b.cards, f.at); end != f.at {
		b.Fatalf("Down says %d, the card is at %d", end, f.at)
	}
}

func (b *both) raise() {
	f := b.one()
	f.rank -= b.rank()
	if end := heap.Up(b.cards, f.at); end != f.at {
		b.Fatalf("Up says %d, the card is at %d", end, f.at)
	}
}

func (b *both) shuffle() {
	for _, f := range b.twin {
		f.rank = b.rank()
	}
	heap.Init(b.cards)
}

func (b *both) check() {
	if len(b.cards) != len(b.twin) {
		b.Fatalf("%d cards, want %d", len(b.cards), len(b.twin))
	}
	if len(b.cards) > 0 && b.cards[0].face != b.twin.first() {
		b.Fatalf("first is %+v, want %+v", *b.cards[0].face, *b.twin.first())
	}
	for i := range b.cards {
		if c := &b.cards[i]; c.at != i {
			b.Fatalf("card %d is at %d and believes to be at %d", c.id, i, c.at)
		}
		if i > 0 && b.cards[i].Before(&b.cards[(i-1)/2]) {
			b.Fatalf("the card at %d comes before the one above it", i)
		}
	}
}

func TestHeapIsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &both{T: t}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			steps := []func(){b.push}
			if len(b.twin) > 0 {
				steps = []func(){b.push, b.push, b.push, b.pop, b.remove, b.fix, b.lower, b.raise, b.shuffle}
			}
			rapid.SampledFrom(steps).Draw(t, "step")()
			b.check()
		}
		for len(b.twin) > 0 {
			b.pop()
			b.check()
		}
	})
}

func TestNumbersComeInOrder(t *testing.T) {
	for _, given := range [][]number{{}, {1}, {2, 1}, {1, 2, 3}, {3, 2, 1}, {5, 1, 4, 1, 3, 1, 2}, {7, 7, 7, 7}} {
		want := slices.Sorted(slices.Values(given))
		h := slices.Clone(given)
		heap.Init(h)
		var got []number
		for len(h) > 0 {
			var n number
			n, h = heap.Pop(h)
			got = append(got, n)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v comes as %v", given, got)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	h := make([]card, 0, 100)
	for i := range 100 {
		h = heap.Push(h, card{&face{rank: i * 37 % 100, id: i}})
	}
	if n := testing.AllocsPerRun(100, func() {
		var c card
		c, h = heap.Pop(h)
		c.rank += 50
		h = heap.Push(h, c)
		h[50].rank++
		heap.Fix(h, 50)
		heap.Init(h)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
