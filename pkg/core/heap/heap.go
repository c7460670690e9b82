// Package heap keeps the first element of a slice of values at index 0: a binary heap like the standard
// container/heap, but one that allocates nothing except the slice.
//
// Input is a slice, which belongs to the caller, and the index of what changed. Output is the slice in heap
// order. If neither of two elements comes before the other, either may come first: an order that makes
// decisions must be total.
package heap

// Out is the index of an element that is in no heap.
const Out = -1

// Element is what a heap of E needs of its elements. The methods have pointer receivers so that comparing
// copies nothing.
type Element[E any] interface {
	*E
	// Before reports whether this element comes before the other. While both are in a heap, the answer may
	// change only if Fix or Init is called right after.
	Before(other *E) bool
	// Moved tells the element its new index in the slice; Out means it was removed. Elements that need no
	// index ignore it.
	Moved(to int)
}

// Init puts any slice into heap order and tells each element its index.
func Init[S ~[]E, E any, P Element[E]](s S) {
	for i := len(s) - 1; i >= 0; i-- {
		Down[S, E, P](s, i)
	}
}

// Push adds an element and returns the slice, as append does.
func Push[S ~[]E, E any, P Element[E]](s S, e E) S {
	s = append(s, e)
	Up[S, E, P](s, len(s)-1)
	return s
}

// Pop removes the first element. The slice must not be empty.
func Pop[S ~[]E, E any, P Element[E]](s S) (E, S) {
	first := s[0]
	return first, Remove[S, E, P](s, 0)
}

// Remove removes the element at i.
func Remove[S ~[]E, E any, P Element[E]](s S, i int) S {
	P(&s[i]).Moved(Out)
	last := len(s) - 1
	moved := s[last]
	var none E
	s[last] = none // so that the garbage collector can free what was removed
	s = s[:last]
	if i < last {
		s[i] = moved
		Fix[S, E, P](s, i)
	}
	return s
}

// Fix puts the element at i in order after its rank changed, and returns its new index.
func Fix[S ~[]E, E any, P Element[E]](s S, i int) int {
	if end := Down[S, E, P](s, i); end != i {
		return end
	}
	return Up[S, E, P](s, i)
}

// Up puts the element at i in order if it may have to move up, and returns its new index.
func Up[S ~[]E, E any, P Element[E]](s S, i int) int { return rise[S, E, P](s, i, 0) }

// Down puts the element at i in order if it may have to move down, and returns its new index. The element
// sinks to the bottom and rises from there: it usually belongs near the bottom, and this way costs one
// comparison per level instead of two.
func Down[S ~[]E, E any, P Element[E]](s S, i int) int {
	top, e := i, s[i]
	for c := 2*i + 1; c < len(s); c = 2*i + 1 {
		if c+1 < len(s) && P(&s[c+1]).Before(&s[c]) {
			c++
		}
		s[i] = s[c]
		P(&s[i]).Moved(i)
		i = c
	}
	s[i] = e
	return rise[S, E, P](s, i, top)
}

// rise moves the element at i up, at most to top. It compares elements in place, because a pointer to a copy
// would be an allocation.
func rise[S ~[]E, E any, P Element[E]](s S, i, top int) int {
	for i > top {
		parent := (i - 1) / 2
		if !P(&s[i]).Before(&s[parent]) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		P(&s[i]).Moved(i)
		i = parent
	}
	P(&s[i]).Moved(i)
	return i
}
