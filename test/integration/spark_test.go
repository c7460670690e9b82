package integration

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Spark-like applications of a driver and 5 executors, which the driver asks for once it runs, and room for 15 pods.
const (
	sparkPlaces = 15
	driverShare = 300 // 0.3, in milli
)

func sparkWorld(t *testing.T) *world { return newWorld(t, 3, "5", "5Gi") }

// With maxDriverShare 0.3 all applications complete. Three queues, so that all of the rule is there: of 15 cpu, weights 3, 1, 1 give 9, 3
// and 3; 0.3 of that are 2.7 cpu, which is 2 drivers, and twice 0.9, less than any driver: there one application runs at a time, since
// where no driver runs one may start. When queues have no applications left, the others' shares grow, and with them their drivers: up to 4 of 15 cpu.
func TestDriverShareLetsAllApplicationsComplete(t *testing.T) {
	applications := scale(30, 200)
	w := sparkWorld(t)
	weights := map[queue.Path]int64{"root.spark.etl": 3, "root.spark.adhoc": 1, "root.spark.tiny": 1}
	w.queue("root.spark")
	for path, weight := range weights {
		w.queue(fmt.Sprintf("%s weight=%d maxDriverShare=0.3", path, weight))
	}
	start := time.Now()
	o := w.submit(applications, "root.spark.etl", "root.spark.etl", "root.spark.etl", "root.spark.adhoc", "root.spark.tiny")
	s, _ := w.scheduler(ledger.Options{Journal: 1_000_000})
	o.untilComplete(applications)
	t.Logf("%d applications complete after %s", applications, time.Since(start))
	(&failing{world: w, s: s}).settled()
	r := newReplay(o, weights)
	for _, e := range s.Ledger.Journal(0) {
		r.step(e, true)
	}
	if r.full["root.spark.etl"] == 0 || r.alone["root.spark.adhoc"] == 0 || r.alone["root.spark.tiny"] == 0 {
		t.Errorf("nobody met the limit: drivers that used it up %v, that started only because no other ran %v", r.full, r.alone)
	}
	if len(r.ran) != applications*(1+executorsEach) {
		t.Errorf("%d pods ran, of %d", len(r.ran), applications*(1+executorsEach))
	}
}

// Without the limit drivers take every place, and nothing moves any more: each holds a place until its executors have run, and those
// have none. A place that falls free goes to the next driver. The limit resolves it without ending anybody: what falls free goes to
// executors then, until so few drivers run as may.
func TestWithoutDriverShareDriversTakeAllRoom(t *testing.T) {
	applications := scale(30, 200)
	w := sparkWorld(t)
	w.queue("root.spark maxDriverShare=1")
	o := w.submit(applications, "root.spark")
	s, _ := w.scheduler(ledger.Options{Journal: 1_000_000})
	w.until("the queues are there that the scheduler creates", func() (bool, string) { // until then the ledger moves on
		there := 0
		for _, q := range s.Ledger.Snapshot().Queues {
			if q.Declared && (q.Path == "root" || q.Path == "root.default") {
				there++
			}
		}
		return there == 2, "they are not"
	})
	o.untilDeadlock(s)
	o.kill("app-000")
	o.untilDeadlock(s)

	f := &failing{world: w, s: s}
	share := resource.MustParse("0.3")
	change(f, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.spark"}}, func(q *v1alpha1.Queue) { q.Spec.MaxDriverShare = &share })
	w.until("the limit is in force", func() (bool, string) {
		for _, q := range s.Ledger.Snapshot().Queues {
			if q.Path == "root.spark" {
				return q.Spec.MaxDriverShare == queue.AtMost(driverShare), fmt.Sprint(q.Spec.MaxDriverShare)
			}
		}
		return false, "no such queue"
	})
	o.untilDeadlock(s) // nobody is ended for it
	before := s.Ledger.Journal(0)
	start := time.Now()
	o.kill("app-001")
	o.untilComplete(applications - 2)
	t.Logf("%d applications complete %s after the first place fell free", applications-2, time.Since(start))
	f.settled()
	r := newReplay(o, map[queue.Path]int64{"root.spark": 1})
	for _, e := range s.Ledger.Journal(0) {
		r.step(e, e.Sequence >= uint64(len(before)))
	}
	if r.most["root.spark"] != sparkPlaces || r.full["root.spark"] == 0 {
		t.Errorf("at most %d drivers ran at a time, and there were %d places; %d used the limit up", r.most["root.spark"], sparkPlaces, r.full["root.spark"])
	}
}

// untilDeadlock waits until drivers have every place, and shows that this is the end of it: kube-scheduler has nothing to try, the ledger
// nothing to release, the operator nothing to do, no node room for anybody, and no running pod ends before one that has no room.
func (o *operator) untilDeadlock(s *app.Scheduler) {
	o.t.Helper()
	o.until("drivers have every place and all their executors wait", func() (bool, string) {
		drivers, executors := 0, 0
		for name, p := range o.pods() {
			drivers += btoi(spark.IsDriver(name) && p.Status.Phase == v1.PodRunning)
			executors += btoi(!spark.IsDriver(name))
		}
		return drivers == sparkPlaces && executors == sparkPlaces*executorsEach, fmt.Sprintf("%d drivers run, %d executors", drivers, executors)
	})
	(&failing{world: o.world, s: s}).settled()
	version := s.Ledger.Version()
	free := map[string]int{"node-0": 5, "node-1": 5, "node-2": 5}
	running := map[string]bool{}
	for name, p := range o.pods() {
		if p.Spec.NodeName != "" {
			free[p.Spec.NodeName]--
			running[name] = true
		}
	}
	for node, cpu := range free {
		if cpu != 0 {
			o.t.Errorf("node %s has %d cpu free", node, cpu)
		}
	}
	for name := range running {
		if !spark.IsDriver(name) {
			o.t.Errorf("%s runs, which is no driver", name)
			continue
		}
		for i := range executorsEach {
			app := o.Application(spark.NameOf(name))
			executor := app.ExecutorName(i + 1)
			if p := o.Pod(executor); p == nil || p.Spec.NodeName != "" {
				o.t.Errorf("%s does not wait for %s", name, executor)
			}
		}
	}
	if len(running) != sparkPlaces {
		o.t.Errorf("%d pods run in %d places", len(running), sparkPlaces)
	}
	o.until("the operator has looked at everything", func() (bool, string) { // a condition may still be written, which asks nothing of it
		n := o.Busy()
		return n == 0, fmt.Sprintf("%d applications to look at", n)
	})
	if r, ok := s.Ledger.Choose(time.Now().UnixNano()); ok {
		o.t.Errorf("pod %s may be released", r.UID)
	}
	if now := s.Ledger.Version(); now != version || o.t.Failed() {
		o.t.Fatalf("the ledger moved on from version %d to %d; %d applications are complete", version, now, o.Completed())
	}
}

// replay follows the ledger's journal and computes on its own how many drivers may run.
type replay struct {
	*operator
	weights map[queue.Path]int64

	states  map[ledger.UID]ledger.State
	pods    map[queue.Path]map[string]int // of each application, by leaf
	drivers map[queue.Path]int            // that are charged
	run     map[queue.Path]int            // drivers that have a node
	most    map[queue.Path]int            // of them at a time
	full    map[queue.Path]int            // that came under the limit and left no room for another
	alone   map[queue.Path]int            // that the limit alone would not have let start
	ran     map[string]bool
}

func newReplay(o *operator, weights map[queue.Path]int64) *replay {
	r := &replay{
		operator: o, weights: weights, states: map[ledger.UID]ledger.State{}, pods: map[queue.Path]map[string]int{},
		drivers: map[queue.Path]int{}, run: map[queue.Path]int{}, most: map[queue.Path]int{},
		full: map[queue.Path]int{}, alone: map[queue.Path]int{}, ran: map[string]bool{},
	}
	for leaf := range weights {
		r.pods[leaf] = map[string]int{}
	}
	return r
}

// step takes one step of a pod. limited: drivers may have no more than 0.3 of what the leaf's weight gives it among those that have
// applications, rounded up, unless no driver runs in the leaf.
func (r *replay) step(e ledger.Entry, limited bool) {
	r.t.Helper()
	app := spark.NameOf(e.Name)
	leaf := queue.Path(r.Application(app).Queue)
	was, known := r.states[e.UID]
	r.states[e.UID] = e.State
	idle, more := r.drivers[leaf] == 0, btoi(charged(e.State))-btoi(known && charged(was))
	r.pods[leaf][app] += btoi(!known) - btoi(e.State == ledger.Gone)
	if r.pods[leaf][app] == 0 {
		delete(r.pods[leaf], app)
	}
	r.ran[e.Name] = r.ran[e.Name] || e.State == ledger.Bound
	if charged(e.State) && e.Queue != leaf {
		r.t.Errorf("step %d: %s is %s in %s, should be in %s", e.Sequence, e.Name, e.State, e.Queue, leaf)
	}
	if !spark.IsDriver(e.Name) {
		return
	}
	r.drivers[leaf] += more
	r.run[leaf] += btoi(e.State == ledger.Bound) - btoi(known && was == ledger.Bound)
	r.most[leaf] = max(r.most[leaf], r.run[leaf])
	if !limited || more <= 0 {
		return
	}
	switch use, may := int64(r.drivers[leaf])*1000, r.mayUse(leaf); {
	case use <= may:
		r.full[leaf] += btoi(use+1000 > may)
	case idle:
		r.alone[leaf]++
	default:
		r.t.Errorf("step %d: %s is %s in %s, driver number %d, and drivers may use %d milli-cpu", e.Sequence, e.Name, e.State, leaf, r.drivers[leaf], may)
	}
}

// mayUse is what the drivers of the leaf may use, in milli-cpu.
func (r *replay) mayUse(leaf queue.Path) int64 {
	var sum int64
	for path, weight := range r.weights {
		if len(r.pods[path]) > 0 {
			sum += weight
		}
	}
	if sum == 0 {
		return 0
	}
	share := sparkPlaces * 1000 * r.weights[leaf] / sum
	return (share*driverShare + 999) / 1000
}

func charged(s ledger.State) bool {
	return s == ledger.Released || s == ledger.Reserved || s == ledger.Bound
}
