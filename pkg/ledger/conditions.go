package ledger

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// ConditionUpdate is what a pod's Queued condition should say; a zero Reason clears it.
type ConditionUpdate struct {
	UID       UID
	Namespace string
	Name      string
	Reason    reason.Reason
}

// conditions owns which pods' Queued condition may have to change. It hears of every change of what blocks a pod (due), of limits that a survey
// found (limit), and of what the pod's object shows (observed). It says what to write, each sentence once.
type conditions struct {
	pending []*record // in the order in which they became due
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
	l.explain()
	var updates []ConditionUpdate
	c, looked := &l.conditions, 0
	for ; looked < len(c.pending) && len(updates) < n; looked++ {
		r := c.pending[looked]
		r.conditionDue = false
		if l.pods[r.UID] != r || r.state == Gone {
			continue
		}
		why, text := l.toShow(r), ""
		if why.Code != "" {
			text = why.Text()
		}
		if text == r.lastCondition || r.inherited && sentenceOf(why, r.lastCondition) {
			continue
		}
		r.lastCondition, r.inherited = text, false
		updates = append(updates, ConditionUpdate{UID: r.UID, Namespace: r.Namespace, Name: r.Name, Reason: why})
	}
	c.pending = slices.Delete(c.pending, 0, looked)
	return updates
}

// RetryConditionUpdate notes that a pod's condition could not be written: it is returned again.
func (l *Ledger) RetryConditionUpdate(uid UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil {
		r.lastCondition = "\x00" // equals no sentence
		l.conditions.due(r)
	}
}

// toShow is what the pod's condition should say. A sentence that another process wrote may be about a limit that this one has not looked at.
func (l *Ledger) toShow(r *record) reason.Reason {
	if shownAtOnce(r.blockedBy) {
		return r.blockedBy
	}
	if r.inherited && r.limitShown == nil && r.state == Waiting && !r.blocked() && r.leaf != nil {
		if why, limited := l.limitOn(r.app, r.class); limited {
			r.limitShown = &why
		}
	}
	return r.shownLimit()
}

// shownAtOnce: the user must act on it, or it is a limit on applications. A pod that waits for its turn or for a back-off needs no condition.
func shownAtOnce(why reason.Reason) bool {
	switch why.Code {
	case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.QueueNotReady, reason.QueueDeleted,
		reason.MaxPodResources, reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.PodGroupNotFound:
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
