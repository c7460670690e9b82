package ledger

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// tellAfter is how long a pod waits behind a limit before it is told so: most are released before.
const tellAfter int64 = 2e9

// tellGroupAfter is the same for a pod whose group is incomplete: others of the group mostly come at once, and where they do not, somebody looks for the
// reason.
const tellGroupAfter int64 = 1e9

// ConditionUpdate is what a pod's Queued condition should say; a zero Reason clears it.
type ConditionUpdate struct {
	UID       UID
	Namespace string
	Name      string
	Reason    reason.Reason
	// PodEnded: the pod has ended and still says that something blocks it. Nothing else is known of it any more.
	PodEnded bool
}

// conditions owns which pods' Queued condition may have to change, and what each pod shows: conditionDue, limitShown, lastCondition and inherited of its
// record. It hears of every change of what blocks a pod (due, blockChanged), of limits that a survey found (limit), of what the pod's object shows
// (observed), of pods that have ended (ended), and of writes that failed (retry). It says what to write (take), each sentence once, and which pod is surveyed next.
type conditions struct {
	pending  []*record // in the order in which they became due
	surveyed int       // where Survey goes on
	// left are pods that have ended and still show a sentence.
	left []ConditionUpdate
}

// mostLeft bounds the ended pods of which that is remembered.
const mostLeft = 10_000

// ended notes that a pod has ended: it was bound and is done before its condition was written, or others ended it.
func (c *conditions) ended(r *record) {
	if r.lastCondition != "" && len(c.left) < mostLeft {
		c.left = append(c.left, ConditionUpdate{UID: r.UID, Namespace: r.Namespace, Name: r.Name, PodEnded: true})
	}
}

// takeLeft returns at most n of the pods that have ended.
func (c *conditions) takeLeft(n int) (updates []ConditionUpdate) {
	n = min(n, len(c.left))
	updates, c.left = c.left[:n:n], c.left[n:]
	return updates
}

// due notes that the condition of a pod may have to change.
func (c *conditions) due(r *record) {
	if !r.conditionDue {
		r.conditionDue = true
		c.pending = append(c.pending, r)
	}
}

// limit notes the limit that a pod waits behind; nil: none stops it any more. The pod keeps showing it, whatever its numbers become, until the pod is
// released or another limit stops it.
func (c *conditions) limit(r *record, why *reason.Reason) {
	r.limitShown = why
	c.due(r)
}

// blockChanged follows a change of state or of what blocks a pod. The limit that the condition names counts while the pod is in a pod queue.
// quiet: of a trial, which is taken back.
func (c *conditions) blockChanged(r *record, quiet bool) {
	if r.limitShown != nil && r.limitShown.Code != r.blockedBy.Code && (r.state != Waiting || r.blocked()) {
		r.limitShown = nil
	}
	if !quiet && (r.lastCondition != "" || r.blockedBy.Code != "") {
		c.due(r)
	}
}

// retry notes that what the condition should say could not be written.
func (c *conditions) retry(r *record) {
	r.lastCondition = "\x00" // equals no sentence
	c.due(r)
}

// next is the pod whose turn it is to be surveyed.
func (c *conditions) next(unbound []*record) *record {
	c.surveyed = (c.surveyed + 1) % len(unbound)
	return unbound[c.surveyed]
}

// take returns at most n updates, those first that became due first. should says what the condition of a pod should say; false: it is left as it is.
func (c *conditions) take(n int, should func(*record) (reason.Reason, bool)) (updates []ConditionUpdate) {
	looked := 0
	for ; looked < len(c.pending) && len(updates) < n; looked++ {
		r := c.pending[looked]
		r.conditionDue = false
		why, known := should(r)
		if !known {
			continue
		}
		if u, due := c.update(r, why); due {
			updates = append(updates, u)
		}
	}
	c.pending = slices.Delete(c.pending, 0, looked)
	return updates
}

// update counts a sentence as written; false: the condition says it already.
func (c *conditions) update(r *record, why reason.Reason) (ConditionUpdate, bool) {
	text := ""
	if why.Code != "" {
		text = why.Text()
	}
	if text == r.lastCondition || r.inherited && sentenceOf(why, r.lastCondition) {
		return ConditionUpdate{}, false
	}
	r.lastCondition, r.inherited = text, false
	return ConditionUpdate{UID: r.UID, Namespace: r.Namespace, Name: r.Name, Reason: why}, true
}

// observed takes in the sentence that a pod's object shows. This process wrote it before, or another one that led.
func (c *conditions) observed(r *record, shown string) {
	if r.Shown == shown {
		return
	}
	r.inherited = shown != "" && (r.inherited || r.lastCondition != shown)
	r.Shown, r.lastCondition = shown, shown
	c.due(r)
}

// TakeConditionUpdates returns at most n pods whose condition no longer says what blocks them, and counts them as written. A caller that fails to write
// one gives it back with RetryConditionUpdate.
func (l *Ledger) TakeConditionUpdates(n int) []ConditionUpdate {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return nil
	}
	l.settleAll() // a new tree may change what blocks pods
	l.updateSlotReasons()
	updates := l.conditions.take(n, func(r *record) (reason.Reason, bool) {
		if l.pods[r.UID] != r || r.state == Gone || r.answerIsDue() {
			return reason.Reason{}, false
		}
		return l.conditions.toShow(r, &l.contents), true
	})
	return append(updates, l.conditions.takeLeft(n-len(updates))...)
}

// EndPod is ForgetPod of a pod that is known to have ended and to exist: it must not go on to say that it waits. Of a pod that had a node ForgetPod assumes
// that.
func (l *Ledger) EndPod(uid UID, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	if r := l.pods[uid]; r != nil && l.leading {
		l.conditions.ended(r)
	}
	l.changed(l.nodes.forgetForeign(uid))
	l.forget(uid)
	l.drain()
}

// RetryConditionUpdate notes that a pod's condition could not be written: it is returned again.
func (l *Ledger) RetryConditionUpdate(uid UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		l.conditions.retry(r)
	}
}

// Survey looks at n waiting pods, first at those that it has not looked at for longest. If a limit stops a pod, its condition is to say
// so. Without Survey, each change of usage would have to touch every pod that waits behind a limit. A pod keeps its sentence until it
// is released or another limit stops it, whatever numbers change meanwhile.
func (l *Ledger) Survey(n int, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return
	}
	l.settleAll()
	for range min(n, len(l.requests.unbound)) {
		r := l.conditions.next(l.requests.unbound)
		if r.state == Waiting && now-r.since >= r.tellAfter() && r.toldLater() {
			if why := l.applications.blockNow(r); !sameLimit(why, r.shownLimit()) {
				why = l.why(r)
				l.conditions.limit(r, &why)
			}
			continue
		}
		if r.state != Waiting || r.blocked() || r.leaf == nil || now-r.since < tellAfter {
			continue
		}
		if why, limited := l.limitOn(r.app, r.class); !limited {
			l.surveyPreference(r)
		} else if !sameLimit(why, r.shownLimit()) && !saysEnough(r.shownLimit(), why, now) {
			l.conditions.limit(r, &why)
		}
	}
}

// tellAfter is how long a pod waits behind its block before it is told so.
func (r *record) tellAfter() int64 {
	if r.blockedBy.Code == reason.GangIncomplete {
		return tellGroupAfter
	}
	return tellAfter
}

// toldLater reports whether what blocks the pod mostly ends soon: other pods of its group, its driver or its queue are being created,
// or the API server is being asked whether its user may submit.
func (r *record) toldLater() bool {
	switch r.blockedBy.Code {
	case reason.GangIncomplete, reason.WaitingForDriver, reason.SubmitUnchecked, reason.CreatingQueue:
		return true
	}
	return false
}

// answerIsDue reports whether the API server is being asked if the pod's user may submit. Until that is known, or has taken long, the pod
// goes on to show what it shows: that may come from a process that knew the answer.
func (r *record) answerIsDue() bool {
	return r.blockedBy.Code == reason.SubmitUnchecked && r.limitShown == nil
}

// toShow is what the pod's condition should say: what blocks the pod, else what it says without effect. A sentence that another process wrote may be
// about a limit that this one has not looked at.
func (c *conditions) toShow(r *record, l *contents) reason.Reason {
	if shownAtOnce(r.blockedBy) {
		return r.blockedBy
	}
	if r.inherited && r.limitShown == nil && r.state == Waiting && !r.blocked() && r.leaf != nil {
		if why, limited := l.limitOn(r.app, r.class); limited {
			r.limitShown = &why
		}
	}
	if r.limitShown == nil && r.UnreadPriority != "" {
		return reason.Reason{Code: reason.ApplicationPriorityInvalid, Details: reason.Invalid{Why: r.UnreadPriority}}
	}
	return r.shownLimit()
}

// shownAtOnce: the user must act on it, or it is a limit on applications. A pod that waits for its turn or for a back-off needs no condition.
func shownAtOnce(why reason.Reason) bool {
	switch why.Code {
	case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.QueueNotReady, reason.PlacementRejected, reason.QueueDeleted,
		reason.QueueStopped, reason.SubmitForbidden, reason.MaxPodResources, reason.MaxRunningApplications, reason.UserMaxRunningApplications,
		reason.MaxApplications, reason.UserMaxApplications, reason.PodGroupNotFound, reason.QueueReserved, reason.ReservationNotFound,
		reason.ReservationRejected, reason.ReservationNotStarted, reason.ReservationEnded, reason.ReservationCancelled:
		return true
	}
	return false
}

// sentenceOf reports whether a text is the sentence of this limit, at some time: everything before the first number that moves is the same
// (see sameLimit). Without this, the next leader would write all such sentences again, each with an event.
func sentenceOf(limit reason.Reason, text string) bool {
	other := withMoving(limit, -1)
	if start, ok := other.Details.(reason.Start); ok {
		start.Next = "-"
		other.Details = start
	}
	is, moved := limit.Text(), other.Text()
	n := 0
	for n < min(len(is), len(moved)) && is[n] == moved[n] {
		n++
	}
	return n > 0 && strings.HasPrefix(text, is[:n])
}
