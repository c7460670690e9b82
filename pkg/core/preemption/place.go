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
	first   victimRank // of the first of the victims
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
	refused // by the filters, whoever goes
)

// demand says for which claimants nodeOptions are: their shape, which pods may be evicted for them, and what is short beside room.
type demand struct {
	shape    int
	drivers  bool
	lcaBound int
	excess   string
}

// nodeOptions are the options of all nodes for one shape of claimants.
type nodeOptions struct {
	options []option
}

// optionHeap orders options, the best first: fewest drivers, fewest pods for those who fit thanks to them, the nominated node, the
// preferred victims, the name of the node.
type optionHeap struct {
	p       *planner
	h       *hunt
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
	if by := cmp.Or(cmp.Compare(a.pods*served(b), b.pods*served(a)), cmp.Compare(a.pods, b.pods)); by != 0 {
		return by
	}
	if a.nominee != b.nominee {
		if a.nominee {
			return -1
		}
		return 1
	}
	if len(a.victims) > 0 && len(b.victims) > 0 {
		if by := a.first.compare(&b.first, c.h.standing); by != 0 {
			return by
		}
	}
	for i := range min(len(a.victims), len(b.victims)) {
		if by := c.p.prefer(c.h, a.victims[i], b.victims[i]); by != 0 {
			return by
		}
	}
	if a.pods == 0 && a.extra != b.extra {
		return a.extra - b.extra // the tightest, so that larger room is left for larger claimants
	}
	return cmp.Compare(a.node, b.node)
}

// next takes out the best. The first time it is looked for, since mostly it is all that is needed; only then the others are put in order.
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

// find looks for the best place, takes who has to go, and commits it. wanted is how many claimants of this shape are still to come, this one
// included.
func (p *planner) find(h *hunt, wanted int) (seat, reason.UnpaidCause) {
	m := p.survey(h)
	c := &optionHeap{p: p, h: h, wanted: wanted, entries: make([]entry, 0, len(m.options))}
	for i := range m.options {
		o := &m.options[i]
		o.nominee = p.nodes[o.node].name == h.asker.Nominated
		if o.state == found {
			c.entries = append(c.entries, entry{o, c})
		}
	}
	for len(c.entries) > 0 {
		o := c.next()
		if !p.retake(h, o) {
			p.solve(h, o)
		} else if o.checked == p.stamp || p.fits(h, o) {
			if !p.round.affords(p.amounts(o.victims), p.alone) {
				p.undo(o.victims...)
				return seat{}, reason.RoundSpent
			}
			s := seat{node: o.node, victims: slices.Clone(o.victims)}
			p.commit(h.asker, s)
			return s, ""
		} else {
			p.undo(o.victims...)
			p.resolveConflict(h, o)
		}
		if o.state == found {
			c.entries = heap.Push(c.entries, entry{o, c})
		}
	}
	if p.retryRefused(m) {
		return p.find(h, wanted)
	}
	return seat{}, reason.NoPlace
}

// retryRefused allows nodes that the filters refused before another claimant was placed to be asked again. Rules of spreading and affinity may
// allow them now.
func (p *planner) retryRefused(m *nodeOptions) bool {
	again := false
	for i := range m.options {
		if o := &m.options[i]; o.state == refused && o.checked != p.stamp {
			o.state, again = unknown, true
		}
	}
	return again
}

// survey brings the offers of all nodes up to date. Those whose node did not change stand: during a claim its victims only become fewer. Which
// of several victims of equal cost is preferred follows the surpluses as long as the plan has patience for it.
func (p *planner) survey(h *hunt) *nodeOptions {
	which := demand{h.asker.shape, h.drivers, h.lcaBound, spell(p.excess(h.activeClaim, nil))}
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
			p.solve(h, o)
		}
	}
	return m
}

// keep remembers the options of a demand. Claimants come in few shapes.
func (p *planner) keep(which demand, m *nodeOptions) {
	const most = 32
	if len(p.recent) == most {
		delete(p.optionsOf, p.recent[0])
		p.recent = p.recent[1:]
	}
	p.recent = append(p.recent, which)
	p.optionsOf[which] = m
}

func spell(lacks []lack) string {
	var out []byte
	for _, l := range lacks {
		out = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(out, int64(l.resource)), int64(l.at)), l.amount)
	}
	return string(out)
}

// retake takes the victims of an option if they may still go together.
func (p *planner) retake(h *hunt, o *option) bool {
	for i, id := range o.victims {
		if !p.may(h, id) {
			p.undo(o.victims[:i]...)
			return false
		}
	}
	return true
}

// solve finds the cheapest way to make room on a node.
func (p *planner) solve(h *hunt, o *option) {
	*o = option{node: o.node, nominee: o.nominee, state: none, change: p.nodes[o.node].change, ranked: p.ranked, checked: -1}
	c := &p.cover
	c.p, c.h, c.node = p, h, o.node
	c.lacks = p.lacks(h, o.node, c.lacks[:0])
	evictionUnits := p.nodes[o.node].evictionUnits
	p.work -= len(evictionUnits) / 4
	switch {
	case len(c.lacks) == 0:
		p.note(h, o, nil)
	case p.single(c, evictionUnits), c.prepare(evictionUnits) && c.fewest():
		p.note(h, o, c.chosen)
		p.undo(c.chosen...)
	case c.lacks[len(c.lacks)-1].at != room:
		p.solveElsewhere(h, o)
	}
}

// note writes down an option whose victims are taken.
func (p *planner) note(h *hunt, o *option, victims []int32) {
	o.state = found
	o.victims = append(o.victims[:0], victims...)
	slices.SortFunc(o.victims, func(a, b int32) int { return p.prefer(h, a, b) })
	if len(o.victims) > 0 {
		o.first = p.victimRank(o.victims[0])
	}
	o.drivers, o.pods = 0, 0
	for _, id := range victims {
		o.drivers += p.evictionUnits[id].drivers
		o.pods += len(p.evictionUnits[id].pods)
	}
	n := &p.nodes[o.node]
	o.extra = max(n.slots, 1)
	for i, v := range h.asker.request {
		if v > 0 {
			o.extra = min(o.extra, int(min(n.free[i]/v, int64(o.extra))))
		}
	}
	o.extra = max(o.extra-1, 0)
}

// single looks for one pod that gives all, which is how most claims are paid.
func (p *planner) single(c *cover, evictionUnits []int32) bool {
	best := int32(-1)
	for _, id := range evictionUnits {
		a := &p.evictionUnits[id]
		if len(a.pods) > 1 || a.drivers > 0 || !p.reaches(c.h, &p.pods[a.pods[0]]) || best >= 0 && p.prefer(c.h, best, id) < 0 {
			continue
		}
		enough := true
		for _, l := range c.lacks {
			enough = enough && p.gives(c.h, id, c.node, l) >= l.amount
		}
		if enough && p.may(c.h, id) {
			p.undo(id)
			best = id
		}
	}
	c.chosen = c.chosen[:0]
	if best < 0 || !p.may(c.h, best) {
		return false
	}
	c.chosen = append(c.chosen, best)
	return true
}
