package book

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/heap"
)

// PodQueue has the waiting pods of one class in one application, in the order in which they are released. Most pods come in that order
// and leave in it, so most are in a sorted run; those that come between two others go to a heap. A pod that leaves out of turn is taken
// out when it comes to the front, or when more than half of the entries are of pods that left. So no pod needs to know its index, and a
// release touches the memory of no other pod.
//
// Invariant: the first entry of the run and the first of the heap are valid.
type PodQueue[P Pod[P]] struct {
	head  Key // of the first pod
	valid int
	run   []queued[P] // sorted, from first on
	first int
	heap  []queued[P]
}

// Pod is a pointer to a pod, in which an Item is embedded.
type Pod[P any] interface {
	item() *Item
	// Precedes decides between two pods with equal keys.
	Precedes(other P) bool
}

// Item is what the queue keeps in the pod. A pod is in one queue at most.
type Item struct {
	version uint32 // grows whenever the pod enters or leaves a queue
	queued  bool
}

func (i *Item) item() *Item { return i }

// InQueue reports whether the pod is in a queue.
func (i *Item) InQueue() bool { return i.queued }

func (i *Item) move(in bool) { i.version, i.queued = i.version+1, in }

// Key is what a queue compares first: it is kept beside the pods, because those are spread over the memory.
type Key struct {
	urgency int64
	created int64
}

// KeyOf puts drivers first, then pods of higher priority, then older ones.
func KeyOf(driver bool, priority int32, created int64) Key {
	k := Key{urgency: int64(math.MaxInt32) - int64(priority), created: created}
	if !driver {
		k.urgency += 1 << 32
	}
	return k
}

// Compare is negative if k comes first.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.urgency, o.urgency), cmp.Compare(k.created, o.created))
}

func (k Key) before(o Key) bool {
	if k.urgency != o.urgency {
		return k.urgency < o.urgency
	}
	return k.created < o.created
}

type queued[P Pod[P]] struct {
	pod P
	Key
	version uint32 // the entry is valid while this is the pod's
}

func (e *queued[P]) isValid() bool { return e.version == e.pod.item().version }

// Moved: an entry needs no index.
func (e *queued[P]) Moved(int) {}

// Before reports whether e comes before o.
func (e *queued[P]) Before(o *queued[P]) bool {
	if e.Key != o.Key {
		return e.Key.before(o.Key)
	}
	return e.pod.Precedes(o.pod)
}

// Len is how many pods are in the queue.
func (q *PodQueue[P]) Len() int { return q.valid }

// Next returns the first pod. There is one.
func (q *PodQueue[P]) Next() P { return q.next().pod }

// Before reports whether the first pod of q comes before the first of o. Both have one.
func (q *PodQueue[P]) Before(o *PodQueue[P]) bool {
	if q.head != o.head {
		return q.head.before(o.head)
	}
	return q.Next().Precedes(o.Next())
}

// Push puts a pod into the queue.
func (q *PodQueue[P]) Push(pod P, k Key) {
	item := pod.item()
	item.move(true)
	e := queued[P]{pod: pod, Key: k, version: item.version}
	q.valid++
	switch last := len(q.run) - 1; {
	case q.first > last || q.run[last].Before(&e):
		q.run = append(q.run, e)
	case q.first > 0 && e.Before(&q.run[q.first]): // back again
		q.first--
		q.run[q.first] = e
	default:
		q.heap = heap.Push(q.heap, e)
	}
	q.settle()
}

// Remove takes a pod out of the queue, which has it.
func (q *PodQueue[P]) Remove(pod P) {
	pod.item().move(false)
	q.valid--
	q.settle()
}

func (q *PodQueue[P]) next() *queued[P] {
	if q.first == len(q.run) || len(q.heap) > 0 && q.heap[0].Before(&q.run[q.first]) {
		return &q.heap[0]
	}
	return &q.run[q.first]
}

// entries counts the valid ones and those that are not any more.
func (q *PodQueue[P]) entries() int { return len(q.run) - q.first + len(q.heap) }

// settle restores the invariant. Where all entries are valid it looks at no pod.
func (q *PodQueue[P]) settle() {
	for q.entries() > q.valid && q.first < len(q.run) && !q.run[q.first].isValid() {
		q.run[q.first] = queued[P]{}
		q.first++
	}
	for q.entries() > q.valid && len(q.heap) > 0 && !q.heap[0].isValid() {
		q.heap = heap.Remove(q.heap, 0)
	}
	if q.entries() > 2*q.valid+8 {
		q.compact()
	}
	if q.first > 64 && q.first > len(q.run)/2 { // the room in front is for pods that come back: a window of them
		q.run, q.first = slices.Delete(q.run, 0, q.first-64), 64
	}
	if q.valid > 0 {
		q.head = q.next().Key
	}
}

func (q *PodQueue[P]) compact() {
	gone := func(e queued[P]) bool { return !e.isValid() }
	q.run, q.first = slices.DeleteFunc(slices.Delete(q.run, 0, q.first), gone), 0
	q.heap = slices.DeleteFunc(q.heap, gone)
	heap.Init(q.heap)
}

// FreeList keeps the memory of queues that became empty for those that begin: in steady state nothing is allocated.
type FreeList[P Pod[P]] []PodQueue[P]

// Get returns an empty queue.
func (f *FreeList[P]) Get() PodQueue[P] {
	n := len(*f)
	if n == 0 {
		return PodQueue[P]{}
	}
	q := (*f)[n-1]
	*f = (*f)[:n-1]
	clear(q.run)
	clear(q.heap)
	return PodQueue[P]{run: q.run[:0], heap: q.heap[:0]}
}

// Put takes an empty queue that is not used any more.
func (f *FreeList[P]) Put(q PodQueue[P]) { *f = append(*f, q) }
