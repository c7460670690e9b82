package metrics

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const sec int64 = 1e9

// scrape returns the text of one scrape of the recorder, and fairway's series in it.
func scrape(t testing.TB, r *Recorder) (page string, series map[string]float64) {
	t.Helper()
	r.ledger.Settle(0) // as each round does
	Show(r)
	answer := httptest.NewRecorder()
	legacyregistry.HandlerWithReset().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	page, series = answer.Body.String(), map[string]float64{}
	for line := range strings.Lines(page) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), "} "); strings.HasPrefix(line, "fairway_") {
			if value == "" {
				name, value, _ = strings.Cut(strings.TrimSpace(line), " ")
			} else {
				name += "}"
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(line, err)
			}
			series[name] = v
		}
	}
	return page, series
}

func amounts(cpuMilli, bytes int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpuMilli}, resource.Entry{Name: resource.Memory, Value: bytes})
}

func declare(l *ledger.Ledger, path queue.Path, edits ...func(*queue.Spec)) {
	d := queue.Declaration{Path: path, Spec: queue.DefaultSpec()}
	for _, edit := range edits {
		edit(&d.Spec)
	}
	l.ObserveQueue(d)
}

// newLedger has one node of 8 cores and 16 GiB.
func newLedger() *ledger.Ledger {
	l := ledger.New(ledger.Options{})
	l.ObserveNode(ledger.Node{Name: "n", Usable: true, Allocatable: amounts(8000, 16<<30)})
	return l
}

// lead does what the scheduler does once everything is in its ledger.
func lead(r *Recorder) {
	r.ledger.Lead(0)
	r.Lead()
}

func pod(l *ledger.Ledger, uid ledger.UID, q, application string) {
	l.ObservePod(ledger.Pod{UID: uid, Name: string(uid), Queue: q, Application: application, Class: "c", Request: amounts(1500, 1<<30), Created: 100 * sec}, 100*sec)
}

// release releases one pod and tells the recorder.
func release(t *testing.T, l *ledger.Ledger, r *Recorder, now int64) ledger.Release {
	t.Helper()
	decision, ok := l.Choose(now)
	if !ok {
		t.Fatalf("nothing is released: %+v", l.Pods())
	}
	r.Released(decision, now)
	return decision
}

func wantSeries(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if v, there := got[name]; !there || v != want[name] {
			t.Errorf("%s: %v (there: %v), want %v", name, v, there, want[name])
		}
	}
}

// Two queues share 8 cores and 16 GiB by 3 : 1; two of three pods of a are released, one of them bound.
func TestQueuesAreShownInCoresAndBytes(t *testing.T) {
	l := newLedger()
	declare(l, "root.a", func(s *queue.Spec) { s.Weight = 3000; s.Max = amounts(3000, resource.Unlimited) })
	declare(l, "root.b", func(s *queue.Spec) { s.Guaranteed = amounts(500, 0) })
	for i := range 3 {
		pod(l, ledger.UID(fmt.Sprint("p", i)), "root.a", fmt.Sprint("app", i))
	}
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	first := release(t, l, r, 103*sec)
	l.Reserve(first.UID, "n", 104*sec)
	state, _ := l.PodState(first.UID)
	state.Backfills = true
	r.Bound(&state, 104*sec)
	bound := state.Pod
	bound.Node = "n"
	l.ObservePod(bound, 105*sec)
	release(t, l, r, 110*sec)
	r.Round()
	r.Attempted()
	r.Attempted()

	page, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		`fairway_leading`: 1, `fairway_queues`: 3, `fairway_queues_shown`: 3, `fairway_window_pods`: 1,
		`fairway_queue_steady_fair_share{queue="root",resource="cpu"}`:      8,
		`fairway_queue_steady_fair_share{queue="root.b",resource="memory"}`: 4 << 30,
		`fairway_queue_fair_share{queue="root.a",resource="cpu"}`:           3, // alone, and 3 at most
		`fairway_queue_fair_share{queue="root.b",resource="cpu"}`:           0, // not active
		`fairway_queue_allocated{queue="root.a",resource="cpu"}`:            3,
		`fairway_queue_allocated{queue="root",resource="memory"}`:           2 << 30,
		`fairway_queue_allocated{queue="root.b",resource="cpu"}`:            0,
		`fairway_queue_demand{queue="root.a",resource="cpu"}`:               3, // demand of 4.5 capped by max
		`fairway_queue_demand{queue="root.a",resource="memory"}`:            3 << 30,
		`fairway_queue_demand{queue="root.b",resource="memory"}`:            0,
		`fairway_queue_guaranteed{queue="root.b",resource="cpu"}`:           0.5,
		`fairway_queue_max{queue="root.a",resource="cpu"}`:                  3,
		`fairway_queue_applications{queue="root.a",state="pending"}`:        1, // that of the pod which is not released
		`fairway_queue_applications{queue="root",state="running"}`:          2,
		`fairway_queue_pods{queue="root.a",state="pending"}`:                2,
		`fairway_queue_pods{queue="root.a",state="running"}`:                1,
		`fairway_waiting_pods{reason="MaxResources"}`:                       1,
		`fairway_waiting_pods{reason="WaitingTurn"}`:                        0,
		`fairway_held_nodes{for="PodGroup"}`:                                0, `fairway_held_nodes{for="LargePods"}`: 0, `fairway_backfills_total`: 1,
		`fairway_releases_total`: 2, `fairway_attempts_total`: 2, `fairway_binds_total`: 1, `fairway_dispatch_rounds_total`: 1,
		`fairway_sweeper_repairs_total`:                                      0,
		`fairway_pod_release_duration_seconds_bucket{queue="root.a",le="2"}`: 0,
		`fairway_pod_release_duration_seconds_bucket{queue="root.a",le="5"}`: 1,
		`fairway_pod_release_duration_seconds_sum{queue="root.a"}`:           13,
		`fairway_pod_bind_duration_seconds_sum{queue="root.a"}`:              4,
		`fairway_pod_bind_duration_seconds_count{queue="root.a"}`:            1,
	})
	for _, absent := range []string{
		`fairway_queue_max{queue="root.a",resource="memory"}`, `fairway_queue_max{queue="root",resource="cpu"}`,
		`fairway_pod_release_duration_seconds_count{queue="root.b"}`,
	} {
		if _, there := got[absent]; there {
			t.Errorf("%s is there", absent)
		}
	}
	for _, d := range []string{"# TYPE fairway_queue_allocated gauge", "# TYPE fairway_releases_total counter", "# TYPE fairway_pod_bind_duration_seconds histogram"} {
		if !strings.Contains(page, d) {
			t.Errorf("no %q", d)
		}
	}
}

// Capacities are parts of the cluster; what queues do not state, and whether they run, has no series.
func TestCapacitiesPrioritiesAndStopsAreShown(t *testing.T) {
	l := newLedger()
	byCapacity := func(part, most int64) func(*queue.Spec) {
		return func(s *queue.Spec) { s.Capacity, s.MaxCapacity = queue.AtMost(part), queue.AtMost(most) }
	}
	declare(l, "root", func(s *queue.Spec) { s.MaxPriority = queue.AtMost(0) })
	declare(l, "root.a", byCapacity(80_000, 90_000))
	declare(l, "root.a.x", byCapacity(62_500, 75_000), func(s *queue.Spec) { s.DefaultPriority = -3 })
	declare(l, "root.a.y", byCapacity(37_500, 100_000))
	declare(l, "root.b", byCapacity(20_000, 100_000), func(s *queue.Spec) { s.State = queue.StateStopped })
	declare(l, "root.b.z")
	l.ObservePod(ledger.Pod{UID: "p", Name: "p", Queue: "root.b.z", Placed: "root.b.z", Node: "n", Application: "p", Class: "c", Request: amounts(1, 1), Created: sec}, 2*sec)
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		`fairway_queue_capacity_ratio{queue="root.a"}`:            0.8,
		`fairway_queue_max_capacity_ratio{queue="root.a"}`:        0.9,
		`fairway_queue_capacity_ratio{queue="root.a.x"}`:          0.5,
		`fairway_queue_max_capacity_ratio{queue="root.a.x"}`:      0.675,
		`fairway_queue_capacity_ratio{queue="root.a.y"}`:          0.3,
		`fairway_queue_max_capacity_ratio{queue="root.a.y"}`:      0.9,
		`fairway_queue_priority{kind="Most",queue="root"}`:        0,
		`fairway_queue_priority{kind="Default",queue="root.a.x"}`: -3,
		`fairway_queue_stopped{queue="root.b",state="Draining"}`:  1,
	})
	for _, absent := range []string{
		`fairway_queue_capacity_ratio{queue="root"}`, `fairway_queue_capacity_ratio{queue="root.b.z"}`, `fairway_queue_priority{kind="Default",queue="root.a"}`,
		`fairway_queue_priority{kind="Most",queue="root.a"}`, `fairway_queue_stopped{queue="root.a",state="Stopped"}`,
	} {
		if _, there := got[absent]; there {
			t.Errorf("%s is there", absent)
		}
	}
}

// In root.a one application waits, one has a driver with a node, two also have an executor, and all pods of
// one of those two are being deleted.
func TestApplicationsAreShownByState(t *testing.T) {
	l := newLedger()
	declare(l, "root.a", func(s *queue.Spec) {
		s.Policy, s.StartingTimeout = queue.StateAware, queue.StartingTimeout{Nanoseconds: 90 * sec}
	})
	declare(l, "root.b", func(s *queue.Spec) {
		s.Policy, s.StartingTimeout = queue.StateAware, queue.StartingTimeout{Adaptive: true}
	})
	declare(l, "root.c")
	observe := func(name, queue, node string, role application.Role, leaves bool) {
		app, _, _ := strings.Cut(name, "-")
		l.ObservePod(ledger.Pod{
			UID: ledger.UID(name), Name: name, Queue: queue, Application: app, Role: role, Class: "c", Node: node, Terminating: leaves,
			Request: amounts(100, 1<<20), Created: 100 * sec, Bound: 100 * sec,
		}, 101*sec)
	}
	observe("waits-driver", "root.a", "", application.Driver, false)
	observe("starts-driver", "root.a", "n", application.Driver, false)
	for _, name := range []string{"runs", "ends"} {
		observe(name+"-driver", "root.a", "n", application.Driver, name == "ends")
		observe(name+"-executor", "root.a", "n", application.Executor, name == "ends")
	}
	observe("plain-driver", "root.c", "n", application.Driver, false)
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	_, got := scrape(t, r)
	series := func(queue, state string) string {
		return fmt.Sprintf(`fairway_queue_applications{queue=%q,state=%q}`, queue, state)
	}
	wantSeries(t, got, map[string]float64{
		series("root.a", "pending"): 1, series("root.a", "starting"): 1, series("root.a", "running"): 1, series("root.a", "completing"): 1,
		series("root.c", "pending"): 0, series("root.c", "starting"): 0, series("root.c", "running"): 1, series("root.c", "completing"): 0,
		series("root", "pending"): 1, series("root", "starting"): 1, series("root", "running"): 2, series("root", "completing"): 1,
		`fairway_queue_starting_timeout_seconds{queue="root.a"}`: 90,
		`fairway_queue_starting_timeout_seconds{queue="root.b"}`: 60, // nothing was learnt yet
		`fairway_waiting_pods{reason="StateAware"}`:              1,
	})
	for _, path := range []string{"root", "root.c"} {
		if _, there := got[`fairway_queue_starting_timeout_seconds{queue="`+path+`"}`]; there {
			t.Errorf("%s has no policy StateAware, and a timeout", path)
		}
	}
}

func TestOnlyFirstReleasesAreTimedAndDurationsAreNotNegative(t *testing.T) {
	l := newLedger()
	declare(l, "root.a")
	pod(l, "p", "root.a", "app")
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	p := release(t, l, r, 90*sec) // created at 100 by another clock
	l.Fail(p.UID, ledger.Refused, 91*sec)
	release(t, l, r, 200*sec)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		`fairway_pod_release_duration_seconds_count{queue="root.a"}`: 1,
		`fairway_pod_release_duration_seconds_sum{queue="root.a"}`:   0,
		`fairway_releases_total`:                                     2,
	})
}

// A replica that does not lead must not show queues and must not change the ledger: what it shows later
// depends on what it sees until then.
func TestAReplicaThatDoesNotLeadShowsThatOnly(t *testing.T) {
	l := newLedger()
	declare(l, "root.a", func(s *queue.Spec) { s.MaxRunningApplications = queue.AtMost(1) })
	pod(l, "young", "root.a", "young")
	r := New(l, Options{MaxQueues: 10})
	_, got := scrape(t, r)
	want := map[string]float64{"fairway_leading": 0, "fairway_ledger_lock_waits_total": 0, "fairway_ledger_lock_wait_seconds_total": 0}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	l.ObservePod(ledger.Pod{UID: "old", Name: "old", Queue: "root.a", Application: "old", Class: "c", Request: amounts(1, 1), Created: 1}, 100*sec)
	lead(r)
	if p := release(t, l, r, 101*sec); p.UID != "old" {
		t.Errorf("%s has the slot: the scrape gave it away before all was seen", p.UID)
	}
}

func TestProblemsAreShownUnderTheNearestQueueThatIs(t *testing.T) {
	l := newLedger()
	declare(l, "root.a")
	declare(l, "root.a.b")
	declare(l, "root.a.b.x", func(s *queue.Spec) { s.Guaranteed, s.Max = amounts(2000, 0), amounts(1000, 0) })
	declare(l, "root.a.b.y", func(s *queue.Spec) { s.Guaranteed, s.Max = amounts(2000, 2), amounts(1000, 1) }) // two resources, one queue
	declare(l, "root.lost.child")
	of := func(most int) map[string]float64 {
		r := New(l, Options{MaxQueues: most})
		lead(r)
		_, got := scrape(t, r)
		maps.DeleteFunc(got, func(name string, _ float64) bool { return !strings.HasPrefix(name, "fairway_queue_problems") })
		return got
	}
	series := func(queue, reason string) string {
		return fmt.Sprintf(`fairway_queue_problems{queue=%q,reason=%q}`, queue, reason)
	}
	wantSeries(t, of(10), map[string]float64{
		series("root.a.b.x", "SpecInvalid"): 1, series("root.a.b.y", "SpecInvalid"): 1, series("root.lost.child", "ParentMissing"): 1,
	})
	wantSeries(t, of(2), map[string]float64{series("root.a", "SpecInvalid"): 2, series("root", "ParentMissing"): 1})
	if got := of(0); len(got) != 0 {
		t.Errorf("with no queue shown: %v", got)
	}
}

// The help says what a user must know, and every name follows Prometheus' conventions.
func TestNamesFollowTheConventions(t *testing.T) {
	l := newLedger()
	declare(l, "root.a")
	pod(l, "p", "root.a", "app")
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	release(t, l, r, 101*sec)
	page, _ := scrape(t, r)
	for line := range strings.Lines(page) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[2], "fairway_") {
			continue
		}
		name := fields[2]
		switch {
		case fields[1] == "TYPE" && strings.HasSuffix(name, "_total") != (fields[3] == "counter"):
			t.Errorf("%s is a %s: counters, and only they, end in _total", name, fields[3])
		case fields[1] == "TYPE" && fields[3] == "histogram" && !strings.HasSuffix(name, "_seconds"):
			t.Errorf("%s: a histogram ends in its unit", name)
		case fields[1] == "HELP" && fields[3] != "["+string(metrics.ALPHA)+"]":
			t.Errorf("%s says no stability: %s", name, line)
		case fields[1] == "HELP" && !strings.HasSuffix(strings.TrimSpace(line), "."):
			t.Errorf("the help of %s is no sentence: %s", name, line)
		}
	}
}

// Only stopped queues have a series that says so.
func TestStoppedQueuesHaveASeries(t *testing.T) {
	l := newLedger()
	declare(l, "root.a")
	declare(l, "root.b", func(q *queue.Spec) { q.State = queue.StateStopped })
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	l.Settle(200 * sec)
	_, values := scrape(t, r)
	if got := values[`fairway_queue_stopped{queue="root.b",state="Stopped"}`]; got != 1 {
		t.Errorf("of a queue that is stopped: %v", got)
	}
	if _, shown := values[`fairway_queue_stopped{queue="root.a",state="Running"}`]; shown {
		t.Error("of one that runs there is a series, too")
	}
}
