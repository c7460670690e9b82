package podgroupstatus

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// byGroup is the index of pods by the key of their group.
const byGroup = "group"

// pods are those that name a group, also after they have ended.
type pods struct {
	informer cache.SharedIndexInformer
	changes  atomic.Uint64 // grows with every event
}

func newPods(client kubernetes.Interface) (*pods, error) {
	p := &pods{}
	p.informer = coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0,
		cache.Indexers{byGroup: func(obj any) ([]string, error) {
			if pod, ok := obj.(*corev1.Pod); ok {
				return []string{convert.GangOf(pod)}, nil
			}
			return nil, nil
		}},
		func(o *metav1.ListOptions) { o.LabelSelector = podgroup.PodGroupLabel })
	if err := p.informer.SetTransform(trimmed); err != nil {
		return nil, err
	}
	_, err := p.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { p.changes.Add(1) },
		UpdateFunc: func(any, any) { p.changes.Add(1) },
		DeleteFunc: func(any) { p.changes.Add(1) },
	})
	return p, err
}

// trimmed keeps what is counted: pods are large, and this is the second copy of each.
func trimmed(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			Labels: map[string]string{podgroup.PodGroupLabel: pod.Labels[podgroup.PodGroupLabel]},
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulerName: pod.Spec.SchedulerName},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}, nil
}

func (p *pods) count(key string, ours func(schedulerName string) bool) (c counts) {
	found, err := p.informer.GetIndexer().ByIndex(byGroup, key)
	if err != nil {
		return c // there is such an index
	}
	for _, obj := range found {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			continue
		}
		c.all++
		if ours(pod.Spec.SchedulerName) {
			c.ours++
		}
		if pod.Spec.NodeName != "" {
			c.placed++
		}
		switch pod.Status.Phase {
		case corev1.PodRunning:
			c.running++
		case corev1.PodSucceeded:
			c.succeeded++
		case corev1.PodFailed:
			c.failed++
		}
	}
	return c
}
