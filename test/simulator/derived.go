package simulator

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// derived is what follows from the simulator's books. It is worked out when an audit asks for it, always from the books as a whole, and kept
// until they change: see outdate. What follows from answers of the ledger too is kept while a look at the books lasts, in which nothing changes.
// With Options.Recount, all of it is worked out again each time and compared.
type derived struct {
	total   memo[size]
	charges memo[sums]
	leads   memo[map[appKey]*lead]
	tree    memo[queue.Tree]
	steady  memo[[]resource.List] // by node of the tree

	inLook struct {
		apps         memo[map[appKey]*app]
		tells        memo[map[appKey]*tells]
		leads        memo[map[appKey]*lead] // with groups
		crews        memo[map[string]*crew]
		whole        memo[map[string]bool]
		snapshot     memo[ledger.Snapshot]
		applications memo[[]ledger.ApplicationState]
	}
}

// memo is a value that is kept.
type memo[T any] struct {
	value T
	valid bool
}

// recall returns what is kept, and keeps what was worked out.
func recall[T any](w *World, m *memo[T], workOut func() T) T {
	if !m.valid {
		m.value = workOut()
		m.valid = true // now: what it is worked out from may have been outdated meanwhile
	} else if w.opts.Recount {
		if again := workOut(); !reflect.DeepEqual(again, m.value) {
			w.fail("kept:\n%+v\nworked out again:\n%+v", m.value, again)
		}
	}
	return m.value
}

// inLook is recall for what follows from answers of the ledger: outside a look it is worked out each time.
func inLook[T any](w *World, m *memo[T], workOut func() T) T {
	if !w.looking {
		return workOut()
	}
	return recall(w, m, workOut)
}

// outdate: the books have changed.
func (w *World) outdate() { w.derived = derived{} }

// beginLook begins a look at the books, in which nothing changes, unless one is under way. It returns what ends it.
func (w *World) beginLook() (end func()) {
	if w.looking {
		return func() {}
	}
	w.looking, w.derived.inLook = true, derived{}.inLook
	return func() { w.looking = false }
}

// lookAgain drops what follows from answers of the ledger, which something in the look may have changed.
func (w *World) lookAgain() { w.derived.inLook = derived{}.inLook }

// snapshot is what the ledger shows of its queues.
func (w *World) snapshot() ledger.Snapshot {
	return inLook(w, &w.derived.inLook.snapshot, w.Ledger.Snapshot)
}

func (w *World) applications() []ledger.ApplicationState {
	return inLook(w, &w.derived.inLook.applications, w.Ledger.Applications)
}

// growth is a tree and what it follows from. Most changes of the books change none of that.
type growth struct {
	tree      queue.Tree
	accepting map[queue.Path]bool
	gated     map[queue.Path]bool
	total     size
	edited    bool // queues are declared otherwise than in declared
	declared  []queue.Declaration
	parents   map[queue.Path]bool // of declared queues
	occupied  []queue.Occupancy
}

// tree is what the declared queues form, as far as the simulator's books say where pods are.
func (w *World) tree() queue.Tree {
	return recall(w, &w.derived.tree, func() queue.Tree {
		g := &w.growth
		if g.edited {
			g.declared, g.parents = w.declarations(), map[queue.Path]bool{}
			for i := range g.declared {
				g.parents[g.declared[i].Path.Parent()] = true
			}
		}
		total, occupied := w.total(), holders(w.occupancy(), g.parents)
		if g.edited || g.total != total || !slices.Equal(g.occupied, occupied) {
			before := *g
			*g = growth{tree: queue.Build(g.declared, occupied, total.list()), accepting: map[queue.Path]bool{}, gated: map[queue.Path]bool{},
				total: total, declared: g.declared, parents: g.parents, occupied: occupied}
			for i := range g.tree.Nodes {
				n := &g.tree.Nodes[i]
				g.accepting[n.Path] = n.Accepting
				if hasGate(n) {
					g.gated[n.Path] = true
				}
			}
			w.unsettled = w.unsettled || !maps.Equal(g.gated, before.gated) || !maps.Equal(g.accepting, before.accepting)
		} else if w.opts.Recount && !reflect.DeepEqual(g.tree, queue.Build(w.declarations(), w.occupancy(), total.list())) {
			w.fail("queues form another tree than the one that was kept")
		}
		return g.tree
	})
}

// steady are the shares of the queues if all of them are busy.
func (w *World) steady() []resource.List {
	return recall(w, &w.derived.steady, func() []resource.List { return fairshare.Shares(w.tree(), w.total().list(), nil) })
}

// accepting are the queues in the tree, and whether they take pods.
func (w *World) accepting() map[queue.Path]bool {
	w.tree()
	return w.growth.accepting
}

// requeue: what is declared has changed, or is forgotten.
func (w *World) requeue() {
	w.outdate()
	w.growth.edited, w.caps = true, keptCaps{}
}

// keptCaps are limits that were read from the declarations, with so much to share.
type keptCaps struct {
	total       size
	max, maxPod map[queue.Path]caps
}

func (w *World) capsAt(total size) *keptCaps {
	if w.caps.max == nil || w.caps.total != total {
		w.caps = keptCaps{total, map[queue.Path]caps{}, map[queue.Path]caps{}}
	}
	return &w.caps
}

func (k *keptCaps) recall(w *World, of *map[queue.Path]caps, q queue.Path, read func(queue.Path, size) caps) caps {
	c, ok := (*of)[q]
	if !ok {
		c = read(q, k.total)
		(*of)[q] = c
	} else if w.opts.Recount && c != read(q, k.total) {
		w.fail("queue %s has other limits than those that were kept", q)
	}
	return c
}

func (w *World) declarations() []queue.Declaration {
	ds := make([]queue.Declaration, 0, len(w.known.queues))
	for _, path := range sorted(w.known.queues) {
		ds = append(ds, w.known.queues[path])
	}
	return ds
}

// occupancy says where pods are, with one entry for each queue, in path order.
func (w *World) occupancy() (os []queue.Occupancy) {
	for _, p := range w.known.pods {
		now, o := &p.seen, queue.Occupancy{}
		switch {
		case now.Foreign || p.boundByOthers():
			continue
		case p.charged != "" && p.charged != queue.Root:
			o = queue.Occupancy{Path: p.charged, Charged: true, OldestWaiting: math.MaxInt64}
		case now.Node == "" && !now.Terminating:
			o = queue.Occupancy{Path: p.home, OldestWaiting: now.Created}
		default:
			continue
		}
		i, known := slices.BinarySearchFunc(os, o.Path, func(e queue.Occupancy, q queue.Path) int { return strings.Compare(string(e.Path), string(q)) })
		if !known {
			os = slices.Insert(os, i, o)
			continue
		}
		os[i].Charged = os[i].Charged || o.Charged
		os[i].OldestWaiting = min(os[i].OldestWaiting, o.OldestWaiting)
	}
	return os
}

// holders leaves of these what can change the tree: a queue with charged pods, whichever wait there, and one that waiting pods may keep from having the
// children that are declared.
func holders(os []queue.Occupancy, parents map[queue.Path]bool) []queue.Occupancy {
	for i := range os {
		if os[i].Charged {
			os[i].OldestWaiting = math.MaxInt64
		}
	}
	return slices.DeleteFunc(os, func(o queue.Occupancy) bool { return !o.Charged && !parents[o.Path] })
}
