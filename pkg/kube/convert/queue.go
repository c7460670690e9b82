package convert

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	state, err := queue.ParseState(string(q.Spec.State))
	if err != nil {
		return queue.Declaration{}, refusal(q.Name, "spec.state", err)
	}
	d := queue.Declaration{
		Path:          path,
		Spec:          queue.Spec{Weight: weight, Policy: policy, FairResource: resource.Name(q.Spec.FairResource), State: state},
		PolicyInForce: policyInForce(q, policy),
		Deleting:      q.DeletionTimestamp != nil,
		Memory:        memory(q.Status.Starts),
		Parent:        q.Spec.Children != nil,
		Origin:        originOf(q),
	}
	for _, field := range []struct {
		name              string
		stated            v1alpha1.Amounts
		absolute, percent *resource.List
	}{
		{"guaranteed", q.Spec.Guaranteed, &d.Spec.Guaranteed, &d.Percent.Guaranteed},
		{"max", q.Spec.Max, &d.Spec.Max, &d.Percent.Max},
		{"maxPodResources", q.Spec.MaxPodResources, &d.Spec.MaxPod, &d.Percent.MaxPod},
	} {
		if *field.absolute, *field.percent, err = stated(field.stated); err != nil {
			return queue.Declaration{}, refusal(q.Name, "spec."+field.name, err)
		}
	}
	if q.Spec.Children != nil {
		if _, _, err := stated(q.Spec.Children.Max); err != nil {
			return queue.Declaration{}, refusal(q.Name, "spec.children.max", err)
		}
		if n := q.Spec.Children.MaxCreated; n != nil {
			if *n < 0 {
				return queue.Declaration{}, refusal(q.Name, "spec.children.maxCreated", fmt.Errorf("%d is negative", *n))
			}
			d.MaxCreated = queue.AtMost(int64(*n))
		}
	}
	if err := calculator(q, &d.Spec); err != nil {
		return queue.Declaration{}, err
	}
	if err := capacity(q, &d); err != nil {
		return queue.Declaration{}, err
	}
	if err := limits(q, &d.Spec); err != nil {
		return queue.Declaration{}, err
	}
	d.Spec.Strict = q.Spec.Strict != nil && *q.Spec.Strict
	if err := starting(q, &d.Spec); err != nil {
		return queue.Declaration{}, err
	}
	if err := priorities(q, &d.Spec); err != nil {
		return queue.Declaration{}, err
	}
	if err := preemption(q, &d.Spec); err != nil {
		return queue.Declaration{}, err
	}
	if err := reservable(q, &d); err != nil {
		return queue.Declaration{}, err
	}
	clocks(&q.Status, &d.Memory)
	d.Memory.Holds = holds(&q.Status)
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
	for _, field := range []string{"weight", "capacity", "maxCapacity", "guaranteed", "max", "maxPodResources", "maxRunningApplications", "maxApplications", "maxDriverShare", "users", "policy",
		"fairResource", "resourceCalculator", "strict", "maxStarting", "startingTimeout", "defaultPriority", "maxPriority", "preemption", "state", "children",
		"reservable", "reservations"} {
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

// originOf says who created a Queue. Its generation counts the changes of its spec, and placement makes none after the first.
func originOf(q *v1alpha1.Queue) queue.Origin {
	switch q.Labels[v1alpha1.KeyCreatedBy] {
	case v1alpha1.CreatedByPlacement:
		return queue.Origin{Placement: true, For: q.Annotations[v1alpha1.KeyCreatedFor], Edited: q.Generation > 1}
	case v1alpha1.CreatedByReservation:
		return queue.Origin{Reservation: true, For: q.Annotations[v1alpha1.KeyCreatedFor]}
	}
	return queue.Origin{}
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

// limits reads the limits that are numbers.
func limits(q *v1alpha1.Queue, spec *queue.Spec) error {
	count := func(field string, n *int32, to *queue.Limit) error {
		if n == nil {
			return nil
		}
		if *n < 0 {
			return refusal(q.Name, field, fmt.Errorf("%d is less than 0", *n))
		}
		*to = queue.AtMost(int64(*n))
		return nil
	}
	if err := count("spec.maxRunningApplications", q.Spec.MaxRunningApplications, &spec.MaxRunningApplications); err != nil {
		return err
	}
	if err := count("spec.maxApplications", q.Spec.MaxApplications, &spec.MaxApplications); err != nil {
		return err
	}
	if err := part(q.Spec.MaxDriverShare, "", &spec.MaxDriverShare); err != nil {
		return refusal(q.Name, "spec.maxDriverShare", err)
	}
	if q.Spec.Users == nil {
		return nil
	}
	if q.Spec.Users.MaxRunningApplications != nil && q.Name != string(queue.Root) {
		return refusal(q.Name, "spec.users.maxRunningApplications", errors.New("it holds over all queues, so it can be stated in the queue root only"))
	}
	if err := count("spec.users.maxRunningApplications", q.Spec.Users.MaxRunningApplications, &spec.MaxRunningApplicationsPerUser); err != nil {
		return err
	}
	if field, err := users(q.Spec.Users, &spec.Users); err != nil {
		return refusal(q.Name, "spec.users."+field, err)
	}
	return nil
}

// stated returns amounts that a person wrote, absolute ones and those in percent of the cluster. What Amounts would quietly put right is
// an error here; of several, the first in name order is named, so that the same object always gives the same message.
func stated(amounts v1alpha1.Amounts) (absolute, percent resource.List, err error) {
	quantities, parts := corev1.ResourceList{}, []resource.Entry(nil)
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		text := amounts[name].Text
		if name == corev1.ResourcePods {
			return resource.List{}, resource.List{}, errors.New("pods is a limit of each node and is not shared between queues")
		}
		if number, isPercent := strings.CutSuffix(text, "%"); isPercent {
			part, err := percentage(number)
			if err != nil {
				return resource.List{}, resource.List{}, fmt.Errorf("%s: %q %w", name, text, err)
			}
			parts = append(parts, resource.Entry{Name: resource.Name(name), Value: part})
			continue
		}
		quantity, err := parse(text)
		switch {
		case err != nil:
			return resource.List{}, resource.List{}, fmt.Errorf("%s: %q is neither a quantity nor a percentage of the cluster", name, text)
		case quantity.Sign() < 0:
			return resource.List{}, resource.List{}, fmt.Errorf("%s: %s is less than 0", name, text)
		}
		quantities[name] = quantity
	}
	return Amounts(quantities), resource.Of(parts...), nil
}

// percentage reads "12.5" into thousandths of a percent.
func percentage(number string) (int64, error) {
	q, err := parse(number)
	if err != nil || strings.Trim(number, "0123456789.") != "" || q.Cmp(apiresource.MustParse("100")) > 0 {
		return 0, errors.New("is not between 0% and 100%")
	}
	milli := q.MilliValue()
	if q.Cmp(*apiresource.NewMilliQuantity(milli, apiresource.DecimalSI)) != 0 {
		return 0, errors.New("has more than three decimals")
	}
	return milli, nil // thousandths of a percent of 100 are queue.Whole
}
