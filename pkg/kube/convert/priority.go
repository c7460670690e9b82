package convert

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// highestPriority is the highest one that a PriorityClass of users may have. The lowest is the lowest number of 32 bits.
const highestPriority = 1_000_000_000

// Priority is what a pod says about priority. A PriorityClass that is the default of the cluster counts as if the pod named it: the API server
// writes it into the pod. unread is what the pod asks for its application, if that is no priority; "" if it can be read.
func Priority(pod *corev1.Pod) (p application.PodPriority, unread string) {
	p.Classed = pod.Spec.PriorityClassName != ""
	if pod.Spec.Priority != nil {
		p.Value = *pod.Spec.Priority
	}
	asked := labelOrAnnotation(pod, v1alpha1.KeyApplicationPriority)
	var ok bool
	if p.Application, ok = application.ParseAskedPriority(asked); !ok {
		unread = asked
	}
	return p, unread
}

// priorities reads the priorities that a queue states.
func priorities(q *v1alpha1.Queue, spec *queue.Spec) error {
	read := func(field string, n *int32) (queue.Limit, error) {
		switch {
		case n == nil:
			return queue.Limit{}, nil
		case *n > highestPriority:
			return queue.Limit{}, refusal(q.Name, field, fmt.Errorf("%d is more than %d", *n, highestPriority))
		}
		return queue.AtMost(int64(*n)), nil
	}
	byDefault, err := read("spec.defaultPriority", q.Spec.DefaultPriority)
	if err != nil {
		return err
	}
	spec.DefaultPriority = int32(byDefault.Most)
	if q.Spec.MaxPriority != nil && q.Name != string(queue.Root) {
		return refusal(q.Name, "spec.maxPriority", errors.New("it holds over all queues, so it can be stated in the queue root only"))
	}
	spec.MaxPriority, err = read("spec.maxPriority", q.Spec.MaxPriority)
	return err
}
