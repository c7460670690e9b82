package podcondition

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/controllers/internal/writing"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// ReasonAccepted is the reason of the condition, and of the event, once no rule of ours holds the pod any more.
const ReasonAccepted = "Accepted"

// textLimit is what an event may say. A sentence can quote the name of a queue as a user wrote it, and an annotation is long.
const textLimit = 1024

// patch is a strategic merge patch. The UID makes it fit one pod only, not its successor under the same name.
type patch struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status struct {
		// Merged by type, so that the conditions of others stay as they are.
		Conditions [1]condition `json:"conditions"`
	} `json:"status"`
}

// condition writes out what corev1.PodCondition would omit, since an omitted field keeps its old value.
type condition struct {
	Type               corev1.PodConditionType `json:"type"`
	Status             corev1.ConditionStatus  `json:"status"`
	Reason             string                  `json:"reason"`
	Message            string                  `json:"message"`
	LastTransitionTime *metav1.Time            `json:"lastTransitionTime,omitempty"`
}

// conditionOf is what a pod should show.
func conditionOf(t ledger.Telling) condition {
	c := condition{Type: v1alpha1.PodConditionQueued, Status: corev1.ConditionFalse, Reason: ReasonAccepted}
	if t.Reason.Code != "" {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, string(t.Reason.Code), writing.Cut(t.Reason.Text(), textLimit)
	}
	return c
}

// body spells the patch. shown is the pod as last seen, nil if unknown: while the condition's status stays, so does its time.
func body(uid ledger.UID, c condition, shown *corev1.Pod, now metav1.Time) ([]byte, error) {
	if !shows(shown, uid, c.Status) {
		c.LastTransitionTime = &now
	}
	var p patch
	p.Metadata.UID = types.UID(uid)
	p.Status.Conditions[0] = c
	return json.Marshal(p)
}

func shows(pod *corev1.Pod, uid ledger.UID, status corev1.ConditionStatus) bool {
	if pod == nil || pod.UID != types.UID(uid) {
		return false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == v1alpha1.PodConditionQueued {
			return c.Status == status && !c.LastTransitionTime.IsZero()
		}
	}
	return false
}
