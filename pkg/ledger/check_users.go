package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
)

// checkUsers counts the users of each leaf that limits them again, and asks the rule again what it stops. A leaf that is to be looked at again anyway,
// since shares have changed, is asked for its counts only.
func (c *checker) checkUsers() {
	again := c.shares.flips != c.books.flips
	for _, leaf := range c.tree {
		limits := len(leaf.kids) == 0 && leaf.spec.LimitsUsers()
		if limits != (leaf.users != nil) {
			c.say("queue %s limits users: %v, counts them: %v", leaf.path, limits, !limits)
		}
		if !limits || leaf.users == nil {
			continue
		}
		c.checkUsersOf(leaf, !(again && leaf.driversWait))
	}
}

func (c *checker) checkUsersOf(leaf listedQueue, stops bool) {
	add, asking := c.addUpUsers(leaf), 0
	for _, user := range sortedKeys(leaf.users.byName) {
		u, is := leaf.users.byName[user], add[user]
		asking += btoi(u.asks > 0)
		if is == nil || !u.usage.Equal(&is.usage) || !u.demand.Equal(&is.demand) || !u.drivers.Equal(&is.drivers) || u.asks != is.asks {
			c.say("queue %s, user %s: usage %v, demand %v, %d applications that ask; its applications add up to %+v",
				leaf.path, user, u.usage.List(), u.demand.List(), u.asks, is)
		}
		if stops {
			c.checkStopped(u)
		}
	}
	if asking != leaf.users.asking || len(add) != len(leaf.users.byName) {
		c.say("queue %s: %d users ask, counted %d; it has %d users, listed %d", leaf.path, asking, leaf.users.asking, len(add), len(leaf.users.byName))
	}
	for _, z := range leaf.users.sizes {
		for i := range z.parts {
			c.checkSizePart(leaf.queueAccount, z, i)
		}
	}
}

// addUpUsers adds up what the users of a leaf have and ask for.
func (c *checker) addUpUsers(leaf listedQueue) map[string]*leafUser {
	add := map[string]*leafUser{}
	for _, app := range leaf.applications {
		user := app.members[0].User
		if app.user == nil || app.user.name != user {
			c.say("%s: it does not count for its user %s", app.title(), user)
			continue
		}
		if add[user] == nil {
			add[user] = &leafUser{}
		}
		add[user].usage.AddSum(&app.usage)
		add[user].demand.AddSum(app.countedDemand())
		for _, e := range app.members {
			if e.Role == application.Driver && e.state.charged() {
				add[user].drivers.Add(e.Request)
			}
		}
		asks := 0
		for _, r := range app.members {
			asks += btoi(r.footprint().outstanding())
		}
		add[user].asks += btoi(asks > 0)
		if asks != app.outstanding {
			c.say("%s: %d pods ask for something, counted %d", app.title(), asks, app.outstanding)
		}
	}
	return add
}

// checkSizePart counts again the users whose bounds are no more than an amount.
func (c *checker) checkSizePart(leaf *queueAccount, z *leafSize, i int) {
	p, within := &z.parts[i], 0
	for _, b := range p.bounds {
		k, n := &b.size.needs[i], b.size.needOf(i, leaf.users.calculator)
		within += btoi(!b.exceeds(p.amount))
		if k.bound != b || k.short != b.exceeds(p.amount) || !k.isRight(n, p.amount) {
			c.say("queue %s, size %v, user %s: needs %+v, known is %+v, for an amount of %d", leaf.path, z.request, b.size.user.name, n, *k, p.amount)
		}
	}
	if len(p.bounds) != z.users || within != p.within || !slices.IsSortedFunc(p.bounds, compareBounds) {
		c.say("queue %s, size %v: %d users, those within %d are %d of %v", leaf.path, z.request, z.users, p.amount, p.within, p.bounds)
	}
}

// checkStopped asks the rule what it stops of a user.
func (c *checker) checkStopped(u *leafUser) {
	queues := 0
	for _, app := range u.apps {
		for i := range app.podQueues {
			q := &app.podQueues[i]
			queues++
			_, over := limit.UserLimit(c.shares.userOf(app), q.class.request)
			_, drivers := c.shares.userDriversOn(app, q.class)
			over = over || drivers
			if q.size == nil || q.size.user != u || q.size.stopped != over || !q.size.is(q.class) || q.size.queues[q.inSize] != app {
				c.say("queue %s, user %s: the limit stops class %q: %v; known: %+v", app.parent.path, u.name, q.class.key, over, q.size)
			}
		}
	}
	stopped := 0
	for _, z := range u.sizes {
		queues -= len(z.queues)
		stopped += btoi(z.stopped)
	}
	if queues != 0 {
		c.say("user %s: %d pod queues are not listed", u.name, queues)
	}
	if stopped != u.stopped {
		c.say("user %s: %d sizes are stopped, counted %d", u.name, stopped, u.stopped)
	}
}
