package simulator

import (
	"math/big"
	"math/rand/v2"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// drawUserLimits has some queues limit what each user uses, in half of the worlds with limits. In worlds without, a queue that
// shares by capacity has a factor that limits nobody.
func drawUserLimits(seed uint64, o Options, qs []queue.Declaration) {
	rng := rand.New(rand.NewPCG(seed, 23))
	draws := o.Limits && rng.IntN(2) == 0
	for i := range qs {
		if !draws {
			qs[i].Spec.Users.ShareFactor = queue.Limit{Stated: qs[i].Spec.Capacity.Stated, Most: 1_000_000_000}
		} else if rng.IntN(2) == 0 {
			qs[i].Spec.Users = drawUsers(rng)
		}
	}
}

func drawUsers(rng *rand.Rand) (u queue.Users) {
	if rng.IntN(3) > 0 {
		u.MinShare = queue.AtMost(1 + rng.Int64N(100))
	}
	if rng.IntN(3) > 0 {
		u.ShareFactor = queue.AtMost(1 + rng.Int64N(4000))
	}
	if rng.IntN(3) == 0 {
		u.Weights = queue.WeightsOf(queue.UserWeight{User: "user-1", Weight: rng.Int64N(100_000/u.Least() + 1)}, queue.UserWeight{User: "user-2", Weight: rng.Int64N(100_000/u.Least() + 1)})
	}
	return u
}

// editUserLimits changes what a queue says of its users. It has random numbers of its own: the worlds stay what they were.
func (w *World) editUserLimits(d *queue.Declaration) {
	rng := rand.New(rand.NewPCG(w.seed, uint64(w.Steps)+29))
	if rng.IntN(3) == 0 {
		d.Spec.Users = drawUsers(rng)
	}
}

// auditUserLimit: a pod that was released or reserved is within what its user may use of the leaf.
func (w *World) auditUserLimit(p *pod, what string) {
	if i, most, used := w.userOver(p.charged, p, p, 0, what != "released"); i >= 0 {
		w.fail("pod %s was %s, and its user %s uses %d %s of queue %s of at most %s", p.UID, what, userIn(w.apps(), p.charged, p), used, resources[i], p.charged, most)
	}
}

// userIn is the user for which a pod counts in a leaf: that of the oldest pod of its application there.
func userIn(apps map[appKey]*app, leaf queue.Path, p *pod) string {
	if a := apps[appKey{leaf, p.seen.Application}]; a != nil {
		return a.oldest.User
	}
	return p.seen.User
}

// userOver returns the resource of which the user of a pod would use more of a leaf than one user may, with that pod and so many like
// it before, -1 if there is none. self is not counted. Everything is added up again, in fractions: an equal part for each user that asks of what the leaf is
// entitled to, or if it would use more, of what it uses, and the pod, as far as it is no more than such a part of all that it may use; not below the stated
// part, not above the factor; times the weight. again: it was released before, and so the pod counts as the last that is the largest of those of the user on
// their way to a node, and one of those may be the one pod of a user who has nothing else.
func (w *World) userOver(leaf queue.Path, p, self *pod, before int, again bool) (i int, most *big.Rat, used int64) {
	spec, at := w.inForce(leaf)
	if !spec.LimitsUsers() {
		return -1, nil, 0
	}
	is := w.userIs(leaf, p, self)
	user, own, all, asking := is.user, is.own.plus(p.asks.times(before)), is.all.plus(p.asks.times(before)), is.asking
	largest := p.asks
	for i := range largest {
		if again {
			largest[i] = max(largest[i], is.largest[i])
		}
	}
	if own == (size{}) || again && !is.bound {
		return -1, nil, 0
	}
	base, top := w.entitledTo(leaf, at)
	for i, asks := range w.counted(p.asks) {
		if asks <= 0 {
			continue
		}
		if most := userMost(spec.Users, user, [4]int64{base[i], top[i], all[i] + asks - largest[i], largest[i]}, len(asking)); new(big.Rat).SetInt64(own[i]+asks).Cmp(most) > 0 {
			return i, most, own[i] + asks
		}
	}
	return -1, nil, 0
}

// userIs is what the user of a pod has in a leaf, and its drivers, what all have, and which users ask: that one, and those with pods
// that wait for nothing but limits, room and their turn. largest has, of each resource, the most that one of its pods asks for that is on its way to
// a node. self is not counted.
type userIs struct {
	user                       string
	own, drivers, all, largest size
	bound                      bool // one of its pods has a node
	asking                     map[string]bool
}

func (w *World) userIs(leaf queue.Path, p, self *pod) userIs {
	apps := w.apps()
	is := userIs{user: userIn(apps, leaf, p), asking: map[string]bool{}}
	is.asking[is.user] = true
	for _, o := range w.known.pods {
		if o == self {
			continue
		}
		if o.charged == leaf {
			is.all = is.all.plus(o.asks)
			if userIn(apps, leaf, o) != is.user {
				continue
			}
		}
		switch state, _ := w.Ledger.PodState(o.UID); {
		case o.charged == leaf:
			is.own = is.own.plus(o.asks)
			is.bound = is.bound || state.State == ledger.Bound
			if o.seen.Role == application.Driver {
				is.drivers = is.drivers.plus(o.asks)
			}
			for i := range is.largest {
				if state.State != ledger.Bound {
					is.largest[i] = max(is.largest[i], o.asks[i])
				}
			}
		case state.Leaf == leaf && (state.State == ledger.Waiting || state.State == ledger.Parked) && state.BlockedBy.Code == "":
			is.asking[userIn(apps, leaf, o)] = true
		}
	}
	return is
}

// userDriverOver returns the resource of which the drivers of a user would use more of a leaf than those of one user may, with this
// one, -1 if there is none: of what all drivers may use, an equal part for each user that asks, or the stated one if that is more, times the weight but not
// more than the whole, times the factor.
func (w *World) userDriverOver(leaf queue.Path, p, self *pod) (i int, most *big.Rat, used int64) {
	spec, at := w.inForce(leaf)
	share := w.driverShare(leaf)
	if share >= 1000 || !spec.LimitsUsers() {
		return -1, nil, 0
	}
	is := w.userIs(leaf, p, self)
	if is.drivers == (size{}) {
		return -1, nil, 0
	}
	part, factor := big.NewRat(1, int64(len(is.asking))), big.NewRat(1, 1)
	if least := big.NewRat(spec.Users.Least(), 100); least.Cmp(part) > 0 {
		part = least
	}
	if part.Mul(part, big.NewRat(weightOf(spec.Users, is.user), 1000)); part.Cmp(factor) > 0 {
		part.SetInt64(1)
	}
	factor.SetFrac64(spec.Users.Factor(), 1000)
	base, _ := w.entitledTo(leaf, at)
	for i, asks := range w.counted(p.asks) {
		may := new(big.Rat).Mul(big.NewRat(share, 1000), new(big.Rat).SetInt64(base[i]))
		may = roundedUp(may.Mul(may.Mul(may, part), factor))
		if asks > 0 && new(big.Rat).SetInt64(is.drivers[i]+asks).Cmp(may) > 0 {
			return i, may, is.drivers[i] + asks
		}
	}
	return -1, nil, 0
}

// inForce is what a queue states, as far as it is in force, and its place in the tree; the zero value, -1 if it is not there.
func (w *World) inForce(q queue.Path) (spec queue.Spec, at int) {
	tree := w.tree()
	if at, ok := tree.Find(q); ok {
		return tree.Nodes[at].Spec, at
	}
	return queue.Spec{}, -1
}

// weightOf is the weight of a user, in milli.
func weightOf(u queue.Users, user string) int64 {
	for _, w := range u.Weights {
		if w.User == user {
			return w.Weight
		}
	}
	return 1000
}

// userMost is the formula.
func userMost(u queue.Users, user string, of [4]int64, users int) *big.Rat {
	base, top, used, asks := of[0], of[1], of[2], of[3]
	rat := func(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
	percent, factor, weight := int64(100), int64(1000), weightOf(u, user)
	if u.MinShare.Stated {
		percent = u.MinShare.Most
	}
	if u.ShareFactor.Stated {
		factor = u.ShareFactor.Most
	}
	q, whole, equal := max(base, asks), max(base, asks), func(n int64) *big.Rat { return roundedUp(big.NewRat(n, int64(users))) }
	most := equal(q)
	if used+asks > q {
		top = max(top, q)
		whole = min(used+asks, top)
		if most = equal(used).Add(equal(used), rat(asks)); most.Cmp(equal(top)) > 0 {
			most = equal(top)
		}
		if users == 1 || percent == 100 {
			whole, percent = used+asks, 100
		}
	}
	if part := roundedUp(new(big.Rat).Mul(rat(whole), big.NewRat(percent, 100))); part.Cmp(most) > 0 {
		most = part
	}
	if ceiling := roundedUp(new(big.Rat).Mul(rat(q), big.NewRat(factor, 1000))); ceiling.Cmp(most) < 0 {
		most = ceiling
	}
	most = new(big.Rat).Mul(most, big.NewRat(weight, 1000))
	return new(big.Rat).SetInt(new(big.Int).Quo(most.Num(), most.Denom()))
}

func roundedUp(r *big.Rat) *big.Rat {
	n := new(big.Int).Add(r.Num(), r.Denom())
	n.Sub(n, big.NewInt(1))
	return new(big.Rat).SetInt(n.Quo(n, r.Denom()))
}

// entitledTo is what the parts of users are parts of: a capacity, whether the queue is active or not, or the fair share; of what the leaf
// has no share, what it could ever hold. That is top.
func (w *World) entitledTo(leaf queue.Path, at int) (base, top size) {
	total := w.total()
	most := w.maxOf(leaf, total)
	for i := range top {
		if top[i] = total[i]; most[i] >= 0 {
			top[i] = min(top[i], most[i])
		}
	}
	if w.tree().Nodes[at].Spec.Capacity.Stated {
		base = sizeOf(w.steady()[at])
	} else {
		base = w.fairShare(leaf)
	}
	for i := range base {
		if base[i] == 0 {
			base[i] = top[i]
		}
	}
	return base, top
}
