package evict

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

type task uint8

// What may be done to a pod.
const (
	evict task = iota
	withdraw
	announce
	nominate
)

var taskNames = [...]string{evict: "evict", withdraw: "withdraw", announce: "announce", nominate: "nominate"}

// pendingAction is one write.
type pendingAction struct {
	task            task
	uid             ledger.UID
	namespace, name string
	queue           queue.Path // for which the pod goes or was to go, "" for none
	victim          ledger.Victim
	withdrawal      ledger.Withdrawal
	nomination      ledger.NominationUpdate
}

func (d pendingAction) key() key { return key{d.task, d.uid} }

// inOrder puts first what others wait for: evictions, which make room, then withdrawals.
func inOrder(e ledger.PendingActions) (all []pendingAction) {
	of := func(task task, v ledger.Victim) pendingAction {
		return pendingAction{task: task, uid: v.UID, namespace: v.Namespace, name: v.Name, queue: v.ForQueue, victim: v}
	}
	for _, v := range e.Evict {
		all = append(all, of(evict, v))
	}
	for _, w := range e.Withdraw {
		all = append(all, pendingAction{task: withdraw, uid: w.UID, namespace: w.Namespace, name: w.Name, queue: w.ForQueue, withdrawal: w})
	}
	for _, v := range e.Announce {
		all = append(all, of(announce, v))
	}
	for _, n := range e.Nominate {
		all = append(all, pendingAction{task: nominate, uid: n.UID, namespace: n.Namespace, name: n.Name, nomination: n})
	}
	return all
}

// errGone: the pod is not there any more, or leaves already. There is nothing left to do, and the ledger hears of it from the watch.
var errGone = errors.New("the pod is gone, or leaving")

func (e *Executor) do(ctx context.Context, d pendingAction) error {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	pod := e.shown(d)
	if e.pods != nil && (pod == nil || pod.DeletionTimestamp != nil) {
		return errGone
	}
	var err error
	switch d.task {
	case evict:
		err = e.evict(ctx, d)
	case announce:
		err = e.patch(ctx, d, e.condition(d, corev1.ConditionTrue, corev1.PodReasonPreemptionByScheduler, announcement(d.victim)))
	case withdraw:
		if pod != nil && disruptedByOthers(pod) {
			return nil // what it shows is not ours to take back
		}
		err = e.patch(ctx, d, e.condition(d, corev1.ConditionFalse, v1alpha1.EventPreemptionWithdrawn, withdrawal(d.withdrawal)))
	case nominate:
		if err = e.patch(ctx, d, nominated(d.nomination.Node)); apierrors.IsInvalid(err) {
			return errGone // it has its node, and is not nominated any more
		}
	}
	if apierrors.IsNotFound(err) || writing.IsForAnother(err) || hasAnotherUID(err) {
		return errGone
	}
	return err
}

// evict asks for the eviction of this very pod. A new pod with the same name was not announced.
func (e *Executor) evict(ctx context.Context, d pendingAction) error {
	uid := types.UID(d.uid)
	return e.client.PolicyV1().Evictions(d.namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: d.namespace, Name: d.name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	})
}

// hasAnotherUID reports whether the precondition failed. Any other conflict may come from this pod or its budget, and
// passes.
func hasAnotherUID(err error) bool {
	return apierrors.IsConflict(err) && strings.Contains(err.Error(), "Precondition failed: UID")
}

// refused reports whether a disruption budget forbids the eviction. An overloaded API server answers with the same code.
func refused(err error) bool { return apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) }

// status is a strategic merge patch of a pod's status: conditions merge by their type, and null takes a nomination away.
type status struct {
	Conditions    []condition      `json:"conditions,omitempty"`
	NominatedNode *json.RawMessage `json:"nominatedNodeName,omitempty"`
}

// condition writes out what corev1.PodCondition would omit, since an omitted field keeps its old value.
type condition struct {
	Type               corev1.PodConditionType `json:"type"`
	Status             corev1.ConditionStatus  `json:"status"`
	Reason             string                  `json:"reason"`
	Message            string                  `json:"message"`
	LastTransitionTime metav1.Time             `json:"lastTransitionTime"`
}

func (e *Executor) condition(d pendingAction, is corev1.ConditionStatus, reason, message string) status {
	return status{Conditions: []condition{{
		Type: corev1.DisruptionTarget, Status: is, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(e.clock.Now()),
	}}}
}

func nominated(node string) status {
	raw := json.RawMessage("null")
	if node != "" {
		raw, _ = json.Marshal(node) // a string
	}
	return status{NominatedNode: &raw}
}

// patch states the UID, so that it fits one pod only, not its successor under the same name.
func (e *Executor) patch(ctx context.Context, d pendingAction, s status) error {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": d.uid}, "status": s})
	if err != nil {
		return err
	}
	_, err = e.client.CoreV1().Pods(d.namespace).Patch(ctx, d.name, types.StrategicMergePatchType, data,
		metav1.PatchOptions{FieldManager: writing.FieldManager}, "status")
	return err
}

// disruptedByOthers reports whether the pod shows that another party is about to end it.
func disruptedByOthers(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && !strings.HasPrefix(c.Message, v1alpha1.PreemptionMessage)
	})
}

// note tells the ledger how a pending action went; done: something changed.
func (e *Executor) note(ctx context.Context, d pendingAction, err error) (done bool) {
	now := e.clock.Now()
	if err != nil {
		if d.task == evict && !errors.Is(err, errGone) {
			e.ledger.EvictionFailed(d.uid, refused(err), now.UnixNano())
		}
		e.putOff(d)
		e.complain(ctx, d, err)
		return false
	}
	delete(e.failed, d.key())
	switch d.task {
	case evict:
		e.ledger.Evicted(d.uid, now.UnixNano())
		e.record(d, v1alpha1.EventPreempted, eviction(d.victim))
	case announce:
		e.ledger.Announced(d.uid, now.UnixNano())
		e.record(d, v1alpha1.EventPreempting, announcement(d.victim))
	case withdraw:
		e.ledger.Withdrawn(d.uid)
		e.record(d, v1alpha1.EventPreemptionWithdrawn, withdrawal(d.withdrawal))
	case nominate:
		e.ledger.Nominated(d.nomination)
	}
	return true
}

// putOff lets a pending action wait, longer each time. For an eviction this is only a minimum: nothing is tried twice
// within a second.
func (e *Executor) putOff(d pendingAction) {
	retry := e.failed[d.key()]
	if d.task == evict {
		retry = writing.Retry{}
	}
	retry.Postpone(e.clock.Now())
	e.failed[d.key()] = retry
}

func (e *Executor) complain(ctx context.Context, d pendingAction, err error) {
	if errors.Is(err, errGone) || refused(err) {
		return // no failure: it is done, or a budget does what it is for
	}
	e.complaints.Log(ctx, e.clock.Now(), err, "Preemption is held up; it is tried again",
		"task", taskNames[d.task], "pod", klog.KRef(d.namespace, d.name))
}

// record makes an event about the pod that names the queue for which it goes.
func (e *Executor) record(d pendingAction, reason, note string) {
	pod := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: d.namespace, Name: d.name, UID: types.UID(d.uid)}
	var related runtime.Object
	if d.queue != "" {
		related = &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Queue", Name: string(d.queue)}
	}
	e.recorder.Eventf(pod, related, corev1.EventTypeNormal, reason, action, "%s", note)
}

// action is the action field of events: upstream's word.
const action = "Preempting"
