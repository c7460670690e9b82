package integration

import (
	"fmt"
	"slices"
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

// A storm of drivers: thirty (a hundred with -long) are there at once, each asks for ten executors, and there is room for 12 applications. Without a gate the
// drivers would take as much room as there is. With it one application starts at a time, the others share the room, and all complete.
func TestADriverStormCompletes(t *testing.T) {
	const queue, executors, room = "root.spark", 10, 12
	applications := scale(30, 100)
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

// With startingTimeout adaptive a queue learns from its starts: three times what 95 in 100 of them took, from 5 seconds to 5 minutes; a minute before
// the first. A scheduler that starts again knows it.
func TestStartingTimeoutIsLearnt(t *testing.T) {
	const queue = "root.spark"
	w := newWorld(t, 1, "12", "12Gi")
	w.queue(queue + " policy=StateAware startingTimeout=adaptive")
	o := w.operator()
	s, stop := w.scheduler(ledger.Options{})
	w.untilLearnt(queue, 0)
	app := func(i int) spark.Application {
		return spark.Application{Name: fmt.Sprintf("app-%d", i), Queue: queue, Executors: 1, RunFor: 100 * time.Millisecond, StartUp: 2 * time.Second}
	}
	w.must(o.Submit(w.ctx, app(0), app(1), app(2)))
	o.untilComplete(3)
	w.untilLearnt(queue, 3)
	(&failing{world: w, s: s}).settled()
	learnt := w.getQueue(queue).Status.Starts
	stop()
	s, _ = w.scheduler(ledger.Options{})
	w.must(o.Submit(w.ctx, app(3)))
	o.untilComplete(4)
	w.untilLearnt(queue, 4)
	(&failing{world: w, s: s}).settled()
	if is := w.getQueue(queue).Status.Starts; !slices.Equal(is.LastStarts[:3], learnt.LastStarts) {
		t.Errorf("after a restart the last starts are %v, before they were %v", is.LastStarts, learnt.LastStarts)
	}
}

// untilLearnt waits until the status has this many starts, and says what follows from them.
func (w *world) untilLearnt(queue string, starts int) {
	w.t.Helper()
	w.until(fmt.Sprintf("the status knows %d starts", starts), func() (bool, string) {
		s := w.getQueue(queue).Status.Starts
		if s == nil || len(s.LastStarts) != starts {
			return false, fmt.Sprintf("%+v", s)
		}
		var slowest time.Duration // of up to 20, 95 in 100 are all but one; of up to 19, all
		for _, text := range s.LastStarts {
			took, err := time.ParseDuration(text)
			w.must(err)
			slowest = max(slowest, took)
		}
		want, percentile := time.Minute, ""
		if starts > 0 {
			want, percentile = min(max(3*slowest, 5*time.Second), 5*time.Minute), slowest.String()
		}
		timeout, err := time.ParseDuration(s.Timeout)
		w.must(err)
		if timeout != want || s.Percentile95 != percentile {
			w.t.Errorf("of starts that took %v it learnt %s and a timeout of %s; want %s and %s", s.LastStarts, s.Percentile95, timeout, percentile, want)
		}
		return true, ""
	})
}

// endNow has a pod complete that would run for longer.
func (w *world) endNow(pod string) {
	w.t.Helper()
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: "default"}}
	over := []byte(`{"metadata":{"annotations":{"` + localcluster.RunSecondsAnnotation + `":"0"}}}`)
	w.must(w.client.Patch(w.ctx, p, client.RawPatch(types.MergePatchType, over)))
}
