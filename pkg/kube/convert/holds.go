package convert

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podgroupv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	intreev1alpha2 "k8s.io/api/scheduling/v1alpha2"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// QueueHolds is what a status shows of held nodes, cut to what it can hold.
func QueueHolds(holds []queue.Hold) (out []v1alpha1.NodeHold) {
	for _, h := range holds[:min(len(holds), v1alpha1.MaxHoldsShown)] {
		out = append(out, v1alpha1.NodeHold{
			For: holdReference(h), Nodes: h.Nodes[:min(len(h.Nodes), v1alpha1.MaxHeldShown)],
			WaitingSince: wireTime(h.Since), Until: wireTime(h.Until),
		})
	}
	return out
}

// holds reads what QueueHolds wrote. A hold for an object of another kind, as a later version may have written it, is passed over.
func holds(s *v1alpha1.QueueStatus) (out []queue.Hold) {
	for _, h := range s.Holds {
		if hold, is := heldFor(h.For); is && h.Until != nil {
			hold.Nodes, hold.Until = h.Nodes, h.Until.UnixNano()
			if h.WaitingSince != nil {
				hold.Since = h.WaitingSince.UnixNano()
			}
			out = append(out, hold)
		}
	}
	return out
}

// podKind is the kind of a reference to a large pod.
const podKind = "Pod"

// holdReference names the object for which nodes are held: a pod group, by a key that gangKey made, or a large pod.
func holdReference(h queue.Hold) (r v1alpha1.HoldReference) {
	if h.PodGroup == "" {
		r.Kind = podKind
		r.Namespace, r.Name, _ = strings.Cut(h.Pod, "/")
		return r
	}
	r.Kind, r.APIGroup = PodGroupKind, podgroupv1alpha1.SchemeGroupVersion.Group
	name, is := strings.CutSuffix(h.PodGroup, inTree)
	if is {
		r.APIGroup = intreev1alpha2.GroupName
	}
	r.Namespace, r.Name, _ = strings.Cut(name, "/")
	return r
}

func heldFor(r v1alpha1.HoldReference) (h queue.Hold, is bool) {
	key := gangKey(r.Namespace, r.Name)
	switch {
	case r.Kind == podKind && r.APIGroup == "":
		h.Pod = key
	case r.Kind == PodGroupKind && r.APIGroup == intreev1alpha2.GroupName:
		h.PodGroup = key + inTree
	case r.Kind == PodGroupKind && r.APIGroup == podgroupv1alpha1.SchemeGroupVersion.Group:
		h.PodGroup = key
	default:
		return h, false
	}
	return h, true
}

// wireTime cuts to the second, which is what the wire holds and what sentences say.
func wireTime(nanoseconds int64) *metav1.Time {
	if nanoseconds == 0 {
		return nil
	}
	t := metav1.Unix(0, nanoseconds).Rfc3339Copy()
	return &t
}
