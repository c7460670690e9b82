package preemption

import "slices"

// buildNodes adds the nodes and their candidates to the picture.
func (p *picture) buildNodes(w *World) {
	count := 0
	for i := range w.Nodes {
		count += len(w.Nodes[i].Candidates)
	}
	n := len(p.names)
	amounts := make([]int64, (count+len(w.Nodes))*n)
	cut := func() []int64 {
		out := amounts[:n:n]
		amounts = amounts[n:]
		return out
	}
	p.pods, p.evictionUnits = make([]pod, 0, count), make([]evictionUnit, 0, count)
	groups := map[string]int32{}
	members := make([]int32, count)
	p.nodes = make([]pictureNode, 0, len(w.Nodes))
	for _, i := range inOrder(w.Nodes, byName) {
		node := &w.Nodes[i]
		s := pictureNode{index: i, name: node.Name, free: p.denseInto(cut(), node.Free, 0), slots: node.Slots}
		s.evictionUnits = make([]int32, 0, len(node.Candidates))
		for _, j := range inOrder(node.Candidates, byUID) {
			c := &node.Candidates[j]
			id := int32(len(p.pods))
			group, known := groups[c.Gang]
			if c.Gang == "" || !known {
				group = int32(len(p.evictionUnits))
				members[id] = id
				p.evictionUnits = append(p.evictionUnits, evictionUnit{pods: members[id : id : id+1]})
				if c.Gang != "" {
					groups[c.Gang] = group
				}
			}
			p.join(group, id, c)
			p.pods = append(p.pods, pod{
				Candidate: c, node: int32(len(p.nodes)), evictionUnit: group, application: p.applicationOf(c), request: p.denseInto(cut(), c.Request, 0),
			})
			if c.Gang == "" || !slices.Contains(s.evictionUnits, group) {
				s.evictionUnits = append(s.evictionUnits, group)
			}
		}
		p.nodes = append(p.nodes, s)
	}
}

func (p *picture) join(group, id int32, c *Candidate) {
	a := &p.evictionUnits[group]
	a.pods = append(a.pods, id)
	a.announced = a.announced || c.Announced
	if c.Driver {
		a.drivers++
	}
}
