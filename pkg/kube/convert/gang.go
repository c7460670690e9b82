package convert

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	intreev1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	podgroupv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// PodGroupKind is the kind of both sorts of pod groups: that of scheduler-plugins and that of Kubernetes itself.
const PodGroupKind = "PodGroup"

// The pod groups that make gangs.
var (
	PodGroups       = podgroupv1alpha1.SchemeGroupVersion.WithResource("podgroups")
	InTreePodGroups = intreev1alpha2.SchemeGroupVersion.WithResource("podgroups")
)

// inTree ends the key of a pod group of Kubernetes itself. Names have no blanks, so the two kinds never share a key.
const inTree = " (" + intreev1alpha2.GroupName + ")"

func gangKey(namespace, name string) string { return namespace + "/" + name }

// GangOf returns the key of the pod group of a pod, "" for none. If the pod names two, the label counts: a person wrote
// it, while the field may come from the Job controller.
func GangOf(pod *corev1.Pod) string {
	if name := pod.Labels[podgroupv1alpha1.PodGroupLabel]; name != "" {
		return gangKey(pod.Namespace, name)
	}
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil && *g.PodGroupName != "" {
		return gangKey(pod.Namespace, *g.PodGroupName) + inTree
	}
	return ""
}

// GangKey returns the key of a pod group of either kind.
func GangKey(u *unstructured.Unstructured) string {
	key := gangKey(u.GetNamespace(), u.GetName())
	if u.GroupVersionKind().Group == intreev1alpha2.GroupName {
		key += inTree
	}
	return key
}

// Gang returns what a pod group of either kind declares. Groups are decoded one by one, so that an unreadable one hides
// no other. The error names the group and the field. The schemas refuse all that is refused here, so an error means an
// object that passed a laxer schema.
func Gang(u *unstructured.Unstructured) (ledger.PodGroup, error) {
	g := ledger.PodGroup{Key: GangKey(u)}
	if u.GroupVersionKind().Group == intreev1alpha2.GroupName {
		spec := intreev1alpha2.PodGroupSpec{}
		if err := decodeSpec(u, &spec, "schedulingPolicy"); err != nil {
			return ledger.PodGroup{}, err
		}
		g.MinMember = 1 // policy basic: each for itself
		if gang := spec.SchedulingPolicy.Gang; gang != nil {
			g.MinMember = max(int(gang.MinCount), 1)
		}
		return g, nil
	}
	spec := podgroupv1alpha1.PodGroupSpec{}
	if err := decodeSpec(u, &spec, "minMember", "minResources", "scheduleTimeoutSeconds"); err != nil {
		return ledger.PodGroup{}, err
	}
	var negative []corev1.ResourceName
	for name, q := range spec.MinResources {
		if q.Sign() < 0 {
			negative = append(negative, name)
		}
	}
	if len(negative) > 0 {
		name := slices.Min(negative)
		q := spec.MinResources[name]
		return ledger.PodGroup{}, badGang(u, "minResources", fmt.Errorf("%s: %s is less than 0", name, q.String()))
	}
	g.MinMember = max(int(spec.MinMember), 1)
	g.MinResources = Amounts(spec.MinResources)
	if s := spec.ScheduleTimeoutSeconds; s != nil && *s > 0 {
		g.Timeout = int64(*s) * int64(time.Second)
	}
	status := PodGroupStatus(u)
	g.Whole, g.Succeeded = WasWhole(status), int(status.Succeeded)
	return g, nil
}

// PodGroupStatus reads the status of a pod group of scheduler-plugins. One that cannot be read counts as empty, and is written again.
func PodGroupStatus(u *unstructured.Unstructured) podgroupv1alpha1.PodGroupStatus {
	status := podgroupv1alpha1.PodGroupStatus{}
	content, ok := u.Object["status"].(map[string]any)
	if !ok || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status) != nil {
		return podgroupv1alpha1.PodGroupStatus{}
	}
	return status
}

// WasWhole reports whether a status says that the group was whole, and that some of its pods may still exist. A group
// that has ended keeps its phase when its pods are gone, but counts no pods: the next pods that name it start together
// again.
func WasWhole(s podgroupv1alpha1.PodGroupStatus) bool {
	switch s.Phase {
	case podgroupv1alpha1.PodGroupScheduling, podgroupv1alpha1.PodGroupRunning:
		return true
	case podgroupv1alpha1.PodGroupFinished, podgroupv1alpha1.PodGroupFailed:
		return s.Running+s.Succeeded+s.Failed > 0
	}
	return false
}

// decodeSpec reads a spec. The converter does not say where it failed, so it is asked again with one field at a time.
func decodeSpec[T any](u *unstructured.Unstructured, into *T, fields ...string) error {
	object, stated := u.Object["spec"]
	if !stated || object == nil {
		return nil
	}
	spec, ok := object.(map[string]any)
	if !ok {
		return fmt.Errorf("pod group %s: spec: cannot be read: it is a %T, not an object", GangKey(u), object)
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, into)
	if err == nil {
		return nil
	}
	for _, field := range fields {
		alone := new(T)
		if e := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{field: spec[field]}, alone); e != nil {
			return badGang(u, field, fmt.Errorf("cannot be read: %w", e))
		}
	}
	return fmt.Errorf("pod group %s: spec: cannot be read: %w", GangKey(u), err)
}

func badGang(u *unstructured.Unstructured, field string, err error) error {
	return fmt.Errorf("pod group %s: spec.%s: %w", GangKey(u), field, err)
}
