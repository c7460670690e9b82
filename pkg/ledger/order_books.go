package ledger

import "github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"

// orderBooks keeps the order book of every queue right: by which key each queue or application below it is compared, and in which lanes something may be
// released from there (see limits_by_lane.go). The books themselves are in the accounts of the queues.
//
// It hears of pods that enter and leave pod queues (enqueue, dequeue), of queues and applications that have
// changed (refresh, refreshApplication), of shares that have (recheckDrivers), and
// of a new tree or total (rebuild).
type orderBooks struct {
	classes *classTable
	shares  *shares
	behind  *queueBehind

	free book.FreeList[*record]
	// leaves whose share keeps drivers from starting, as of the last look at the shares
	driversWait []*queueAccount
	flips       uint64 // those of the shares then
}

// refresh brings keys, limits and order books of a leaf and its ancestors up to date after a change of usage, demand or what is kept.
func (b *orderBooks) refresh(leaf *queueAccount) {
	b.lookAtUsers(leaf, nil)
	b.refreshQueues(leaf)
}

// refreshApplication is refresh after a change of an application: also of its rank or its waiting pods.
func (b *orderBooks) refreshApplication(app *appAccount) {
	b.lookAtUsers(app.parent, app)
	app.rekey(b.shares.total)
	b.offerApplication(app)
	b.refreshQueues(app.parent)
}

func (b *orderBooks) refreshQueues(from *queueAccount) {
	for a := from; a.parent != nil; a = a.parent {
		a.rekey(b.shares.total)
		b.offer(a, b.lanesBelow(a))
	}
}

// reoffer decides again which applications of a leaf take part in its order. Those that wait behind a group do not: there may be thousands,
// and each walk would have to pass them all.
func (b *orderBooks) reoffer(leaf *queueAccount, t *queueTree) {
	if t.accounts[leaf.path] != leaf {
		return // it left the tree
	}
	for _, app := range leaf.apps { // each for itself: order does not matter
		b.offerApplication(app)
	}
	b.refresh(leaf)
}

// rebuild recomputes every demand, key, limit and order book.
func (b *orderBooks) rebuild(t *queueTree) {
	for i := len(t.Nodes) - 1; i >= 0; i-- { // children before parents
		a := t.accounts[t.Nodes[i].Path]
		a.demand.Reset()
		for _, app := range a.apps { // order does not matter: sums are exact
			a.demand.AddSum(app.countedDemand())
			app.rekey(b.shares.total)
		}
		for _, c := range t.Nodes[i].Children {
			t.accounts[t.Nodes[c].Path].passDemand(&a.demand)
		}
	}
	for i := range t.Nodes {
		t.accounts[t.Nodes[i].Path].rekey(b.shares.total)
	}
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		a := t.accounts[t.Nodes[i].Path]
		a.queueOrder.Rebuild()
		a.appOrder.Rebuild()
		a.gateOrder.Rebuild()
		b.rebuildUsers(a)
		if a.guarantee != nil {
			a.guarantee.below.Rebuild()
		}
		if a.parent != nil {
			b.offer(a, b.lanesBelow(a))
		}
	}
}

// waitForShare notes a leaf whose share keeps drivers from starting, or of which users may have a part.
func (b *orderBooks) waitForShare(leaf *queueAccount) {
	if !leaf.driversWait {
		leaf.driversWait = true
		b.driversWait = append(b.driversWait, leaf)
	}
}

// recheckDrivers looks again at the leaves whose drivers their share stops, if shares have changed.
func (b *orderBooks) recheckDrivers(t *queueTree) {
	if b.shares.flips == b.flips {
		return
	}
	leaves := b.driversWait
	b.driversWait, b.flips = nil, b.shares.flips
	for _, leaf := range leaves { // each for itself: order does not matter
		leaf.driversWait = false
		if t.accounts[leaf.path] == leaf {
			b.refresh(leaf) // puts it back where its drivers still wait
		}
	}
}
