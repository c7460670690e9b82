package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Failure says why an attempt failed.
type Failure uint8

const (
	// Refused by a rule of ours, the pod waits for its turn again.
	Refused Failure = iota
	// NoFit says that filters, or somebody else's Reserve or Permit, refused every node. Pods of the class wait behind this one.
	NoFit
	// Errored says that something broke. The pod backs off; before Reserve, its class does too.
	Errored
)

// Fail refunds a pod whose attempt failed. It returns the pods that must be taken out of kube-scheduler's queue, besides what the
// failure handler itself does: those that were released and not yet tried, and the pod itself where kube-scheduler would keep it
// although it goes back to Waiting.
func (l *Ledger) Fail(uid UID, f Failure, now int64) (withdraw []UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fail(uid, f, now)
}

func (l *consequences) fail(uid UID, f Failure, now int64) (withdraw []UID) {
	l.now = now
	r := l.pods[uid]
	switch {
	case r != nil && r.state == Parked:
		l.window.wake(r) // kube-scheduler does not keep it any more: nothing else would wake its class
		return nil
	case r == nil || !r.state.inWindow():
		return []UID{uid}
	}
	r.requestRound(now)
	if !r.nominatedElsewhere() {
		l.failNomination(r, now)
	}
	defer l.keepMadeRoom(r)
	defer l.drain()
	tried, c := r.state == Released, r.class
	r.doubtful = f == Errored && !tried && r.attempts == 0 && !r.group.startsTogether()
	switch {
	case r.group.startsTogether():
		return l.failTogether(r, now)
	case f == Refused:
		l.wait(r, now)
		return []UID{uid}
	case f == NoFit && !c.Parked() && l.mayPark(r):
		if !tried {
			r.pause(now)
		}
		l.step(r, now, r.leaf, Parked, reason.Reason{})
		r.park()
		l.largePods.lacks(c, now)
		if tried && r.missed() {
			l.window.wake(r)
		}
		return l.recall(now)
	case f == NoFit:
		// Another pod is or will be the probe. The pause lets kube-scheduler finish with this one before it can be chosen again.
		r.retryAt = now + backoff.First
		l.wait(r, now)
		return []UID{uid}
	}
	if !tried {
		l.groupRelease.failed(r)
	}
	r.pause(now)
	l.wait(r, now)
	withdraw = []UID{uid}
	if tried {
		c.Error(now)
		withdraw = append(withdraw, l.recall(now)...)
	}
	return withdraw
}

// mayPark reports whether the pod may be the probe of its class. A pod with a scheduling gate may not: kube-scheduler would not ask about it. Neither
// may a pod that asks for another queue by now, or is too large by now: it would count in the wrong place. Pods of a group that starts together go back
// with their group.
func (l *contents) mayPark(r *record) bool {
	_, large := r.tooLarge(r.leaf)
	return r.Gate == "" && !large && !r.group.startsTogether() && l.requests.byQueue[r.asked].leaf == r.leaf
}

// recall returns every released pod to Waiting. kube-scheduler tries pods in the order of their release, so all of these were released after the pod
// whose attempt failed, and were chosen while its charge counted. Now that the charge is gone, they may not be next in order. Without recall, a queue
// that begins with classes that fit nowhere would lose its turn for a whole window of other queues' pods with each of those classes.
func (l *consequences) recall(now int64) []UID {
	rs := l.window.inOrderOfRelease()
	uids := make([]UID, 0, len(rs))
	for _, r := range rs {
		if r.group.startsTogether() {
			continue // it was released for what the others of its group are, not for this pod
		}
		uids = append(uids, r.UID)
		l.wait(r, now)
	}
	return uids
}
