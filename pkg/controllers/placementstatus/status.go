package placementstatus

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
)

const (
	inForce = "the policy is in force as it is written"
	ignored = "; userAsDefaultQueue and allowUndeclaredQueues have no effect beside rules"
	before  = "; until that is corrected, the last policy that could be used is in force"
	none    = "; until that is corrected, pods are placed as without a policy"

	// messageLimit: the message may quote thousands of mappings.
	messageLimit = 4096
)

// Status returns what the status of a PlacementPolicy should say.
func Status(object *unstructured.Unstructured, now metav1.Time) v1alpha1.PlacementPolicyStatus {
	p := convert.PlacementPolicy(object)
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInForce, Message: inForce,
		ObservedGeneration: object.GetGeneration(), LastTransitionTime: now.Rfc3339Copy(), // as precise as the wire
	}
	switch {
	case p.Problem != nil:
		fallback := before
		if p.Spec == nil {
			fallback = none
		}
		ready.Status, ready.Reason = metav1.ConditionFalse, v1alpha1.ReasonRulesInvalid
		ready.Message = writing.Cut(p.Problem.Error(), messageLimit) + fallback
	case len(p.Spec.Rules) > 0 && (p.Spec.UserAsDefaultQueue != nil || p.Spec.AllowUndeclaredQueues != nil):
		ready.Message += ignored
	}
	previous := statusOf(object)
	if c := meta.FindStatusCondition(previous.Conditions, ready.Type); c != nil && c.Status == ready.Status && !c.LastTransitionTime.IsZero() {
		ready.LastTransitionTime = c.LastTransitionTime
	}
	return v1alpha1.PlacementPolicyStatus{
		ObservedGeneration: object.GetGeneration(), Conditions: []metav1.Condition{ready}, InForce: p.Spec,
	}
}

// statusOf reads the status; one that cannot be read says nothing.
func statusOf(object *unstructured.Unstructured) v1alpha1.PlacementPolicyStatus {
	var status v1alpha1.PlacementPolicyStatus
	fields, _, err := unstructured.NestedMap(object.Object, "status")
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &status) != nil {
		return v1alpha1.PlacementPolicyStatus{}
	}
	return status
}
