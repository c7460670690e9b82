package ledger

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// requests owns which pods ask for which queue. It hears of pods (add, remove). For each queue that pods ask for, it says what the tree
// last answered, and which of these pods is the oldest.
type requests struct {
	byQueue map[queue.Path]*queueRequest
	// orphans are bound pods whose queue is not in the tree yet.
	orphans map[UID]*record
	// boundByOthers are the bound pods that this scheduler did not place: no binding names their queue. They shape no tree, so every new tree may
	// move them.
	boundByOthers map[UID]*record
	// unbound are all pods that ask for a queue.
	unbound roster
}

// queueRequest gathers the unbound pods that ask for one queue, with what the tree last answered.
type queueRequest struct {
	pods      []askEntry // a heap: the oldest first
	leaf      *queueAccount
	blockedBy reason.Reason
	maxPod    resource.List // of the leaf
	eldest    int64         // see queueTree.eldestChild
}

type askEntry struct{ *record }

func (e *askEntry) Before(o *askEntry) bool { return e.record.older(o.record) }
func (e *askEntry) Moved(to int)            { e.inRequest = to }

// answer takes in what the tree says to all pods that ask for the queue, and reports whether that is something new.
func (q *queueRequest) answer(leaf *queueAccount, blockedBy reason.Reason) (changed bool) {
	var maxPod resource.List
	if leaf != nil {
		maxPod = leaf.maxPod
	}
	changed = leaf != q.leaf || blockedBy != q.blockedBy || !queue.SameLimits(maxPod, q.maxPod)
	q.leaf, q.blockedBy, q.maxPod = leaf, blockedBy, maxPod
	return changed
}

// add enters a pod under the queue that it asks for. first: no other pod does, so the tree is to be asked.
func (q *requests) add(r *record) (of *queueRequest, first bool) {
	of = q.byQueue[r.asked]
	if first = of == nil; first {
		of = &queueRequest{}
		q.byQueue[r.asked] = of
	}
	of.pods = heap.Push(of.pods, askEntry{r})
	q.unbound.add(r, ofUnbound)
	return of, first
}

// remove takes a pod out; false: it was not in.
func (q *requests) remove(r *record) bool {
	if r.inRequest == notIn {
		return false
	}
	of := q.byQueue[r.asked]
	of.pods = heap.Remove(of.pods, r.inRequest)
	if len(of.pods) == 0 {
		delete(q.byQueue, r.asked)
	}
	q.unbound.remove(r, ofUnbound)
	return true
}

// addOrphan notes a bound pod whose queue is not in the tree yet.
func (q *requests) addOrphan(r *record) { q.orphans[r.UID] = r }

// removeOrphan: the pod is charged.
func (q *requests) removeOrphan(uid UID) { delete(q.orphans, uid) }

// forgetBound: the pod is gone.
func (q *requests) forgetBound(uid UID) {
	delete(q.orphans, uid)
	delete(q.boundByOthers, uid)
}

// isBoundByOthers reports whether the pod was bound without a queue when it was last looked at.
func (q *requests) isBoundByOthers(r *record) bool { return q.boundByOthers[r.UID] != nil }

// noteBoundByOthers notes that a bound pod names no queue of its binding, or that it does.
func (q *requests) noteBoundByOthers(r *record) {
	if r.Placed == "" {
		q.boundByOthers[r.UID] = r
	} else {
		delete(q.boundByOthers, r.UID)
	}
}

// askedBefore reports whether a pod that waits for the queue, and may be submitted there, was created before the given time.
func (q *requests) askedBefore(p queue.Path, since int64) bool {
	of := q.byQueue[p]
	return of != nil && of.pods[0].Created < since && q.oldestWaiting(p) < since
}

// claimsQueue reports whether the pod may keep the queue that it asks for a leaf, so that Queues declared below it stay out of the tree. A
// charged pod does so for the queue to which it is charged, and a pod whose user was refused for none.
func (r *record) claimsQueue() bool { return !r.state.charged() && !r.refused() }

// oldestWaiting is the creation of the oldest pod that asks for the queue, may be submitted there and is not charged; math.MaxInt64: none does. A
// charged pod that asks for another queue by now stays where it is charged, unless its attempt fails.
func (q *requests) oldestWaiting(p queue.Path) int64 {
	oldest := int64(math.MaxInt64)
	of := q.byQueue[p]
	if of == nil {
		return oldest
	}
	if first := of.pods[0]; first.claimsQueue() { // as mostly
		return first.Created
	}
	for _, e := range of.pods {
		if e.claimsQueue() {
			oldest = min(oldest, e.Created)
		}
	}
	return oldest
}
