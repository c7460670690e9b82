package integration

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// churn is a cluster in which pods come, end and are evicted all the time. A queue takes all room with single pods and with groups, whose
// eviction gives room on several nodes at once. Waves of groups, of applications behind a gate and of small pods with a guarantee claim theirs.
type churn struct {
	*world
	*rand.Rand
	pods    corelisters.PodLister
	created int
}

const (
	churnNodes, churnCPU = 12, 16
	waveLabel            = "example.com/wave"
)

// newChurn has the queues of a churn, and follows its pods. The seed decides what comes.
func newChurn(t *testing.T, seed uint64) *churn {
	t.Helper()
	w := newWorldAlone(t, churnNodes, fmt.Sprint(churnCPU), "640Gi")
	w.queue("root preemption.interval=1s preemption.maxWaitBeforeKill=1s")
	w.queue("root.hog")
	w.queue("root.gangs weight=2" + claims)
	w.queue("root.gangs.a guaranteed.cpu=8 guaranteed.memory=1Gi preemption.guaranteedTimeout=1s" + claims)
	w.queue("root.gangs.b" + claims)
	w.queue("root.spark weight=2 policy=StateAware startingTimeout=2s maxDriverShare=1" + claims)
	w.queue("root.small guaranteed.cpu=6 guaranteed.memory=1Gi preemption.guaranteedTimeout=1s" + claims)
	factory := informers.NewSharedInformerFactory(w.kube, 0)
	c := &churn{world: w, Rand: rand.New(rand.NewPCG(15, seed)), pods: factory.Core().V1().Pods().Lister()}
	factory.Start(w.ctx.Done())
	factory.WaitForCacheSync(w.ctx.Done())
	return c
}

// unfinished counts the pods of a wave that exist and have not ended, and those of them that have a node.
func (c *churn) unfinished(wave string) (all, placed int) {
	c.t.Helper()
	pods, err := c.pods.List(labels.SelectorFromSet(labels.Set{waveLabel: wave}))
	c.must(err)
	for _, p := range pods {
		if p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			all++
			placed += btoi(p.Spec.NodeName != "")
		}
	}
	return all, placed
}

// job makes pods of one size for a queue, which run for up to so many seconds.
func (c *churn) job(wave, queue string, n, size, seconds int, edits ...func(*v1.Pod)) []*v1.Pod {
	c.created++
	var pods []*v1.Pod
	for i := range n {
		p := pod(fmt.Sprintf("job-%05d-%02d", c.created, i), queue, fmt.Sprint(size), "1Gi")
		p.Labels[waveLabel] = wave
		runs(fmt.Sprint(1 + c.IntN(seconds)))(p)
		for _, edit := range edits {
			edit(p)
		}
		pods = append(pods, p)
	}
	return pods
}

// gang creates a group of pods of one size.
func (c *churn) gang(wave, queue string, n, size, seconds int) {
	c.t.Helper()
	name := fmt.Sprint("gang-", c.created)
	c.must(c.client.Create(c.ctx, podGroupObject(name, n, nil)))
	c.create(c.job(wave, queue, n, size, seconds, labelled(podgroup.PodGroupLabel, name))...)
}

// hogs keeps the room full, and returns how many of their pods have nodes. Every third job is a group.
func (c *churn) hogs(atLeast int) (placed int) {
	c.t.Helper()
	n, placed := c.unfinished("hog")
	for ; n < atLeast; n++ {
		if c.IntN(3) > 0 {
			c.create(c.job("hog", "root.hog", 1, 1+c.IntN(4), 60)...)
			continue
		}
		size := 2 + c.IntN(4)
		c.gang("hog", "root.hog", size, 1+c.IntN(4), 60)
		n += size - 1
	}
	return placed
}

// wave creates groups, applications and small pods.
func (c *churn) wave(name string) {
	c.t.Helper()
	for range 3 + c.IntN(3) {
		c.gang(name, []string{"root.gangs.a", "root.gangs.b"}[c.IntN(2)], 2+c.IntN(5), 1+c.IntN(6), 4)
	}
	for i := range 3 + c.IntN(3) {
		app := fmt.Sprint(name, "-", i)
		c.create(c.job(name, "root.spark", 1, 1, 4, driving(app))...)
		c.create(c.job(name, "root.spark", 2+c.IntN(6), 1+c.IntN(4), 4, executorOf(app))...)
	}
	c.create(c.job(name, "root.small", 4+c.IntN(8), 1, 4)...)
}

// churnTime is how long the churn takes with -long; -churn states another.
const churnTime = 3 * time.Minute

// Whatever comes and goes, the filters agree with every plan: none is refused by its own check.
func TestNoPlanIsRefusedInChurn(t *testing.T) {
	takes := *churnFor
	if takes == 0 && !*long {
		t.Skip("takes minutes")
	} else if takes == 0 {
		takes = churnTime
	}
	c := newChurn(t, 6)
	w := c.world
	s, _ := w.scheduler(ledger.Options{})

	began := time.Now()
	for i := 0; time.Since(began) < takes; i++ {
		w.until("the room is full", func() (bool, string) {
			n := c.hogs(150)
			return n >= churnNodes*churnCPU/4, fmt.Sprintf("%d pods of root.hog have nodes", n)
		})
		name := fmt.Sprint("wave-", i)
		c.wave(name)
		w.until(name+" is seen", func() (bool, string) {
			n, _ := c.unfinished(name)
			return n > 0, "it is not"
		})
		w.until(name+" is nearly over", func() (bool, string) {
			c.hogs(150)
			n, _ := c.unfinished(name)
			return n <= 10, fmt.Sprintf("%d pods are left", n)
		})
		w.must(w.client.DeleteAllOf(w.ctx, &v1.Pod{}, client.InNamespace("default"), client.MatchingFields{"status.phase": string(v1.PodSucceeded)}))
	}
	counts, page := s.Ledger.PreemptionCounts(), scrapePage(t)
	refused := metric(t, page, "fairway_preemption_plan_violations_total")
	t.Logf("%s: %d plans, %d of them refused; %d claims, %d victims evicted, %d withdrawn, %d nominations out of date", time.Since(began).Round(time.Second),
		metric(t, page, "fairway_preemption_plan_duration_seconds_count"), refused, counts.Claims, counts.Evicted, counts.Withdrawn, counts.Stale)
	if refused != 0 {
		for _, e := range w.eventsOf("root") {
			t.Logf("event %s: %s", e.Reason, e.Message)
		}
		t.Errorf("%d plans were refused by their own check", refused)
	}
	if counts.Evicted == 0 {
		t.Error("nothing was evicted: the churn tries nothing")
	}
	w.must(w.client.DeleteAllOf(w.ctx, &v1.Pod{}, client.InNamespace("default"), client.GracePeriodSeconds(0)))
	(&failing{world: w, s: s}).settled()
}

// metric is the value of a series without labels.
func metric(t *testing.T, page, name string) int64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no %s", name)
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
