package ledger

// Until Lead is called, the ledger is a standby: it observes all objects, answers every read and releases no pod. Nothing in the
// process of a standby calls Choose, Settle or PendingActions, and nothing writes to the API server but the request for the lease. Lead
// comes with kube-scheduler's first call of NextPod, which only a leader makes (pkg/app/wrap.go).

// Lead makes the ledger decide from now on. It is called when all objects have been observed; later calls only settle. Applications with
// charged pods keep their slots, and the others get what is left in order of submission. What the statuses of Queues and pods keep is read
// back: see restore.go. So a restart does not depend on the order in which pods and Queues are seen.
func (l *Ledger) Lead(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.settle()
	if !l.leading {
		l.lead()
	}
}

func (l *settled) lead() {
	l.leading = true
	l.applications.lead()
	l.applications.moveBegins()
	for _, p := range sortedKeys(l.queues.accounts) {
		leaf := l.queues.accounts[p]
		for _, name := range sortedKeys(leaf.apps) {
			app := leaf.apps[name]
			l.startTimers.look(app, l.leading)
			for _, r := range l.applications.takeBack(app) {
				l.wait(r, l.now)
			}
			l.settleApplications() // once all pods of one that was taken back are kept out
		}
	}
	l.applications.moveEnds()
	l.applications.admitWaiting()
	l.drain()
	l.restoreStarts()
	l.restoreNominations()
	l.drain()
}

// Settle brings the tree, the shares and the order books up to date with the Queues and nodes that were observed, and ends starts whose time is over.
// Every step that decides something does so first. Reads do not: they show the tree as it was at the last step or Settle. So the reads of a
// standby may show an old tree; the only one that is used there is LockWaits, by the metrics.
func (l *Ledger) Settle(now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.settleAll()
}

func (l *settled) settleAll() {
	l.settle()
	if l.leading {
		l.endStarts(l.now)
	}
}
