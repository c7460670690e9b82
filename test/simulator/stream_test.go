package simulator

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A stream of pods of one cpu that alone would take 95% of 40 nodes of 16 cpu, and a pod of 16 cpu every minute.
const (
	streamNodes   = 40
	streamNodeCPU = 16
	streamPart    = 95           // percent
	streamFrom    = 600 * second // when it has filled the nodes
	streamRuns    = 4500 * second
	largeEvery    = 60 * second
	largeLasts    = 30 * second
)

// arrival is a pod of a stream.
type arrival struct {
	at, lasts int64
	cpus      int
}

// arrivals draws a stream. Small pods run for shortest to longest.
func arrivals(seed uint64, shortest, longest int64) (all []arrival) {
	rng := rand.New(rand.NewPCG(seed, 77))
	every := float64(shortest+longest) / 2 * 100 / (streamPart * streamNodes * streamNodeCPU)
	for at := int64(0); at < streamRuns; at += int64(rng.ExpFloat64() * every) {
		all = append(all, arrival{at, shortest + rng.Int64N(longest-shortest+1), 1})
	}
	for at := largeEvery; at < streamRuns; at += largeEvery {
		all = append(all, arrival{at, largeLasts, streamNodeCPU})
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return int(min(max(a.at-b.at, -1), 1)) })
	return all
}

// streamed is what became of a stream, from streamFrom on.
type streamed struct {
	waits       []int64 // of the large pods, in the order in which they came; those that never started wait until the end
	smallWait   int64   // on average
	utilisation int64   // in thousandths
}

func (s streamed) mean() (mean int64) {
	for _, w := range s.waits {
		mean += w / int64(len(s.waits))
	}
	return mean
}

func (s streamed) String() string {
	return fmt.Sprintf("large pods wait %d s on average and %d s at most, small ones %d ms; %d.%d%% of the cluster are in use",
		s.mean()/second, slices.Max(s.waits)/second, s.smallWait/millisecond, s.utilisation/10, s.utilisation%10)
}

// sumUp sums up the starts of a stream.
func sumUp(all []arrival, started []int64) (s streamed) {
	var used, small, n int64
	for i, a := range all {
		start := started[i]
		if start == 0 {
			start = streamRuns
		}
		used += int64(a.cpus) * max(min(start+a.lasts, streamRuns)-max(start, streamFrom), 0) / millisecond
		switch {
		case a.at < streamFrom || a.at > streamRuns-300*second:
		case a.cpus > 1:
			s.waits = append(s.waits, start-a.at)
		default:
			small, n = small+start-a.at, n+1
		}
	}
	s.smallWait = small / n
	s.utilisation = used * 1000 / (streamNodes * streamNodeCPU * (streamRuns - streamFrom) / millisecond)
	return s
}

// best is the order that is best in hindsight: it knows how long each pod runs. While large pods wait, as many nodes are closed to all others, those that will
// be empty first. Everything else goes to the first node with room, in the order in which it came.
func best(all []arrival) streamed {
	nodes := make([][]int64, streamNodes) // when what is on each of their cpus ends
	started := make([]int64, len(all))
	var waiting, large []int
	for now, next := int64(0), 0; now < streamRuns; now += 50 * millisecond {
		for ; next < len(all) && all[next].at <= now; next++ {
			if all[next].cpus > 1 {
				large = append(large, next)
			} else {
				waiting = append(waiting, next)
			}
		}
		for i := range nodes {
			nodes[i] = slices.DeleteFunc(nodes[i], func(at int64) bool { return at <= now })
			if len(nodes[i]) == 0 && len(large) > 0 {
				nodes[i] = slices.Repeat([]int64{now + all[large[0]].lasts}, streamNodeCPU)
				started[large[0]], large = now, large[1:]
			}
		}
		closed := slices.Clone(nodes)
		slices.SortFunc(closed, func(a, b []int64) int { return cmp.Compare(slices.Max(append(a, 0)), slices.Max(append(b, 0))) })
		last := int64(-1) // a node that will be empty by then is closed
		if len(large) > 0 {
			last = slices.Max(append(closed[min(len(large), streamNodes)-1], 0))
		}
		for i := range nodes {
			for len(waiting) > 0 && len(nodes[i]) < streamNodeCPU && slices.Max(append(nodes[i], 0)) > last {
				nodes[i] = append(nodes[i], now+all[waiting[0]].lasts)
				started[waiting[0]], waiting = now, waiting[1:]
			}
		}
	}
	return sumUp(all, started)
}

// stream runs a stream on a ledger that holds nodes for large pods after a patience. told: small pods say for how long they run.
func stream(t *testing.T, seed uint64, all []arrival, patience int64, told bool) streamed {
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}}}
	for _, name := range []string{"small", "large"} {
		obs.Queues = append(obs.Queues, queue.Declaration{Path: queue.Root + "." + queue.Path(name), Spec: unlimited()})
	}
	for i := range streamNodes {
		obs.Nodes = append(obs.Nodes, withFacts(ledger.Node{
			Name: fmt.Sprintf("node-%02d", i), Allocatable: size{cpu: streamNodeCPU * 1000, memory: streamNodeCPU * gib}.list(), Usable: true,
		}, false))
	}
	w := Start(seed, obs, Options{Calm: true, Groups: true, LargePods: patience, Every: -100_000_000, Window: ledger.DefaultWindow})
	started := make([]int64, len(all))
	w.bound = func(p *pod) {
		var i int
		if _, err := fmt.Sscanf(p.Application, "pod-%d", &i); err != nil {
			panic(err)
		}
		started[i] = w.now
		w.at(all[i].lasts, func() { w.vanish(p) })
	}
	for i, a := range all {
		w.at(a.at, func() {
			name, leaf := fmt.Sprintf("pod-%07d", i), "small"
			if a.cpus > 1 {
				leaf = "large"
			}
			p := ledger.Pod{UID: ledger.UID(name), Name: name, Queue: leaf, Application: name, Class: leaf, Created: w.now,
				Request: size{cpu: int64(a.cpus) * 1000, memory: int64(a.cpus) * gib}.list()}
			if told {
				p.Lasts = a.lasts
			}
			w.create(p)
		})
	}
	for w.now < streamRuns && w.Step() {
		if len(w.wrong) > 0 {
			t.Fatalf("%q", w.wrong)
		}
	}
	if wrong := w.Ledger.Check(); len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
	return sumUp(all, started)
}

// With the default patience, large pods wait at most 1.5 times as long on average over all streams as in the best order, whether small pods say for how long
// they run or not; in no stream more than 1.6 times. Utilisation stays above 92%, and what it is if nothing is held.
func TestLargePodsBesideAStreamOfSmallOnes(t *testing.T) {
	const byDefault = gang.Patience / second
	seeds := 1
	if *full {
		seeds = 6
	}
	var waits, bests int64 // with the default, small pods say nothing
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		all := arrivals(seed, 120*second, 240*second)
		b, today := best(all), stream(t, seed, all, 0, false)
		t.Logf("stream %d: the best order in hindsight: %s", seed, b)
		t.Logf("nothing is held: %s", today)
		if today.mean() <= 2*b.mean() {
			t.Errorf("nothing has to be held: %s", today)
		}
		for _, c := range []struct {
			patience int64
			told     bool
			most     int64 // of the mean wait, in percent of the best
		}{{byDefault, false, 160}, {byDefault, true, 150}, {60, true, 200}, {60, false, 200}} {
			if !*full && (c.patience != byDefault || c.told) {
				continue
			}
			s := stream(t, seed, all, c.patience*second, c.told)
			t.Logf("after %d s, pods tell how long they run: %v: %s; large ones wait %d%% of the best", c.patience, c.told, s, 100*s.mean()/b.mean())
			if c.patience == byDefault && !c.told {
				waits, bests = waits+s.mean(), bests+b.mean()
			}
			if 100*s.mean() > c.most*b.mean() {
				t.Errorf("large pods wait %d%% of the best", 100*s.mean()/b.mean())
			}
			if s.utilisation < 920 || s.utilisation < today.utilisation-5 {
				t.Errorf("%d thousandths are in use", s.utilisation)
			}
		}
	}
	if t.Logf("over all streams %d%% of the best", 100*waits/bests); 100*waits > 150*bests {
		t.Errorf("large pods wait %d%% of the best", 100*waits/bests)
	}
}
