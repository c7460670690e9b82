package preemption

// PodSeconds is how many seconds the victims of a plan have run together: work that is lost, mostly. queue is the index of the one for whose
// claims they go, or -1 for all.
func (p Plan) PodSeconds(w World, queue int, now int64) (seconds int64) {
	began := map[string]int64{}
	for i := range w.Nodes {
		for j := range w.Nodes[i].Candidates {
			c := &w.Nodes[i].Candidates[j]
			began[c.UID] = c.Bound
		}
	}
	for i := range p.Victims {
		v := &p.Victims[i]
		if at := began[v.UID]; at > 0 && (queue < 0 || v.ForQueue == queue) {
			seconds += max(now-at, 0) / 1_000_000_000
		}
	}
	return seconds
}
