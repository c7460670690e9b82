package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// queuesOf returns the queues that have series of a metric.
func queuesOf(series map[string]float64, metric string) []string {
	found := map[string]bool{}
	for name := range series {
		if rest, ok := strings.CutPrefix(name, metric+`{queue="`); ok {
			path, _, _ := strings.Cut(rest, `"`)
			found[path] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestWholeUpperLevelsThatFitAreShown(t *testing.T) {
	l := newLedger() // 1 + 2 + 3 queues
	for _, p := range []queue.Path{"root.a", "root.b", "root.a.x", "root.a.y", "root.b.z"} {
		declare(l, p)
	}
	for _, c := range []struct {
		most int
		want string
	}{
		{0, "[]"}, {1, "[root]"}, {2, "[root]"}, {3, "[root root.a root.b]"}, {5, "[root root.a root.b]"},
		{6, "[root root.a root.a.x root.a.y root.b root.b.z]"}, {1000, "[root root.a root.a.x root.a.y root.b root.b.z]"},
	} {
		r := New(l, Options{MaxQueues: c.most})
		lead(r)
		for _, p := range []queue.Path{"root.a.x", "root.b.z", "root.b.z"} {
			r.Bound(&ledger.PodState{Leaf: p}, sec)
		}
		_, got := scrape(t, r)
		if shown := fmt.Sprint(queuesOf(got, "fairway_queue_pods")); shown != c.want || got["fairway_queues"] != 6 {
			t.Errorf("%d: %s of %v, want %s of 6", c.most, shown, got["fairway_queues"], c.want)
		}
		counts := 0.0
		for name, v := range got {
			if strings.HasPrefix(name, "fairway_pod_bind_duration_seconds_count") {
				counts += v
			}
		}
		if c.most > 0 && counts != 3 || c.most == 0 && counts != 0 {
			t.Errorf("%d: %v binds are observed", c.most, counts)
		}
		if got["fairway_binds_total"] != 3 {
			t.Errorf("%d: %v binds", c.most, got["fairway_binds_total"])
		}
	}
}

func TestDeeperQueuesCountForTheirNearestShownAncestor(t *testing.T) {
	l := newLedger()
	for _, p := range []queue.Path{"root.a", "root.b", "root.a.x", "root.a.y", "root.b.z"} {
		declare(l, p)
	}
	r := New(l, Options{MaxQueues: 3})
	lead(r)
	for _, p := range []queue.Path{"root.a.x", "root.a.y", "root.b.z", "root.b"} {
		r.Bound(&ledger.PodState{Leaf: p}, sec)
	}
	r.Bound(&ledger.PodState{}, sec) // a pod that the ledger no longer knows
	r.Bound(&ledger.PodState{Leaf: "root"}, sec)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		`fairway_pod_bind_duration_seconds_count{queue="root.a"}`: 2, `fairway_pod_bind_duration_seconds_count{queue="root.b"}`: 2,
		`fairway_pod_bind_duration_seconds_count{queue="root"}`: 1, `fairway_binds_total`: 6,
	})
}

func TestSeriesOfRemovedQueuesEnd(t *testing.T) {
	l := newLedger()
	declare(l, "root.a")
	declare(l, "root.b")
	r := New(l, Options{MaxQueues: 10})
	lead(r)
	for _, p := range []queue.Path{"root.a", "root.b"} {
		r.Bound(&ledger.PodState{Leaf: p}, sec)
	}
	scrape(t, r)
	l.ForgetQueue("root.b")
	page, _ := scrape(t, r)
	if strings.Contains(page, "root.b") {
		t.Error("root.b is gone and still on the page")
	}
	declare(l, "root.b")
	r.Bound(&ledger.PodState{Leaf: "root.b"}, sec)
	_, got := scrape(t, r)
	wantSeries(t, got, map[string]float64{
		`fairway_pod_bind_duration_seconds_count{queue="root.a"}`: 1, `fairway_pod_bind_duration_seconds_count{queue="root.b"}`: 1,
	})
}

// Between two scrapes queues come and go; histograms never exceed the bound, and what has no place counts at
// the root.
func TestHistogramsStayWithinTheBoundBetweenScrapes(t *testing.T) {
	l := newLedger()
	r := New(l, Options{MaxQueues: 3})
	lead(r)
	for i := range 100 {
		r.Bound(&ledger.PodState{Leaf: queue.Path(fmt.Sprint("root.q", i))}, sec)
	}
	if n := len(r.durations.known); n != 3 {
		t.Errorf("%d queues have histograms, want 3", n)
	}
	if o, root := r.durations.of("root.q99"), r.durations.of("root"); o != root {
		t.Error("what finds no place does not count at the root")
	}
}

// large is a ledger of 10,000 queues: 100 below the root, each with 99 leaves, and in each leaf an application
// with 10 waiting pods.
func large(t testing.TB) *ledger.Ledger {
	l := newLedger()
	for i := range 100 {
		declare(l, queue.Path(fmt.Sprintf("root.d%d", i)))
		for j := range 99 {
			path := queue.Path(fmt.Sprintf("root.d%d.l%d", i, j))
			declare(l, path, func(s *queue.Spec) { s.Guaranteed, s.Max = amounts(1, 1<<20), amounts(1000, 1<<30) })
			for k := range 10 {
				pod(l, ledger.UID(fmt.Sprint(path, k)), string(path), string(path))
			}
		}
	}
	return l
}

// 10,000 queues and 100,000 pods: the test logs the cost of a scrape (see docs/metrics.md) and checks the
// number of series.
func TestTenThousandQueues(t *testing.T) {
	l := large(t)
	for _, c := range []struct {
		most, shown int
		want        int
	}{
		// Each queue has 4 x 2 amounts, 6 counts and 3 series of preemption; leaves also have guaranteed and
		// max, 2 x 2. Each queue with histograms has 2 x 13, including the root. The 100 queues above the leaves are
		// Overcommitted, one series each. 66 belong to no queue.
		{0, 0, 66},
		{1000, 101, 101*17 + 100 + 101*26 + 66},
		{10001, 10001, 101*17 + 100 + 9900*21 + 9901*26 + 66},
	} {
		r := New(l, Options{MaxQueues: c.most})
		lead(r)
		for i := range 100 {
			for j := range 99 {
				r.Bound(&ledger.PodState{Leaf: queue.Path(fmt.Sprintf("root.d%d.l%d", i, j))}, sec)
			}
		}
		r.Bound(&ledger.PodState{Leaf: "root"}, sec)
		began := time.Now()
		page, got := scrape(t, r)
		took := time.Since(began)
		if int(got["fairway_queues"]) != 10001 || int(got["fairway_queues_shown"]) != c.shown {
			t.Errorf("%d: shown %v of %v, want %d", c.most, got["fairway_queues_shown"], got["fairway_queues"], c.shown)
		}
		if len(got) != c.want {
			t.Errorf("%d: %d series, want %d", c.most, len(got), c.want)
		}
		t.Logf("at most %d queues: %d shown, %d series, a page of %d KiB in %s", c.most, c.shown, len(got), len(page)>>10, took.Round(time.Millisecond))
	}
}

// BenchmarkScrapeLock is how long a scrape holds the ledger's lock with 10,000 queues and 100,000 waiting
// pods.
func BenchmarkScrapeLock(b *testing.B) {
	l := large(b)
	l.Snapshot()
	b.Run("waiting", func(b *testing.B) {
		for b.Loop() {
			l.WaitingPods()
		}
	})
	b.Run("snapshot", func(b *testing.B) { // the shares are computed outside the lock
		for b.Loop() {
			l.Snapshot()
		}
	})
}

func BenchmarkRelease(b *testing.B) {
	l := large(b)
	r := New(l, Options{MaxQueues: 20000})
	lead(r)
	one := ledger.Release{Queue: "root.d50.l50", First: true}
	for b.Loop() {
		r.Released(one, 7*sec)
	}
}
