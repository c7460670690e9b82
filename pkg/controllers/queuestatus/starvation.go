package queuestatus

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// lasting is how long a queue must have been below before an event says so: while pods come and go, many queues are
// below for a moment.
const lasting = time.Second

// takeover is the age of a starvation in a status from which its event counts as sent. The process that wrote a younger
// one may have ended before it sent the event, and an event sent twice is better than none.
const takeover = time.Minute

// eventsPerPass bounds the events of one pass; the others have their turn in the next.
const eventsPerPass = 25

// action is the action field of events about starvation.
const action = "ComparedShares"

// lack notes what the queue lacks. The condition Starved says it, and events say when it began and, with the numbers of
// that moment, that it has ended. It reports whether there may be an event to send.
func (r *record) lack(s *ledger.Snapshot, q *ledger.QueueState) bool {
	some := false
	for i := range starvations {
		k := &starvations[i]
		is := k.is(q.Starvation)
		if !is && !r.told[i] {
			continue
		}
		some = true
		if r.lacks[i] = k.reason(s, q, r.lacks[i].Resource); is {
			q.Problems = append(q.Problems, r.lacks[i])
		}
	}
	return some
}

// starvation is one of the two ways to be starved.
type starvation struct {
	code       reason.Code
	over       string // the reason of the event when it has ended
	clock      func(ledger.Starvation) (since, due int64)
	declined   func(ledger.Starvation) int64
	claimed    bool // a claim outlives the clock
	share      func(*ledger.QueueState) resource.List
	stored     func(*v1alpha1.QueueStatus) *metav1.Time
	remembered func(*v1alpha1.QueueStatus) bool // the status says so, and that a timeout was in force
}

// starvations in the order in which claims are paid.
var starvations = [...]starvation{
	{
		code: reason.BelowGuaranteed, over: v1alpha1.EventGuaranteeRestored,
		clock:      func(s ledger.Starvation) (int64, int64) { return s.BelowGuaranteedSince, s.GuaranteedDue },
		declined:   func(s ledger.Starvation) int64 { return s.GuaranteedDeclined },
		share:      func(q *ledger.QueueState) resource.List { return q.Spec.Guaranteed },
		stored:     func(s *v1alpha1.QueueStatus) *metav1.Time { return s.BelowGuaranteedSince },
		remembered: func(s *v1alpha1.QueueStatus) bool { return s.Preemption != nil && s.Preemption.GuaranteedDue != nil },
	},
	{
		code: reason.BelowFairShare, over: v1alpha1.EventFairShareRestored,
		clock:      func(s ledger.Starvation) (int64, int64) { return s.BelowFairShareSince, s.FairShareDue },
		declined:   func(s ledger.Starvation) int64 { return s.FairShareDeclined },
		claimed:    true,
		share:      func(q *ledger.QueueState) resource.List { return q.FairShare },
		stored:     func(s *v1alpha1.QueueStatus) *metav1.Time { return s.BelowFairShareSince },
		remembered: func(s *v1alpha1.QueueStatus) bool { return s.Preemption != nil && s.Preemption.FairShareDue != nil },
	},
}

// is reports whether a queue is starved in this way.
func (k *starvation) is(s ledger.Starvation) bool {
	since, _ := k.clock(s)
	return since != 0 || k.claimed && s.Claiming && s.BelowGuaranteedSince == 0
}

// toldBefore reports whether the process that wrote a status has probably sent the event, too. A claim that outlives its
// clock has an old event.
func (k *starvation) toldBefore(s *v1alpha1.QueueStatus, now time.Time) bool {
	since := k.stored(s)
	return k.remembered(s) && (since == nil || now.Sub(since.Time) >= takeover)
}

// reason says what the queue lacks. before is the resource of which this was said last.
func (k *starvation) reason(s *ledger.Snapshot, q *ledger.QueueState, before resource.Name) reason.Reason {
	since, due := k.clock(q.Starvation)
	r := reason.Reason{Code: k.code, Queue: string(q.Path), Resource: k.resource(s, q, before)}
	n := reason.Shortfall{Since: since, Until: due, Declined: k.declined(q.Starvation)}
	if share := k.share(q); r.Resource != "" {
		r.Used, n.Entitled, r.Asked = q.Allocated.Get(r.Resource), share.Get(r.Resource), q.Demand.Get(r.Resource)
	}
	r.Details = n
	return r
}

// resource is the one that the numbers are of: for a guarantee the one of which the queue has the smallest part, and when it lacks none any more, the
// one that it lacked; for a fair share the one that the share is largest in.
func (k *starvation) resource(s *ledger.Snapshot, q *ledger.QueueState, before resource.Name) resource.Name {
	rule, share := ruleAbove(s, q.Path), k.share(q)
	if k.code == reason.BelowGuaranteed {
		if part := guarantee.Smallest(rule, share, q.Demand, q.Allocated); part.Below() {
			return part.Resource
		}
		if before != "" {
			return before
		}
	}
	if most := preemption.Dominant(rule, s.Total, preemption.Target(share, q.Demand)); most.Resource != "" {
		return most.Resource
	}
	return preemption.Dominant(rule, s.Total, share).Resource
}

// ruleAbove is the rule by which a queue is compared with its siblings: its parent's.
func ruleAbove(s *ledger.Snapshot, p queue.Path) queue.Rule {
	i, found := slices.BinarySearchFunc(s.Queues, p.Parent(), func(q ledger.QueueState, p queue.Path) int { return queue.ComparePaths(q.Path, p) })
	if !found {
		return queue.Rule{}
	}
	return s.Queues[i].Spec.Rule()
}

// clocks writes since when a queue is starved, and when its claim is due. A queue that is not in the tree keeps its
// clocks, as it keeps its last good policy.
func clocks(q ledger.QueueState, previous, to *v1alpha1.QueueStatus) {
	if !q.InTree {
		to.BelowFairShareSince, to.BelowGuaranteedSince, to.Preemption = previous.BelowFairShareSince, previous.BelowGuaranteedSince, previous.Preemption
		return
	}
	s := q.Starvation
	to.BelowFairShareSince, to.BelowGuaranteedSince = convert.ClockTime(s.BelowFairShareSince), convert.ClockTime(s.BelowGuaranteedSince)
	if s.FairShareDue == 0 && s.GuaranteedDue == 0 && !s.Claiming {
		return
	}
	to.Preemption = &v1alpha1.QueuePreemptionStatus{
		FairShareDue: convert.ClockTime(s.FairShareDue), GuaranteedDue: convert.ClockTime(s.GuaranteedDue), ClaimOpen: s.Claiming,
	}
	if s.Claiming {
		to.Preemption.Owed = convert.ResourceList(s.Owed)
	}
}

// sameStarvation reports whether two starvations give the same status.
func sameStarvation(a, b ledger.Starvation) bool {
	return a.BelowFairShareSince == b.BelowFairShareSince && a.BelowGuaranteedSince == b.BelowGuaranteedSince &&
		a.FairShareDue == b.FairShareDue && a.GuaranteedDue == b.GuaranteedDue && a.Claiming == b.Claiming && a.Owed.Equal(b.Owed) &&
		a.FairShareDeclined == b.FairShareDeclined && a.GuaranteedDeclined == b.GuaranteedDeclined &&
		a.FairShareClaims == b.FairShareClaims && a.GuaranteedClaims == b.GuaranteedClaims &&
		a.FairShareOwed.Equal(b.FairShareOwed) && a.GuaranteedOwed.Equal(b.GuaranteedOwed)
}

// mistimed reports whether a restart would start a clock with a timeout at a wrong time (too late, or too early if the
// stored starvation is over), or would lose a claim.
func mistimed(stored, desired v1alpha1.QueueStatus) bool {
	claims := func(s v1alpha1.QueueStatus) bool { return s.Preemption != nil && s.Preemption.ClaimOpen }
	return claims(stored) != claims(desired) || slices.ContainsFunc(starvations[:], func(k starvation) bool {
		return (k.remembered(&stored) || k.remembered(&desired)) && !k.stored(&stored).Equal(k.stored(&desired))
	})
}

// tell records events where a starvation with a timeout in force has lasted, and where one that was told of has ended.
func (w *Writer) tell(now time.Time) {
	if w.recorder == nil {
		return
	}
	left := eventsPerPass
	for _, r := range w.starved {
		if left <= 0 {
			return
		}
		left -= w.tellOf(r, now)
	}
}

func (w *Writer) tellOf(r *record, now time.Time) (told int) {
	for i := range starvations {
		k := &starvations[i]
		since, due := k.clock(r.state.Starvation)
		switch {
		case !r.told[i] && due != 0 && now.UnixNano() >= since+int64(lasting):
			w.event(r, corev1.EventTypeWarning, string(k.code), r.lacks[i].Text())
		case r.told[i] && !k.is(r.state.Starvation):
			w.event(r, corev1.EventTypeNormal, k.over, r.lacks[i].RestoredText())
		default:
			continue
		}
		r.told[i] = !r.told[i]
		told++
	}
	return told
}

func (w *Writer) event(r *record, kind, why, note string) {
	q := &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Queue", Name: r.name, UID: r.uid}
	w.recorder.Eventf(q, nil, kind, why, action, "%s", note)
}
