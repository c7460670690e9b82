package spark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// workers is how many applications are handled at a time, and how many pods are submitted at a time.
const workers = 8

// Operator manages applications.
type Operator struct {
	client kubernetes.Interface
	// failed gets errors about applications. Several goroutines may call it.
	failed func(error)
	work   workqueue.TypedDelayingInterface[string]

	mutex     sync.Mutex
	apps      map[string]*application
	pods      map[string]*v1.Pod // by name, as the API showed them last
	progress  *Progress
	completed map[string]int // applications whose driver succeeded, by queue
}

// application is an application as its driver knows it. Only one worker at a time handles it.
type application struct {
	Application
	runs                time.Time // since when, by our clock
	asked, ending, over bool
	ended               map[string]bool // executors
}

// New returns an operator without applications. failed gets the errors; what failed is not tried again.
func New(client kubernetes.Interface, failed func(error)) *Operator {
	return &Operator{
		client: client, failed: failed, work: workqueue.NewTypedDelayingQueue[string](),
		apps: map[string]*application{}, pods: map[string]*v1.Pod{}, progress: NewProgress(), completed: map[string]int{},
	}
}

// Submit creates the drivers, several at a time.
func (o *Operator) Submit(ctx context.Context, apps ...Application) error {
	o.mutex.Lock()
	for _, a := range apps {
		o.apps[a.Name] = &application{Application: a, ended: map[string]bool{}}
	}
	o.mutex.Unlock()
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for j := i; j < len(apps) && errs[i] == nil; j += workers {
				_, errs[i] = o.client.CoreV1().Pods(Namespace).Create(ctx, apps[j].Driver(), metav1.CreateOptions{})
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Run manages the applications until the context ends.
func (o *Operator) Run(ctx context.Context) {
	var all sync.WaitGroup
	// A reflector, not an informer: an informer shows the versions of each pod in order, but not those of all
	// pods together.
	all.Go(func() {
		cache.NewReflectorWithOptions(o.source(), &v1.Pod{}, watched{o}, cache.ReflectorOptions{}).RunWithContext(ctx)
	})
	for range workers {
		all.Go(func() {
			for {
				name, stopped := o.work.Get()
				if stopped {
					return
				}
				if err := o.look(ctx, name); err != nil && ctx.Err() == nil {
					o.failed(fmt.Errorf("application %s: %w", name, err))
				}
				o.work.Done(name)
			}
		})
	}
	<-ctx.Done()
	o.work.ShutDown()
	all.Wait()
}

// Busy is how many applications wait to be handled.
func (o *Operator) Busy() int { return o.work.Len() }

// Completed returns how many applications of the queues (of all, if none is named) are complete: all their
// executors and their driver have ended.
func (o *Operator) Completed(queues ...string) (n int) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for queue, completed := range o.completed {
		if len(queues) == 0 || slices.Contains(queues, queue) {
			n += completed
		}
	}
	return n
}

// Counts returns the counts of a queue so far.
func (o *Operator) Counts(queue string) Counts {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.progress.Queue(queue)
}

// Application returns an application that was submitted.
func (o *Operator) Application(name string) Application {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.apps[name].Application
}

// look does what the application needs now. A second call does nothing.
func (o *Operator) look(ctx context.Context, name string) error {
	a, driver := o.of(name)
	if a == nil {
		return nil // not our pod
	}
	if a.ending && !a.over && (driver == nil || driver.Status.Phase == v1.PodSucceeded) {
		a.over = true
		o.complete(a.Queue)
	}
	if driver == nil || driver.Status.Phase != v1.PodRunning || driver.DeletionTimestamp != nil || a.ending {
		return nil
	}
	if !a.asked {
		if a.runs.IsZero() {
			a.runs = time.Now()
		}
		if left := a.StartUp - time.Since(a.runs); left > 0 {
			o.work.AddAfter(name, left)
			return nil
		}
		a.asked = true
		for i := range a.Executors {
			if _, err := o.client.CoreV1().Pods(Namespace).Create(ctx, a.Executor(i+1, driver), metav1.CreateOptions{}); err != nil {
				return err
			}
		}
	}
	if err := o.collect(ctx, a); err != nil || len(a.ended) < a.Executors {
		return err
	}
	a.ending = true
	return o.end(ctx, a)
}

// collect records which executors have ended.
func (o *Operator) collect(ctx context.Context, a *application) error {
	for i := range a.Executors {
		name := a.ExecutorName(i + 1)
		if e := o.Pod(name); e == nil || e.Status.Phase != v1.PodSucceeded || a.ended[name] {
			continue
		}
		a.ended[name] = true
		if a.KeepEnded {
			continue
		}
		if err := o.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operator) end(ctx context.Context, a *application) error {
	if a.Deleted {
		return o.remove(ctx, a.DriverName())
	}
	succeeded := []byte(`{"status":{"phase":"Succeeded"}}`)
	_, err := o.client.CoreV1().Pods(Namespace).Patch(ctx, a.DriverName(), types.MergePatchType, succeeded, metav1.PatchOptions{}, "status")
	return err
}

func (o *Operator) remove(ctx context.Context, pod string) error {
	now := int64(0)
	err := o.client.CoreV1().Pods(Namespace).Delete(ctx, pod, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (o *Operator) of(name string) (*application, *v1.Pod) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.apps[name], o.pods[name+driverSuffix]
}

// Pod returns a pod as the API showed it last, nil if there is none.
func (o *Operator) Pod(name string) *v1.Pod {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.pods[name]
}

func (o *Operator) complete(queue string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.completed[queue]++
}

// saw takes in a version of a pod.
func (o *Operator) saw(pod *v1.Pod, deleted bool) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.pods[pod.Name] = pod; deleted {
		delete(o.pods, pod.Name)
	}
	o.progress.See(pod, deleted)
	o.work.Add(NameOf(pod.Name))
}
