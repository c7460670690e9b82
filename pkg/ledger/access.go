package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// accessTable owns what is known of who may submit to which queue. It hears of the unbound pods that depend on it (join, quit, placedAgain), and of
// answers (answered, forget). It says what blocks a pod (mayNotSubmit), and what is to be asked (AccessQuestions).
//
// It asks nobody and knows no time. An answer is an input like any other, and holds until there is another one. Until the first, it is Unknown, and
// blocks the pod as No does: nothing starts because somebody did not answer.
type accessTable struct {
	byQuestion map[access.Question]*accessEntry
	changes    uint64 // grows when the questions on which pods depend change
}

// accessEntry is what is known of one question.
type accessEntry struct {
	access.Question
	answer access.Answer
	pods   roster // that depend on it
}

// get finds the entry of a question, or makes one.
func (t *accessTable) get(q access.Question) *accessEntry {
	e := t.byQuestion[q]
	if e == nil {
		e = &accessEntry{Question: q}
		t.byQuestion[q] = e
	}
	return e
}

// join enters a pod under its question. A pod without a submitter depends on none.
func (t *accessTable) join(r *record) {
	if r.Submitter == (access.Subject{}) || r.asked == "" {
		return
	}
	e := t.get(access.Question{Subject: r.Submitter, Queue: r.asked})
	if len(e.pods) == 0 {
		t.changes++
	}
	r.access = e
	e.pods.add(r, ofAccess)
}

// creates: the queue that the pod asks for would be created for it.
func (r *record) creates() bool { return r.submission != nil && r.submission.creating }

// claimed notes that a pod claims a queue that has children: whether it may is asked although no queue takes it.
func (t *accessTable) claimed() { t.changes++ }

func (t *accessTable) quit(r *record) {
	e := r.access
	if e == nil {
		return
	}
	e.pods.remove(r, ofAccess)
	r.access = nil
	if len(e.pods) == 0 {
		t.changes++
		if e.answer == access.Unknown {
			delete(t.byQuestion, e.Question)
		}
	}
}

// answered takes in an answer, and returns the pods that depend on it if it is another one than before.
func (t *accessTable) answered(q access.Question, a access.Answer) (judge []*record) {
	e := t.get(q)
	if e.answer != a {
		e.answer, judge = a, e.pods
	}
	if len(e.pods) == 0 && a == access.Unknown {
		delete(t.byQuestion, q)
	}
	return judge
}

// forget drops an answer; false: a pod depends on it.
func (t *accessTable) forget(q access.Question) bool {
	if e := t.byQuestion[q]; e != nil && len(e.pods) > 0 {
		return false
	}
	delete(t.byQuestion, q)
	return true
}

// placedAgain notes that pods ask for other queues now. A queue that is created for a pod is asked about before it is there.
func (t *accessTable) placedAgain() { t.changes++ }

// mayNotSubmit says what blocks a pod if its submitter may not use the queue that it asks for, or if that is not known.
func (r *record) mayNotSubmit() (reason.Reason, bool) {
	e := r.access
	if e == nil || e.answer == access.Yes {
		return reason.Reason{}, false
	}
	why := reason.Reason{Code: reason.SubmitForbidden, Queue: string(e.Queue), Details: reason.Submitter{User: e.User}}
	if e.answer == access.Unknown {
		why.Code = reason.SubmitUnchecked
	}
	return why, true
}

// refused reports whether it is known that the submitter may not use the queue that the pod asks for. As long as that is not known, the pod
// counts as not refused, so that a restart does not change the tree before all questions are answered.
func (r *record) refused() bool { return r.access != nil && r.access.answer == access.No }

// ObserveAccess takes in whether a subject may submit to a queue. Pods that wait are judged again now, released pods at Reserve at the
// latest. Bound pods stay.
func (l *Ledger) ObserveAccess(q access.Question, a access.Answer, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	for _, r := range l.access.answered(q, a) { // each for itself: order does not matter
		l.effects.judgeLater(r)
	}
	l.queues.guard(q.Queue, &l.requests)
	l.drain()
}

// ForgetAccess drops an answer on which no pod depends; false: one does.
func (l *Ledger) ForgetAccess(q access.Question) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.access.forget(q)
}

// AccessQuestions returns the questions on which unbound pods depend, in no order that means anything, with the version of that list. Pods that no
// queue takes depend on none yet, unless their queue depends on them. Where the version is still the given one, it returns no list; no list has version 0.
func (l *Ledger) AccessQuestions(since uint64) (open []access.Question, version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	if version = l.access.changes + l.queues.builds; version == since {
		return nil, version
	}
	for _, e := range l.access.byQuestion { // a set: order does not matter
		if len(e.pods) > 0 && (l.requests.byQueue[e.Queue].leaf != nil || slices.ContainsFunc(e.pods, l.queues.dependsOnAccess)) {
			open = append(open, e.Question)
		}
	}
	return open, version
}
