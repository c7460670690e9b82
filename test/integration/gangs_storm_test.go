package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// The cluster of the storm holds two of its largest gangs, whose pods ask for 1 cpu each.
const (
	stormNodes, stormCPU = 8, 16
	largestGang          = 64
)

// sizesOf are those of n gangs, large ones among small ones. Of 50 they are 544 pods.
func sizesOf(n int) (sizes []int) {
	large, small := []int{largestGang, 48, 32, largestGang, 24, 24, 16, 16, 32, 24}, []int{2, 4, 6, 8}
	for i := range n {
		if i%5 == 0 {
			sizes = append(sizes, large[i/5%len(large)])
		} else {
			sizes = append(sizes, small[i%5-1])
		}
	}
	return sizes
}

// gangStorm is a storm of gangs, beside a stream of single pods that alone would fill the cluster.
type gangStorm struct {
	*world
	*spans
	s       *app.Scheduler
	minimum map[string]int
	of      map[ledger.UID]string
}

// gang creates a gang of n pods, which run for so many seconds, in reverse order every second time: the group before its pods, or after them.
func (g *gangStorm) gang(name, queue string, n int, seconds string) {
	g.t.Helper()
	group := podGroupObject(name, n, nil)
	late := len(g.minimum)%2 == 1
	if !late {
		g.must(g.client.Create(g.ctx, group))
	}
	var pods []*v1.Pod
	for i := range n {
		pods = append(pods, member(fmt.Sprintf("%s-%d", name, i), queue, name, runs(seconds)))
	}
	g.create(pods...)
	if late {
		g.must(g.client.Create(g.ctx, group))
	}
	key := "default/" + name
	g.minimum[key] = n
	for _, p := range pods {
		g.of[ledger.UID(p.UID)] = key
	}
}

func runs(seconds string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: seconds} }
}

// singles keeps so many single pods in the cluster that have not ended, until stop is called. Each runs for so many seconds. stop returns how many there were.
func (w *world) singles(queue string, atOnce int64, seconds func(i int) int) (stop func() int) {
	w.t.Helper()
	var ended atomic.Int64
	known := map[types.UID]bool{}
	w.follow("!"+podgroup.PodGroupLabel, func(p *v1.Pod) {
		if p.Status.Phase == v1.PodSucceeded && !known[p.UID] {
			known[p.UID] = true
			ended.Add(1)
		}
	})
	ctx, cancel := context.WithCancel(w.ctx)
	result := make(chan int, 1)
	go func() {
		created := 0
		for ; ctx.Err() == nil; created++ {
			p := pod(fmt.Sprintf("single-%05d", created), queue, "1", "1Gi")
			runs(fmt.Sprint(seconds(created)))(p)
			if err := w.client.Create(w.ctx, p); err != nil {
				w.t.Errorf("single pods: %v", err)
				break
			}
			for int64(created)-ended.Load() > atOnce && ctx.Err() == nil {
				time.Sleep(5 * time.Millisecond)
			}
		}
		result <- created
	}()
	stop = func() int {
		cancel()
		n := <-result
		result <- n
		return n
	}
	w.t.Cleanup(func() { stop() })
	return stop
}

// untilComplete waits for every gang after the other: what takes long is no failure while something ends.
func (g *gangStorm) untilComplete() {
	g.t.Helper()
	done := map[string]bool{}
	for len(done) < len(g.minimum) {
		before := len(done)
		g.until(fmt.Sprintf("%d of %d gangs are complete", before+1, len(g.minimum)), func() (bool, string) {
			for key, n := range g.minimum {
				if g.span(key[len("default/"):]).ended == n {
					done[key] = true
				}
			}
			waiting := map[string]string{}
			for _, state := range g.s.Ledger.PodGroups() {
				if !done[state.Key] {
					waiting[state.Key] = fmt.Sprintf("%d there, %d reserved, %d bound of %d, %d ended", state.Pods, state.Reserved, state.Bound, state.MinMember,
						g.span(state.Key[len("default/"):]).ended)
				}
			}
			return len(done) > before, fmt.Sprint(waiting)
		})
	}
}

// Gangs of 2 to 64 pods, in the long run 50 of them, in three queues, on a cluster that holds two of the largest, beside single pods that never leave room by themselves:
// all complete, and no gang ever rests with a part of its nodes.
func TestAStormOfGangsCompletes(t *testing.T) {
	w := newWorld(t, stormNodes, fmt.Sprint(stormCPU), "64Gi")
	queues := []string{"root.a", "root.b", "root.c"}
	for _, q := range append(queues, "root.singles") {
		w.queue(q)
	}
	g := &gangStorm{world: w, spans: w.spans(), minimum: map[string]int{}, of: map[ledger.UID]string{}}
	g.s, _ = w.scheduler(ledger.Options{Journal: 1_000_000})
	g.gang("alone", "root.a", largestGang, "0")
	g.untilComplete()
	t.Logf("a gang of %d pods on an empty cluster, %s", largestGang, g.span("alone"))

	began := time.Now()
	stop := w.singles("root.singles", stormNodes*stormCPU+40, func(int) int { return 3 })
	w.until("single pods have all room", func() (bool, string) {
		n := w.bound()["all"]
		return n >= stormNodes*stormCPU-8, fmt.Sprint(n)
	})
	for i, n := range sizesOf(scale(10, 50)) {
		g.gang(fmt.Sprintf("gang-%02d", i), queues[i%len(queues)], n, []string{"1", "2", "3"}[i%3])
	}
	t.Logf("%d pods of %d gangs are created after %s", len(g.of)-largestGang, len(g.minimum)-1, time.Since(began).Round(time.Second))
	g.untilComplete()
	took := time.Since(began)
	singles := stop()
	t.Logf("all gangs are complete after %s, beside %d single pods; the largest took, from complete to bound:", took.Round(time.Second), singles)
	for _, key := range slices.Sorted(maps.Keys(g.minimum)) {
		if g.minimum[key] >= 32 {
			t.Logf("  %s: %s", key, g.span(key[len("default/"):]))
		}
	}
	w.until("all single pods have ended", func() (bool, string) { n := len(w.pods()); return n == 0, fmt.Sprint(n) })
	(&failing{world: w, s: g.s}).settled()
	w.agree()
	checkGangs(t, g.s.Ledger.Journal(0), g.of, g.minimum)
	for key, n := range g.minimum {
		if s := g.span(key[len("default/"):]); s.bound != n {
			t.Errorf("%d pods of %s were bound, of %d", s.bound, key, n)
		}
	}
}
