package simulator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// crowded is a world of pods that wait for room, at the size the design promises. test/integration has the same on a real control
// plane; there the full size takes minutes.
type crowded struct {
	Objects
	t *testing.T
	w *World
}

func (c *crowded) queue(path queue.Path, weight int64) {
	s := queue.DefaultSpec()
	s.Weight = weight * queue.DefaultWeight
	c.Queues = append(c.Queues, queue.Declaration{Path: path, Spec: s})
}

func (c *crowded) node(name string, s size) {
	c.Nodes = append(c.Nodes, withFacts(ledger.Node{Name: name, Allocatable: s.list(), Usable: true}, false))
}

func (c *crowded) pod(leaf queue.Path, class string, s size) {
	name := fmt.Sprintf("%s-%06d", class, len(c.Pods))
	c.Pods = append(c.Pods, ledger.Pod{
		UID: ledger.UID(name), Queue: string(leaf), Application: name, Class: class, Request: s.list(), Created: int64(len(c.Pods)),
	})
}

func (c *crowded) start() {
	c.w = Start(1, c.Objects, Options{Calm: true, Every: -20, Window: ledger.DefaultWindow})
}

// end ends a pod and runs until nothing is under way any more, but not the minutes after which a class is tried without room.
func (c *crowded) end(uid ledger.UID) {
	p := c.w.pods[uid]
	c.w.end(p)
	c.rest(func() bool { return !p.exists })
}

func (c *crowded) rest(done func() bool) {
	c.t.Helper()
	for !done() || !c.w.quiet() {
		if err := c.w.Run(1); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *crowded) attempts() (n int) {
	for _, of := range c.w.Attempts {
		n += of
	}
	return n
}

// sound looks at the books once more: nothing is under way, the ledger adds up and equals one that is built again, and the sweeper
// finds nothing.
func (c *crowded) sound() {
	c.t.Helper()
	if n := c.w.Ledger.Snapshot().InWindow; n != 0 {
		c.t.Errorf("%d pods in the window", n)
	}
	if !c.w.quiet() {
		c.t.Error("something is under way")
	}
	c.w.look(true)
	for _, wrong := range c.w.wrong {
		c.t.Error(wrong)
	}
}

// 4,000 hopeless pods in 20 classes before 500 that fit (20,000 and 2,000 with -full), in four queues: a class costs one attempt, and a pod that fits one.
// Then pods end, which wakes hopeless classes for nothing.
func TestAHopelessClassCostsOneAttempt(t *testing.T) {
	const classes, queues, ends = 20, 4, 100
	perClass, fitting := scale(200, 1000), scale(500, 2000)
	c := &crowded{t: t}
	c.queue(queue.Root, 1)
	for q := range queues {
		c.queue(leafAt(q), int64(q+1))
	}
	for i := range 10 {
		c.node(fmt.Sprintf("node-%d", i), size{cpu: int64(fitting / 10 * 1000), memory: int64(fitting/10) * gib})
	}
	one := size{cpu: 1000, memory: gib}
	for i := range perClass {
		for class := range classes {
			leaf, name := leafAt((class/4+i)%queues), fmt.Sprintf("hopeless-%d", class)
			switch class % 3 {
			case 0:
				c.pod(leaf, name, size{cpu: int64(1_000_000 + class), memory: gib}) // larger than any node
			case 1:
				c.pod(leaf, name, size{cpu: 1000, gpu: int64(1 + class), memory: gib}) // a device that no node has
			default:
				c.pod(leaf, name+"-ssd", one) // a node as there is none
				c.Pods[len(c.Pods)-1].Eligible = onSSD
			}
		}
	}
	for i := range fitting {
		c.pod(leafAt(i%queues), "fits", one)
	}
	c.start()
	c.rest(func() bool { return len(c.w.Reserved) == fitting && len(c.w.Attempts) == classes+1 })
	for _, r := range c.w.Reserved[:ends] {
		c.end(r.UID)
	}
	for class, n := range c.w.Attempts {
		if class != "fits" && n != 1 {
			t.Errorf("class %s was tried %d times", class, n)
		}
	}
	if n := c.attempts(); 100*n > 105*(classes+fitting) {
		t.Errorf("%d attempts for %d classes and %d binds", n, classes, fitting)
	}
	t.Logf("%d attempts for %d classes and %d binds", c.attempts(), classes, len(c.w.Reserved))
	c.sound()
}

func leafAt(i int) queue.Path { return queue.Path(fmt.Sprintf("root.q%02d", i)) }

// A full cluster, and 40 queues with 30 pods of a class of its own each (100 and 50 with -full). Pods end one by one; the room goes to the queue with the
// least usage for its weight, the first by name among equals, and costs one attempt. Nodes without the scarce device have room for
// everything else all the time.
func TestFreedRoomGoesToTheQueueTheOrderSays(t *testing.T) {
	queues, perQueue := scale(40, 100), scale(30, 50)
	places, ends := 2*queues, 4*queues
	c := &crowded{t: t}
	c.queue(queue.Root, 1)
	c.queue("root.first", 1)
	for i := range 4 {
		c.node(fmt.Sprintf("node-%d", i), size{cpu: 1_000_000, gpu: int64(places / 4), memory: 1000 * gib})
		c.node(fmt.Sprintf("plain-%d", i), size{cpu: 1_000_000, memory: 1000 * gib})
	}
	one := size{cpu: 1000, gpu: 1, memory: gib}
	for i := range places { // bound before the scheduler started
		c.pod("root.first", "first", one)
		p := &c.Pods[i]
		p.Node, p.Placed = fmt.Sprintf("node-%d", i%4), "root.first"
	}
	used, waiting := map[queue.Path]int{}, map[queue.Path]int{}
	weight := func(q int) int { return 1 + q%4 }
	for q := range queues {
		c.queue(leafAt(q), int64(weight(q)))
		for range perQueue {
			c.pod(leafAt(q), fmt.Sprintf("class-%02d", q), one)
		}
		waiting[leafAt(q)] = perQueue
	}
	running := make([]Reservation, places)
	for i := range running {
		running[i] = Reservation{UID: c.Pods[i].UID, Queue: "root.first"}
	}
	c.start()
	c.rest(func() bool { return len(c.w.Attempts) == queues })
	before := c.attempts()
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range ends {
		victim := rng.IntN(places)
		used[running[victim].Queue]--
		turn := -1
		for q := range queues {
			if waiting[leafAt(q)] > 0 && (turn < 0 || used[leafAt(q)]*weight(turn) < used[leafAt(turn)]*weight(q)) {
				turn = q
			}
		}
		c.end(running[victim].UID)
		if len(c.w.Reserved) != i+1 || c.w.Reserved[i].Queue != leafAt(turn) {
			t.Fatalf("place %d: %d taken, by %v; it is the turn of %s", i, len(c.w.Reserved), c.w.Reserved[i:], leafAt(turn))
		}
		used[leafAt(turn)]++
		waiting[leafAt(turn)]--
		running[victim] = c.w.Reserved[i]
	}
	if n := c.attempts() - before; 10*n > 11*ends {
		t.Errorf("%d attempts for %d places", n, ends)
	}
	t.Logf("%d attempts on the full cluster of %d classes, then %d for %d places", before, queues, c.attempts()-before, ends)
	c.sound()
}
