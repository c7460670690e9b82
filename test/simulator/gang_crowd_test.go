package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A crowd of pod groups: 50 of 2 to 64 pods of one cpu, on 16 nodes of 8 cpu, which hold two of the largest. Beside them single pods of one cpu
// come all the time, which alone would take half of the nodes.
const (
	crowdGroups   = 50
	largestGroup  = 64
	crowdNodes    = 16
	crowdNodeCPU  = 8
	crowdWithin   = 600 * second // the groups are submitted in this time, in any order
	streamEvery   = 800 * millisecond
	longestCrowd  = 7200 * second
	longestSingle = 80 * second
)

type crowd struct {
	w       *World
	rng     *rand.Rand
	queues  []string // of the groups
	sizes   []int
	runs    []int64 // how long the pods of a group run
	came    []int64 // when a group was submitted
	started []int64 // when its last pod was bound
	bound   []int
	ended   []int
	done    int
	singles int
	wrong   []string
	keeping int64 // since when nodes are held
	kept    int64 // for how long in all
}

func newCrowd(seed uint64, queues []string, streams ...string) *crowd {
	c := &crowd{
		queues: queues,
		rng:    rand.New(rand.NewPCG(seed, 12)), runs: make([]int64, crowdGroups), came: make([]int64, crowdGroups), started: make([]int64, crowdGroups),
		bound: make([]int, crowdGroups), ended: make([]int, crowdGroups), sizes: []int{largestGroup, largestGroup, 2},
	}
	for len(c.sizes) < crowdGroups {
		c.sizes = append(c.sizes, 2+c.rng.IntN(largestGroup-1))
	}
	c.rng.Shuffle(crowdGroups, func(i, j int) { c.sizes[i], c.sizes[j] = c.sizes[j], c.sizes[i] })
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}}}
	for _, name := range append([]string{"stream"}, queues...) {
		d := queue.Declaration{Path: queue.Root + "." + queue.Path(name), Spec: unlimited()}
		d.Spec.Policy = queue.FIFO
		obs.Queues = append(obs.Queues, d)
	}
	for i := range crowdNodes {
		obs.Nodes = append(obs.Nodes, withFacts(ledger.Node{
			Name: fmt.Sprintf("node-%02d", i), Allocatable: size{cpu: crowdNodeCPU * 1000, memory: crowdNodeCPU * gib}.list(), Usable: true,
		}, false))
	}
	c.w = Start(seed, obs, Options{Calm: true, Groups: true, Every: -100_000_000, Window: ledger.DefaultWindow})
	c.w.bound = c.isBound
	for i, n := range c.sizes {
		c.runs[i] = 60*second + c.rng.Int64N(120*second)
		c.w.at(c.rng.Int64N(crowdWithin), func() { c.submit(i, n) })
	}
	c.single(streams)
	return c
}

func (c *crowd) submit(i, n int) {
	c.came[i] = c.w.now
	key := fmt.Sprintf("default/gang-%02d", i)
	c.w.groups[key] = ledger.PodGroup{Key: key, MinMember: n}
	c.w.groupChanged(key)
	for j := range n {
		c.create(fmt.Sprintf("gang-%02d-%02d", i, j), c.queues[i%len(c.queues)], fmt.Sprintf("gang-%02d", i), key)
	}
}

func (c *crowd) create(name, queue, application, group string) {
	c.w.create(ledger.Pod{
		UID: ledger.UID(name), Name: name, Queue: queue, Application: application, PodGroup: group, Class: "one", Created: c.w.now,
		Request: size{cpu: 1000, memory: gib}.list(),
	})
}

// single is the stream, until all groups are done.
func (c *crowd) single(streams []string) {
	if c.done == crowdGroups {
		return
	}
	c.singles++
	name := fmt.Sprintf("single-%06d", c.singles)
	c.create(name, streams[c.rng.IntN(len(streams))], name, "")
	c.w.at(streamEvery, func() { c.single(streams) })
}

func (c *crowd) isBound(p *pod) {
	if p.PodGroup == "" {
		c.w.at(longestSingle/4+c.rng.Int64N(longestSingle*3/4), func() { c.ends(p) })
		return
	}
	var i int
	if _, err := fmt.Sscanf(p.Application, "gang-%d", &i); err != nil {
		panic(err)
	}
	if c.bound[i]++; c.bound[i] == c.sizes[i] {
		c.started[i] = c.w.now
	}
	c.w.at(c.runs[i], func() {
		c.ends(p)
		if c.ended[i]++; c.ended[i] == c.sizes[i] {
			c.done++
		}
	})
}

func (c *crowd) ends(p *pod) {
	p.exists = false
	c.w.podChanged(p)
}

// look: whenever nothing is under way, all pods of a group have had a node or none has.
func (c *crowd) look() {
	if c.w.heldFor == "" && c.keeping != 0 {
		c.kept, c.keeping = c.kept+c.w.now-c.keeping, 0
	} else if c.w.heldFor != "" && c.keeping == 0 {
		c.keeping = c.w.now
	}
	if !c.w.quiet() {
		return
	}
	for i, n := range c.bound {
		if n != 0 && n != c.sizes[i] {
			c.wrong = append(c.wrong, fmt.Sprintf("at %d s: %d of %d pods of group %d are bound", c.w.now/second, n, c.sizes[i], i))
		}
	}
}

func (c *crowd) run() error {
	for c.w.now < longestCrowd && c.w.Step() && c.done < crowdGroups {
		c.look()
		if wrong := append(c.w.wrong, c.wrong...); len(wrong) > 0 {
			return fmt.Errorf("%q", wrong)
		}
	}
	if wrong := c.w.Ledger.Check(); len(wrong) > 0 {
		return fmt.Errorf("%q", wrong)
	}
	return nil
}

// All complete, none is ever bound in part at rest, and none waits for ever, whether the single pods are in their queue or in another. In three queues, many
// groups are larger than the share of their queue.
func TestACrowdOfGangsCompletesBesideAStreamOfPods(t *testing.T) {
	one, three := []string{"gangs"}, []string{"gangs", "more", "most"}
	for name, of := range map[string]struct{ queues, streams []string }{
		"same queue": {one, one}, "another queue": {one, []string{"stream"}}, "both": {one, []string{"gangs", "stream"}}, "three queues": {three, []string{"stream"}},
	} {
		t.Run(name, func(t *testing.T) {
			if len(of.queues) > 1 && !*full {
				t.Skip("it takes a minute: make test-sim")
			}
			c := newCrowd(1, of.queues, of.streams...)
			if err := c.run(); err != nil {
				t.Fatal(err)
			}
			var longest, sum int64
			slowest := 0
			for i := range c.came {
				waited := c.started[i] - c.came[i]
				sum += waited
				if waited > longest {
					longest, slowest = waited, i
				}
			}
			t.Logf("%d groups of %d pods done after %d s, beside %d single pods; one waited for %d s, the longest (of %d pods) for %d s; nodes were held %d times, for %d s in all, %d s at most",
				c.done, sumOf(c.sizes), c.w.now/second, c.singles, sum/crowdGroups/second, c.sizes[slowest], longest/second, c.w.Holds, c.kept/second, c.w.LongestHold/second)
			if c.done < crowdGroups {
				t.Errorf("%d of %d groups are done after %d s: the others have %v", c.done, crowdGroups, c.w.now/second, c.waiting())
			}
		})
	}
}

func sumOf(ns []int) (sum int) {
	for _, n := range ns {
		sum += n
	}
	return sum
}

// waiting are the sizes of the groups that have not started.
func (c *crowd) waiting() (sizes []int) {
	for i, at := range c.started {
		if at == 0 {
			sizes = append(sizes, c.sizes[i])
		}
	}
	slices.Sort(sizes)
	return sizes
}
