package ledger

// settle brings tree, shares' total and order books up to date. Every step that decides by them calls it first, so that a burst of
// ten thousand Queues or nodes costs one pass, not one each. Reads do not call it: they show the state as of the last step (see Settle).
func (l *settled) settle() {
	l.placeAgain()
	rekey := l.queues.stale
	if l.nodes.totalMoved && l.shares.setTotal(l.nodes.takeTotal()) {
		l.queues.noteTotal()
		rekey = true
	}
	if l.queues.stale {
		l.rebuildTree()
	}
	if rekey {
		l.rekeyAll()
		l.applications.admitWaiting()
		l.drain()
	}
}

// rekeyAll recomputes every demand, key, limit and order book after a change of the tree, of a spec or of the cluster total.
func (l *settled) rekeyAll() {
	l.queues.limitEntries(l.shares.total, l.shares.forget(&l.queues))
	l.resetGates()
	l.books.rebuild(&l.queues)
	l.version++
}
