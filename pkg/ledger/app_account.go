package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/admission"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// appAccount is an application in its leaf: its pods, what they hold and ask for, and how far it has come. It exists while it has pods. Each block names
// the type that changes it. What a release touches comes first, together, as in queueAccount.
type appAccount struct {
	// orderBooks: its waiting pods, and where it competes.
	podQueues []podQueue
	lanes     book.Lanes                   // those of its pod queues
	inOrder   book.Competitor[*appAccount] // its entry in the order of its leaf, or in that of the gate

	account

	// startTimers: how far it has come. set counts the pods in it.
	stage

	// applications: who submitted it and when, whether it runs, and what counts as its priority.
	slot     admission.Application
	priority int32 // see seniority

	// set: its pods.
	members          []appEntry // all, as a heap
	wanting, limited int        // those that want it to run; those of them that a limit on applications blocks
	outstanding      int        // those that count as demand and hold nothing
	appDrivers                  // see with_driver.go

	// orderBooks: its user, where the leaf limits what each user uses: see users.go.
	user   *leafUser
	inUser int  // its place among those of its user
	asks   bool // counted among those that ask for something

	// Notes of effects and inspection.
	unsettled bool   // see effects
	addedIn   uint32 // the last addition of inspect.go that came to it

	// What no release reads.
	beginning                       // startTimers
	entry     admission.Application // applications: that it is in its queue
	missed    missed                // delays
}

func newAppAccount(leaf *queueAccount, name string) *appAccount {
	a := &appAccount{
		account: account{parent: leaf}, stage: stage{counted: true}, beginning: beginning{inStarts: notIn},
		slot: admission.Application{Leaf: &leaf.admission, Name: name}, entry: admission.Application{Leaf: &leaf.entries, Name: name},
	}
	a.inOrder.Init(a)
	return a
}

// charge puts a pod on the usage of an application and of its queues (sign 1), or takes it off (sign -1). What an application uses is part of the
// demand of its queues also while the rest of its demand is not.
func (a *appAccount) charge(d resource.List, sign int) {
	a.addUsage(d, sign)
	if a.user != nil {
		addSigned(&a.user.usage, d, sign)
	}
	if !a.counted {
		a.demandOfUser(d, sign)
		a.parent.addDemand(d, sign)
	}
}

func (a *appAccount) addUsage(d resource.List, sign int) {
	addSigned(&a.usage, d, sign)
	a.parent.addUsage(d, sign)
}

// demandOfUser counts what an application asks for in the demand of its user, if its leaf limits what they use.
func (a *appAccount) demandOfUser(d resource.List, sign int) {
	if a.user != nil {
		addSigned(&a.user.demand, d, sign)
	}
}

// countPods adds n pods to the application and its queues.
func (a *appAccount) countPods(running bool, n int) {
	a.addPods(running, n)
	for q := a.parent; q != nil; q = q.parent {
		q.addPods(running, n)
	}
}

// rekey recomputes what the order of the leaf compares.
func (a *appAccount) rekey(total resource.List) {
	rule := a.parent.spec.Rule()
	s := ordering.Standing{Usage: &a.usage, Weight: queue.DefaultWeight, Name: a.slot.Name, Priority: a.priority, Submitted: a.slot.Submitted}
	a.inOrder.KeyUnder(rule.Policy).Set(rule, s, total)
}
