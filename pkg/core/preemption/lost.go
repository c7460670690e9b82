package preemption

import "slices"

// PodSeconds is how many seconds the victims of a plan have run together. Most of this work is lost. queue is the index of the queue for
// whose claims they are evicted, or -1 for all queues.
func (p Plan) PodSeconds(w World, queue int, now int64) (seconds int64) {
	for i := range p.Victims {
		v := &p.Victims[i]
		if queue >= 0 && v.ForQueue != queue {
			continue
		}
		there := w.Nodes[v.Node].Candidates
		at := slices.IndexFunc(there, func(c Candidate) bool { return c.UID == v.UID })
		if at >= 0 && there[at].Bound > 0 {
			seconds += max(now-there[at].Bound, 0) / 1_000_000_000
		}
	}
	return seconds
}
