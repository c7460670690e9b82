package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// payers are the queues that pay for a nomination. Those that keep their ideal come first, then those whose path leaves that of the claim further outside.
type payers struct {
	belowIdeal bool // one of them does not keep its ideal, as the plan prints it
	depth      int  // of the last queue that a path of theirs has in common with that of the claim, the largest
}

func (p payers) before(o payers) bool {
	if p.belowIdeal != o.belowIdeal {
		return o.belowIdeal
	}
	return p.depth < o.depth
}

// auditWhoPays: the first pod that a plan nominates is not paid by queues within their ideals, or by queues further inside, if one or two pods on
// some node could go instead that are of queues that keep theirs, or are further outside. Later pods have what the first left. It
// must be called with the books as they are before the plan.
func (b *books) auditWhoPays(plan preemption.Plan) {
	p, m := b.first(plan)
	claim := p.Queue
	if m == nil || b.w.Settings.MaxIgnoredOverCapacity > 0 {
		return
	}
	var all []*member
	for _, v := range plan.Victims {
		if v.For != string(m.UID) {
			continue
		}
		all = append(all, b.s.pods[ledger.UID(v.UID)])
		if v.With != "" || all[len(all)-1] == nil {
			return
		}
	}
	if len(all) == 0 {
		return
	}
	b.s.judged++
	b.charge(b.leaf(m), sizeOf(m.Request), 1)
	defer b.charge(b.leaf(m), sizeOf(m.Request), -1)
	asks := sizeOf(m.Request)
	tops := map[bool]int{false: b.top(plan, p, asks, false), true: b.top(plan, p, asks, true)}
	var is payers
	b.without(all, func() { is = b.payers(plan, claim, all) })
	left, slots := b.rooms(nil)
	for i := range b.w.Nodes {
		n := &b.w.Nodes[i]
		if !suits(*b.s.node(n.Name), m.Pod) {
			continue
		}
		for _, others := range b.choices(n.Candidates, claim) {
			room, places := left[n.Name], slots[n.Name]+len(others)
			for _, o := range others {
				room = room.plus(sizeOf(o.Request))
			}
			if places < 1 || !sizeOf(m.Request).within(room) {
				continue
			}
			b.without(others, func() {
				if would := b.payers(plan, claim, others); would.before(is) && b.lawful(p, m, others, tops[!would.belowIdeal]) {
					b.fail("%s is paid by %s (%+v), and could be by %s on %s (%+v)", m.UID, names(all), is, names(others), n.Name, would)
				}
			})
		}
	}
}

// first is the first pod that a plan nominates, and by which claim; nil: it is one of several that go together.
func (b *books) first(plan preemption.Plan) (by preemption.Payment, m *member) {
	for _, p := range plan.Claims {
		for _, u := range p.Units {
			if slices.ContainsFunc(p.Nominations, func(at preemption.Nomination) bool { return at.UID == u.Pods[0].UID }) {
				if len(u.Pods) > 1 {
					return by, nil
				}
				return p, b.s.pods[ledger.UID(u.Pods[0].UID)]
			}
		}
	}
	return by, nil
}

// without looks at the books as if these were gone.
func (b *books) without(all []*member, look func()) {
	for _, m := range all {
		b.charge(b.leaf(m), sizeOf(m.Request), -1)
	}
	look()
	for _, m := range all {
		b.charge(b.leaf(m), sizeOf(m.Request), 1)
	}
}

// choices are all sets of one or two of these.
func (b *books) choices(candidates []preemption.Candidate, claims int) (all [][]*member) {
	var some []*member
	for i := range candidates {
		if o := b.s.pods[ledger.UID(candidates[i].UID)]; o != nil && b.couldGo(&candidates[i], o, claims) {
			for _, other := range some {
				all = append(all, []*member{other, o})
			}
			some = append(some, o)
			all = append(all, []*member{o})
		}
	}
	return all
}

func names(all []*member) (out []string) {
	for _, m := range all {
		out = append(out, fmt.Sprintf("%s of %s", m.UID, home(&m.Pod)))
	}
	return out
}

// couldGo: the pod may be evicted for the claim, alone, whatever its queue has.
func (b *books) couldGo(c *preemption.Candidate, m *member, claims int) bool {
	if c.Gang != "" || c.Replaces != 0 || b.w.Queues[claims].Path.Contains(home(&m.Pod)) {
		return false
	}
	return b.protects(home(&m.Pod)) == ""
}

// payers says of which queues these victims are.
func (b *books) payers(plan preemption.Plan, claims int, all []*member) (is payers) {
	for _, m := range all {
		is.belowIdeal = is.belowIdeal || b.belowIdeal(plan, b.leaf(m), claims)
		is.depth = max(is.depth, b.depth(b.meet(b.leaf(m), claims)))
	}
	return is
}

// belowIdeal reports whether a queue that pays for a claim, or one above it that pays, has less than its ideal.
func (b *books) belowIdeal(plan preemption.Plan, leaf, claims int) bool {
	meet := b.meet(leaf, claims)
	for q := leaf; q != meet; q = b.w.Queues[q].Parent {
		if b.dominant(q, b.used[q]).Cmp(b.dominant(q, b.ideal(plan, q, meet))) < 0 {
			return true
		}
	}
	return false
}

// lawful: these victims for a pod leave their queues their shares, and for a guarantee what counts of their own; they are below the
// top, and no max is exceeded above the claim.
func (b *books) lawful(p preemption.Payment, pod *member, all []*member, top int) bool {
	claims := p.Queue
	for _, m := range all {
		meet := b.meet(b.leaf(m), claims)
		if p.Kind == preemption.BelowGuaranteed {
			pays := b.owes(claims, sizeOf(pod.Request), b.target(p, meet))
			if pays < 0 || b.unguaranteed(m, claims, devicesFirst[:pays+1]) >= 0 {
				return false
			}
		}
		if b.depth(meet) < top {
			return false
		}
		for q := b.leaf(m); q != meet; q = b.w.Queues[q].Parent {
			if b.dominant(q, b.used[q]).Cmp(b.dominant(q, b.share(q, meet))) < 0 {
				return false
			}
		}
	}
	for q := claims; q >= 0; q = b.w.Queues[q].Parent {
		if _, over := b.used[q].over(stated(b.w.Queues[q].Max, resource.List{}, b.total)); over {
			return false
		}
	}
	return true
}

// top is the depth of the highest queue inside which victims may be: all queues above the claim and below it are within their shares, or
// their ideals, or lack for themselves what is asked for of a guarantee; as far as that counts for the victims, and so does the claim.
func (b *books) top(plan preemption.Plan, p preemption.Payment, asks size, ideal bool) int {
	top := b.w.Queues[p.Queue].Parent
	for top > 0 && b.lackFrom(b.w.Queues[top].Parent, plan, p, asks, ideal) {
		top = b.w.Queues[top].Parent
	}
	return b.depth(top)
}

// lackFrom reports whether a claim goes as far as its next payment, for queues that it meets at this one, and all queues between them lack something.
func (b *books) lackFrom(meet int, plan preemption.Plan, p preemption.Payment, asks size, ideal bool) bool {
	if due := b.target(p, meet); due != sizeOf(p.Target) {
		if p.Kind == preemption.BelowGuaranteed && b.owes(p.Queue, asks, due) < 0 ||
			p.Kind != preemption.BelowGuaranteed && b.dominant(p.Queue, b.used[p.Queue]).Cmp(b.dominant(p.Queue, due)) > 0 {
			return false
		}
	}
	for q := b.w.Queues[p.Queue].Parent; q != meet; q = b.w.Queues[q].Parent {
		if p.Kind == preemption.BelowGuaranteed && b.owes(q, asks, b.guaranteedFor(q, meet)) >= 0 {
			continue
		}
		is := b.dominant(q, b.used[q])
		if is.Cmp(b.dominant(q, b.share(q, meet))) > 0 && (!ideal || is.Cmp(b.dominant(q, b.ideal(plan, q, meet))) > 0) {
			return false
		}
	}
	return true
}

func (b *books) depth(q int) int { return strings.Count(string(b.w.Queues[q].Path), ".") }

// meet is the last queue that the paths of two queues have in common.
func (b *books) meet(q, claims int) int {
	for !b.w.Queues[q].Path.Contains(b.w.Queues[claims].Path) {
		q = b.w.Queues[q].Parent
	}
	return q
}
