package ledger

import (
	"cmp"
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// Which pods the limit of users stops in a leaf is kept by size: for pods of one size, the limit gives a user of weight 1 an amount of each resource, and
// each user needs some amount for one more pod. For each need a bound is kept that lies between it and the amount, and the bounds are sorted. As long as
// neither the need nor the amount passes the bound, nothing has changed for that user. If the need passes it, the next bound is halfway between both. If
// the amount does, it is the need itself: so the amount passes a user at most twice before that user's usage has moved.
//
// What a release costs: its user needs more from now on, which mostly passes no bound; else it is a binary search among the users. The amounts are computed
// again only if they may have changed, which they do not while the leaf uses less than it is entitled to and the same number of users ask: for each size in
// the leaf. When pods of a size are stopped or go on, those applications of the user that have some waiting change their lanes in the order of the leaf,
// each in O(log n).

// leafSize is a size of pods that are in pod queues of a leaf.
type leafSize struct {
	request resource.List
	driver  bool  // of drivers, which other pods are no size with: see user_drivers.go
	weight  int64 // of drivers: that of their users, since those of another weight may use another amount
	users   int
	parts   []sizePart // one for each entry of the request; of drivers, the same again for what drivers may use
}

// sizePart is what the limit says of one resource for pods of one size.
type sizePart struct {
	share limit.SizedShare // of other sizes than drivers

	amount int64   // what a user of weight 1 may have with a further pod
	bounds []bound // of all users with such pods, sorted
	within int     // how many of them are no more than the amount
}

// userSize is a size of pods that are in pod queues of a user's applications.
type userSize struct {
	*leafSize
	user    *leafUser
	queues  []*appAccount // the applications of such pod queues, each as often as it has some, in no order that means anything
	id      int           // those with equal bounds are sorted by it
	needs   []knownNeed   // one for each part
	short   int           // of them: those that are more than the amount
	stopped bool          // as the order of the leaf was told
}

// need is the amount of one resource that a user needs for one more pod of a size: see limit.NeededAmount.
type need struct {
	least int64
	never bool // no amount is enough
}

func (n need) exceeds(amount int64) bool { return n.never || n.least > amount }

// knownNeed is what is kept of a need.
type knownNeed struct {
	short bool // the amount is not enough
	bound bound
}

// isRight reports whether that is so of the need, and the bound between it and the amount.
func (k *knownNeed) isRight(n need, amount int64) bool {
	switch {
	case k.short != n.exceeds(amount):
		return false
	case k.short:
		return n.never || !k.bound.never && k.bound.at <= n.least
	default:
		return n.least <= k.bound.at
	}
}

// bound is as much as the need of a user or more if the amount is no less, and as much or less if the amount is less.
type bound struct {
	at    int64
	never bool // more than any amount
	size  *userSize
}

func (b bound) exceeds(amount int64) bool { return b.never || b.at > amount }

func compareBounds(a, b bound) int {
	if n := cmp.Compare(a.at, b.at); n != 0 {
		return n
	}
	return cmp.Or(btoi(a.never)-btoi(b.never), cmp.Compare(a.size.id, b.size.id))
}

// find returns where a bound is, or belongs.
func (p *sizePart) find(b bound) int {
	i, _ := slices.BinarySearchFunc(p.bounds, b, compareBounds)
	return i
}

// replace puts a bound in the place of another one of the same user.
func (p *sizePart) replace(old, b bound) {
	p.within += btoi(!b.exceeds(p.amount)) - btoi(!old.exceeds(p.amount))
	from, to := p.find(old), p.find(b)
	if from < to {
		to--
		copy(p.bounds[from:to], p.bounds[from+1:to+1])
	} else {
		copy(p.bounds[to+1:from+1], p.bounds[to:from])
	}
	p.bounds[to] = b
}

// allow sets an amount, and looks at those users whose bounds it passes.
func (us *leafUsers) allow(i int, p *sizePart, amount int64) {
	passed := us.passed[:0]
	for at := p.within; at < len(p.bounds) && !p.bounds[at].exceeds(amount); at++ {
		passed = append(passed, p.bounds[at].size)
	}
	for at := p.within - 1; at >= 0 && p.bounds[at].exceeds(amount); at-- {
		passed = append(passed, p.bounds[at].size)
	}
	p.within += len(passed) * sign(amount > p.amount)
	p.amount = amount
	for _, z := range passed {
		n := z.needOf(i, us.calculator)
		us.note(z, i, n, bound{n.least, n.never, z})
		z.user.calm = false
	}
	us.passed = passed
}

// note notes whether the amount is enough for a need of a user, and a bound between both.
func (us *leafUsers) note(z *userSize, i int, n need, to bound) {
	k, p := &z.needs[i], &z.parts[i]
	if short := n.exceeds(p.amount); short != k.short {
		k.short = short
		z.short += sign(short)
		us.noteChanged(z.user)
	}
	p.replace(k.bound, to)
	k.bound = to
}

// halfway is a bound halfway between a need of a user and the amount.
func (z *userSize) halfway(n need, amount int64) bound {
	switch {
	case n.never:
		return bound{n.least, true, z}
	case n.exceeds(amount):
		return bound{amount + 1 + (n.least-amount-1)/2, false, z}
	default:
		return bound{n.least + (amount-n.least)/2, false, z}
	}
}

func (us *leafUsers) noteChanged(u *leafUser) {
	if !u.changed {
		u.changed = true
		us.changed = append(us.changed, u)
	}
}

// judge looks again at what a user needs, unless its usage says that this has passed no bound.
func (us *leafUsers) judge(u *leafUser) {
	if u.calm && u.calmWith.hold(&u.usage) && limit.UsesAnything(&u.usage) {
		return
	}
	u.calm, u.calmWith = limit.UsesAnything(&u.usage), u.calmWith[:0]
	for _, z := range u.sizes {
		u.calm = u.calm && !z.driver // what drivers use counts besides
		for i := range z.needs {
			k, p, n := &z.needs[i], &z.parts[i], z.needOf(i, us.calculator)
			if !k.isRight(n, p.amount) {
				us.note(z, i, n, z.halfway(n, p.amount))
			}
			if u.calm && us.calculator.Counts(z.request.At(i).Name) {
				u.calmWith.narrow(z.calmWith(i))
			}
		}
	}
	us.noteChanged(u)
}

// calmWith is the range of its user's usage in which a need of a size passes no bound.
func (z *userSize) calmWith(i int) span {
	more, bound := z.request.At(i), z.needs[i].bound
	switch most := limit.UsageFor(bound.at, more, z.user.weight); {
	case !z.needs[i].short:
		return span{more.Name, 0, most}
	case bound.never:
		return span{more.Name, most + 1, math.MaxInt64}
	default:
		return span{more.Name, limit.UsageFor(bound.at-1, more, z.user.weight) + 1, math.MaxInt64}
	}
}

// queued enters a pod queue of an application.
func (us *leafUsers) queued(app *appAccount, q *podQueue) {
	u := app.user
	z := u.sizeOf(q.class)
	if z == nil {
		us.ids++
		z = &userSize{leafSize: us.sizeOf(q.class, u.weight), user: u, id: us.ids}
		z.users++
		z.needs = make([]knownNeed, len(z.parts))
		for i := range z.parts { // none is needed until it is judged
			p, n := &z.parts[i], &z.needs[i]
			n.bound.size = z
			p.bounds = slices.Insert(p.bounds, p.find(n.bound), n.bound)
			p.within++
		}
		u.sizes, u.calm = append(u.sizes, z), false
	}
	q.size, q.inSize = z, len(z.queues)
	z.queues = append(z.queues, app)
}

// unqueued takes a pod queue out of its size.
func (us *leafUsers) unqueued(q *podQueue) {
	z, last := q.size, len(q.size.queues)-1
	moved := z.queues[last]
	for i := range moved.podQueues {
		if o := &moved.podQueues[i]; o.size == z && o.inSize == last {
			o.inSize, z.queues[q.inSize] = q.inSize, moved
			break
		}
	}
	z.queues[last] = nil
	z.queues, q.size = z.queues[:last], nil
	if last > 0 {
		return
	}
	for i := range z.needs {
		p, b := &z.parts[i], z.needs[i].bound
		at := p.find(b)
		p.within -= btoi(!b.exceeds(p.amount))
		p.bounds = slices.Delete(p.bounds, at, at+1)
	}
	z.user.stopped -= btoi(z.stopped)
	z.user.sizes = slices.DeleteFunc(z.user.sizes, func(o *userSize) bool { return o == z })
	if z.users--; z.users == 0 {
		us.sizes = slices.DeleteFunc(us.sizes, func(o *leafSize) bool { return o == z.leafSize })
	}
}

func (us *leafUsers) sizeOf(c *class, weight int64) *leafSize {
	weight *= int64(btoi(c.driver))
	i := slices.IndexFunc(us.sizes, func(z *leafSize) bool { return z.is(c) && z.weight == weight })
	if i < 0 {
		us.measured.done = false
		us.sizes = append(us.sizes, &leafSize{request: c.request, driver: c.driver, weight: weight, parts: make([]sizePart, c.request.Len()<<btoi(c.driver))})
		i = len(us.sizes) - 1
	}
	return us.sizes[i]
}

// sizeOf returns the size of pods that wait for the user; nil: none of it do.
func (u *leafUser) sizeOf(c *class) *userSize {
	for _, z := range u.sizes {
		if z.is(c) {
			return z
		}
	}
	return nil
}

// is reports whether pods of a class have the size.
func (z *leafSize) is(c *class) bool { return z.driver == c.driver && z.request.Equal(c.request) }

// userStops reports whether the limit of its user stops pods of a class that are in a pod queue of the application.
func (a *appAccount) userStops(c *class) bool {
	if a.user == nil {
		return false
	}
	z := a.user.sizeOf(c)
	return z != nil && z.stopped
}

// allowedLanes are the lanes of the application's pod queues that the limit of its user does not stop.
func (a *appAccount) allowedLanes() (lanes book.Lanes) {
	if a.user == nil || a.user.stopped == 0 {
		return a.lanes
	}
	for i := range a.podQueues {
		if q := &a.podQueues[i]; !q.size.stopped {
			lanes |= q.class.lane.Set()
		}
	}
	return lanes
}

// measured says for which state of the leaf the amounts of all sizes were computed. They are right as long as the leaf is in that state.
type measured struct {
	done    bool
	asking  int
	version uint64 // of the share of the leaf
	usage   spans
}

// isShare reports whether the leaf has the same share, and the same number of users ask.
func (m *measured) isShare(leaf *queueAccount) bool {
	return m.done && m.asking == leaf.users.asking && m.version == leaf.share.version
}

func (m *measured) holds(leaf *queueAccount) bool {
	return m.isShare(leaf) && m.usage.hold(&leaf.usage)
}

// spans are ranges of usage, one for each of some resources.
type spans []span

type span struct {
	name        resource.Name
	least, most int64
}

// hold reports whether usage is in all ranges.
func (s spans) hold(usage *resource.Sum) bool {
	for i := range s {
		if used := usage.Get(s[i].name); used < s[i].least || used > s[i].most {
			return false
		}
	}
	return true
}

// narrow has the range of a resource be within another one, too.
func (s *spans) narrow(to span) {
	i := slices.IndexFunc(*s, func(o span) bool { return o.name == to.name })
	if i < 0 {
		*s = append(*s, to)
		return
	}
	of := &(*s)[i]
	of.least, of.most = max(of.least, to.least), min(of.most, to.most)
}

// measure computes the amounts of all sizes.
func (us *leafUsers) measure(leaf *queueAccount, s *shares) {
	m := &us.measured
	again := m.isShare(leaf)
	m.done, m.asking, m.version = true, us.asking, leaf.share.version
	m.usage = m.usage[:0]
	for _, z := range us.sizes {
		if !again {
			us.measureShares(leaf, z, s)
		}
		for i := range z.request.Len() {
			p, name := &z.parts[i], z.request.At(i).Name
			used := leaf.usage.Get(name)
			us.allow(i, p, p.share.Amount(used))
			if within := p.share.Within(); used <= within {
				m.usage.narrow(span{name, 0, within})
			} else {
				m.usage.narrow(span{name, used, used})
			}
		}
	}
}

// measureShares computes what the amounts of a size depend on, but for the usage of the leaf. Those of drivers do not depend on that.
func (us *leafUsers) measureShares(leaf *queueAccount, z *leafSize, s *shares) {
	share := leaf.userShare()
	for i := range z.request.Len() {
		e := z.request.At(i)
		z.parts[i].share = share.Of(s.entitledTo(leaf, e.Name), s.mostFor(leaf, e.Name), e.Value)
	}
	if z.driver {
		us.allowDrivers(leaf, z, s)
	}
}
