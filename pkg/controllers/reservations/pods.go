package reservations

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/writing"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// podsIn returns the pods that run in a queue of a reservation, in the order of their names. They are of the reservation's namespace.
func (c *Controller) podsIn(q *unstructured.Unstructured) (in []*corev1.Pod) {
	namespace, _, _ := strings.Cut(q.GetAnnotations()[v1alpha1.KeyCreatedFor], "/")
	if namespace == "" {
		return nil
	}
	all, err := c.o.Pods.List(labels.Everything()) // the informer of kube-scheduler has no index of namespaces
	if err != nil {
		return nil
	}
	for _, pod := range all {
		if pod.Namespace == namespace && pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed &&
			pod.Annotations[v1alpha1.KeyPlacedQueue] == q.GetName() {
			in = append(in, pod)
		}
	}
	slices.SortFunc(in, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return in
}

func (c *Controller) holdsPods(q *unstructured.Unstructured) bool { return len(c.podsIn(q)) > 0 }

// expired is a pod that outlived its reservation.
type expired struct {
	pod   *corev1.Pod
	to    string // the queue to which it moves; "": it is evicted
	retry *writing.Retry
}

// endPods moves the pods of queues that are not needed any more to the queue of the other pods, or evicts them.
func (c *Controller) endPods(ctx context.Context, children []reservations.Child, plans []*v1alpha1.Queue, ours map[string]*unstructured.Unstructured) {
	needed := make(map[string]bool, len(children))
	for i := range children {
		needed[string(children[i].Path)] = true
	}
	above := make(map[string]*v1alpha1.Queue, len(plans))
	for _, q := range plans {
		above[q.Name] = q
	}
	now := c.loop.Clock.Now()
	before := c.moves
	c.moves = map[string]*writing.Retry{}
	var due []*expired
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		plan := above[parent(name)]
		if needed[name] || plan == nil {
			continue
		}
		to := ""
		if _, move, err := convert.SharingPolicy(plan); err == nil && move {
			to = plan.Name + ".default"
			if _, there, err := c.o.Queues.GetByKey(to); err != nil || !there {
				continue
			}
		}
		for _, pod := range c.podsIn(ours[name]) {
			if pod.DeletionTimestamp != nil {
				continue
			}
			retry := before[string(pod.UID)]
			if retry == nil {
				retry = &writing.Retry{}
			}
			c.moves[string(pod.UID)] = retry
			if retry.Due(now) {
				due = append(due, &expired{pod, to, retry})
			}
		}
	}
	writing.Send(ctx, due[:c.loop.Admit(len(due), false, now)], c.endPod, c.notePod)
}

func (c *Controller) endPod(ctx context.Context, e *expired) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, writing.Timeout)
	defer cancel()
	if e.to == "" {
		return nil, c.kube.PolicyV1().Evictions(e.pod.Namespace).Evict(ctx, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: e.pod.Namespace, Name: e.pod.Name},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &e.pod.UID}},
		})
	}
	// The status of a pod takes annotations, too, and the scheduler may write nothing else of it.
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": e.pod.UID, "annotations": map[string]any{v1alpha1.KeyPlacedQueue: e.to},
	}})
	if err != nil {
		return nil, err
	}
	_, err = c.kube.CoreV1().Pods(e.pod.Namespace).Patch(ctx, e.pod.Name, types.StrategicMergePatchType, body,
		metav1.PatchOptions{FieldManager: writing.FieldManager}, "status")
	return nil, err
}

// notePod takes in how a write went. After a success, too, some time must pass: the informer has yet to show it.
func (c *Controller) notePod(ctx context.Context, e *expired, _ *unstructured.Unstructured, err error) {
	e.retry.Postpone(c.loop.Clock.Now())
	switch {
	case err == nil && e.to == "":
		c.o.Recorder.Eventf(e.pod, nil, corev1.EventTypeNormal, v1alpha1.EventReservationEnded, "Reserving",
			"evicted, since its reservation has ended and its queue states moveOnExpiry: false")
	case err == nil:
		klog.FromContext(ctx).V(2).Info("Moved a pod whose reservation has ended", "pod", klog.KObj(e.pod), "queue", e.to)
		c.o.Recorder.Eventf(e.pod, nil, corev1.EventTypeNormal, v1alpha1.EventReservationEnded, "Reserving",
			"runs on in queue %s, since its reservation has ended", e.to)
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err) || writing.IsForAnother(err) || apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		// It is gone, or a budget does what it is for.
	default:
		c.loop.Complain(ctx, err, "A pod whose reservation has ended stays in its queue; it is tried again", "pod", klog.KObj(e.pod))
	}
}
