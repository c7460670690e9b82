package simulator

import (
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// drawEntryLimits has queues limit how many applications they take in, in half of the worlds with limits. In the others all queues
// state so many that nobody is limited, if any shares by capacity. It has random numbers of its own: the worlds stay what they were.
func drawEntryLimits(seed uint64, o Options, qs []queue.Declaration) {
	rng := rand.New(rand.NewPCG(seed, 31))
	draws := o.Limits && rng.IntN(2) == 0
	byCapacity := slices.ContainsFunc(qs, func(d queue.Declaration) bool { return d.Spec.Capacity.Stated })
	for i := range qs {
		switch spec := &qs[i].Spec; {
		case draws:
			spec.MaxApplications = drawEntries(rng, qs[i].Path)
		case byCapacity:
			spec.MaxApplications = queue.AtMost(1<<31 - 1)
		}
	}
}

// drawEntries draws a number that binds; the root's is also what those that share by capacity have a part of.
func drawEntries(rng *rand.Rand, q queue.Path) queue.Limit {
	switch {
	case rng.IntN(3) == 0:
		return queue.Limit{}
	case q == queue.Root:
		return queue.AtMost(rng.Int64N(60))
	}
	return queue.AtMost(rng.Int64N(7))
}

// editEntryLimits changes how many applications a queue takes in.
func (w *World) editEntryLimits(d *queue.Declaration) {
	rng := rand.New(rand.NewPCG(w.seed, uint64(w.Steps)+37))
	if rng.IntN(3) == 0 {
		d.Spec.MaxApplications = drawEntries(rng, d.Path)
	}
}

// refused: a pod's queue does not take its application in.
func refused(s ledger.PodState) bool {
	switch s.BlockedBy.Code {
	case reason.MaxApplications, reason.UserMaxApplications, reason.QueueStopped:
		return true
	}
	return false
}

// entryLimits are how many applications each queue of the tree takes in: what it states or, in a leaf with a capacity, its part of what the root
// states, or of 10000; rounded down, but not to none.
func (w *World) entryLimits() map[queue.Path]queue.Limit {
	tree, total := w.tree(), w.total().list()
	absolute := fairshare.AbsoluteOf(tree, total, w.steady())
	cluster, limits := int64(10_000), map[queue.Path]queue.Limit{}
	if root := w.known.queues[queue.Root].Spec.MaxApplications; root.Stated {
		cluster = root.Most
	}
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		limits[n.Path] = n.Spec.MaxApplications
		if !n.Spec.MaxApplications.Stated && n.Spec.Capacity.Most > 0 && len(n.Children) == 0 && !n.ForChildren {
			limits[n.Path] = queue.AtMost(max(cluster*absolute[i].Capacity/100_000_000, 1))
		}
	}
	return limits
}

// enters: one more application breaks no limit on those in the queues, and its queue takes new ones.
func (w *World) enters(limits map[queue.Path]queue.Limit, c counts, a *app) bool {
	if !w.goesOn(a) {
		return false
	}
	for q := a.queue; q != ""; q = q.Parent() {
		if !limits[q].Admits(c.queues[q] + 1) {
			return false
		}
	}
	perUser := limits[a.queue]
	tree := w.tree()
	i, ok := tree.Find(a.queue)
	if !ok || !perUser.Stated || perUser.Most == 0 || !tree.Nodes[i].Spec.LimitsUsers() || len(tree.Nodes[i].Children) > 0 {
		return true
	}
	percent, milli, users := int64(100), int64(1000), tree.Nodes[i].Spec.Users
	if users.MinShare.Stated {
		percent = users.MinShare.Most
	}
	if users.ShareFactor.Stated {
		milli = users.ShareFactor.Most
	}
	most := new(big.Int).Mul(big.NewInt(perUser.Most), new(big.Int).Mul(big.NewInt(percent), big.NewInt(milli)))
	most.Quo(most, big.NewInt(100*1000))
	n := c.inLeaf[userKey{a.queue, a.oldest.User}]
	return n == 0 || big.NewInt(n).Cmp(most) < 0
}

// userKey is a user in a leaf.
type userKey struct {
	leaf queue.Path
	user string
}

// entriesLook is what the last look found: which applications have entered, and how many edits of queues were seen before.
type entriesLook struct {
	entered map[appKey]bool
	edits   int
	bound   map[appKey]bool // applications of which others have bound a pod since: it takes its application in, which may stay without it
}

func (l *entriesLook) noteBound(k appKey) {
	if l.bound == nil {
		l.bound = map[appKey]bool{}
	}
	l.bound[k] = true
}

// auditEntries: no application is refused that its queue could take in, and none enters a queue that is full.
func (w *World) auditEntries() {
	if !w.opts.Limits {
		return
	}
	apps, c, limits := w.apps(), newCounts(), w.entryLimits()
	is, forced := entriesLook{entered: map[appKey]bool{}, edits: w.edits}, newCounts() // with pods that others bound, or that a new tree moved
	for k, a := range apps {
		if a.entered {
			c.add(a)
			is.entered[k] = true
			if w.looked.bound[k] || a.charged && !w.looked.entered[k] {
				forced.add(a)
			}
		}
	}
	for k, a := range apps {
		if a.wants && !a.entered && w.enters(limits, c, a) && w.quiet() {
			w.fail("application %s in queue %s is refused, and no limit refuses it", a.name, a.queue)
		}
		if !a.entered || a.charged || w.looked.bound[k] || w.looked.entered[k] || w.looked.edits != w.edits {
			continue
		}
		for q := a.queue; q != ""; q = q.Parent() {
			if most := w.known.queues[q].Spec.MaxApplications; !most.Admits(c.queues[q] - forced.queues[q]) {
				w.fail("application %s was taken in by queue %s, and queue %s has %d of at most %d", a.name, a.queue, q, c.queues[q], most.Most)
			}
		}
	}
	w.looked = is
}
