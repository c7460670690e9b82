package integration

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// A storm of drivers: a hundred are there at once, each asks for ten executors, and there is room for 12 applications. Without a gate the
// drivers would take as much room as there is. With it one application starts at a time, the others share the room, and all complete.
func TestADriverStormCompletes(t *testing.T) {
	const queue, applications, executors, room = "root.spark", 100, 10, 12
	const places = room * (1 + executors)
	w := newWorld(t, room, fmt.Sprint(1+executors), fmt.Sprintf("%dGi", 1+executors))
	w.queue(queue + ` policy=StateAware maxDriverShare=1 startingTimeout=1h`)
	o := w.operator()
	apps := make([]spark.Application, applications)
	for i := range apps {
		apps[i] = spark.Application{Name: fmt.Sprintf("app-%03d", i), Queue: queue, Executors: executors, RunFor: 3 * time.Second, Deleted: i%2 == 1}
		if i < room {
			apps[i].RunFor = time.Hour // until the room was full
		}
	}
	w.must(o.Submit(w.ctx, apps...))
	began := time.Now()
	s, _ := w.scheduler(ledger.Options{})
	w.until("the room is full", func() (bool, string) {
		c := o.Counts(queue)
		return c.DriversRunning+c.ExecutorsRunning == places, fmt.Sprintf("%+v", c)
	})
	t.Logf("the room is full after %s", time.Since(began))
	for _, a := range apps[:room] {
		for e := range executors {
			w.endNow(a.ExecutorName(e + 1))
		}
	}
	o.untilComplete(applications)
	t.Logf("%d applications complete after %s", applications, time.Since(began))
	(&failing{world: w, s: s}).settled()
	w.agree()

	c := o.Counts(queue)
	t.Logf("at most %d applications started at a time, %d pods ran, %d drivers ran while no executor did", c.MostStarting, c.MostRunning, c.MostDriversAlone)
	if c.MostStarting != 1 {
		t.Errorf("%d applications had a driver that ran and had never had an executor, want 1", c.MostStarting)
	}
	if c.MostDriversAlone == places {
		t.Errorf("drivers held all %d places while no executor ran", places)
	}
	if starts := w.getQueue(queue).Status.Starts; starts == nil || len(starts.Applications) > 0 || len(starts.LastStarts) != 20 {
		t.Errorf("the status remembers %+v, want nobody starting and 20 starts", starts)
	}
}

// endNow has a pod complete that would run for longer.
func (w *world) endNow(pod string) {
	w.t.Helper()
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: "default"}}
	over := []byte(`{"metadata":{"annotations":{"` + localcluster.RunSecondsAnnotation + `":"0"}}}`)
	w.must(w.client.Patch(w.ctx, p, client.RawPatch(types.MergePatchType, over)))
}
