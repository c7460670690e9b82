package integration

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
)

// executorsEach is how many executors the driver of an application asks for, once it runs.
const executorsEach = 5

// operator does what Spark and its operator do.
type operator struct {
	*world
	*spark.Operator
}

// operator looks after the applications submitted to it until the test ends.
func (w *world) operator() *operator {
	w.t.Helper()
	o := &operator{w, spark.New(w.kube, func(err error) { w.t.Errorf("the operator: %v", err) })}
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.Run(ctx)
	}()
	w.t.Cleanup(func() { cancel(); <-done })
	return o
}

// submit creates the drivers of n applications, over the queues in turn, and then lets the operator look after them until the test ends.
// Every second driver is deleted in the end.
func (w *world) submit(n int, queues ...string) *operator {
	w.t.Helper()
	o := w.operator()
	apps := make([]spark.Application, n)
	for i := range apps {
		apps[i] = spark.Application{
			Name: fmt.Sprintf("app-%03d", i), Queue: queues[i%len(queues)], Executors: executorsEach, RunFor: 100 * time.Millisecond, Deleted: i%2 == 1,
		}
	}
	w.must(o.Submit(w.ctx, apps...))
	return o
}

// kill ends an application as an administrator does, the driver last: what it holds falls free when nobody of it waits any more.
func (o *operator) kill(name string) {
	o.t.Helper()
	a := o.Application(name)
	var pods []string
	for i := range a.Executors {
		pods = append(pods, a.ExecutorName(i+1))
	}
	for _, pod := range append(pods, a.DriverName()) {
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
			done := o.Completed()
			return done >= n, fmt.Sprintf("%d are, and %v bound", done, o.bound())
		})
		n = max(n, o.Completed())
	}
	if n := o.Completed(); n != applications {
		o.t.Errorf("%d applications are complete, of %d", n, applications)
	}
}
