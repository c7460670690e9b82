package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// crowd is a world whose scheduler is watched: which pods it tries, and in which order they are reserved.
type crowd struct {
	*world
	s     *app.Scheduler
	tried attempts
	// counted is what kube-scheduler's own counter said before this scheduler ran: it counts for the whole process.
	counted int
}

// attempts are the scheduling cycles, by the names of their pods. Every cycle counts, whatever comes of it: kube-scheduler's own
// counter leaves out those that a rule of ours refused.
type attempts struct {
	mu sync.Mutex
	of []string
}

// since returns the attempts from the n-th on.
func (a *attempts) since(n int) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.of[n:]...)
}

func (a *attempts) number() int { return len(a.since(0)) }

func (w *world) crowd(o ledger.Options) *crowd {
	w.t.Helper()
	c := &crowd{world: w}
	c.s, _ = w.scheduler(o, func(s *app.Scheduler) {
		kept := s.Scheduler.SchedulePod
		s.Scheduler.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
			c.tried.mu.Lock()
			c.tried.of = append(c.tried.of, info.Pod.Name)
			c.tried.mu.Unlock()
			return kept(ctx, f, state, info)
		}
		c.counted = attemptsCounted(w.t)
	})
	return c
}

// attemptsCounted is the sum of scheduler_schedule_attempts_total over its results.
func attemptsCounted(t *testing.T) (n int) {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "scheduler_schedule_attempts_total" {
			for _, m := range f.GetMetric() {
				n += int(m.GetCounter().GetValue())
			}
		}
	}
	return n
}

// untilFull waits until so many pods are bound and nothing is on its way. The ledger's word: thousands of pods are not listed every
// 50 ms. sound compares it with the API.
func (c *crowd) untilFull(pods int) {
	c.t.Helper()
	c.until(fmt.Sprintf("%d pods are bound", pods), func() (bool, string) {
		s := c.s.Ledger.Snapshot()
		return s.Queues[0].PodsRunning == pods && s.InWindow == 0, fmt.Sprintf("%d are, %d in the window", s.Queues[0].PodsRunning, s.InWindow)
	})
}

// untilTried waits until every class was tried. A pod's class is its name up to the last dash.
func (c *crowd) untilTried(classes map[string]bool) {
	c.t.Helper()
	c.until("every class was tried", func() (bool, string) {
		missing := len(classes)
		for class := range byClass(c.tried.since(0)) {
			missing -= btoi(classes[class])
		}
		return missing == 0, fmt.Sprintf("%d were not", missing)
	})
	quiet(c.t, c.world, c.s)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func classOf(pod string) string { return pod[:strings.LastIndexByte(pod, '-')] }

func byClass(pods []string) map[string]int {
	n := map[string]int{}
	for _, p := range pods {
		n[classOf(p)]++
	}
	return n
}

// reserved is what the journal says from a sequence number on: the pods in the order in which nodes were found for them.
func (c *crowd) reserved(from uint64) (es []ledger.Entry) {
	for _, e := range c.s.Ledger.Journal(from) {
		if e.State == ledger.Reserved {
			es = append(es, e)
		}
	}
	return es
}

// nextEntry is the sequence number that the journal gives next.
func (c *crowd) nextEntry() uint64 {
	es := c.s.Ledger.Journal(0)
	if len(es) == 0 {
		return 0
	}
	return es[len(es)-1].Sequence + 1
}

// end ends a running pod: it finishes, or is deleted. Nobody finishes before he runs, and a kubelet that is about to say that he does
// would bring him back.
func (c *crowd) end(name string, finish bool) {
	c.t.Helper()
	p := &v1.Pod{}
	p.Name, p.Namespace = name, "default"
	if finish {
		c.until(name+" runs", func() (bool, string) {
			c.must(c.client.Get(c.ctx, client.ObjectKeyFromObject(p), p))
			return p.Status.Phase == v1.PodRunning, string(p.Status.Phase)
		})
		c.must(c.client.Status().Patch(c.ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))))
		return
	}
	c.must(c.client.Delete(c.ctx, p, client.GracePeriodSeconds(0)))
}

// within checks a count of attempts against its bound, and says both.
func (c *crowd) within(what string, attempts, bound int, since time.Time, classes int) {
	c.t.Helper()
	// One pod of every class that waits for room is tried once in five minutes all the same (ADR 0011): a slow machine is no storm.
	flushed := classes * int(time.Since(since)/(5*time.Minute))
	c.t.Logf("%s: %d attempts, at most %d", what, attempts, bound+flushed)
	if attempts > bound+flushed {
		c.t.Errorf("%s: %d attempts, at most %d and %d after five minutes; by class %v", what, attempts, bound, flushed, byClass(c.tried.since(0)))
	}
}

// sound waits until nothing is under way and looks at the books (see failing.settled), and compares the two counts of attempts: all
// that kube-scheduler counted we saw, and what only we saw was refused by a rule of ours, of which these tests have none.
func (c *crowd) sound() {
	c.t.Helper()
	(&failing{world: c.world, s: c.s}).settled()
	if is, want := attemptsCounted(c.t)-c.counted, c.tried.number(); is != want {
		c.t.Errorf("kube-scheduler counted %d attempts, %d were seen", is, want)
	}
}
