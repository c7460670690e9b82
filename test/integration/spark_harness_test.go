package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// executorsEach is how many executors the driver of an application asks for, once it runs.
const executorsEach = 5

// operator does what Spark and its operator do: the driver of each application is there from its submission; when it runs it makes its
// executors, and when all of them have run and ended, it ends.
type operator struct {
	*world
	apps map[string]*sparkApp
	pods cache.SharedInformer
	work workqueue.TypedInterface[string]
	done atomic.Int64 // applications whose driver ended as it should
}

// sparkApp is an application as its driver knows it. One worker at a time looks at it.
type sparkApp struct {
	name, queue string
	finish      bool // its driver ends by itself; else somebody deletes it

	asked, ending, over bool
	ended               map[string]bool // executors
}

func (a *sparkApp) driver() string { return a.name + "-driver" }

func (a *sparkApp) executors() []string {
	names := make([]string, executorsEach)
	for i := range names {
		names[i] = fmt.Sprintf("%s-exec-%d", a.name, i+1)
	}
	return names
}

func isDriver(pod string) bool { return strings.HasSuffix(pod, "-driver") }

// appOf is the application of a pod, by its name.
func appOf(pod string) string {
	name, _, _ := strings.Cut(pod, "-driver")
	name, _, _ = strings.Cut(name, "-exec-")
	return name
}

// sparkPod makes a pod of 1 cpu with the labels that Spark and its operator write.
func sparkPod(a *sparkApp, name, role string) *v1.Pod {
	p := pod(name, a.queue, "1", "1Gi")
	for key, value := range map[string]string{
		"spark-app-selector": "spark-" + a.name, "spark-role": role, "spark-app-name": a.name, "spark-version": "3.5.1",
		"sparkoperator.k8s.io/app-name": a.name, "sparkoperator.k8s.io/launched-by-spark-operator": "true",
	} {
		p.Labels[key] = value
	}
	p.Spec.RestartPolicy = v1.RestartPolicyNever
	return p
}

// sparkExecutor runs for a moment, and belongs to its driver.
func sparkExecutor(a *sparkApp, name string, driver *v1.Pod) *v1.Pod {
	p := sparkPod(a, name, "executor")
	p.Labels["spark-exec-id"], p.Labels["spark-exec-resourceprofile-id"] = name[strings.LastIndexByte(name, '-')+1:], "0"
	p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: "0.1"}
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(driver, v1.SchemeGroupVersion.WithKind("Pod"))}
	return p
}

// submit creates the drivers of n applications, over the queues in turn, and then lets the operator look after them until the test ends.
func (w *world) submit(n int, queues ...string) *operator {
	w.t.Helper()
	o := &operator{world: w, apps: map[string]*sparkApp{}, work: workqueue.NewTyped[string]()}
	var drivers []*v1.Pod
	for i := range n {
		a := &sparkApp{name: fmt.Sprintf("app-%03d", i), queue: queues[i%len(queues)], finish: i%2 == 0, ended: map[string]bool{}}
		o.apps[a.name] = a
		drivers = append(drivers, sparkPod(a, a.driver(), "driver"))
	}
	w.create(drivers...)
	o.start()
	return o
}

func (o *operator) start() {
	o.t.Helper()
	pods := cache.NewListWatchFromClient(o.kube.CoreV1().RESTClient(), "pods", "default", fields.Everything())
	o.pods = cache.NewSharedInformer(pods, &v1.Pod{}, 0)
	seen := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			_, name, _ := cache.SplitMetaNamespaceKey(key)
			o.work.Add(appOf(name))
		}
	}
	_, err := o.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, obj any) { seen(obj) }, DeleteFunc: seen})
	o.must(err)
	ctx, cancel := context.WithCancel(o.ctx)
	var all sync.WaitGroup
	all.Go(func() { o.pods.Run(ctx.Done()) })
	for range 8 {
		all.Go(func() {
			for {
				name, stopped := o.work.Get()
				if stopped {
					return
				}
				if err := o.look(ctx, o.apps[name]); err != nil && ctx.Err() == nil {
					o.t.Errorf("the operator, at application %s: %v", name, err)
				}
				o.work.Done(name)
			}
		})
	}
	o.t.Cleanup(func() { cancel(); o.work.ShutDown(); all.Wait() })
}

// look does what is to be done for the application now. Doing it again does nothing.
func (o *operator) look(ctx context.Context, a *sparkApp) error {
	driver := o.seen(a.driver())
	if a.ending && !a.over && (driver == nil || driver.Status.Phase == v1.PodSucceeded) {
		a.over = true
		o.done.Add(1)
	}
	if driver == nil || driver.Status.Phase != v1.PodRunning || a.ending {
		return nil
	}
	if !a.asked {
		a.asked = true
		for _, name := range a.executors() {
			if err := o.client.Create(ctx, sparkExecutor(a, name, driver)); err != nil {
				return err
			}
		}
	}
	for _, name := range a.executors() {
		// Spark deletes executors that ended.
		if e := o.seen(name); e != nil && e.Status.Phase == v1.PodSucceeded && !a.ended[name] {
			a.ended[name] = true
			if err := client.IgnoreNotFound(o.client.Delete(ctx, e, client.GracePeriodSeconds(0))); err != nil {
				return err
			}
		}
	}
	if len(a.ended) < executorsEach {
		return nil
	}
	a.ending = true
	if a.finish {
		return o.client.Status().Patch(ctx, driver.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`)))
	}
	return o.client.Delete(ctx, driver, client.GracePeriodSeconds(0))
}

// seen is the pod as the operator last saw it, nil for none.
func (o *operator) seen(name string) *v1.Pod {
	obj, ok, err := o.pods.GetStore().GetByKey("default/" + name)
	if err != nil || !ok {
		return nil
	}
	return obj.(*v1.Pod)
}

// kill ends an application as an administrator does, the driver last: what it holds falls free when nobody of it waits any more.
func (o *operator) kill(name string) {
	o.t.Helper()
	a := o.apps[name]
	for _, pod := range append(a.executors(), a.driver()) {
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: "default"}}
		o.must(client.IgnoreNotFound(o.client.Delete(o.ctx, p, client.GracePeriodSeconds(0))))
		o.until(pod+" is gone", func() (bool, string) {
			err := o.client.Get(o.ctx, client.ObjectKeyFromObject(p), p)
			return apierrors.IsNotFound(err), fmt.Sprint(err)
		})
	}
}

// untilComplete waits for every application after the other: what takes long is no failure while something ends.
func (o *operator) untilComplete(applications int) {
	o.t.Helper()
	for n := 1; n <= applications; n++ {
		o.until(fmt.Sprintf("%d of %d applications are complete", n, applications), func() (bool, string) {
			done := int(o.done.Load())
			return done >= n, fmt.Sprintf("%d are, and %v bound", done, o.bound())
		})
		n = max(n, int(o.done.Load()))
	}
	if n := int(o.done.Load()); n != applications {
		o.t.Errorf("%d applications are complete, of %d", n, applications)
	}
}
