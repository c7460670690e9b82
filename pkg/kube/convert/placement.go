package convert

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Placement is what a PlacementPolicy puts in force.
type Placement struct {
	Policy placement.Policy
	// Spec is what Policy was made of: the spec, or the last one that could be used; nil if there is none, and Policy
	// has the rules that hold without a policy.
	Spec *v1alpha1.PlacementPolicySpec
	// Problem is what is wrong with the spec; then Spec is another one, or nil.
	Problem error
}

// PlacementPolicy returns what a PlacementPolicy puts in force; without one (nil) the rules that hold then. A spec that cannot be used leaves
// the one in force that the status has.
func PlacementPolicy(object *unstructured.Unstructured) Placement {
	var none Placement
	none.Policy, _ = placement.Parse(placement.Statement{})
	if object == nil {
		return none
	}
	p := &v1alpha1.PlacementPolicy{}
	if none.Problem = decode(object, "spec", p); none.Problem == nil {
		policy, problems := policyOf(&p.Spec)
		if problems == nil {
			return Placement{Policy: policy, Spec: &p.Spec}
		}
		texts := make([]string, len(problems))
		for i, problem := range problems {
			texts[i] = problem.Error()
		}
		none.Problem = errors.New(strings.Join(texts, "; "))
	}
	before := &v1alpha1.PlacementPolicy{}
	if err := decode(object, "status", before); err != nil || before.Status.InForce == nil {
		return none
	}
	policy, problems := policyOf(before.Status.InForce)
	if problems != nil { // of an older version of the scheduler, or written by hand
		return none
	}
	return Placement{Policy: policy, Spec: before.Status.InForce, Problem: none.Problem}
}

// decode reads one part of the object, so that what is wrong with the spec does not hide the status.
func decode(object *unstructured.Unstructured, part string, into *v1alpha1.PlacementPolicy) error {
	only := map[string]any{part: object.Object[part]}
	if only[part] == nil {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(only, into); err != nil {
		return fmt.Errorf("%s cannot be read: %w", part, err)
	}
	return nil
}

// policyOf returns the policy that a spec makes, or what is wrong with it.
func policyOf(spec *v1alpha1.PlacementPolicySpec) (placement.Policy, []error) {
	policy, problems := placement.Parse(statement(spec))
	if spec.RemoveEmptyAfter == "" {
		return policy, problems
	}
	after, err := time.ParseDuration(spec.RemoveEmptyAfter)
	if err == nil && after < time.Second {
		err = errors.New("it is less than 1s")
	}
	if err != nil {
		return policy, append(problems, fmt.Errorf("removeEmptyAfter: %q is no duration such as 90s, 10m or 24h: %w", spec.RemoveEmptyAfter, err))
	}
	policy.RemoveAfter = after.Nanoseconds()
	return policy, problems
}

func statement(spec *v1alpha1.PlacementPolicySpec) placement.Statement {
	s := placement.Statement{
		Mappings: spec.Mappings, Override: spec.Override,
		UserAsDefaultQueue: spec.UserAsDefaultQueue, AllowUndeclaredQueues: spec.AllowUndeclaredQueues,
	}
	for _, r := range spec.Rules {
		rule := ruleStatement(r.PlacementRuleFields)
		if r.Nested != nil {
			nested := ruleStatement(*r.Nested)
			rule.Nested = &nested
		}
		s.Rules = append(s.Rules, rule)
	}
	return s
}

func ruleStatement(r v1alpha1.PlacementRuleFields) placement.RuleStatement {
	return placement.RuleStatement{Kind: r.Type, Create: r.Create, Queue: r.Queue, Parent: r.Parent}
}

// QueuesForPlacement returns what placement needs to know of Queues, as the scheduler does. A Queue whose name is no path does not count; of one that cannot
// be read, the name does.
func QueuesForPlacement(queues []*unstructured.Unstructured) placement.Tree {
	var all []queue.Declaration
	for _, object := range queues {
		path, err := queue.ParsePath(object.GetName())
		if err != nil {
			continue
		}
		d := queue.Declaration{Path: path}
		if q, err := DecodeQueue(object); err == nil {
			if read, err := Declaration(q); err == nil {
				d = read
			}
		}
		all = append(all, d)
	}
	return placement.TreeOf(all)
}
