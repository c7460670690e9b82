package preemption

import (
	"encoding/binary"
	"slices"
)

// jointSearch looks for fewer victims for all units of a claim together, after nodes were found for one unit after the other. One victim
// may serve several claimants on one node, and a claimant may leave the only large room to another: looking at one claimant at a time does
// not show that. The search is exact as far as its steps last. In small clusters they do; in large ones the claim keeps what was found
// first.
type jointSearch struct {
	p           *planner
	o           *activeClaim
	units       []*unit
	reaches     []reach // of the units; the search does not change them
	assignments [][]assignment
	// pods and drivers are how many more may go.
	pods, drivers int
	steps, asks   int
	// seen are states that lead nowhere, refused the assignments that the filters refused.
	seen, refused map[string]bool
	commits       int  // of the claims before
	any           bool // they have victims
	gone          []int32
}

// The search ends after so many steps, or questions to the filters, and is not begun above so many eviction units. unitSteps is how many steps
// assignExactly may take in a whole plan.
const (
	mostSteps = 20_000
	unitSteps = 4_000
	mostAsks  = 1_000
	mostUnits = 256
	mostNodes = 64
)

// improve replaces the assignments of a claim by others with fewer drivers, or with as many drivers and fewer pods, if there are any.
// commits is how many commits stood before the claim, before whether the round had victims then.
func (p *planner) improve(o *activeClaim, commits int, before bool) {
	drivers, pods := p.cost(o.placed)
	if pods == 0 || len(p.evictionUnits) > mostUnits || len(p.nodes) > mostNodes {
		return
	}
	s := &jointSearch{p: p, o: o, refused: map[string]bool{}, commits: commits, any: before, steps: mostSteps, asks: mostAsks}
	for _, u := range o.placed {
		s.units = append(s.units, u.unit)
		s.reaches = append(s.reaches, u.reach)
	}
	p.unplace(o.placed)
	if s.cheaper(drivers, pods) {
		for i := range o.placed {
			o.placed[i].assignments = s.assignments[i]
		}
		return
	}
	p.placeAgain(o.placed)
	if s.asks < mostAsks {
		p.tellFilters(o.placed, commits)
	}
}

// assignExactly finds nodes for a unit, charged already, where assignAll found none within a reach: pods of a group can be in each other's way, and the
// victims for a node can be the wrong ones for a max. It takes what it finds first: improve looks for fewer. nil: there are none.
func (p *planner) assignExactly(o *activeClaim, u *unit, within reach) []assignment {
	easy := len(u.pods) == 1 && len(p.excess(o, nil)) == 0
	if easy || p.unitSteps <= 0 || len(p.evictionUnits) > mostUnits || len(p.nodes) > mostNodes {
		return nil
	}
	s := &jointSearch{
		p: p, o: o, units: []*unit{u}, reaches: []reach{within}, refused: map[string]bool{}, commits: p.f.Commits(), any: p.round.any, steps: p.unitSteps, asks: mostAsks,
	}
	defer func() { p.unitSteps = s.steps }()
	p.chargeUnit(u, false)
	for _, drivers := range []int{0, len(p.pods)} {
		s.drivers, s.pods, s.seen, s.assignments, s.gone = drivers, len(p.pods), map[string]bool{}, make([][]assignment, 1), nil
		if s.place(0, 0) {
			for _, at := range s.assignments[0] {
				p.noteChanges(at)
			}
			return s.assignments[0]
		}
	}
	p.chargeUnit(u, true)
	if s.asks < mostAsks {
		p.f.Rollback(s.commits)
		p.stamp++
	}
	return nil
}

// cheaper tries every cost below the one that is known, the smallest first.
func (s *jointSearch) cheaper(drivers, pods int) bool {
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
			s.assignments, s.gone = make([][]assignment, len(s.units)), s.gone[:0]
			if s.place(0, 0) {
				return true
			}
		}
	}
	return false
}

// place assigns nodes to all pods from the j-th pod of the i-th unit on. It leaves the picture as it found it unless it succeeds.
func (s *jointSearch) place(i, j int) bool {
	if i == len(s.units) {
		return s.filtersAgree()
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

// tryNodes tries the nodes in order of preference, and on each node all sets of victims that give the room and of which none is unneeded.
func (s *jointSearch) tryNodes(i, j int) bool {
	key := s.key(i, j)
	if s.seen[key] {
		return false
	}
	s.seen[key] = true
	s.steps--
	p := s.p
	rs := p.search(s.o, s.units[i], s.reaches[i], s.drivers > 0)
	rs.claimant, rs.from = &s.units[i].pods[j], s.lcaBoundOf(i, j)
	rs.ranks = p.rankQueues(s.o, nil)
	c := &optionHeap{p: p, rs: rs, wanted: len(s.units) - i}
	var options []*option
	for n := range p.nodes {
		o := &option{node: int32(n), nominee: p.nodes[n].name == rs.claimant.Nominated}
		p.solve(rs, o)
		if o.state == found {
			options = append(options, o)
		}
	}
	slices.SortFunc(options, c.compare)
	for _, o := range options {
		f := &nodeChoice{s: s, i: i, j: j, rs: rs, node: o.node}
		if f.try() {
			return true
		}
	}
	return false
}

// lcaBoundOf is the lcaBound of a unit as it was before its first pod was placed.
func (s *jointSearch) lcaBoundOf(i, j int) int {
	for k := range j {
		s.p.undo(s.assignments[i][k].victims...)
	}
	out := s.p.lcaBound(s.o, s.units[i], s.reaches[i].ideal)
	for k := range j {
		s.p.restoreTaken(s.assignments[i][k].victims)
	}
	return out
}

// key names a state: which victims are taken, and how many claimants of each shape are on each node.
func (s *jointSearch) key(i, j int) string {
	gone := slices.Clone(s.gone)
	slices.Sort(gone)
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(i)), uint64(j))
	for _, id := range gone {
		out = binary.AppendUvarint(out, uint64(id)+1)
	}
	out = append(out, 0)
	var placed []uint64
	for k := range i + 1 {
		for l, at := range s.assignments[k] {
			placed = append(placed, uint64(s.units[k].pods[l].shape)<<32|uint64(at.node))
		}
	}
	slices.Sort(placed)
	for _, v := range placed {
		out = binary.AppendUvarint(out, v)
	}
	return string(out)
}

// possible reports whether the victims that may still be taken could be enough for all claimants that have no node yet, if all room were on
// one node.
func (s *jointSearch) possible(i, j int) bool {
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

// filtersAgree asks the filters about all assignments in turn, and commits them.
func (s *jointSearch) filtersAgree() bool {
	p := s.p
	p.f.Rollback(s.commits)
	for i, u := range s.units {
		for j, at := range s.assignments[i] {
			s.asks--
			node := p.nodes[at.node].index
			if !p.f.Fits(u.pods[j].Claimant, node, p.onNode(at.node, at.victims)) {
				s.refused[s.filterKey(i, j)] = true
				return false
			}
			p.f.Commit(u.pods[j].Claimant, node, p.uids(at.victims))
		}
	}
	p.stamp++
	return true
}

// filterKey names what the filters are asked about an assignment: which claimants are on its node, and which victims are gone from there.
func (s *jointSearch) filterKey(i, j int) string {
	at := s.assignments[i][j]
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s.units[i].pods[j].shape)), uint64(at.node))
	var there []uint64
	for k := range i + 1 {
		for l, other := range s.assignments[k] {
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
