package queuestatus

import (
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// messageLimit keeps a status small where a sentence quotes what a user wrote. The schema of conditions allows 32768 characters.
const messageLimit = 4096

// Status returns what the status of a queue should say. From the previous status it takes what only the status
// remembers: since when a condition holds, and the last good policy of a queue that is not in the tree now.
func Status(q ledger.QueueState, previous v1alpha1.QueueStatus, generation int64, now metav1.Time) v1alpha1.QueueStatus {
	policy := v1alpha1.QueuePolicy(q.Spec.Policy.String())
	if !q.InTree {
		// Such a queue has no policy in force. After a restart the last good one is read from here, so it must outlive the trouble.
		policy = previous.Policy
	}
	status := v1alpha1.QueueStatus{
		ObservedGeneration: generation,
		State:              stateOf(q, previous),
		StoppedSince:       stoppedSince(q, previous),
		StoppedQueues:      stoppedQueues(q),
		Conditions:         conditions(q, previous.Conditions, generation, now),
		Policy:             policy,
		ResourceCalculator: calculator(q),
		Effective:          effective(q),
		Limits:             limits(q),
		SteadyFairShare:    convert.ResourceList(q.SteadyFairShare),
		FairShare:          convert.ResourceList(q.FairShare),
		Guaranteed:         convert.ResourceList(q.Spec.Guaranteed),
		Max:                convert.ResourceList(q.Spec.Max),
		Allocated:          convert.ResourceList(q.Allocated),
		Demand:             convert.ResourceList(q.Demand),
		Applications:       applicationCounts(q),
		Pods:               v1alpha1.PodCounts{Pending: count(q.PodsPending), Running: count(q.PodsRunning)},
		Starts:             starts(q, previous.Starts),
		Holds:              convert.QueueHolds(q.Holds),
		Summary: v1alpha1.QueueSummary{
			FairShare:       report.Amounts(q.FairShare),
			SteadyFairShare: report.Amounts(q.SteadyFairShare),
			Allocated:       report.Amounts(q.Allocated),
			Demand:          report.Amounts(q.Demand),
		},
	}
	capacity(q, &previous, &status)
	clocks(q, &previous, &status)
	return status
}

// calculator is the one that the root states for all queues.
func calculator(q ledger.QueueState) v1alpha1.ResourceCalculator {
	if q.Path != queue.Root {
		return ""
	}
	return v1alpha1.ResourceCalculator(q.Spec.Calculator.String())
}

func applicationCounts(q ledger.QueueState) v1alpha1.ApplicationCounts {
	return v1alpha1.ApplicationCounts{
		Pending: count(q.ApplicationsPending), Starting: count(q.ApplicationsStarting), Running: count(q.ApplicationsRunning),
	}
}

func count(n int) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

// topic is one condition: which problems it answers, and what it says with and without one.
type topic struct {
	name          string
	codes         []reason.Code // none: it answers what no other topic does
	good, bad     metav1.ConditionStatus
	withoutReason string
}

// topics in the order in which a status lists them: by name.
var topics = []topic{
	{
		v1alpha1.ConditionFieldsIgnored,
		[]reason.Code{reason.FieldIgnored, reason.FairResourceNotAllowed, reason.MaxPodResourcesRaised, reason.RunningBelowStopped},
		metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonAllFieldsCount,
	},
	{v1alpha1.ConditionOverLimit, []reason.Code{reason.OverLimit}, metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonWithinLimits},
	{v1alpha1.ConditionOvercommitted, []reason.Code{reason.Overcommitted}, metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonGuaranteesFit},
	{v1alpha1.ConditionReady, nil, metav1.ConditionTrue, metav1.ConditionFalse, v1alpha1.ReasonInForce},
	{
		v1alpha1.ConditionStarved, []reason.Code{reason.BelowFairShare, reason.BelowGuaranteed},
		metav1.ConditionFalse, metav1.ConditionTrue, v1alpha1.ReasonServed,
	},
}

func conditions(q ledger.QueueState, previous []metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	cs := make([]metav1.Condition, 0, len(topics))
	for _, t := range topics {
		c := metav1.Condition{Type: t.name, Status: t.good, Reason: t.withoutReason, ObservedGeneration: generation}
		if problems := t.problems(q); len(problems) > 0 {
			c.Status, c.Reason, c.Message = t.bad, string(problems[0].Code), sentences(problems)
		}
		c.LastTransitionTime = now.Rfc3339Copy() // as precise as the wire
		if p := meta.FindStatusCondition(previous, t.name); p != nil && p.Status == c.Status && !p.LastTransitionTime.IsZero() {
			c.LastTransitionTime = p.LastTransitionTime
		}
		cs = append(cs, c)
	}
	return cs
}

func (t topic) problems(q ledger.QueueState) []reason.Reason {
	var ps []reason.Reason
	for _, p := range q.Problems {
		if t.answers(p.Code) {
			ps = append(ps, p)
		}
	}
	if t.codes == nil && len(ps) == 0 && !q.InTree {
		ps = append(ps, reason.Reason{Code: reason.QueueNotReady, Queue: string(q.Path)})
	}
	return ps
}

func (t topic) answers(code reason.Code) bool {
	if t.codes != nil {
		return slices.Contains(t.codes, code)
	}
	return !slices.ContainsFunc(topics[:], func(o topic) bool { return slices.Contains(o.codes, code) })
}

// sentences joins what several problems say; reasons end without a full stop for this purpose.
func sentences(problems []reason.Reason) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Text()
	}
	return writing.Cut(strings.Join(texts, ". "), messageLimit)
}
