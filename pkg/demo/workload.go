package demo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	namespace = metav1.NamespaceDefault
	// partOf marks the pods that we created and may delete. Viewers may add pods of their own.
	partOf     = "app.kubernetes.io/part-of"
	partOfDemo = "fairway-demo"
	// writers is how many requests run at a time.
	writers = 8
)

// workload submits pods and deletes those that have ended.
type workload struct {
	client   kubernetes.Interface
	position map[string]*position // by queue
}

// position is how far the pods of a queue are numbered.
type position struct {
	pods, application, inApplication int
	few                              bool
}

func newWorkload(client kubernetes.Interface) *workload {
	return &workload{client: client, position: map[string]*position{}}
}

// submit creates the pods and returns their names, also those created before an error.
func (l *workload) submit(ctx context.Context, s submission) ([]string, error) {
	at := l.position[s.queue]
	if at == nil {
		at = &position{}
		l.position[s.queue] = at
	}
	pods := make([]*corev1.Pod, s.pods)
	for i := range pods {
		pods[i] = at.next(s)
	}
	created := make([]bool, len(pods))
	err := localcluster.InParallel(len(pods), writers, func(i int) error {
		_, err := l.client.CoreV1().Pods(namespace).Create(ctx, pods[i], metav1.CreateOptions{})
		created[i] = err == nil
		return err
	})
	var names []string
	for i, pod := range pods {
		if created[i] {
			names = append(names, pod.Name)
		}
	}
	if err != nil {
		err = fmt.Errorf("submit pods to %s: %w", s.queue, err)
	}
	return names, err
}

// next creates a queue's next pod: a new application begins when the last one is complete.
func (p *position) next(s submission) *corev1.Pod {
	size := manyPerApp
	if s.few {
		size = fewPerApp
	}
	if p.application == 0 || p.inApplication >= size || p.few != s.few {
		p.application++
		p.inApplication = 0
		p.few = s.few
	}
	p.pods++
	p.inApplication++
	short := strings.TrimPrefix(s.queue, v1alpha1.RootQueue+".")
	application := fmt.Sprintf("%s-%d", short, p.application)
	grace, mount := int64(0), false
	annotations := map[string]string{localcluster.RunSecondsAnnotation: runSeconds(p.pods, s.few)}
	if s.endless {
		annotations = nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        fmt.Sprintf("%s-%d", application, p.inApplication),
			Labels:      map[string]string{v1alpha1.KeyQueue: short, v1alpha1.KeyApplication: application, partOf: partOfDemo},
			Annotations: annotations,
		},
		Spec: corev1.PodSpec{
			SchedulerName:                 v1alpha1.SchedulerName,
			RestartPolicy:                 corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: &grace,
			AutomountServiceAccountToken:  &mount,
			Containers: []corev1.Container{{
				Name:  "task",
				Image: "simulated", // no container is started
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU:    *resource.NewQuantity(podCores, resource.DecimalSI),
					corev1.ResourceMemory: *resource.NewQuantity(podGiB<<30, resource.BinarySI),
				}},
			}},
		},
	}
}

// runSeconds is how long the i-th pod of a queue runs: from 4 to 10 seconds in steps of 0.1. Neighbours differ
// a lot, so that pods that start together do not end together. 37 and 61 have no common factor: 61 pods in a
// row have 61 run times. The few pods run until well after the burst.
func runSeconds(i int, few bool) string {
	tenths := 40 + i*37%61
	if few {
		tenths += 300
	}
	return strconv.Itoa(tenths/10) + "." + strconv.Itoa(tenths%10)
}

// clear deletes our ended pods; a real cluster would keep thousands of them for a while.
func (l *workload) clear(ctx context.Context) error {
	now := int64(0)
	err := l.client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{
		LabelSelector: partOf + "=" + partOfDemo,
		FieldSelector: "status.phase=" + string(corev1.PodSucceeded),
	})
	if err != nil {
		return fmt.Errorf("delete pods that have ended: %w", err)
	}
	return nil
}

// clearAll deletes all our pods. Waiting pods go first, or they would take the places of the running ones.
func (l *workload) clearAll(ctx context.Context) error {
	now := int64(0)
	for _, which := range []string{"spec.nodeName=", ""} {
		err := l.client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{
			LabelSelector: partOf + "=" + partOfDemo, FieldSelector: which,
		})
		if err != nil {
			return fmt.Errorf("delete all pods: %w", err)
		}
	}
	return nil
}

// end makes pods succeed, as if their work were done.
func (l *workload) end(ctx context.Context, names []string) error {
	return localcluster.InParallel(len(names), writers, func(i int) error {
		_, err := l.client.CoreV1().Pods(namespace).Patch(ctx, names[i], types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
		if apierrors.IsNotFound(err) { // evicted
			return nil
		}
		return err
	})
}

// clearEvery is how often ended pods are deleted.
const clearEvery = 3 * time.Second
