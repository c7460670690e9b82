package placementqueues

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// objectOf is the Queue to create: with what its parent states for such children, nil if it states nothing. root.default is not marked as created by
// placement, as it is not if the scheduler creates it together with root.
func objectOf(q placement.NewQueue, children *v1alpha1.QueueChildren) (*unstructured.Unstructured, error) {
	var spec v1alpha1.QueueSpec
	if children != nil {
		spec.Max = children.Max
		if t := children.Template; t != nil {
			spec.Weight, spec.MaxRunningApplications, spec.MaxDriverShare = t.Weight, t.MaxRunningApplications, t.MaxDriverShare
			spec.Policy, spec.DefaultPriority = t.Policy, t.DefaultPriority
		}
	}
	if q.Parent {
		spec.Children = &v1alpha1.QueueChildren{}
		spec.MaxDriverShare, spec.DefaultPriority = nil, nil // they are for leaves, and so are some policies
		if policy, err := queue.ParsePolicy(string(spec.Policy)); err == nil && policy.ByAge() {
			spec.Policy = ""
		}
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
	object.SetName(string(q.Path))
	if q.Path != queue.Default {
		object.SetLabels(map[string]string{v1alpha1.KeyCreatedBy: v1alpha1.CreatedByPlacement})
		if q.For != "" {
			object.SetAnnotations(map[string]string{v1alpha1.KeyCreatedFor: q.For})
		}
	}
	return object, nil
}
