package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// lack is an amount that a claimant needs and that is missing.
type lack struct {
	resource int // into names, or slot
	// at is room: it is missing on the node; else an index on the claim's path: the queue there exceeds its max by it.
	at     int
	amount int64
}

const (
	slot = -1
	room = -1
)

// lacks returns what is missing for a claimant on a node, and what its queues use above their max. The claimant is charged already.
func (p *planner) lacks(rs *roomSearch, node int32, out []lack) []lack {
	n := &p.nodes[node]
	for i, v := range rs.claimant.request {
		if v > 0 && v > n.free[i] {
			out = append(out, lack{resource: i, at: room, amount: resource.SatSub(v, n.free[i])})
		}
	}
	if n.slots < 1 {
		out = append(out, lack{resource: slot, at: room, amount: int64(1 - n.slots)})
	}
	return p.excess(rs.activeClaim, out)
}

// excess returns what the queues above the claim's use above their max. Victims for it may run on any node, but inside these queues.
func (p *planner) excess(o *activeClaim, out []lack) []lack {
	for at, q := range o.path[:len(o.path)-1] {
		a := &p.queues[q]
		for i, used := range a.usage {
			if used > a.limits[i] {
				out = append(out, lack{resource: i, at: at, amount: resource.SatSub(used, a.limits[i])})
			}
		}
	}
	return out
}

// gives is how much of a lack on a node the eviction of a unit gives.
func (p *planner) gives(rs *roomSearch, id, node int32, l lack) int64 {
	var sum int64
	for _, v := range p.evictionUnits[id].pods {
		victim := &p.pods[v]
		switch {
		case l.at == room && victim.node != node, l.at != room && rs.lowestCommonAncestor[victim.Queue] < l.at:
		case l.resource == slot:
			sum++
		default:
			sum = resource.SatAdd(sum, victim.request[l.resource])
		}
	}
	return sum
}

// cover is the search for the fewest victims that give all that is missing for one claimant on one node.
type cover struct {
	p             *planner
	rs            *roomSearch
	node          int32
	lacks         []lack
	evictionUnits []int32 // the preferred first
	given         []int64 // by eviction unit and lack
	// best is, from each eviction unit on and for each lack, the most that one pod gives.
	best   []int64
	left   []int64 // of each lack
	chosen []int32
	steps  int
}

// coverSteps bounds the search on one node; hurriedSteps does so once a claim has used up its work. Where the search ends without a result,
// greedy takes over.
const (
	coverSteps   = 600
	hurriedSteps = 40
)

// prepare sorts the eviction units that give anything. It reports whether all of them together give enough.
func (c *cover) prepare(evictionUnits []int32) bool {
	c.evictionUnits, c.given, c.best, c.left, c.chosen = c.evictionUnits[:0], c.given[:0], c.best[:0], c.left[:0], c.chosen[:0]
	c.steps = coverSteps
	if c.p.work <= 0 {
		c.steps = hurriedSteps
	}
	if !c.couldGive(evictionUnits) {
		return false
	}
	c.p.work -= len(evictionUnits)
	for _, id := range evictionUnits {
		// A unit that may not be evicted alone may not be evicted beside others either.
		if a := &c.p.evictionUnits[id]; (a.drivers == 0 || c.rs.drivers) && c.p.tryTake(c.rs, id) {
			c.p.undo(id)
			c.evictionUnits = append(c.evictionUnits, id)
		}
	}
	slices.SortFunc(c.evictionUnits, func(a, b int32) int { return c.p.compareVictims(c.rs, a, b) })
	useful := c.evictionUnits[:0]
	sums := make([]int64, len(c.lacks))
	for _, id := range c.evictionUnits {
		start, some := len(c.given), false
		for i, l := range c.lacks {
			v := c.p.gives(c.rs, id, c.node, l)
			some = some || v > 0
			c.given = append(c.given, v)
			sums[i] = resource.SatAdd(sums[i], v)
		}
		if some {
			useful = append(useful, id)
		} else {
			c.given = c.given[:start]
		}
	}
	c.evictionUnits = useful
	for i, l := range c.lacks {
		c.left = append(c.left, l.amount)
		if sums[i] < l.amount {
			return false
		}
	}
	c.boundGains()
	return true
}

// couldGive reports whether all units that might be evicted give enough. It is a quick test that rules most nodes out.
func (c *cover) couldGive(evictionUnits []int32) bool {
	for _, l := range c.lacks {
		for _, id := range evictionUnits {
			if a := &c.p.evictionUnits[id]; l.amount > 0 && (a.drivers == 0 || c.rs.drivers) && c.p.eligible(c.rs, &c.p.pods[a.pods[0]]) {
				l.amount = resource.SatSub(l.amount, c.p.gives(c.rs, id, c.node, l))
			}
		}
		if l.amount > 0 {
			return false
		}
	}
	return true
}

func (c *cover) boundGains() {
	n := len(c.lacks)
	c.best = slices.Grow(c.best[:0], (len(c.evictionUnits)+1)*n)[:(len(c.evictionUnits)+1)*n]
	clear(c.best[len(c.evictionUnits)*n:])
	for i := len(c.evictionUnits) - 1; i >= 0; i-- {
		pods := int64(len(c.p.evictionUnits[c.evictionUnits[i]].pods))
		for j := range n {
			c.best[i*n+j] = max(c.best[(i+1)*n+j], (c.given[i*n+j]+pods-1)/pods)
		}
	}
}

// fewest finds the victims with the fewest drivers, then the fewest pods, that give all, and leaves them taken. Among equal numbers it
// prefers by the first victim, then by the second, and so on.
func (c *cover) fewest() bool {
	had := c.steps
	defer func() { c.p.work -= had - c.steps }()
	drivers, pods := 0, 0
	for _, id := range c.evictionUnits {
		drivers += c.p.evictionUnits[id].drivers
		pods += len(c.p.evictionUnits[id].pods)
	}
	for d := 0; d <= drivers; d++ {
		for k := 1; k <= pods && c.steps > 0; k++ {
			if c.deepen(0, k, d) {
				return true
			}
		}
	}
	return c.steps <= 0 && c.greedy()
}

func (c *cover) deepen(from, pods, drivers int) bool {
	n := len(c.lacks)
	done := true
	for j, v := range c.left {
		done = done && v <= 0
		if v > 0 && v > resource.SatMul(int64(pods), c.best[from*n+j]) {
			return false
		}
	}
	if done {
		return true
	}
	for i := from; i < len(c.evictionUnits) && c.steps > 0; i++ {
		a := &c.p.evictionUnits[c.evictionUnits[i]]
		if len(a.pods) > pods || a.drivers > drivers || !c.helps(i) {
			continue
		}
		c.steps--
		if !c.p.tryTake(c.rs, c.evictionUnits[i]) {
			continue
		}
		c.give(i, true)
		if c.deepen(i+1, pods-len(a.pods), drivers-a.drivers) {
			return true
		}
		c.give(i, false)
		c.p.undo(c.evictionUnits[i])
	}
	return false
}

func (c *cover) helps(i int) bool {
	n := len(c.lacks)
	for j, v := range c.left {
		if v > 0 && c.given[i*n+j] > 0 {
			return true
		}
	}
	return false
}

func (c *cover) give(i int, goes bool) {
	n := len(c.lacks)
	change(c.left, c.given[i*n:(i+1)*n], !goes)
	if goes {
		c.chosen = append(c.chosen, c.evictionUnits[i])
	} else {
		c.chosen = c.chosen[:len(c.chosen)-1]
	}
}

func (c *cover) covered() bool {
	return !slices.ContainsFunc(c.left, func(v int64) bool { return v > 0 })
}

// greedy takes the unit that gives the largest part of any lack, again and again, until nothing is missing. Then it drops the units that
// were not needed, drivers first.
func (c *cover) greedy() bool {
	n := len(c.lacks)
	var taken []int
	tried := make([]bool, len(c.evictionUnits))
	for !c.covered() {
		next, most := -1, Share{}
		for i := range c.evictionUnits {
			if tried[i] || !c.helps(i) {
				continue
			}
			for j, v := range c.left {
				part := Share{Amount: min(c.given[i*n+j], v), Of: resource.SatMul(v, int64(1+c.p.evictionUnits[c.evictionUnits[i]].drivers))}
				if v > 0 && (next < 0 || part.Compare(most) > 0) {
					next, most = i, part
				}
			}
		}
		if next < 0 {
			c.p.undo(c.chosen...)
			c.chosen = c.chosen[:0]
			return false
		}
		tried[next] = true
		if c.p.tryTake(c.rs, c.evictionUnits[next]) {
			c.give(next, true)
			taken = append(taken, next)
		}
	}
	c.dropUnneeded(taken)
	return true
}

func (c *cover) dropUnneeded(taken []int) {
	slices.Sort(taken)
	slices.Reverse(taken)
	slices.SortStableFunc(taken, func(a, b int) int {
		return c.p.evictionUnits[c.evictionUnits[b]].drivers - c.p.evictionUnits[c.evictionUnits[a]].drivers
	})
	n := len(c.lacks)
	kept := taken[:0]
	for _, i := range taken {
		change(c.left, c.given[i*n:(i+1)*n], true)
		if c.covered() {
			c.p.undo(c.evictionUnits[i])
			continue
		}
		change(c.left, c.given[i*n:(i+1)*n], false)
		kept = append(kept, i)
	}
	slices.Sort(kept)
	c.chosen = c.chosen[:0]
	for _, i := range kept {
		c.chosen = append(c.chosen, c.evictionUnits[i])
	}
}
