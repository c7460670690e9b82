package podcondition

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Every pod that has waited for some seconds has an event of ours with the reason, since kubectl describe shows events and no messages of conditions. A
// change of the condition Queued has its event at once (tell). All others come from here: a pod that waits for room or for its turn, a pod whose event is
// old, or whose reason has changed without a change of the condition.

const (
	// explainAfter is how long a pod waits before it has an event: most start before.
	explainAfter = 5 * time.Second
	// explainGroupAfter is the same for a pod whose group waits.
	explainGroupAfter = time.Second
	// explainTurnAfter is the same for a pod for which nothing is lacking but its turn: it comes as pods flow.
	explainTurnAfter = 15 * time.Second
	// askAgainAfter is the time between two looks at the reason of a pod that has its event.
	askAgainAfter = 30 * time.Second
	// sayAgainAfter is less than the hour for which an API server keeps events.
	sayAgainAfter = 45 * time.Minute
	// waiters is how many pods a pass looks at, once from the head of the backlog and once in turn among all.
	waiters = 250
	// asked is the number of pods of which a pass asks why they wait: the answer for one looks at all nodes.
	asked = 20
	// pruned is the number of pods that a pass checks for having started or gone.
	pruned = 50
)

// said is what the last event of a pod was about.
type said struct {
	code            reason.Code
	queue, podGroup string
	at              time.Time // of the event; zero: there is none yet
	asked           time.Time // when the reason was looked at last
}

func (s said) about(r reason.Reason) bool {
	return !s.at.IsZero() && s.code == r.Code && s.queue == r.Queue && s.podGroup == r.PodGroup
}

// saidNow reports whether the pod has an event about this reason that is not old.
func (w *Writer) saidNow(uid ledger.UID, r reason.Reason, now time.Time) bool {
	s := w.said[uid]
	return s.about(r) && now.Sub(s.at) < sayAgainAfter
}

func (w *Writer) remember(uid ledger.UID, s said) {
	if _, known := w.said[uid]; !known {
		w.saidOf = append(w.saidOf, uid)
	}
	w.said[uid] = s
}

// explain makes the events that are due, with what its limiter has left: the head of the backlog first.
func (w *Writer) explain(now time.Time) {
	w.prune()
	var due []ledger.UID
	for _, p := range w.ledger.Waiters(waiters) {
		if _, failed := w.failed[p.UID]; failed {
			continue // its condition comes first
		}
		if s := w.said[p.UID]; len(due) < asked && now.Sub(time.Unix(0, p.Created)) >= explainGroupAfter && now.Sub(s.asked) >= s.pause() {
			due = append(due, p.UID)
		}
	}
	for _, e := range w.ledger.Explain(due, now.UnixNano()) {
		s := w.said[e.UID]
		s.asked = now
		if waited := now.Sub(time.Unix(0, e.Created)); waited >= patience(e.Reason.Code) && !w.saidNow(e.UID, e.Reason, now) {
			if !w.explained.TryAccept() {
				return
			}
			w.event(e)
			s = said{e.Reason.Code, e.Reason.Queue, e.Reason.PodGroup, now, now}
		}
		w.remember(e.UID, s)
	}
}

// pause is the time until a pod is asked about again.
func (s said) pause() time.Duration {
	if s.at.IsZero() {
		return 2 * time.Second // it has no event yet
	}
	return askAgainAfter
}

// patience is how long a pod waits for this reason before it has an event.
func patience(code reason.Code) time.Duration {
	switch code {
	case reason.WaitingTurn, reason.WaitingForPreferredNodes, reason.BackOff, reason.CreatingQueue:
		return explainTurnAfter
	case reason.GangIncomplete, reason.GangTooLarge, reason.GangWaitsForRoom, reason.BehindGang:
		return explainGroupAfter
	}
	return explainAfter
}

func (w *Writer) event(e ledger.Explanation) {
	kind := corev1.EventTypeWarning
	if e.Reason.Code == reason.WaitingTurn || e.Reason.Code == reason.WaitingForPreferredNodes {
		kind = corev1.EventTypeNormal
	}
	w.recorder.Eventf(reference(e.Namespace, e.Name, e.UID), related(e.Reason), kind, string(e.Reason.Code), action, "%s", writing.Cut(e.Text, textLimit))
}

// prune forgets pods that wait no more.
func (w *Writer) prune() {
	n := min(pruned, len(w.saidOf))
	first := w.saidOf[:n]
	w.saidOf = w.saidOf[n:]
	for _, uid := range first {
		s, known := w.ledger.PodState(uid)
		if known && (s.State == ledger.Waiting || s.State == ledger.Parked || s.State == ledger.Released) {
			w.saidOf = append(w.saidOf, uid)
			continue
		}
		delete(w.said, uid)
	}
}
