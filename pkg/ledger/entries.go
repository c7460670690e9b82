package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A queue takes in a number of applications, those that run and those that wait: maxApplications. The others are refused: a limit on applications blocks
// their pods, and they are in no order but that in which they are taken in.
//
// An application has an entry from the moment a pod of it wants to run (wants) until none does. An entry is counted as a slot is: in its leaf, in every
// queue above, and for its user in the leaf. What ends frees an entry, and whose that is next follows the rules of slots (core/admission). Only an
// application with an entry has a slot or waits for one. Where no limit covers a leaf, each gets its entry at once.

// limitEntries takes in how many applications each queue takes. steady are the steady shares, by node; nil: no queue has a capacity.
func (t *queueTree) limitEntries(total resource.List, steady []resource.List) {
	var absolute []fairshare.Absolute
	if steady != nil {
		absolute = fairshare.AbsoluteOf(t.Tree, total, steady)
	}
	cluster := limit.DefaultApplications
	if root := t.root.spec.MaxApplications; root.Stated {
		cluster = root.Most
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		e := &t.accounts[n.Path].entries
		e.Most, e.Cluster = n.Spec.MaxApplications, 0
		if !e.Most.Stated && n.Spec.Capacity.Most > 0 && n.Leaf() { // one with 0% has no number: it takes what others leave
			e.Most, e.Cluster = limit.PartOfApplications(cluster, absolute[i].Capacity), cluster
		}
		e.PerUser = queue.Limit{}
		if n.Leaf() && n.Spec.LimitsUsers() {
			e.PerUser = limit.ApplicationsPerUser(e.Most, n.Spec.Users.Least(), n.Spec.Users.Factor())
		}
	}
}

// stop tells both limits whether the queue is stopped: then it takes no new application in, and starts none.
func (a *queueAccount) stop(is admission.Stop) { a.entries.Stop, a.admission.Stop = is, is }

// enter gives an application its entry, whatever the limits: it runs, or was found to fit.
func (a *applications) enter(app *appAccount) {
	if !app.entry.Runs {
		a.entries.Start(&app.entry)
	}
}

// mayEnter says whether an application that a slot is due to, or that waits for one, may have its entry now. If older ones are about to be looked at, it
// waits with them.
func (a *applications) mayEnter(app *appAccount) bool {
	_, fits := a.entries.Fits(&app.parent.entries, app.slot.User, app.slot.Submitted, a.mode())
	return fits && !a.due
}

// handOn gives the entry that an application has given back to the next, and then the slot. An application that is taken in may run at once, if there is a
// slot that nobody waited for.
func (a *applications) handOn(entry, slot admission.Freed) {
	entered := a.entries.HandOn(entry)
	for _, of := range entered {
		a.entered(a.accountOf(of))
	}
	for _, of := range a.slots.HandOn(slot) {
		a.started(a.accountOf(of))
	}
	for _, of := range entered {
		app := a.accountOf(of)
		if _, fits := a.slots.Fits(app.slot.Leaf, app.slot.User, app.slot.Submitted, admission.Open); fits && app.slot.Waits {
			a.slots.Start(&app.slot)
			a.started(app)
		}
	}
}

// entered notes that an application has its entry from now on: it waits for a slot, and its pods are judged again.
func (a *applications) entered(app *appAccount) {
	a.slots.Wait(&app.slot)
	a.judgeLimited(app)
}

// takeIn lets every application enter that fits, in order of submission.
func (a *applications) takeIn(mode admission.Mode) {
	for _, of := range a.entries.Admit(mode) {
		a.entered(a.accountOf(of))
	}
}
