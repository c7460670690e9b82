package podcondition

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// ReasonAccepted is the reason of the condition, and of the event, once no rule of ours blocks the pod any more.
const ReasonAccepted = "Accepted"

// textLimit is the longest text of an event. A sentence can quote the name of a queue as a user wrote it, and an
// annotation may be long.
const textLimit = 1024

// patch is a strategic merge patch. The UID makes it fit one pod only, not its successor under the same name.
type patch struct {
	Metadata struct {
		UID types.UID `json:"uid"`
		// Stated, it makes the patch fit one version of the pod only.
		ResourceVersion string `json:"resourceVersion,omitempty"`
	} `json:"metadata"`
	Status struct {
		// Merged by type, so that the conditions of others stay as they are.
		Conditions [1]any `json:"conditions"`
	} `json:"status"`
}

// condition writes out what corev1.PodCondition would omit, since an omitted field keeps its old value.
type condition struct {
	Type               corev1.PodConditionType `json:"type"`
	Status             corev1.ConditionStatus  `json:"status"`
	Reason             string                  `json:"reason"`
	Message            string                  `json:"message"`
	LastTransitionTime *metav1.Time            `json:"lastTransitionTime,omitempty"`
	ObservedGeneration int64                   `json:"observedGeneration,omitempty"`
}

// removal takes a condition away.
type removal struct {
	Patch string                  `json:"$patch"`
	Type  corev1.PodConditionType `json:"type"`
}

// conditionOf is what a pod should show. A setting of the pod that has no effect does not block it: the condition is False then, with that reason.
func conditionOf(t ledger.ConditionUpdate) condition {
	c := condition{Type: v1alpha1.PodConditionQueued, Status: corev1.ConditionFalse, Reason: ReasonAccepted}
	if t.Reason.Code != "" {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, string(t.Reason.Code), writing.Cut(t.Reason.Text(), textLimit)
	}
	if t.Reason.Code == reason.ApplicationPriorityInvalid {
		c.Status = corev1.ConditionFalse
	}
	return c
}

// body returns the patch. shown is the pod as last seen, nil if unknown: if the status of the condition stays, so does
// its time.
func body(uid ledger.UID, c condition, shown *corev1.Pod, now metav1.Time) ([]byte, error) {
	if !shows(shown, uid, c.Type, c.Status) {
		c.LastTransitionTime = &now
	}
	var p patch
	p.Metadata.UID = types.UID(uid)
	p.Status.Conditions[0] = c
	return json.Marshal(p)
}

// removalBody returns the patch that takes a condition off a pod, whatever version of it.
func removalBody(uid ledger.UID, kind corev1.PodConditionType) ([]byte, error) {
	var p patch
	p.Metadata.UID = types.UID(uid)
	p.Status.Conditions[0] = removal{Patch: "delete", Type: kind}
	return json.Marshal(p)
}

// unschedulableBody returns the patch that makes a pod show Unschedulable with this message; with "", it removes the
// condition. It fits this version of the pod only: the pod may be bound meanwhile, and a running pod must not be called
// unschedulable.
func unschedulableBody(pod *corev1.Pod, message string, now metav1.Time) ([]byte, error) {
	var p patch
	p.Metadata.UID, p.Metadata.ResourceVersion = pod.UID, pod.ResourceVersion
	if message == "" {
		p.Status.Conditions[0] = removal{Patch: "delete", Type: corev1.PodScheduled}
		return json.Marshal(p)
	}
	c := condition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
		ObservedGeneration: pod.Generation,
	}
	if !shows(pod, ledger.UID(pod.UID), c.Type, c.Status) {
		c.LastTransitionTime = &now
	}
	p.Status.Conditions[0] = c
	return json.Marshal(p)
}

func shows(pod *corev1.Pod, uid ledger.UID, kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	if pod == nil || pod.UID != types.UID(uid) {
		return false
	}
	c := conditionIn(pod, kind)
	return c != nil && c.Status == status && !c.LastTransitionTime.IsZero()
}

func conditionIn(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}
