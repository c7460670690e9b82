package ledger

// element is what a heap holds: it knows its order and remembers its place, so that removal and repair cost O(log n). The
// standard container/heap was tried first; its boxed interface values allocate on every push.
type element[T any] interface {
	before(other T) bool
	place() *int
}

// heap is a binary min-heap by before. An element that is not in the heap has place -1 (see out).
type heap[T element[T]] []T

const out = -1

func (h *heap[T]) push(x T) {
	*h = append(*h, x)
	*x.place() = len(*h) - 1
	h.up(len(*h) - 1)
}

func (h *heap[T]) remove(x T) {
	i, last := *x.place(), len(*h)-1
	h.swap(i, last)
	var none T
	(*h)[last] = none
	*h = (*h)[:last]
	*x.place() = out
	if i < last {
		h.repair(i)
	}
}

// repair restores the order after the element at i changed its rank.
func (h *heap[T]) repair(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !(*h)[i].before((*h)[p]) {
			return
		}
		h.swap(i, p)
		i = p
	}
}

func (h *heap[T]) down(i int) (moved bool) {
	for {
		c := 2*i + 1
		if c >= len(*h) {
			return moved
		}
		if c+1 < len(*h) && (*h)[c+1].before((*h)[c]) {
			c++
		}
		if !(*h)[c].before((*h)[i]) {
			return moved
		}
		h.swap(i, c)
		i, moved = c, true
	}
}

func (h *heap[T]) swap(i, j int) {
	s := *h
	s[i], s[j] = s[j], s[i]
	*s[i].place(), *s[j].place() = i, j
}
