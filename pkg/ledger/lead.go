package ledger

// Lead ends the time in which the ledger only takes in what is there: from now on it decides. Applications with charged pods keep their slots. The
// others get the remaining slots in order of submission. What the statuses of Queues and pods keep is restored: see restore.go. So a restart does not
// depend on the order in which pods and Queues are seen. It is called once everything is there; later calls only settle.
//
// Until then the ledger is a standby: it observes, answers every read, and releases nothing. Of the process, pkg/app/wrap.go calls Lead, with
// kube-scheduler's first call of NextPod, which only a leader makes.
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
// Every step that decides something does so first. Reads do not: they show the tree as it was at the last step or Settle. On a standby nothing calls
// Settle, so its reads may show an old tree. There, only the metrics read, and only LockWaits.
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
