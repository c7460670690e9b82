package demo

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// observer watches pods and Queues.
type observer struct {
	pods, queues cache.Store
	// fresh are pods that we created and that the watch has not shown yet. Without them the next step would
	// submit them a second time.
	fresh map[string]freshPod
}

type freshPod struct {
	queue string
	until time.Time
}

// freshFor bounds how long a created pod counts if the watch never shows it, because it was deleted at once.
const freshFor = 10 * time.Second

// observe starts the watches and returns when they have shown the existing objects. They end with the context.
func observe(ctx context.Context, pods kubernetes.Interface, queues dynamic.Interface) (*observer, error) {
	ours := informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = "spec.schedulerName=" + v1alpha1.SchedulerName
	})
	podFactory := informers.NewSharedInformerFactoryWithOptions(pods, 0, ours)
	queueFactory := dynamicinformer.NewDynamicSharedInformerFactory(queues, 0)
	podInformer := podFactory.Core().V1().Pods().Informer()
	queueInformer := queueFactory.ForResource(v1alpha1.QueueResource).Informer()
	podFactory.Start(ctx.Done())
	queueFactory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), podInformer.HasSynced, queueInformer.HasSynced) {
		return nil, errors.New("watch pods and queues: given up")
	}
	return &observer{pods: podInformer.GetStore(), queues: queueInformer.GetStore(), fresh: map[string]freshPod{}}, nil
}

// created records pods that the watch will show.
func (o *observer) created(now time.Time, queue string, names []string) {
	for _, name := range names {
		o.fresh[namespace+"/"+name] = freshPod{queue: queue, until: now.Add(freshFor)}
	}
}

// world collects what the watches show. It reads all pods at once, so that they are from the same moment.
func (o *observer) world(now time.Time) (world, error) {
	w := world{bound: map[string]resource.List{}, waiting: map[string]int{}, running: map[string]int{}}
	for _, object := range o.pods.List() {
		if pod, ok := object.(*corev1.Pod); ok {
			delete(o.fresh, pod.Namespace+"/"+pod.Name)
			w.count(pod)
		}
	}
	for name, pod := range o.fresh {
		if now.After(pod.until) {
			delete(o.fresh, name)
			continue
		}
		w.waiting[pod.queue]++
	}
	var failed error
	for _, object := range o.queues.List() {
		if u, ok := object.(*unstructured.Unstructured); ok {
			row, err := row(u)
			failed = errors.Join(failed, err)
			w.queues = append(w.queues, row)
		}
	}
	slices.SortFunc(w.queues, func(a, b report.Queue) int { return queue.ComparePaths(queue.Path(a.Name), queue.Path(b.Name)) })
	return w, failed
}

func (w *world) count(pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	name := pod.Annotations[v1alpha1.KeyPlacedQueue]
	if name == "" {
		path, err := queue.ParseRequest(convert.QueueRequest(pod))
		if err != nil {
			return // it waits forever, in no queue
		}
		name = string(path)
	}
	if pod.Spec.NodeName == "" {
		w.waiting[name]++
		return
	}
	w.running[name]++
	w.bound[name] = w.bound[name].Add(convert.PodRequest(pod))
}

// row reads a Queue as the table shows it.
func row(u *unstructured.Unstructured) (report.Queue, error) {
	q, err := convert.DecodeQueue(u)
	if err != nil {
		return report.Queue{Name: u.GetName()}, err
	}
	declaration, err := convert.Declaration(q)
	if err != nil {
		return report.Queue{Name: u.GetName()}, err
	}
	return report.Queue{
		Name: q.Name, Weight: declaration.Spec.Weight,
		SteadyFairShare: convert.Amounts(q.Status.SteadyFairShare),
		FairShare:       convert.Amounts(q.Status.FairShare),
		Allocated:       convert.Amounts(q.Status.Allocated),
		Demand:          convert.Amounts(q.Status.Demand),
		Pending:         int64(q.Status.Pods.Pending),
		Running:         int64(q.Status.Pods.Running),

		ApplicationsPending: int64(q.Status.Applications.Pending), ApplicationsRunning: int64(q.Status.Applications.Running),
	}, nil
}
