package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Instantaneous fair shares are kept lazily. A queue that becomes active or inactive makes its parent's division old and nothing else;
// a share is computed when it is read, on the way from the root down, where something on that way is old. Usage changes no share.

// share is the instantaneous fair share of a queue.
type share struct {
	amounts resource.List
	version uint64 // grows whenever amounts changes
	divided uint64 // the version of amounts that was last divided among the children, 0 for none
}

// noteActive looks at which queues from a leaf up have become active or inactive.
func (l *Ledger) noteActive(leaf *account) {
	for a := leaf; a != nil; a = a.parent {
		if a.active() == a.wasActive {
			continue
		}
		a.wasActive = a.active()
		l.flips++
		if a.parent != nil {
			a.parent.share.divided = 0
		}
	}
}

// forgetShares makes every share old: the tree, a spec or the cluster total changed.
func (l *Ledger) forgetShares() {
	for _, a := range l.queues.accounts { // each for itself: order does not matter
		a.share.divided = 0
	}
	l.queues.root.share.amounts = l.total.CapBy(l.queues.root.spec.Max)
	l.queues.root.share.version++
	l.flips++
}

// shareOf returns the instantaneous fair share of a queue in the tree.
func (l *Ledger) shareOf(a *account) resource.List {
	if a.parent == nil {
		return a.share.amounts
	}
	l.shareOf(a.parent)
	if p := &a.parent.share; p.divided != p.version {
		l.divide(a.parent)
	}
	return a.share.amounts
}

// divide gives every child of a queue its share.
func (l *Ledger) divide(a *account) {
	a.share.divided = a.share.version
	l.childBuffer = l.childBuffer[:0]
	for _, c := range a.kids {
		l.childBuffer = append(l.childBuffer, fairshare.Child{
			Weight: c.spec.Weight, Guaranteed: c.spec.Guaranteed, Max: c.spec.Max, Active: c.active(),
		})
	}
	for i, amounts := range fairshare.Level(a.spec.Rule(), a.share.amounts, l.childBuffer) {
		if c := a.kids[i]; c.share.version == 0 || !sameEntries(c.share.amounts, amounts) {
			c.share.amounts = amounts
			c.share.version++
		}
	}
}

// sameEntries is Equal, and nothing is 0 in one and absent in the other: of an absent resource there is nothing to divide, of one of which
// a queue has 0 the children still have their guarantees.
func sameEntries(a, b resource.List) bool {
	same := a.Len() == b.Len()
	for i := 0; same && i < a.Len(); i++ {
		same = a.At(i) == b.At(i)
	}
	return same
}

// limitsDrivers: there is a driver too many for the leaf, or could be. Where not, the rule says so too; this way no share is computed.
func (a *account) limitsDrivers() bool { return a.driverPods > 0 && a.driverShare() < limit.WholeShare }

// driversOf is the leaf as far as its drivers go, all of those that are charged.
func (l *Ledger) driversOf(leaf *account) limit.Drivers {
	return limit.Drivers{
		Queue: string(leaf.path),
		Share: leaf.driverShare(), FairShare: l.shareOf(leaf), Most: l.total.CapBy(leaf.spec.Max), Usage: &leaf.drivers, Idle: leaf.driverPods == 0,
	}
}

// driverShare is the part of the leaf's share that drivers may use, in milli.
func (a *account) driverShare() int64 {
	if a.spec.MaxDriverShare.Stated {
		return a.spec.MaxDriverShare.Most
	}
	return limit.DefaultDriverShare
}

// driverTooMany says whether a charged driver is one too many by now. One that was released where no driver ran is not, whatever was
// released after it: else a driver larger than its part would lose its turn to every one that follows it.
func (l *Ledger) driverTooMany(r *record) (reason.Reason, bool) {
	if r.Role != application.Driver || r.alone || r.leaf.driverPods == 1 || !r.leaf.limitsDrivers() {
		return reason.Reason{}, false
	}
	var others resource.Sum
	others.AddSum(&r.leaf.drivers)
	others.Sub(r.Request)
	drivers := l.driversOf(r.leaf)
	drivers.Usage = &others
	return limit.MaxDriverShare(drivers, r.Request)
}

// recheckDrivers looks again at the leaves whose drivers their share stops, since shares have changed.
func (l *Ledger) recheckDrivers() {
	if l.flips == l.recheckedAt {
		return
	}
	l.recheckedAt = l.flips
	leaves := l.driversWait
	l.driversWait = nil
	for _, leaf := range leaves { // each for itself: order does not matter
		leaf.driversWait = false
		if l.queues.accounts[leaf.path] == leaf {
			l.refresh(leaf) // puts it back where its drivers still wait
		}
	}
}
