package preemption

import (
	"encoding/binary"
	"slices"
)

// search looks for fewer victims for all units of a claim together, where walking them one by one has found places for them. One victim may
// serve several claimants on one node, and a claimant may leave the only room of its size to another: nobody sees that who looks at one
// claimant. It is exact as far as its steps last, which is for small states; a large one keeps what was found first.
type search struct {
	p     *planner
	o     *activeClaim
	units []*unit
	seats [][]seat
	// pods and drivers are how many more may go.
	pods, drivers int
	steps, asks   int
	// seen are states that lead nowhere, wrong the places that the filters refused.
	seen, wrong map[string]bool
	commits     int  // of the claims before
	any         bool // somebody goes for them
	gone        []int32
}

// The search ends after so many steps, or questions to the filters, and is not begun above so many eviction units.
const (
	mostSteps = 20_000
	mostAsks  = 1_000
	mostAtoms = 256
	mostNodes = 64
)

// improve replaces the places of a claim by others that take fewer drivers, or as many and fewer pods, if it finds them. commits and before
// are how the claim found the picture of the filters and the round.
func (p *planner) improve(o *activeClaim, commits int, before bool) {
	drivers, pods := p.cost(o.placed)
	if pods == 0 || len(p.evictionUnits) > mostAtoms || len(p.nodes) > mostNodes {
		return
	}
	s := &search{p: p, o: o, wrong: map[string]bool{}, commits: commits, any: before, steps: mostSteps, asks: mostAsks}
	for _, u := range o.placed {
		s.units = append(s.units, u.unit)
	}
	p.retract(o.placed)
	if s.cheaper(drivers, pods) {
		for i := range o.placed {
			o.placed[i].seats = s.seats[i]
		}
		return
	}
	p.repeat(o.placed)
	if s.asks < mostAsks {
		p.tell(o.placed, commits)
	}
}

// cheaper tries every cost below the one that is known, the smallest first.
func (s *search) cheaper(drivers, pods int) bool {
	all := 0
	for i := range s.p.evictionUnits {
		all += len(s.p.evictionUnits[i].pods)
	}
	for d := 0; d <= drivers; d++ {
		most := all
		if d == drivers {
			most = pods - 1
		}
		for k := d; k <= most && s.steps > 0 && s.asks > 0; k++ {
			s.drivers, s.pods, s.seen = d, k, map[string]bool{}
			s.seats, s.gone = make([][]seat, len(s.units)), s.gone[:0]
			if s.place(0, 0) {
				return true
			}
		}
	}
	return false
}

// place finds places for the pods from the j-th of the i-th unit on. It leaves the picture as it found it unless it succeeds.
func (s *search) place(i, j int) bool {
	if i == len(s.units) {
		return s.agreed()
	}
	u := s.units[i]
	if j == len(u.pods) {
		return s.place(i+1, 0)
	}
	if j == 0 {
		s.p.chargeUnit(u, true)
	}
	if s.steps > 0 && s.asks > 0 && s.possible(i, j) && s.tryNodes(i, j) {
		return true
	}
	if j == 0 {
		s.p.chargeUnit(u, false)
	}
	return false
}

// tryNodes tries the nodes in the order in which they would be chosen, and on each whoever gives the room, and nobody more.
func (s *search) tryNodes(i, j int) bool {
	key := s.key(i, j)
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	s.steps--
	p := s.p
	h := &hunt{activeClaim: s.o, asker: &s.units[i].pods[j], lcaBound: p.lcaBound(s.o), drivers: s.drivers > 0}
	if j > 0 {
		h.lcaBound = s.lcaBoundOf(i, j)
	}
	p.open()
	h.standing = p.rank(s.o, nil)
	c := &optionHeap{p: p, h: h, wanted: len(s.units) - i}
	var options []*option
	for n := range p.nodes {
		o := &option{node: int32(n), nominee: p.nodes[n].name == h.asker.Nominated}
		p.solve(h, o)
		if o.state == found {
			options = append(options, o)
		}
	}
	slices.SortFunc(options, c.compare)
	for _, o := range options {
		f := &frame{s: s, i: i, j: j, h: h, node: o.node}
		if f.open() {
			return true
		}
	}
	return false
}

// lcaBoundOf is the lcaBound of a unit of which some pods are placed already, as it was before the first of them.
func (s *search) lcaBoundOf(i, j int) int {
	for k := range j {
		s.p.undo(s.seats[i][k].victims...)
	}
	out := s.p.lcaBound(s.o)
	for k := range j {
		s.p.restoreTaken(s.seats[i][k].victims)
	}
	return out
}

// key names a state: who is gone, and how many of each shape are on each node.
func (s *search) key(i, j int) string {
	gone := slices.Clone(s.gone)
	slices.Sort(gone)
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(i)), uint64(j))
	for _, id := range gone {
		out = binary.AppendUvarint(out, uint64(id)+1)
	}
	out = append(out, 0)
	var placed []uint64
	for k := range i + 1 {
		for l, at := range s.seats[k] {
			placed = append(placed, uint64(s.units[k].pods[l].shape)<<32|uint64(at.node))
		}
	}
	slices.Sort(placed)
	for _, v := range placed {
		out = binary.AppendUvarint(out, v)
	}
	return string(out)
}

// possible reports whether the pods that may still go could be enough for all that is still to be placed, were there no nodes.
func (s *search) possible(i, j int) bool {
	for r := range s.p.names {
		var asked, free, most int64
		for k := i; k < len(s.units); k++ {
			for l := range s.units[k].pods {
				if k > i || l >= j {
					asked += s.units[k].pods[l].request[r]
				}
			}
		}
		if asked == 0 {
			continue
		}
		for n := range s.p.nodes {
			free += max(s.p.nodes[n].free[r], 0)
		}
		for v := range s.p.pods {
			if !s.p.pods[v].gone && s.o.lowestCommonAncestor[s.p.pods[v].Queue] != never {
				most = max(most, s.p.pods[v].request[r])
			}
		}
		if asked-free > 0 && (most == 0 || (asked-free+most-1)/most > int64(s.pods)) {
			return false
		}
	}
	return true
}

// agreed asks the filters about all places in turn, and tells them.
func (s *search) agreed() bool {
	p := s.p
	p.f.Rollback(s.commits)
	for i, u := range s.units {
		for j, at := range s.seats[i] {
			s.asks--
			node := p.nodes[at.node].index
			if !p.f.Fits(u.pods[j].Claimant, node, p.onNode(at.node, at.victims)) {
				s.wrong[s.question(i, j)] = true
				return false
			}
			p.f.Commit(u.pods[j].Claimant, node, p.uids(at.victims))
		}
	}
	p.stamp++
	return true
}

// question names what the filters are asked about a place: who is on its node, and who is gone from there.
func (s *search) question(i, j int) string {
	at := s.seats[i][j]
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s.units[i].pods[j].shape)), uint64(at.node))
	var there []uint64
	for k := range i + 1 {
		for l, other := range s.seats[k] {
			if other.node == at.node && (k < i || l < j) {
				there = append(there, uint64(s.units[k].pods[l].shape)<<1)
			}
			if k < i || l <= j {
				for _, id := range other.victims {
					there = append(there, uint64(id)<<1|1)
				}
			}
		}
	}
	slices.Sort(there)
	for _, v := range there {
		out = binary.AppendUvarint(out, v)
	}
	return string(out)
}
