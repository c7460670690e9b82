package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// entitledTo is how much of a resource the limits of the leaf's users are parts of: its capacity or its fair share. If it has no share of the resource,
// as under Fair, with weight 0 or with capacity 0%, it is what the leaf could ever hold. (In YARN a queue of 0% then runs one container of a user at a time.)
func (s *shares) entitledTo(leaf *queueAccount, name resource.Name) int64 {
	share := leaf.share.capacity
	if !leaf.spec.Capacity.Stated {
		share = s.of(leaf)
	}
	if v := share.Get(name); v != 0 {
		return v
	}
	return s.mostFor(leaf, name)
}

// mostFor is how much of a resource a queue could ever hold.
func (s *shares) mostFor(a *queueAccount, name resource.Name) int64 {
	if most, limited := a.spec.Max.Lookup(name); limited {
		return min(most, s.total.Get(name))
	}
	return s.total.Get(name)
}

// userShare is the part of the leaf that a user may have who asks.
func (a *queueAccount) userShare() limit.UserShare {
	return limit.UserShare{MinShare: a.spec.Users.Least(), Factor: a.spec.Users.Factor(), Active: int64(a.users.asking)}
}

// userOf is what the limit needs to know of the user of an application.
func (s *shares) userOf(app *appAccount) limit.User {
	leaf, u := app.parent, app.user
	share := leaf.userShare()
	share.Active += int64(btoi(u.asks == 0)) // the one that asks is among them
	return limit.User{
		Queue: string(leaf.path), Name: u.name, Usage: &u.usage, Weight: u.weight, Share: share, Used: &leaf.usage, Calculator: leaf.spec.Calculator,
		Entitled: func(name resource.Name) int64 { return s.entitledTo(leaf, name) },
		Most:     func(name resource.Name) int64 { return s.mostFor(leaf, name) },
	}
}

// userLimitOn says that the limit of its user stops one more pod of the application, and whether it does.
func (s *shares) userLimitOn(app *appAccount, request resource.List) (reason.Reason, bool) {
	if app.user == nil {
		return reason.Reason{}, false
	}
	return limit.UserLimit(s.userOf(app), request)
}

// userOver says whether a charged pod is one too many of its user by now. A larger pod may have more than a smaller one, so the limit is asked for the
// largest of the user's pods on their way to a node: else a pod that was released could be refused for one that was released after it, and that one with it
// where it waits for the first. Likewise the first of them may be the one pod of a user who has nothing else.
func (l *contents) userOver(r *record) (reason.Reason, bool) {
	if r.app.user == nil {
		return reason.Reason{}, false
	}
	u := l.shares.userOf(r.app)
	largest, first, bound := r.Request, true, copyOf(u.Usage)
	for _, of := range []roster{l.window.released, l.window.reserved} {
		for _, o := range of {
			if o.app.user == r.app.user {
				largest, first = largest.Max(o.Request), first && r.ticket <= o.ticket
				bound.Sub(o.Request)
			}
		}
	}
	if first && !limit.UsesAnything(bound) {
		return reason.Reason{}, false
	}
	own, used := copyOf(u.Usage), copyOf(u.Used)
	own.Sub(largest)
	used.Sub(largest)
	u.Usage, u.Used = own, used
	why, over := limit.UserLimit(u, largest)
	if over {
		why.Asked = r.Request.Get(why.Resource)
		why.Used = resource.SatSub(r.app.user.usage.Get(why.Resource), why.Asked)
	}
	return why, over
}

// groupOverUserLimit says for which user the pods that start with a group are too many.
func (l *contents) groupOverUserLimit(g *group) (reason.Reason, bool) {
	var own map[*leafUser]*resource.Sum
	var used map[*queueAccount]*resource.Sum
	for _, r := range g.asksForRoom() {
		if r.app.user == nil {
			continue
		}
		u := l.shares.userOf(r.app)
		if own == nil {
			own, used = map[*leafUser]*resource.Sum{}, map[*queueAccount]*resource.Sum{}
		}
		if own[r.app.user] == nil {
			own[r.app.user] = copyOf(u.Usage)
		}
		if used[r.leaf] == nil {
			used[r.leaf] = copyOf(u.Used)
		}
		u.Usage, u.Used = own[r.app.user], used[r.leaf]
		if why, over := limit.UserLimit(u, r.Request); over {
			why.PodGroup = g.Key
			return why, true
		}
		u.Usage.Add(r.Request)
		u.Used.Add(r.Request)
	}
	return reason.Reason{}, false
}

func copyOf(s *resource.Sum) *resource.Sum {
	var c resource.Sum
	c.AddSum(s)
	return &c
}
