package objects

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// With returns the set as it would be after applying the Queues and the PlacementPolicy of overlay. An existing object
// gets the overlay's spec and keeps everything else. A new Queue counts as created now (see feed.Rebuild on objects
// without a time). Overlays hold nothing else, and all of it can be in force: what never would be would show nothing.
func (s *Set) With(overlay *Set) (*Set, error) {
	if err := overlay.allowedInOverlay(); err != nil {
		return nil, overlay.says(err)
	}
	after := *s
	after.Queues = slices.Clone(s.Queues)
	place := map[string]int{}
	for i, q := range s.Queues {
		place[q.GetName()] = i
	}
	for _, q := range overlay.Queues {
		decoded, err := convert.DecodeQueue(q)
		if err == nil {
			_, err = convert.Declaration(decoded)
		}
		if err != nil {
			return nil, overlay.says(err)
		}
		if i, ok := place[q.GetName()]; ok {
			after.Queues[i] = respecified(s.Queues[i], q)
		} else {
			after.Queues = append(after.Queues, created(q))
		}
	}
	if p := overlay.PlacementPolicy; p != nil {
		if problem := convert.PlacementPolicy(p).Problem; problem != nil {
			at := overlay.PolicyProblem(problem)
			return nil, &at
		}
		if after.PlacementPolicy = created(p); s.PlacementPolicy != nil {
			after.PlacementPolicy = respecified(s.PlacementPolicy, p)
		}
	}
	return &after, nil
}

const onlyAllowed = "only Queues and a PlacementPolicy are allowed here"

// allowedInOverlay names the first of the kinds that have no place in an overlay.
func (s *Set) allowedInOverlay() error {
	var other metav1.Object
	kind := ""
	switch {
	case len(s.Pods) > 0:
		kind, other = "Pod", s.Pods[0]
	case len(s.Nodes) > 0:
		kind, other = "Node", s.Nodes[0]
	case len(s.DeviceClasses) > 0:
		kind, other = "DeviceClass", s.DeviceClasses[0]
	case len(s.PodGroups) > 0:
		kind, other = convert.PodGroupKind, s.PodGroups[0]
	case len(s.Owners) > 0:
		kind, other = s.Owners[0].Kind, s.Owners[0]
	case len(s.PodDisruptionBudgets) > 0:
		kind, other = kindBudget, s.PodDisruptionBudgets[0]
	case len(s.ClusterRoles) > 0:
		kind, other = kindClusterRole, s.ClusterRoles[0]
	case len(s.ClusterRoleBindings) > 0:
		kind, other = kindClusterRoleBinding, s.ClusterRoleBindings[0]
	case len(s.others) > 0:
		return fmt.Errorf("%s: "+onlyAllowed, s.others[0])
	default:
		return nil
	}
	return fmt.Errorf("%v: "+onlyAllowed, header{Kind: kind, Namespace: other.GetNamespace(), Name: other.GetName()})
}

func (s *Set) says(err error) error {
	if s.stream == "" {
		return err
	}
	return &Problem{File: s.stream, Message: err.Error()}
}

// respecified is the object with the spec of another.
func respecified(q, by *unstructured.Unstructured) *unstructured.Unstructured {
	object := maps.Clone(q.Object)
	delete(object, "spec")
	if spec, ok := by.Object["spec"]; ok {
		object["spec"] = spec
	}
	return &unstructured.Unstructured{Object: object}
}

// created returns the object as if it were made now, without the status of an older one of its name.
func created(q *unstructured.Unstructured) *unstructured.Unstructured {
	fresh := &unstructured.Unstructured{Object: map[string]any{"apiVersion": q.GetAPIVersion(), "kind": q.GetKind()}}
	fresh.SetName(q.GetName())
	fresh.SetUID(key{q.GetKind(), "", q.GetName()}.uid())
	return respecified(fresh, q)
}
