package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A leaf may limit what each of its users uses. The limit moves with the users that ask and, once the leaf uses all that it is entitled to, with every
// pod. It stops pods of one size of one user (user_sizes.go): the applications of that user then do not take part in the order of the leaf in the lanes
// of those pods. So a walk meets no pod that its user's limit stops, and what is stopped costs nothing until the limit lets it go.

// leafUsers are the users of a leaf that limits them. orderBooks keeps them.
//
// Invariant, whenever the lock is given up: what each user uses and asks for, who asks, and what is stopped is what the pods say (checkUsers).
type leafUsers struct {
	byName     map[string]*leafUser
	asking     int // those with pods that wait
	calculator queue.Calculator

	sizes    []*leafSize // of pods in pod queues, in no order that means anything
	ids      int         // given to sizes of users
	measured measured
	passed   []*userSize // by the last amount
	changed  []*leafUser // of whom something may have been stopped or let go since the order of the leaf was told
}

// leafUser is one user of a leaf.
type leafUser struct {
	name    string
	weight  int64 // milli
	usage   resource.Sum
	drivers resource.Sum  // part of usage: that of drivers
	demand  resource.Sum  // usage, and what waits and counts in the demand of the leaf
	apps    []*appAccount // in no order that means anything
	asks    int           // of them: those with pods that wait
	sizes   []*userSize
	stopped int  // of them: those that are
	changed bool // listed in changed of the leaf

	// While calm, no need of the user passes a bound as long as the usage is in these ranges.
	calm     bool
	calmWith spans
}

// follow keeps the application with the user that it belongs to now, and what it asks for.
func (us *leafUsers) follow(app *appAccount) {
	if app.user != nil && (app.user.name != app.slot.User || len(app.members) == 0) {
		us.leave(app)
	}
	if app.user == nil {
		if len(app.members) == 0 {
			return
		}
		us.join(app)
	}
	if asks := app.outstanding > 0; asks != app.asks {
		app.asks = asks
		us.ask(app.user, 2*btoi(asks)-1)
	}
}

func (us *leafUsers) join(app *appAccount) {
	u := us.byName[app.slot.User]
	if u == nil {
		u = &leafUser{name: app.slot.User, weight: app.parent.spec.Users.WeightOf(app.slot.User)}
		us.byName[u.name] = u
	}
	app.user, app.asks = u, false
	app.inUser = len(u.apps)
	u.apps = append(u.apps, app)
	u.usage.AddSum(&app.usage)
	u.demand.AddSum(app.countedDemand())
	u.drivers.AddSum(app.chargedDrivers())
	for i := range app.podQueues {
		us.queued(app, &app.podQueues[i])
	}
}

func (us *leafUsers) leave(app *appAccount) {
	u := app.user
	if app.asks {
		us.ask(u, -1)
	}
	for i := range app.podQueues {
		us.unqueued(&app.podQueues[i])
	}
	u.usage.SubSum(&app.usage)
	u.demand.SubSum(app.countedDemand())
	u.drivers.SubSum(app.chargedDrivers())
	last := u.apps[len(u.apps)-1]
	u.apps[app.inUser], last.inUser = last, app.inUser
	u.apps = u.apps[:len(u.apps)-1]
	if len(u.apps) == 0 {
		delete(us.byName, u.name)
	}
	app.user, app.asks = nil, false
}

// ask counts an application of the user that began to ask for something (1) or does so no more (-1).
func (us *leafUsers) ask(u *leafUser, by int) {
	us.asking -= btoi(u.asks > 0)
	u.asks += by
	us.asking += btoi(u.asks > 0)
}

// lookAtUsers looks again at what the limit of users stops in a leaf, after a change of the leaf or of one of its applications (or nil).
func (b *orderBooks) lookAtUsers(leaf *queueAccount, app *appAccount) {
	us := leaf.users
	if us == nil {
		return
	}
	var before, now *leafUser
	if app != nil {
		before = app.user
		us.follow(app)
		now = app.user
	}
	if !leaf.spec.Capacity.Stated {
		b.shares.of(leaf) // its version says whether it has changed
		if us.asking > 0 {
			b.waitForShare(leaf)
		}
	}
	if !us.measured.holds(leaf) {
		us.measure(leaf, b.shares)
	}
	if before != nil && before != now {
		us.judge(before)
	}
	if now != nil {
		us.judge(now)
	}
	for _, u := range us.changed { // each for itself: order does not matter
		b.offerUser(u)
	}
	us.changed = us.changed[:0]
}

// offerUser has the applications of a user that have pods of a size which was stopped or let go take part in the order of the leaf as they may now.
func (b *orderBooks) offerUser(u *leafUser) {
	u.changed = false
	for _, z := range u.sizes {
		if stopped := z.short > 0; stopped != z.stopped {
			z.stopped = stopped
			u.stopped += sign(stopped)
			for _, app := range z.queues {
				app.book().SetLanes(&app.inOrder, b.lanesOf(app))
			}
		}
	}
}

// rebuildUsers counts the users of a leaf again, and has its applications take part in its order as they may.
func (b *orderBooks) rebuildUsers(leaf *queueAccount) {
	if !b.resetUsers(leaf) {
		return
	}
	b.lookAtUsers(leaf, nil)
	for _, app := range leaf.apps { // each for itself: order does not matter
		b.offerApplication(app)
	}
}

// resetUsers counts the users of a leaf again. false: it did not limit them, and does not.
func (b *orderBooks) resetUsers(leaf *queueAccount) (limited bool) {
	limited = leaf.users != nil
	leaf.users = nil
	for _, app := range leaf.apps { // each for itself: order does not matter
		app.user, app.asks = nil, false
		for i := range app.podQueues {
			app.podQueues[i].size = nil
		}
	}
	if len(leaf.kids) > 0 || !leaf.spec.LimitsUsers() {
		return limited
	}
	leaf.users = &leafUsers{byName: map[string]*leafUser{}, calculator: leaf.spec.Calculator}
	for _, app := range leaf.apps { // sums: order does not matter
		leaf.users.follow(app)
	}
	for _, u := range leaf.users.byName { // each for itself: order does not matter
		leaf.users.judge(u)
	}
	return true
}
