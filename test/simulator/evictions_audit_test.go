package simulator

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// books are what queues use and are entitled to, added up from the pods, and what a plan makes of that.
type books struct {
	s      *steady
	w      preemption.World
	at     map[queue.Path]int
	used   []size // of each queue of the world
	shares []size
	total  size
	rules  []queue.Rule // by which each queue is compared with its siblings
	turns  []turn
	wrong  []string
}

// turn is the payment of a unit of a plan: when the unit is charged, and before its victims go.
type turn struct {
	preemption.Payment
	asks    size
	used    []size // of each queue of the world
	victims []preemption.Victim
	ideal   bool // the victims leave their queues their ideals
}

func (b *books) fail(format string, args ...any) {
	b.wrong = append(b.wrong, fmt.Sprintf(format, args...))
}

// auditPlan looks at a plan with arithmetic of its own.
func (s *steady) auditPlan(w preemption.World, plan preemption.Plan) []string {
	b := &books{s: s, w: w, at: map[queue.Path]int{}, used: make([]size, len(w.Queues)), shares: make([]size, len(w.Queues)), rules: make([]queue.Rule, len(w.Queues))}
	snapshot := s.l.Snapshot()
	b.total = sizeOf(snapshot.Total)
	for i, q := range w.Queues {
		b.at[q.Path] = i
	}
	for _, q := range snapshot.Queues {
		if i, ok := b.at[q.Path]; ok {
			b.shares[i] = sizeOf(q.FairShare)
			for j := range w.Queues {
				if w.Queues[j].Path.Parent() == q.Path {
					b.rules[j] = q.Spec.Rule()
				}
			}
		}
	}
	for uid, m := range s.pods { // a sum: order does not matter
		comes := slices.ContainsFunc(w.Coming, func(c preemption.Nomination) bool { return c.UID == string(uid) })
		if comes || m.Node != "" && !m.Terminating && !slices.Contains(w.Gone, string(uid)) {
			b.charge(b.leaf(m), sizeOf(m.Request), 1)
		}
	}
	closed := false            // a pod is nominated to a node that is closed to claimants: it may be doubtful
	for _, m := range s.pods { // any: order does not matter
		closed = closed || m.Node == "" && m.Nominated != "" && !slices.ContainsFunc(w.Nodes, func(n preemption.Node) bool { return n.Name == m.Nominated })
	}
	for i, q := range w.Queues {
		if closed {
			b.used[i] = sizeOf(q.Usage)
		}
		if got := sizeOf(q.Usage); got != b.used[i] {
			b.fail("%s uses %v net, the plan was told %v", q.Path, b.used[i], got)
		}
		if got := sizeOf(q.Entitlement); got != b.shares[i] {
			b.fail("%s is entitled to %v, the plan was told %v", q.Path, b.shares[i], got)
		}
	}
	b.auditWhoPays(plan)
	b.auditPayments(plan)
	b.auditRoom(plan)
	b.wrong = append(b.wrong, invariant.Plan(w, plan, &filters{Feasibility: s.l.Feasibility(w), world: w})...)
	return b.wrong
}

func (b *books) leaf(m *member) int { return b.at[home(&m.Pod)] }

func (b *books) charge(q int, s size, sign int64) {
	for ; q >= 0; q = b.w.Queues[q].Parent {
		for i := range s {
			b.used[q][i] += sign * s[i]
		}
	}
}

// dominant is the largest part of the cluster that counts.
func (b *books) dominant(q int, s size) *big.Rat {
	return partOf(b.rules[q], b.total, s)
}

// auditPayments follows the plan unit by unit: none is beyond the target of its claim, and no victim's queue falls below its share, nor for a guarantee
// below what counts of its own.
func (b *books) auditPayments(plan preemption.Plan) {
	for _, p := range plan.Claims {
		for _, u := range p.Units {
			b.auditUnit(plan, p, u)
		}
	}
	outermost := map[int]int{} // of those who take pods from a queue: what counts of its share for them is all that it keeps for sure
	for _, v := range plan.Victims {
		meet := b.meet(v.Queue, v.ForQueue)
		for q := v.Queue; q != meet; q = b.w.Queues[q].Parent {
			if is, there := outermost[q]; !there || b.depth(meet) < b.depth(is) {
				outermost[q] = meet
			}
		}
	}
	for _, v := range plan.Victims { // once more, with all that is planned
		b.keepsShares(v, "in the end", func(q int) int { return outermost[q] })
	}
}

func (b *books) auditUnit(plan preemption.Plan, p preemption.Payment, u preemption.Unit) {
	has := func(uid string) bool {
		return slices.ContainsFunc(p.Nominations, func(at preemption.Nomination) bool { return at.UID == uid }) &&
			slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == uid })
	}
	var asks size
	for _, at := range p.Nominations {
		if !has(at.UID) {
			continue
		}
		m := b.s.pods[ledger.UID(at.UID)]
		if m == nil || m.Node != "" || m.Terminating {
			b.fail("%s is nominated, and does not wait", at.UID)
			continue
		}
		asks = asks.plus(sizeOf(m.Request))
		b.charge(b.leaf(m), sizeOf(m.Request), 1)
		if !b.w.Queues[p.Queue].Path.Contains(home(&m.Pod)) {
			b.fail("%s is nominated by a claim of %s", at.UID, b.w.Queues[p.Queue].Path)
		}
	}
	if asks == (size{}) {
		return
	}
	target, used := sizeOf(p.Target), b.used[p.Queue]
	pays := len(resources)
	if p.Kind == preemption.BelowGuaranteed {
		pays = b.owes(p.Queue, asks, target)
	}
	if pays < 0 || pays == len(resources) && b.dominant(p.Queue, used).Cmp(b.dominant(p.Queue, target)) > 0 {
		b.fail("%s is paid up to %v of %v", b.w.Queues[p.Queue].Path, used, target)
		return
	}
	t := turn{Payment: p, asks: asks, used: slices.Clone(b.used)}
	for _, v := range plan.Victims {
		if has(v.For) {
			b.auditVictim(v, p)
			t.victims = append(t.victims, v)
		}
	}
	t.ideal = !slices.ContainsFunc(t.victims, func(v preemption.Victim) bool { return b.belowIdeal(plan, v.Queue, p.Queue) })
	b.turns = append(b.turns, t)
	for _, v := range t.victims {
		if p.Kind == preemption.BelowGuaranteed {
			pays = b.owes(p.Queue, asks, b.target(p, b.meet(v.Queue, p.Queue)))
			b.keepsGuarantees(v, devicesFirst[:pays+1])
		}
	}
}

// devicesFirst are the resources in the order in which guarantees of them count.
var devicesFirst = [...]int{gpu, cpu, memory}

// owes is the index in devicesFirst of what these pods, charged already, ask for and of which the queue has no more than is due to it; -1: there is none.
func (b *books) owes(q int, asks, due size) int {
	return slices.IndexFunc(devicesFirst[:], func(i int) bool { return asks[i] > 0 && b.used[q][i] <= due[i] && b.rules[q].Counts(resources[i]) })
}

// covered is what counts of a queue's amount for queues that it meets at another one: of what counts of its parent's it has the part that it has of what its
// siblings and it have together, if that is more. cut: somewhere on the way they have more than their parent.
func (b *books) covered(q, meet int, of func(q int) size) (due size, cut bool) {
	parent := b.w.Queues[q].Parent
	if due = of(q); parent == meet || parent < 0 {
		return due, false
	}
	above, cut := b.covered(parent, meet, of)
	for i := range due {
		all := new(big.Int)
		for s := range b.w.Queues {
			if b.w.Queues[s].Parent == parent {
				all.Add(all, big.NewInt(of(s)[i]))
			}
		}
		cut = cut || all.Cmp(big.NewInt(of(parent)[i])) > 0
		if has := big.NewInt(above[i]); all.Cmp(has) > 0 {
			due[i] = has.Mul(has, big.NewInt(due[i])).Quo(has, all).Int64()
		}
	}
	return due, cut
}

func (b *books) share(q, meet int) size {
	due, _ := b.covered(q, meet, func(q int) size { return b.shares[q] })
	return due
}

func (b *books) ideal(plan preemption.Plan, q, meet int) size {
	due, _ := b.covered(q, meet, func(q int) size { return sizeOf(plan.Ideal[q]) })
	return due
}

// target is the usage up to which a claim goes, with victims whose queues it meets at this one.
func (b *books) target(p preemption.Payment, meet int) size {
	return b.within(sizeOf(p.Target), p.Queue, meet)
}

// guaranteedFor is what a queue is guaranteed and asks for, as far as it counts for queues that it meets at another one.
func (b *books) guaranteedFor(q, meet int) size { return b.within(b.guaranteed(q), q, meet) }

func (b *books) within(due size, q, meet int) size {
	if most, cut := b.covered(q, meet, func(q int) size { return b.shares[q] }); cut {
		for i := range due {
			due[i] = min(due[i], most[i])
		}
	}
	return due
}

// guaranteed is what a queue is guaranteed, as far as it asks for it.
func (b *books) guaranteed(q int) (due size) {
	for _, d := range b.s.obs.Queues {
		if d.Path == b.w.Queues[q].Path {
			due = sizeOf(d.Spec.Guaranteed)
		}
	}
	for i, asks := range sizeOf(b.w.Queues[q].Demand) {
		due[i] = min(due[i], asks)
	}
	return due
}

// keepsGuarantees: what a victim holds of these resources, the queues that lose it still have as much as they are guaranteed and ask for.
func (b *books) keepsGuarantees(v preemption.Victim, of []int) {
	m := b.s.pods[ledger.UID(v.UID)]
	if m == nil {
		return
	}
	if q := b.unguaranteed(m, v.ForQueue, of); q >= 0 {
		b.fail("%s goes for the guarantee of %s, and then %s has %v of the %v that it is guaranteed itself",
			v.UID, b.w.Queues[v.ForQueue].Path, b.w.Queues[q].Path, b.used[q], b.guaranteedFor(q, b.meet(v.Queue, v.ForQueue)))
	}
}

// unguaranteed is a queue that has lost a pod, which is gone, for a claim, and now lacks of its own guarantee something that the pod held; -1: there is none.
func (b *books) unguaranteed(m *member, claims int, of []int) int {
	for q := b.leaf(m); q >= 0 && !b.w.Queues[q].Path.Contains(b.w.Queues[claims].Path); q = b.w.Queues[q].Parent {
		due := b.guaranteedFor(q, b.meet(b.leaf(m), claims))
		for _, i := range of {
			if sizeOf(m.Request)[i] > 0 && b.rules[q].Counts(resources[i]) && b.used[q][i] < due[i] {
				return q
			}
		}
	}
	return -1
}

func (b *books) auditVictim(v preemption.Victim, p preemption.Payment) {
	m := b.s.pods[ledger.UID(v.UID)]
	if m == nil || m.Node == "" || m.Terminating || slices.Contains(b.w.Gone, v.UID) {
		b.fail("%s is to go, and is on its way or not there", v.UID)
		return
	}
	leaf := b.leaf(m)
	if b.w.Queues[p.Queue].Path.Contains(home(&m.Pod)) {
		b.fail("%s of the queue %s that claims is to go", v.UID, b.w.Queues[p.Queue].Path)
	}
	if q := b.protects(home(&m.Pod)); q != "" {
		b.fail("%s is to go, which %s does not allow", v.UID, q)
	}
	b.charge(leaf, sizeOf(m.Request), -1)
	b.keepsShares(v, "then", func(int) int { return b.meet(leaf, p.Queue) })
}

// protects is the queue that keeps the pods of another from being preempted; "": none does. From the leaf up, the first that says something decides. But
// true counts only where the queue shares by capacity.
func (b *books) protects(leaf queue.Path) queue.Path {
	for q := leaf; q != ""; q = q.Parent() {
		at := slices.IndexFunc(b.s.obs.Queues, func(d queue.Declaration) bool { return d.Path == q })
		if at < 0 {
			continue
		}
		switch spec := &b.s.obs.Queues[at].Spec; {
		case spec.Preemption.Preemptible == queue.PreemptibleNo:
			return q
		case spec.Preemption.Preemptible == queue.PreemptibleYes && spec.Capacity.Stated:
			return ""
		}
	}
	return ""
}

// keepsShares: from the victim's leaf up to below the queue where its path meets that of the claim, all have their share, as far as it counts for queues
// that they meet at another one.
func (b *books) keepsShares(v preemption.Victim, when string, meet func(q int) int) {
	m := b.s.pods[ledger.UID(v.UID)]
	if m == nil {
		return
	}
	for q := b.leaf(m); q >= 0 && !b.w.Queues[q].Path.Contains(b.w.Queues[v.ForQueue].Path); q = b.w.Queues[q].Parent {
		if share := b.share(q, meet(q)); b.dominant(q, b.used[q]).Cmp(b.dominant(q, share)) < 0 {
			b.fail("%s goes for %s, and %s %s uses %v of its share of %v", v.UID, v.For, when, b.w.Queues[q].Path, b.used[q], share)
		} else if b.dominant(q, b.used[q]).Cmp(b.dominant(q, b.shares[q])) < 0 {
			b.s.covered++
		}
	}
}

// auditRoom: all fit on their nodes once those that are to go are gone, and without one of them they would not.
func (b *books) auditRoom(plan preemption.Plan) {
	goes := map[string]bool{}
	for _, v := range plan.Victims {
		goes[v.UID] = true
	}
	left, slots := b.rooms(goes)
	placed := map[string]bool{}
	for _, p := range plan.Claims {
		for _, at := range p.Nominations {
			name, m := b.w.Nodes[at.Node].Name, b.s.pods[ledger.UID(at.UID)]
			left[name] = left[name].minus(sizeOf(m.Request))
			slots[name]--
			placed[name] = true
			if !suits(*b.s.node(name), m.Pod) {
				b.fail("%s is nominated to %s, which it may not use", at.UID, name)
			}
		}
	}
	for name := range placed { // each for itself: order does not matter
		if !(size{}).within(left[name]) || slots[name] < 0 {
			b.fail("node %s is short of %v and has %d slots left in the end", name, left[name], slots[name])
		}
	}
	b.auditNeed(plan, left, slots)
}

// rooms is what is left on each node beside all that stays, and how many more pods it takes.
func (b *books) rooms(goes map[string]bool) (left map[string]size, slots map[string]int) {
	left, slots = map[string]size{}, map[string]int{}
	for _, n := range b.s.obs.Nodes {
		left[n.Name], slots[n.Name] = sizeOf(n.Allocatable), n.Pods
		if n.Pods == 0 {
			slots[n.Name] = 1 << 30
		}
	}
	put := func(node string, m *member) {
		left[node] = left[node].minus(sizeOf(m.Request))
		slots[node]--
	}
	for uid, m := range b.s.pods { // a sum: order does not matter
		if m.Node != "" && !m.Terminating && !goes[string(uid)] && !slices.Contains(b.w.Gone, string(uid)) {
			put(m.Node, m)
		}
	}
	for _, c := range b.w.Coming {
		put(b.w.Nodes[c.Node].Name, b.s.pods[ledger.UID(c.UID)])
	}
	return left, slots
}

// auditNeed: every victim is needed. If one of them, or one group that goes together, stayed, a claimant would have no
// room, a max would be exceeded, or a queue above its share would take from others.
func (b *books) auditNeed(plan preemption.Plan, left map[string]size, slots map[string]int) {
	for _, v := range plan.Victims {
		needed := false
		stay := slices.DeleteFunc(slices.Clone(plan.Victims), func(o preemption.Victim) bool { return o.UID != v.UID && (v.With == "" || o.With != v.With) })
		together, back, pods := map[queue.Path]size{}, map[string]size{}, map[string]int{}
		for _, o := range stay {
			m := b.s.pods[ledger.UID(o.UID)]
			for q := home(&m.Pod); q != ""; q = q.Parent() {
				together[q] = together[q].plus(sizeOf(m.Request))
			}
			back[m.Node] = back[m.Node].plus(sizeOf(m.Request))
			pods[m.Node]++
		}
		for node, more := range back { // any: order does not matter
			if !more.within(left[node]) || slots[node] < pods[node] {
				needed = true
			}
		}
		for q, more := range together { // any: order does not matter
			if _, over := b.used[b.at[q]].plus(more).over(stated(b.w.Queues[b.at[q]].Max, resource.List{}, b.total)); over {
				needed = true
			}
		}
		if !needed && !b.takesTooMuch(plan, stay) {
			b.fail("%s need not go", v.UID)
		}
	}
}

// takesTooMuch reports whether a later unit of the plan, if these stayed, would at its turn take from outside a queue that lacks nothing itself.
func (b *books) takesTooMuch(plan preemption.Plan, stay []preemption.Victim) bool {
	used := b.used
	defer func() { b.used = used }()
	gone := false
	for _, t := range b.turns {
		if gone {
			b.used = slices.Clone(t.used)
			for _, v := range stay {
				m := b.s.pods[ledger.UID(v.UID)]
				b.charge(b.leaf(m), sizeOf(m.Request), 1)
			}
			top := b.top(plan, t.Payment, t.asks, t.ideal)
			if slices.ContainsFunc(t.victims, func(v preemption.Victim) bool { return b.depth(b.meet(v.Queue, t.Queue)) < top }) {
				return true
			}
		}
		gone = gone || slices.Contains(t.victims, stay[0])
	}
	return false
}

// auditRest: in the end no claim waits that could be paid, and every pod for which others were evicted has its node.
func (s *steady) auditRest() error {
	var wrong []string
	for _, q := range s.l.Snapshot().Queues {
		if q.Starvation.Claiming && len(s.l.Victims()) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s still waits for its victims", q.Path))
		}
	}
	for _, uid := range sorted(s.pods) {
		if m := s.pods[uid]; m.Announced != 0 && !m.Terminating || m.Nominated != "" && m.Node == "" {
			wrong = append(wrong, fmt.Sprintf("%s shows that it is to go, or to %q, and nothing comes of it", uid, m.Nominated))
		}
	}
	w := s.l.WhatPreemption(s.now)
	plan := preemption.Make(w, s.l.Feasibility(w))
	for _, c := range plan.Claims {
		if len(c.Nominations) > 0 {
			wrong = append(wrong, fmt.Sprintf("%d nominations could be found for %s", len(c.Nominations), w.Queues[c.Queue].Path))
		}
		if c.Unpaid == reason.RoundSpent {
			wrong = append(wrong, fmt.Sprintf("%s has to wait for the next round for ever", w.Queues[c.Queue].Path))
		}
	}
	wrong = append(wrong, s.l.Check()...)
	if len(wrong) > 0 {
		return fmt.Errorf("at rest: %s", strings.Join(wrong, "\n"))
	}
	return nil
}
