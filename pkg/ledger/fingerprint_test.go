package ledger

import (
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Fingerprint is a canonical text of everything that must be the same in a ledger rebuilt from the same objects: queues with their
// accounts, and every pod with its queue and state.
func (l *Ledger) Fingerprint() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var text strings.Builder
	fmt.Fprintf(&text, "total %v\n", l.shares.total)
	for _, n := range l.queues.Nodes {
		a := l.queues.accounts[n.Path]
		fmt.Fprintf(&text, "queue %s accepting %v usage %v demand %v pods %d/%d applications accepted %d starting %d\n", n.Path, a.accepting,
			a.usage.List(), a.demand.List(), a.pending, a.running, a.states[application.Accepted], len(a.starting))
	}
	for _, uid := range sortedKeys(l.pods) {
		r := l.pods[uid]
		leaf := queue.Path("")
		if r.leaf != nil {
			leaf = r.leaf.path
		}
		s := r.state
		if s == Parked { // a rebuild has not tried it yet
			s = Waiting
		}
		fmt.Fprintf(&text, "pod %s %s %s %s\n", uid, s, leaf, l.applications.blockNow(r).Code)
	}
	return text.String()
}
