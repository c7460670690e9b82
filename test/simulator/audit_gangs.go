package simulator

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// longestHold is how long nodes are held for a group at most.
const longestHold = 300 * second

// crew are the pods of a group as the watches show them, without those that are being deleted.
type crew struct {
	live, bound int
	taken       int // charged, and not bound
	placed      int // of those, with a place
	ready       []*pod
	others      int // bound otherwise than by this process
}

// crews counts the pods of all groups, once in each look.
func (w *World) crews() map[string]*crew { return inLook(w, &w.derived.inLook.crews, w.countCrews) }

func (w *World) countCrews() map[string]*crew {
	out := map[string]*crew{}
	for _, p := range w.known.pods {
		now := &p.seen
		if now.PodGroup == "" || now.Foreign || now.Terminating {
			continue
		}
		c := out[now.PodGroup]
		if c == nil {
			c = &crew{}
			out[now.PodGroup] = c
		}
		c.live++
		switch {
		case now.Node != "":
			c.bound++
			if !p.permitted {
				c.others++
			}
		case p.charged != "":
			c.taken++
			if p.on != "" {
				c.placed++
			}
		default:
			c.ready = append(c.ready, p)
		}
	}
	return out
}

// whole is the ledger's word: a group stays so, whatever becomes of its pods.
func (w *World) whole() map[string]bool { return inLook(w, &w.derived.inLook.whole, w.askForWhole) }

func (w *World) askForWhole() map[string]bool {
	out := map[string]bool{}
	for _, g := range w.Ledger.PodGroups() {
		out[g.Key] = g.Whole
	}
	return out
}

// together: the pods of the group start together or not at all.
func (w *World) together(key string, whole map[string]bool) bool {
	d, ok := w.known.groups[key]
	return ok && d.MinMember > 1 && !whole[key]
}

func (w *World) wasWhole(p *pod) bool {
	return p.seen.PodGroup == "" || !w.together(p.seen.PodGroup, w.whole())
}

// expectWithdrawals takes the pods off the books that the next round is going to take out of kube-scheduler's queue, since their group has
// lost a pod: the ledger has refunded them by now.
func (w *World) expectWithdrawals() {
	for uid, p := range w.pods { // each for itself: order does not matter
		if now := &p.seen; w.roundDue && p.charged != "" && now.PodGroup != "" && now.Node == "" && !w.Ledger.Inside(uid) {
			w.charge(p, "")
		}
	}
}

// auditPermission: what may be bound is of a group that was whole, or now has a place for each of the pods that start together.
func (w *World) auditPermission(p *pod, whole bool) {
	p.permitted = true
	if whole {
		return
	}
	key := p.seen.PodGroup
	c, d := w.crews()[key], w.known.groups[key]
	if c.placed+c.bound < d.MinMember {
		w.fail("pod %s may be bound, and %d pods of group %s of at least %d have places", p.UID, c.placed+c.bound, key, d.MinMember)
	}
	w.Whole++
	for _, o := range w.pods { // each for itself: order does not matter
		if o.waits != nil && o.seen.PodGroup == key {
			o.permitted = true
		}
	}
}

// auditGroups holds at any moment.
func (w *World) auditGroups() {
	if !w.opts.Groups {
		return
	}
	whole, way := w.whole(), 0
	for key, c := range w.crews() { // each for itself: order does not matter
		d := w.known.groups[key]
		if !w.together(key, whole) {
			continue
		}
		if c.taken > 0 && c.taken+c.bound >= d.MinMember {
			way++
		}
	}
	if way > 1 {
		w.fail("%d groups are on their way", way)
	}
	rehearsal := w.Ledger.Rehearse()
	for _, p := range w.known.pods {
		uid := p.UID
		why := rehearsal.Stopped(uid)
		if why.Code == reason.BehindGang && (reason.As[reason.Turn](why).Until > w.now+longestHold || why.PodGroup != w.heldFor) {
			w.fail("pod %s waits for group %s until %d; nodes are held for %q", uid, why.PodGroup, reason.As[reason.Turn](why).Until, w.heldFor)
		}
	}
}

// auditHold notes for which group nodes are held, and since when. It looks after every step: another group's turn may follow at once.
func (w *World) auditHold() {
	if !w.opts.Groups {
		return
	}
	open, some := w.Ledger.NodesOpenTo("nobody")
	group := ""
	if some {
		if group = w.heldFor; !w.holdsNodes(group) {
			group = w.holder()
		}
		w.mostNodes = max(w.mostNodes, len(w.known.nodes))
		w.auditHeldNodes(group, len(w.known.nodes)-len(open))
	}
	if group != w.heldFor {
		w.heldFor, w.heldSince, w.mostNodes = group, w.now, len(w.known.nodes)
		switch {
		case strings.HasPrefix(group, largePods):
			w.LargeHolds++
		case group != "":
			w.Holds++
		}
	}
	if group != "" && !strings.HasPrefix(group, largePods) {
		w.LongestHold = max(w.LongestHold, w.now-w.heldSince)
		if w.now-w.heldSince > longestHold+second {
			w.fail("nodes are held for group %s since %d", group, w.heldSince)
		}
	}
}

// largePods comes before the class for whose pods nodes are held.
const largePods = "large pods of class "

// heldKey names what nodes may be held for: the group of a pod, or its class.
func heldKey(p *pod) string {
	if p.seen.PodGroup == "" {
		return largePods + p.seen.Class + p.asks.list().String()
	}
	return p.seen.PodGroup
}

// holder is what nodes are held for.
func (w *World) holder() string {
	for _, p := range w.known.pods { // of what it is held for: any will do
		if _, some := w.Ledger.NodesOpenTo(p.UID); !some && !p.seen.Foreign && (p.seen.PodGroup != "" || p.seen.Node == "") {
			return heldKey(p)
		}
	}
	return largePods // that have all gone a moment ago
}

// auditHeldNodes: no more nodes are held than may be.
func (w *World) auditHeldNodes(group string, n int) {
	if strings.HasPrefix(group, largePods) {
		if most := max(w.mostNodes/10, 1); n > most {
			w.fail("%d of %d nodes are held for %s", n, w.mostNodes, group)
		}
		return
	}
	if most := w.known.groups[group].MinMember; n > most && !w.adversary.edited(group) {
		w.fail("%d nodes are held for group %s of %d", n, group, most)
	}
}

// holdsNodes reports whether nodes are held for the group or class: its pods may use them.
func (w *World) holdsNodes(key string) bool {
	for _, p := range w.known.pods { // any will do
		if key == "" || p.seen.Foreign || p.seen.PodGroup == "" && p.seen.Node != "" || heldKey(p) != key {
			continue
		}
		if _, some := w.Ledger.NodesOpenTo(p.UID); !some {
			return true
		}
	}
	return false
}

// auditGroupsAtRest: with nothing under way, no pod of a group has a charge and no node; none is bound in part, unless by others; and no group waits
// that could start.
func (w *World) auditGroupsAtRest() {
	if !w.opts.Groups {
		return
	}
	whole, crews := w.whole(), w.crews()
	tree, apps := w.tree(), w.apps()
	for _, key := range sorted(crews) {
		if !w.together(key, whole) {
			continue
		}
		c, d := crews[key], w.known.groups[key]
		if c.taken > 0 {
			w.fail("group %s: %d pods are charged and have no node, and nothing is under way", key, c.taken)
		}
		if c.bound > c.others && c.bound < d.MinMember && !w.disturbed[key] {
			w.fail("group %s is bound in part: %d of %d, %d of them by others", key, c.bound, d.MinMember, c.others)
		}
		if c.live >= d.MinMember && c.bound < d.MinMember && w.groupFits(c, d, tree, apps) {
			state, _ := w.Ledger.PodState(c.ready[0].UID)
			w.fail("group %s waits (%s %s) although %d pods fit and are within every limit", key, state.State, state.BlockedBy.Code, d.MinMember-c.bound)
		}
	}
}

// groupFits: the pods that wait are equal, no rule holds them, and all nodes together have places for as many as are missing. Of other groups the
// books say nothing.
func (w *World) groupFits(c *crew, d ledger.PodGroup, tree queue.Tree, apps map[appKey]*app) bool {
	need := d.MinMember - c.bound
	if len(c.ready) < need {
		return false
	}
	first := c.ready[0]
	k := appKey{first.home, first.seen.Application}
	for _, p := range c.ready {
		now := &p.seen
		state, _ := w.Ledger.PodState(p.UID)
		if now.Gate != "" || conflicts(now) || !alike(p, first) || now.Role == application.Driver || state.BlockedBy.Code == reason.BackOff {
			return false
		}
	}
	if !ledNow(&first.seen, w.leads()[k]) {
		return false
	}
	i, ok := tree.Find(k.queue)
	if !ok || !tree.Nodes[i].Accepting || w.opts.Limits && !apps[k].holds || w.gateHolds(k, tree) {
		return false
	}
	if w.Ledger.Rehearse().Stopped(first.UID).Code == reason.BehindGang {
		return false // for how long is looked at elsewhere
	}
	return w.admitsMany(first, need) && !w.exceedsMax(first, need) && w.holdMany(first, need, d)
}

// alike: whatever admits one of the pods admits the other.
func alike(p, o *pod) bool {
	a, b := &p.seen, &o.seen
	return a.Request.Equal(b.Request) && a.Class == b.Class && p.home == o.home && a.Application == b.Application && a.Role == b.Role
}

// admitsMany: so many more pods of the size break no limit on the path.
func (w *World) admitsMany(p *pod, n int) bool {
	charges := w.charges()
	total, s := w.total(), p.asks
	if w.tooLarge(p.home, s, total) {
		return false
	}
	for q := p.home; q != ""; q = q.Parent() {
		if _, over := charges[q].plus(s.times(n)).over(w.maxOf(q, total)); over {
			return false
		}
	}
	i, _, _ := w.userOver(p.home, p, nil, n-1, false)
	return i < 0
}

// charges are what the queues are charged, subtrees included.
func (w *World) charges() sums { return recall(w, &w.derived.charges, w.sumCharges) }

func (w *World) sumCharges() sums {
	out := sums{}
	for _, p := range w.known.pods {
		if p.charged != "" {
			out.add(p.charged, p.asks)
		}
	}
	return out
}

func (s size) times(n int) size {
	for i := range s {
		s[i] *= int64(n)
	}
	return s
}

// holdMany: the nodes that are not kept for others hold n more pods of the size, and have free what the group says it needs.
func (w *World) holdMany(p *pod, n int, d ledger.PodGroup) bool {
	open, some := w.Ledger.NodesOpenTo(p.UID)
	kept := w.kept()
	for uid := range kept { // any: order does not matter
		if w.pods[uid].seen.PodGroup == p.seen.PodGroup {
			return false // some have places, and the others wait for theirs
		}
	}
	var free size
	for _, name := range w.kube.names {
		r := *w.kube.rooms[name]
		if some && !slices.Contains(open, name) || !r.known {
			continue
		}
		r.keep(w, name, kept, func(ledger.UID) bool { return true })
		if left := sizeOf(r.node.Allocatable).minus(r.used); r.node.Usable {
			for i := range left {
				free[i] += max(left[i], 0)
			}
		}
		for n > 0 && r.fits(p) {
			r.used = r.used.plus(p.asks)
			r.pods++
			n--
		}
	}
	return n == 0 && sizeOf(d.MinResources).within(free)
}

// groupHolds: the pod's group keeps it from taking part, since it is not declared or not there.
func (w *World) groupHolds(p *ledger.Pod) bool {
	if !w.opts.Groups || p.PodGroup == "" {
		return false
	}
	d, ok := w.known.groups[p.PodGroup]
	if !ok {
		return true
	}
	return w.together(p.PodGroup, w.whole()) && w.crews()[p.PodGroup].live < d.MinMember
}

// groupWaits: the pod does not start by itself, or waits for a group that came before it. Groups are audited as such.
func (w *World) groupWaits(p *pod) bool {
	if !w.opts.Groups {
		return false
	}
	if w.groupHolds(&p.seen) || w.together(p.seen.PodGroup, w.whole()) {
		return true
	}
	if s, _ := w.Ledger.PodState(p.UID); s.State == ledger.Waiting {
		return w.Ledger.Rehearse().Stopped(p.UID).Code == reason.BehindGang
	}
	group := w.crews()[w.heldFor] // of a probe, the ledger does not say why
	return group != nil && slices.ContainsFunc(group.ready, func(o *pod) bool { return o.home == p.home })
}

// backingOff: a group waits to be tried again, which a ledger that is built again does not know.
func (w *World) backingOff() bool {
	if !w.opts.Groups {
		return false
	}
	for _, p := range w.known.pods { // any will do
		if state, _ := w.Ledger.PodState(p.UID); p.seen.PodGroup != "" && state.BlockedBy.Code == reason.BackOff {
			return true
		}
	}
	return false
}
