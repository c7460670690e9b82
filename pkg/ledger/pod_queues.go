package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// podQueue has the waiting pods of one class in one application, of those that prefer the same nodes. It exists while it has a pod.
type podQueue struct {
	class      *class
	preference *preference
	size       *userSize // nil: the leaf does not limit its users
	inSize     int       // place among those of the size
	book.PodQueue[*record]
}

// key puts the pod in the order inside its application.
func (r *record) key() book.Key {
	return book.KeyOf(r.Role == application.Driver, r.Priority, r.Created)
}

// Precedes decides between pods with equal keys.
func (r *record) Precedes(o *record) bool { return r.UID < o.UID }

// compareInApp puts waiting pods of one application, of whatever classes, in their order.
func compareInApp(a, b *record) int {
	return cmp.Or(a.key().Compare(b.key()), cmp.Compare(a.UID, b.UID))
}

// enqueue puts a waiting pod into its pod queue. The caller refreshes the application.
func (b *orderBooks) enqueue(r *record) {
	a, c := r.app, r.class
	q := a.podQueueOf(c, r.preference)
	if q == nil {
		a.podQueues = append(a.podQueues, podQueue{class: c, preference: r.preference, PodQueue: b.free.Get()})
		a.lanes |= c.lane.Set()
		q = &a.podQueues[len(a.podQueues)-1]
		if a.user != nil {
			a.parent.users.queued(a, q)
		}
	}
	q.Push(r, r.key())
	b.classes.enqueued(c)
}

// dequeue takes a pod out of its pod queue. The caller refreshes the application.
func (b *orderBooks) dequeue(r *record) {
	a, c := r.app, r.class
	q := a.podQueueOf(c, r.preference)
	if q.Remove(r); q.Len() == 0 {
		b.free.Put(q.PodQueue)
		if a.user != nil {
			a.parent.users.unqueued(q)
		}
		a.podQueues = slices.DeleteFunc(a.podQueues, func(o podQueue) bool { return o.class == c && o.preference == r.preference })
		a.lanes = 0
		for i := range a.podQueues {
			a.lanes |= a.podQueues[i].class.lane.Set()
		}
	}
	b.classes.dequeued(c)
}

// podQueueOf returns the application's pod queue of the class and preference, nil if there is none.
func (a *appAccount) podQueueOf(c *class, p *preference) *podQueue {
	for i := range a.podQueues {
		if a.podQueues[i].class == c && a.podQueues[i].preference == p {
			return &a.podQueues[i]
		}
	}
	return nil
}
