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

// flipped notes that the account may have become active or inactive.
func (a *account) flipped(l *Ledger, wasActive bool) {
	if a.active() != wasActive {
		l.flips++
		if a.parent != nil {
			a.parent.share.divided = 0
		}
	}
}

// forgetShares makes every share old: the tree, a spec or the cluster total changed.
func (l *Ledger) forgetShares() {
	for _, a := range l.accounts { // each for itself: order does not matter
		a.share.divided = 0
	}
	l.root.share.amounts = l.total.CapBy(l.root.spec.Max)
	l.root.share.version++
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

// driversFull says whether one more driver of this size would be too many for the leaf, of which resource, and what it may have.
func (l *Ledger) driversFull(leaf *account, request resource.List) (resource.Name, int64, bool) {
	return l.driversOver(leaf, &leaf.drivers, leaf.driverPods == 0, request)
}

func (l *Ledger) driversOver(leaf *account, usage *resource.Sum, idle bool, request resource.List) (resource.Name, int64, bool) {
	most := leaf.driverShare()
	if most >= limit.WholeShare || idle { // as in the rule itself; this way no share is computed
		return "", 0, false
	}
	drivers := l.driversOf(leaf)
	drivers.Share, drivers.Usage, drivers.Idle = most, usage, idle
	return limit.MaxDriverShare(drivers, request)
}

// driversOf is the leaf as far as its drivers go, all of those that are charged.
func (l *Ledger) driversOf(leaf *account) limit.Drivers {
	return limit.Drivers{
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
	if r.Role != application.Driver {
		return reason.Reason{}, false
	}
	others := resource.Sum{}
	others.AddSum(&r.leaf.drivers)
	others.Sub(r.Request)
	n, part, over := l.driversOver(r.leaf, &others, r.alone || r.leaf.driverPods == 1, r.Request)
	return driverReason(r.leaf, n, part, others.Get(n), r.Request), over
}

func driverReason(leaf *account, n resource.Name, part, used int64, request resource.List) reason.Reason {
	return reason.Reason{Code: reason.MaxDriverShare, Queue: string(leaf.path), Resource: n, Limit: part, Used: used, Asked: request.Get(n)}
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
		if l.accounts[leaf.path] == leaf {
			l.refresh(leaf) // puts it back where its drivers still wait
		}
	}
}
