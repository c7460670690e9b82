package preemption

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// option is the cheapest way to make room for a claimant on a node.
type option struct {
	node    int32
	state   state
	nominee bool
	drivers int
	victims []int32
	pods    int
	// unannounced is how many of the pods no earlier process has announced.
	unannounced int
	first       victimRank // of the first of the victims
	// extra is how many more of the same claimant would fit without another victim.
	extra int
	// change and ranked say of which picture it was found; checked is the stamp of the picture about which the filters were asked.
	change, ranked, checked int
}

type state uint8

const (
	unknown state = iota
	found
	none
	refused // by the filters, whatever pods are evicted
)

// optionsKey says for which claimants nodeOptions are: their shape, which pods may be evicted for them, and by how much queues exceed their
// max, after what the unit pays to those further outside.
type optionsKey struct {
	shape   int
	drivers bool
	reach   reach
	pays    int
	excess  string
}

// nodeOptions are the options of all nodes for one shape of claimants.
type nodeOptions struct {
	options []option
}

// optionHeap orders options, the best first: the fewest drivers; the fewest victims for each claimant that then fits, and of these the
// fewest that are not announced yet; the nominated node; the preferred victims; the first name of a node.
type optionHeap struct {
	p       *planner
	rs      *roomSearch
	wanted  int
	asked   int
	entries []entry
}

// entry is an option in the heap of its optionHeap.
type entry struct {
	*option
	in *optionHeap
}

func (e *entry) Before(o *entry) bool { return e.in.compare(e.option, o.option) < 0 }
func (e *entry) Moved(int)            {}

func (c *optionHeap) compare(a, b *option) int {
	if by := cmp.Compare(a.drivers, b.drivers); by != 0 {
		return by
	}
	served := func(o *option) int { return 1 + min(o.extra, c.wanted-1) }
	if by := cmp.Or(cmp.Compare(a.pods*served(b), b.pods*served(a)), cmp.Compare(a.pods, b.pods), cmp.Compare(a.unannounced, b.unannounced)); by != 0 {
		return by
	}
	if a.nominee != b.nominee {
		if a.nominee {
			return -1
		}
		return 1
	}
	if len(a.victims) > 0 && len(b.victims) > 0 {
		if by := c.p.compareRanks(c.rs, &a.first, &b.first); by != 0 {
			return by
		}
	}
	for i := range min(len(a.victims), len(b.victims)) {
		if by := c.p.compareVictims(c.rs, a.victims[i], b.victims[i]); by != 0 {
			return by
		}
	}
	if a.pods == 0 && a.extra != b.extra {
		return a.extra - b.extra // the tightest, so that larger room is left for larger claimants
	}
	return cmp.Compare(a.node, b.node)
}

// next takes out the best option. The first call only looks for it, since mostly no other is needed; the second call puts the others in
// order.
func (c *optionHeap) next() *option {
	if c.asked++; c.asked == 2 {
		heap.Init(c.entries)
	}
	if c.asked > 1 {
		var best entry
		best, c.entries = heap.Pop(c.entries)
		return best.option
	}
	best, last := 0, len(c.entries)-1
	for i := range c.entries {
		if c.entries[i].Before(&c.entries[best]) {
			best = i
		}
	}
	o := c.entries[best].option
	c.entries[best] = c.entries[last]
	c.entries = c.entries[:last]
	return o
}

// find looks for the best node for a claimant, takes the victims there, and commits that. wanted is how many claimants of this shape are
// still to come, this one included.
func (p *planner) find(rs *roomSearch, wanted int) (assignment, reason.UnpaidCause) {
	m := p.optionsFor(rs)
	c := &optionHeap{p: p, rs: rs, wanted: wanted, entries: make([]entry, 0, len(m.options))}
	for i := range m.options {
		o := &m.options[i]
		o.nominee = p.nodes[o.node].name == rs.claimant.Nominated
		if o.state == found {
			c.entries = append(c.entries, entry{o, c})
		}
	}
	for len(c.entries) > 0 {
		o := c.next()
		if !p.takeAgain(rs, o) {
			p.solve(rs, o)
		} else if o.checked == p.stamp || p.fits(rs, o) {
			if !p.round.affords(p.amounts(o.victims), p.alone) {
				p.undo(o.victims...)
				return assignment{}, reason.RoundSpent
			}
			s := assignment{node: o.node, victims: slices.Clone(o.victims)}
			p.commit(rs.claimant, s)
			return s, ""
		} else {
			p.undo(o.victims...)
			p.resolveConflict(rs, o)
		}
		if o.state == found {
			c.entries = heap.Push(c.entries, entry{o, c})
		}
	}
	if p.retryRefused(m) {
		return p.find(rs, wanted)
	}
	return assignment{}, reason.NoPlace
}

// retryRefused allows nodes that the filters refused before another claimant was placed to be asked again. Rules of spreading and affinity
// may allow them now.
func (p *planner) retryRefused(m *nodeOptions) bool {
	again := false
	for i := range m.options {
		if o := &m.options[i]; o.state == refused && o.checked != p.stamp {
			o.state, again = unknown, true
		}
	}
	return again
}

// optionsFor brings the options of all nodes up to date. Options of nodes that did not change stay: during a claim the pods that may be
// evicted only become fewer. Which of several victims of equal cost is preferred changes with the surpluses; that is followed as long as
// the claim has work left.
func (p *planner) optionsFor(rs *roomSearch) *nodeOptions {
	which := optionsKey{rs.claimant.shape, rs.drivers, rs.reach, rs.pays, rs.outside() + encode(p.excess(rs.activeClaim, nil))}
	m, ok := p.optionsOf[which]
	if !ok {
		m = &nodeOptions{options: make([]option, len(p.nodes))}
		for i := range m.options {
			m.options[i].node = int32(i)
		}
		p.keep(which, m)
	}
	for i := range m.options {
		o := &m.options[i]
		stale := o.state == unknown || o.change != p.nodes[i].change
		if stale || o.state == found && len(o.victims) > 0 && o.ranked != p.ranked && p.work > 0 {
			p.solve(rs, o)
		}
	}
	return m
}

// keep remembers the options of a demand. Claimants come in few shapes.
func (p *planner) keep(which optionsKey, m *nodeOptions) {
	const most = 32
	if len(p.recent) == most {
		delete(p.optionsOf, p.recent[0])
		p.recent = p.recent[1:]
	}
	p.recent = append(p.recent, which)
	p.optionsOf[which] = m
}

func encode(lacks []lack) string {
	var out []byte
	for _, l := range lacks {
		out = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(out, int64(l.resource)), int64(l.at)), l.amount)
	}
	return string(out)
}

// takeAgain takes the victims of an option if they may still be evicted together.
func (p *planner) takeAgain(rs *roomSearch, o *option) bool {
	for i, id := range o.victims {
		if !p.tryTake(rs, id) {
			p.undo(o.victims[:i]...)
			return false
		}
	}
	return true
}

// solve finds the cheapest way to make room on a node.
func (p *planner) solve(rs *roomSearch, o *option) {
	*o = option{node: o.node, nominee: o.nominee, state: none, change: p.nodes[o.node].change, ranked: p.ranked, checked: -1}
	c := &p.cover
	c.p, c.rs, c.node = p, rs, o.node
	c.lacks = p.lacks(rs, o.node, c.lacks[:0])
	evictionUnits := p.nodes[o.node].evictionUnits
	p.work -= len(evictionUnits) / 4
	switch {
	case len(c.lacks) == 0:
		p.recordOption(rs, o, nil)
	case p.takeSingle(c, evictionUnits), c.prepare(evictionUnits) && c.fewest():
		p.recordOption(rs, o, c.chosen)
		p.undo(c.chosen...)
	case c.lacks[len(c.lacks)-1].at != room:
		p.solveUnderMax(rs, o)
	}
}

// recordOption writes down an option whose victims are taken already.
func (p *planner) recordOption(rs *roomSearch, o *option, victims []int32) {
	o.state = found
	o.victims = append(o.victims[:0], victims...)
	slices.SortFunc(o.victims, func(a, b int32) int { return p.compareVictims(rs, a, b) })
	if len(o.victims) > 0 {
		o.first = p.victimRank(o.victims[0])
	}
	o.drivers, o.pods, o.unannounced = 0, 0, 0
	for _, id := range victims {
		a := &p.evictionUnits[id]
		o.drivers += a.drivers
		o.pods += len(a.pods)
		if !a.announced {
			o.unannounced += len(a.pods)
		}
	}
	n := &p.nodes[o.node]
	o.extra = max(n.slots, 1)
	for i, v := range rs.claimant.request {
		if v > 0 {
			o.extra = min(o.extra, int(min(n.free[i]/v, int64(o.extra))))
		}
	}
	o.extra = max(o.extra-1, 0)
}

// takeSingle looks for one pod that gives all, and takes it. Most claimants need no more.
func (p *planner) takeSingle(c *cover, evictionUnits []int32) bool {
	best := int32(-1)
	for _, id := range evictionUnits {
		a := &p.evictionUnits[id]
		if len(a.pods) > 1 || a.drivers > 0 || !p.eligible(c.rs, &p.pods[a.pods[0]]) || best >= 0 && p.compareVictims(c.rs, best, id) < 0 {
			continue
		}
		enough := true
		for _, l := range c.lacks {
			enough = enough && p.gives(c.rs, id, c.node, l) >= l.amount
		}
		if enough && p.tryTake(c.rs, id) {
			p.undo(id)
			best = id
		}
	}
	c.chosen = c.chosen[:0]
	if best < 0 || !p.tryTake(c.rs, best) {
		return false
	}
	c.chosen = append(c.chosen, best)
	return true
}
