package book

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pod is a pod as far as a queue needs one.
type pod struct {
	Item
	driver   bool
	priority int32
	created  int64
	name     int
}

func (p *pod) Precedes(o *pod) bool { return p.name < o.name }

func (p *pod) key() Key { return KeyOf(p.driver, p.priority, p.created) }

// inOrder is the rule in its own words.
func inOrder(a, b *pod) int {
	switch {
	case a.driver != b.driver && a.driver:
		return -1
	case a.driver != b.driver:
		return 1
	}
	return cmp.Or(-cmp.Compare(a.priority, b.priority), cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
}

func TestKeysPutDriversFirstThenPriorityThenAge(t *testing.T) {
	const lowest, highest = -1 << 31, 1<<31 - 1
	keys := []Key{
		KeyOf(true, highest, 7), KeyOf(true, 0, 1), KeyOf(true, 0, 2), KeyOf(true, lowest, 0),
		KeyOf(false, highest, 0), KeyOf(false, highest, 9), KeyOf(false, 1, 5), KeyOf(false, -1, 3), KeyOf(false, lowest, 4),
	}
	for i := range keys {
		for j := range keys {
			if got, want := keys[i].Compare(keys[j]), cmp.Compare(i, j); got != want {
				t.Errorf("comparing keys %d and %d gives %d, want %d", i, j, got, want)
			}
		}
	}
}

// A queue begins with the pod with which a sorted list of the same pods begins, whichever pods join and leave.
func TestPodQueueEqualsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q PodQueue[*pod]
		var free FreeList[*pod]
		var in []*pod
		all := make([]*pod, rapid.IntRange(1, 200).Draw(t, "pods"))
		arriveInOrder := rapid.Bool().Draw(t, "created in order")
		for i := range all {
			all[i] = &pod{name: i, created: int64(i)}
			if !arriveInOrder {
				all[i].created = rapid.Int64Range(0, 50).Draw(t, "created")
				all[i].priority = rapid.Int32Range(0, 1).Draw(t, "priority")
				all[i].driver = rapid.Bool().Draw(t, "driver")
			}
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			p := all[rapid.IntRange(0, len(all)-1).Draw(t, "pod")]
			if len(in) > 0 && rapid.Bool().Draw(t, "first") {
				p = in[0]
			}
			if p.InQueue() {
				q.Remove(p)
				in = slices.DeleteFunc(in, func(o *pod) bool { return o == p })
			} else {
				q.Push(p, p.key())
				in = append(in, p)
				slices.SortFunc(in, inOrder)
			}
			if q.Len() != len(in) {
				t.Fatalf("has %d pods, want %d", q.Len(), len(in))
			}
			if len(in) == 0 {
				free.Put(q)
				q = free.Get()
				continue
			}
			if got := q.Next(); got != in[0] {
				t.Fatalf("first is %d, want %d", got.name, in[0].name)
			}
			if fault := q.Check(); fault != "" {
				t.Fatal(fault)
			}
		}
	})
}

// Of two queues, the one whose first pod comes first is before the other, also where keys are equal.
func TestWhichQueueIsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b PodQueue[*pod]
		draw := func(name int) *pod {
			return &pod{name: name, created: rapid.Int64Range(0, 1).Draw(t, "created"), driver: rapid.Bool().Draw(t, "driver")}
		}
		ofA, ofB := []*pod{draw(1), draw(4)}, []*pod{draw(2), draw(3)}
		for i := range ofA {
			a.Push(ofA[i], ofA[i].key())
			b.Push(ofB[i], ofB[i].key())
		}
		if got, want := a.Before(&b), inOrder(slices.MinFunc(ofA, inOrder), slices.MinFunc(ofB, inOrder)) < 0; got != want {
			t.Fatalf("before: %v, want %v", got, want)
		}
	})
}

// Pods that leave out of turn are passed over, and do not stay in memory.
func TestPodQueueForgetsPodsThatLeft(t *testing.T) {
	var q PodQueue[*pod]
	all := make([]*pod, 100)
	for i := range all {
		all[i] = &pod{name: i, created: int64(100 - i)}
		q.Push(all[i], all[i].key())
	}
	at := func(i int) *pod { return all[(i*7+99)%100] } // 7 and 100 have no common divisor: every pod once, the first one first
	for i := range 95 {
		q.Remove(at(i))
	}
	if q.Len() != 5 || q.entries() > 18 {
		t.Fatalf("%d entries for %d pods", q.entries(), q.Len())
	}
	left := []*pod{at(95), at(96), at(97), at(98), at(99)}
	slices.SortFunc(left, inOrder)
	for _, want := range left {
		if got := q.Next(); got != want {
			t.Fatalf("next is %d, want %d", got.name, want.name)
		}
		q.Remove(want)
	}
}
