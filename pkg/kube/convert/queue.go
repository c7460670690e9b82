package convert

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// maxWeight is the largest weight, in milli. The schema of Queue refuses more; beyond it a child's part of its siblings would be none.
const maxWeight int64 = 1_000_000 * 1000

// Declaration returns what a Queue declares. The error names the Queue and the field; the declaration is then empty, and the caller keeps
// the last good one. The schema refuses all that is refused here, so an error means an object that passed an older or a missing schema.
func Declaration(q *v1alpha1.Queue) (queue.Declaration, error) {
	path, err := queue.ParsePath(q.Name)
	if err != nil {
		return queue.Declaration{}, refusal(q.Name, "metadata.name", err)
	}
	weight, err := weightOf(q.Spec.Weight)
	if err != nil {
		return queue.Declaration{}, refusal(q.Name, "spec.weight", err)
	}
	policy, err := queue.ParsePolicy(string(q.Spec.Policy))
	if err != nil {
		return queue.Declaration{}, refusal(q.Name, "spec.policy", err)
	}
	guaranteed, err := stated(q.Spec.Guaranteed)
	if err != nil {
		return queue.Declaration{}, refusal(q.Name, "spec.guaranteed", err)
	}
	limits, err := stated(q.Spec.Max)
	if err != nil {
		return queue.Declaration{}, refusal(q.Name, "spec.max", err)
	}
	d := queue.Declaration{
		Path:          path,
		Spec:          queue.Spec{Weight: weight, Guaranteed: guaranteed, Max: limits, Policy: policy},
		PolicyInForce: policyInForce(q, policy),
		Deleting:      q.DeletionTimestamp != nil,
	}
	if !q.CreationTimestamp.IsZero() { // the zero time is outside the range of UnixNano
		d.Created = q.CreationTimestamp.UnixNano()
	}
	return d, nil
}

// DecodeQueue reads one Queue. Queues are decoded one by one, so that one that cannot be read is reported by name and hides no other. The
// error names the field.
func DecodeQueue(object *unstructured.Unstructured) (*v1alpha1.Queue, error) {
	q := &v1alpha1.Queue{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, q)
	if err == nil {
		return q, nil
	}
	// The converter does not say where it failed: ask again with one field at a time.
	spec, _, _ := unstructured.NestedMap(object.Object, "spec")
	for _, field := range []string{"weight", "guaranteed", "max", "policy"} {
		alone := map[string]any{"spec": map[string]any{field: spec[field]}}
		if e := runtime.DefaultUnstructuredConverter.FromUnstructured(alone, &v1alpha1.Queue{}); e != nil {
			return nil, refusal(object.GetName(), "spec."+field, fmt.Errorf("cannot be read: %w", e))
		}
	}
	return nil, fmt.Errorf("queue %s: cannot be read: %w", object.GetName(), err)
}

func refusal(name, field string, err error) error {
	return fmt.Errorf("queue %s: %s: %w", name, field, err)
}

// policyInForce is the last good policy, which the status keeps over a restart; a queue that never had one starts with what its spec says.
func policyInForce(q *v1alpha1.Queue, stated queue.Policy) queue.Policy {
	if q.Status.Policy == "" {
		return stated
	}
	policy, err := queue.ParsePolicy(string(q.Status.Policy))
	if err != nil {
		return stated
	}
	return policy
}

// weightOf returns a weight in milli.
func weightOf(q *apiresource.Quantity) (int64, error) {
	if q == nil {
		return queue.DefaultWeight, nil
	}
	milli := scaled(*q, apiresource.Milli, saturation/1000)
	if q.Sign() < 0 || milli > maxWeight {
		return 0, fmt.Errorf("%s is not between 0 and 1000000", q)
	}
	// The range is known by now, so the comparison is cheap whatever the exponent was.
	if q.Cmp(*apiresource.NewMilliQuantity(milli, apiresource.DecimalSI)) != 0 {
		return 0, fmt.Errorf("%s has more than three decimals", q)
	}
	return milli, nil
}

// stated returns amounts that a person wrote: what Amounts would quietly put right is an error here.
func stated(list corev1.ResourceList) (resource.List, error) {
	if _, ok := list[corev1.ResourcePods]; ok {
		return resource.List{}, fmt.Errorf("pods is a limit of each node and is not shared between queues")
	}
	// The first in name order, so that the same object always gives the same message.
	culprit := corev1.ResourceName("")
	for name, quantity := range list {
		if quantity.Sign() < 0 && (culprit == "" || name < culprit) {
			culprit = name
		}
	}
	if culprit != "" {
		negative := list[culprit]
		return resource.List{}, fmt.Errorf("%s: %s is less than 0", culprit, &negative)
	}
	return Amounts(list), nil
}
