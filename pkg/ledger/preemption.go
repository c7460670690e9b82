package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// maxClaimants bounds the pods for which one round looks for places, and so how long it holds the lock: where there are more, the next round
// follows at once.
const maxClaimants = 512

// Preemption returns what a plan is made from; false: there is no claim for which one is due.
func (l *Ledger) Preemption(now int64) (preemption.World, bool) {
	w, ok := l.preemptionWorld(now, false)
	return w, ok
}

// WhatPreemption is Preemption for those who ask what would be: as if the timeouts had passed of all queues that are below and have one.
func (l *Ledger) WhatPreemption(now int64) preemption.World {
	w, _ := l.preemptionWorld(now, true)
	return w
}

func (l *Ledger) preemptionWorld(now int64, all bool) (preemption.World, bool) {
	w, cached, coming, ok := l.copyForPreemption(now, all)
	// Outside the lock: what is copied of a node is never written again.
	usage := make([]resource.Sum, len(w.Queues))
	for i := range w.Queues {
		usage[i].Add(w.Queues[i].Usage)
	}
	for _, c := range cached {
		w.Nodes = append(w.Nodes, c.Node)
		for _, r := range c.leaving {
			w.Gone = append(w.Gone, r.uid)
			if r.queue < 0 {
				continue
			}
			for q := r.queue; q >= 0; q = w.Queues[q].Parent {
				usage[q].Sub(r.request)
			}
		}
	}
	for i := range w.Queues {
		w.Queues[i].Usage = usage[i].List()
	}
	slices.SortFunc(w.Nodes, func(a, b preemption.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, p := range coming {
		at, there := slices.BinarySearchFunc(w.Nodes, p.node, func(n preemption.Node, name string) int { return cmp.Compare(n.Name, name) })
		if there {
			p.Node = at
			w.Coming = append(w.Coming, p.Place)
		}
	}
	slices.Sort(w.Gone)
	w.Claims = preemption.Order(w, w.Claims)
	return w, ok
}

// copyForPreemption copies, of the nodes, only what has changed since the last time.
func (l *Ledger) copyForPreemption(now int64, all bool) (preemption.World, []*copiedNode, []coming, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.begin()
	if all {
		l.lookAtClocks(now)
	}
	p := &l.preempting
	w := preemption.World{Total: l.total, Used: l.root.usage.List(), Settings: preemption.SettingsOf(l.root.spec.Preemption)}
	held := l.heldBack()
	w.Queues = make([]preemption.Queue, 0, len(l.tree.Nodes))
	for i, n := range l.tree.Nodes {
		w.Queues = append(w.Queues, l.preemptionQueue(i, n, held))
	}
	again := l.doubtful()
	l.claims(&w, again, all)
	if len(w.Claims) == 0 {
		return w, nil, nil, false
	}
	var placed []coming
	for _, r := range p.placed {
		if r.leaf == nil || r.state.charged() || slices.Contains(again, r) {
			continue
		}
		for a := r.leaf; a != nil; a = a.parent {
			q := &w.Queues[a.ordinal-1]
			q.Usage = q.Usage.Add(r.Request)
		}
		placed = append(placed, coming{preemption.Place{UID: string(r.UID), Queue: r.leaf.ordinal - 1}, r.place.node.Name})
	}
	nodes := make([]*copiedNode, 0, len(l.nodeList))
	for _, e := range l.nodeList {
		if !e.Usable || e.keptFor != nil {
			continue
		}
		c := l.copyNode(e, now)
		for _, r := range again { // few: its room is free until it has a place that holds good
			if r.spot == e {
				x := *c
				x.Free, x.Slots = x.Free.Add(r.Request), x.Slots+1
				c = &x
			}
		}
		nodes = append(nodes, l.withElsewhere(e, c, w.Claims))
	}
	if !all {
		p.plannedAt, p.plannedFor = now, l.version+1
	}
	return w, nodes, placed, true
}

// withElsewhere adds to a node what claimants ask for and get elsewhere: no node has to list that.
func (l *Ledger) withElsewhere(e *node, c *copiedNode, claims []preemption.Claim) *copiedNode {
	if len(l.elsewhere) == 0 {
		return c
	}
	var more resource.List
	for _, claim := range claims {
		for _, u := range claim.Units {
			for i := range u.Pods {
				for j := range u.Pods[i].Request.Len() {
					n := u.Pods[i].Request.At(j).Name
					if _, listed := e.Allocatable.Lookup(n); !listed && l.isElsewhere(n) {
						more = more.Max(resource.Of(resource.Entry{Name: n, Value: resource.Unlimited}))
					}
				}
			}
		}
	}
	if more.Len() == 0 {
		return c
	}
	x := *c
	x.Free = x.Free.Add(more)
	return &x
}

func (l *Ledger) preemptionQueue(i int, n queue.Node, held heldBack) preemption.Queue {
	a := l.accounts[n.Path]
	q := preemption.Queue{
		Path: n.Path, Parent: n.Parent, Rule: n.Spec.Rule(), Entitlement: l.shareOf(a), Usage: a.usage.List(), Demand: a.claimable(held), Max: n.Spec.Max,
		Weight: n.Spec.Weight, Guaranteed: n.Spec.Guaranteed, Active: a.active(), Preemptible: !a.preemption.NotPreemptible,
	}
	if i > 0 {
		q.Rule = a.parent.spec.Rule()
	}
	return q
}

// doubtful are the claimants whose places nothing makes good: their node has no room for them, and nobody is leaving to make it. After a restart all
// may be: what their victims are is to be found out again. They are looked for places anew, and the ones they have come first.
func (l *Ledger) doubtful() (rs []*record) {
	for _, r := range l.preempting.placed {
		if r.state.charged() || len(r.place.victims) > 0 {
			continue
		}
		e := r.place.node
		copied := l.copyNode(e, l.now)
		short := copied.Slots < 0
		for i := range r.Request.Len() {
			x := r.Request.At(i)
			_, listed := e.Allocatable.Lookup(x.Name)
			short = short || x.Value > 0 && copied.Free.Get(x.Name) < 0 && (listed || !l.isElsewhere(x.Name))
		}
		if short {
			rs = append(rs, r)
		}
	}
	return rs
}

// claims enters what starved queues are owed, and their next pods: in the order of the dispatch, as limits from the queue down let them run
// together. Limits above it are left to the plan, since what goes below them counts.
func (l *Ledger) claims(w *preemption.World, again []*record, all bool) {
	for i, n := range l.tree.Nodes[1:] {
		a := l.accounts[n.Path]
		if a.starving == nil || a.starving.retryAt > l.now && !all {
			continue
		}
		for _, k := range kinds {
			since := a.starving.claimed[k]
			if timeout := a.timeout(k); since == 0 && all && timeout.Stated && !timeout.Never {
				since = a.starving.since[k]
			}
			if since == 0 {
				continue
			}
			w.Claims = append(w.Claims, preemption.Claim{Queue: i + 1, Kind: k, Since: since, Target: l.targetOf(a, k, w.Queues[i+1].Demand)})
		}
	}
	w.Claims = preemption.Order(*w, w.Claims)
	if len(w.Claims) == 0 {
		return
	}
	t := l.try()
	defer t.end()
	for _, r := range l.preempting.placed { // in the order in which they were given
		if r.state == Waiting && r.leaf != nil && !slices.Contains(again, r) {
			t.move(r, Released)
		}
	}
	l.preempting.cutShort = false
	for i := range w.Claims {
		c := &w.Claims[i]
		c.Units = t.claimants(l.accounts[w.Queues[c.Queue].Path], c.Target, maxClaimants-len(t.charged))
		c.More = len(t.charged) >= maxClaimants
		l.preempting.cutShort = l.preempting.cutShort || c.More
	}
}

// claimants charges the next pods of a queue as long as it stays within its target, and returns them. What is too large is passed over: something
// smaller may be owed.
func (t *trial) claimants(a *account, target resource.List, most int) (units []preemption.Unit) {
	l := t.ledger
	l.ceiling = a
	defer func() { l.ceiling = nil }()
	l.mark++
	for _, c := range l.offered { // each for itself: order does not matter
		c.mark = l.mark
		t.open |= c.lane()
	}
	rule := a.parent.spec.Rule()
	for n := 0; n < most; {
		first, from := len(t.charged), len(t.before)
		r := t.nextBelow(a, t.open)
		if r == nil {
			break
		}
		pods := t.charged[first:]
		if preemption.CompareDominant(rule, l.total, a.usage.List(), target) > 0 {
			t.charged = t.charged[:first]
			t.takeBack(from)
			r.class.mark = 0 // what is alike is too large too
			continue
		}
		n += len(pods)
		u := preemption.Unit{}
		if r.group.open() {
			u.Gang = r.group.Key
		}
		for _, r := range pods {
			c := preemption.Claimant{UID: string(r.UID), Queue: r.leaf.ordinal - 1, Request: r.Request, Class: r.class.key}
			if r.place != nil {
				c.Nominated = r.place.node.Name
			}
			u.Pods = append(u.Pods, c)
		}
		units = append(units, u)
	}
	l.freshen()
	return units
}

// Adopt makes a plan the plan: its claimants have their places kept, its victims are to be announced. It returns how many places it did not take
// since the world has moved on. Where the root says observe only, nothing is to be carried out.
func (l *Ledger) Adopt(w preemption.World, plan preemption.Plan, now int64) (stale int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = max(l.now, now)
	l.begin()
	p := &l.preempting
	defer func() { p.counts.Stale += uint64(stale) }()
	if preemption.SettingsOf(l.root.spec.Preemption).ObserveOnly {
		p.plannedFor = l.version + 1
		return 0
	}
	p.vain++
	for _, payment := range plan.Claims {
		if len(payment.Places) > 0 {
			p.vain = 0
		}
		a := l.accounts[w.Queues[payment.Claim.Queue].Path]
		for _, u := range payment.Units {
			places := placesOf(payment.Places, u)
			if len(places) == 0 {
				continue
			}
			if a == nil || a.starving == nil || !l.standing(w, plan, u, places) {
				stale++
				continue
			}
			for _, at := range places {
				r := l.pods[UID(at.UID)]
				l.endPlace(r)
				l.givePlace(r, &place{node: l.nodes[w.Nodes[at.Node].Name], claim: a, kind: payment.Kind})
				l.wake(r)
			}
		}
	}
	for i := range plan.Victims {
		l.choose(w, &plan.Victims[i], plan)
	}
	for _, r := range l.doubtful() {
		if r.place.claim != nil { // nothing will make it good
			l.endPlace(r)
		}
	}
	p.plannedFor = l.version + 1
	return stale
}

// wake has a parked claimant taken out of kube-scheduler's queue: its turn is when its place is free.
func (l *Ledger) wake(r *record) {
	if r.state == Parked {
		l.woken = append(l.woken, r.UID)
	}
}

func placesOf(places []preemption.Place, u preemption.Unit) (of []preemption.Place) {
	for _, p := range places {
		if slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == p.UID }) {
			of = append(of, p)
		}
	}
	return of
}

// standing reports whether what was planned for a unit still stands: its pods wait, the nodes and the victims are there.
func (l *Ledger) standing(w preemption.World, plan preemption.Plan, u preemption.Unit, places []preemption.Place) bool {
	for _, at := range places {
		r, e := l.pods[UID(at.UID)], l.nodes[w.Nodes[at.Node].Name]
		if r == nil || r.leaf == nil || r.state != Waiting && r.state != Parked || e == nil || !e.known || !e.takes(r.class) {
			return false
		}
	}
	for _, v := range plan.Victims {
		if !slices.ContainsFunc(u.Pods, func(c preemption.Claimant) bool { return c.UID == v.For }) {
			continue
		}
		if r := l.pods[UID(v.UID)]; r == nil || r.state != Bound || r.victim != nil && r.victim.Phase == Evicting || r.Terminating && r.Deadline == 0 {
			return false
		}
	}
	return true
}

// choose enters a victim, if the claimant for which it goes was given its place.
func (l *Ledger) choose(w preemption.World, v *preemption.Victim, plan preemption.Plan) {
	r, c := l.pods[UID(v.UID)], l.pods[UID(v.For)]
	if r == nil || c == nil || c.place == nil || c.place.claim == nil || r.victim != nil || r.Terminating || r.leaf == nil {
		return
	}
	above := w.Queues[v.Above]
	is := &victim{claimant: c, claim: c.place.claim, with: v.With, Victim: Victim{
		UID: r.UID, Namespace: r.Namespace, Name: r.Name, Node: r.Node, Queue: r.leaf.path,
		ForQueue: c.place.claim.path, ForUID: c.UID, ForNamespace: c.Namespace, ForName: c.Name, Kind: c.place.kind,
		Above: above.Path, Resource: v.Resource, Surplus: v.Surplus, Share: above.Entitlement.Get(v.Resource),
	}}
	is.Due = l.now + w.Settings.MaxWaitBeforeKill // once it is announced, from then on
	r.victim = is
	l.preempting.victims = append(l.preempting.victims, r)
	l.preempting.counts.Chosen++
	c.place.victims = append(c.place.victims, r)
	l.touch(r)
	is.unlike = !l.neededIn(w, plan, v, r)
	if r.Announced != 0 { // by an earlier process: the wait runs since then
		is.Phase, is.AnnouncedAt, is.Due = Announced, r.Announced, r.Announced+w.Settings.MaxWaitBeforeKill
	}
	l.version++
}

// neededIn reports whether by arithmetic alone the victim has to go for the plan. If not, a filter said so.
func (l *Ledger) neededIn(w preemption.World, plan preemption.Plan, v *preemption.Victim, r *record) bool {
	n := w.Nodes[v.Node]
	free, slots := n.Free.Sub(r.Request), n.Slots-1
	for _, o := range plan.Victims {
		if o.Node == v.Node {
			free, slots = free.Add(l.requestOf(o.UID)), slots+1
		}
	}
	for _, payment := range plan.Claims {
		for _, at := range payment.Places {
			if at.Node == v.Node {
				free, slots = free.Sub(l.requestOf(at.UID)), slots-1
			}
		}
	}
	if slots < 0 {
		return true
	}
	for i := range free.Len() {
		x := free.At(i)
		if x.Value < 0 && r.Request.Get(x.Name) > 0 && !l.isElsewhere(x.Name) {
			return true
		}
	}
	return false
}

func (l *Ledger) requestOf(uid string) resource.List {
	if r := l.pods[UID(uid)]; r != nil {
		return r.Request
	}
	return resource.List{}
}

// copiedNode is what of a node is copied for plans. It is never written after it was made.
type copiedNode struct {
	preemption.Node
	leaving []leavingPod
	tree    uint64 // the tree whose indices it holds
	until   int64  // when somebody who is leaving will count as stuck, 0: never
}

// coming is a claimant that is on its way to a node.
type coming struct {
	preemption.Place
	node string
}

type leavingPod struct {
	uid     string
	queue   int // -1 for none
	request resource.List
}

// copyNode returns what a plan is to know of a node.
func (l *Ledger) copyNode(e *node, now int64) *copiedNode {
	if c := e.copied; c != nil && c.tree == l.trees && (c.until == 0 || now <= c.until) {
		return c
	}
	c := &copiedNode{tree: l.trees, Node: preemption.Node{Name: e.Name, Slots: 1 << 30}}
	var stay resource.Sum
	stay.AddSum(&e.used)
	pods := e.spots + e.foreignPods
	for _, r := range e.on {
		leaving := r.leavingAt(now)
		if leaving && (c.until == 0 || r.Deadline+overstay < c.until) {
			c.until = r.Deadline + overstay
		}
		switch {
		case leaving || r.victim != nil:
			stay.Sub(r.Request)
			pods--
			gone := leavingPod{string(r.UID), -1, r.Request}
			if r.leaf != nil {
				gone.queue = r.leaf.ordinal - 1
			}
			c.leaving = append(c.leaving, gone)
		case r.state == Bound && r.leaf != nil && r.leaf != l.root && !r.Terminating && r.sparedUntil <= now:
			c.Candidates = append(c.Candidates, r.candidate())
		case r.state == Bound && r.sparedUntil > now && (c.until == 0 || r.sparedUntil < c.until):
			c.until = r.sparedUntil
		}
	}
	slices.SortFunc(c.Candidates, func(a, b preemption.Candidate) int { return cmp.Compare(a.UID, b.UID) })
	c.Free = e.Allocatable.Sub(stay.List())
	if e.Pods > 0 {
		c.Slots = e.Pods - pods
	}
	e.copied = c
	return c
}

func (r *record) candidate() preemption.Candidate {
	c := preemption.Candidate{
		UID: string(r.UID), Queue: r.leaf.ordinal - 1, Request: r.Request, Priority: r.Priority, Driver: r.Role == application.Driver,
		Bound: r.Bound, Announced: r.Announced != 0,
	}
	if r.group != nil && r.group.declared && r.group.MinMember > 1 {
		c.Gang = r.group.Key
	}
	return c
}

// Feasibility judges by what the ledger knows of the pods and nodes of a world: taints, selectors and node affinity, through Pod.Eligible. It knows
// nothing that needs other pods, and no disruption budgets.
func (l *Ledger) Feasibility(w preemption.World) preemption.Feasibility {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &eligibility{world: w, classes: map[string]*class{}, facts: make([]Node, len(w.Nodes))}
	for i := range w.Nodes {
		if e := l.nodes[w.Nodes[i].Name]; e != nil {
			f.facts[i] = e.Node
		}
	}
	for _, c := range w.Claims {
		for _, u := range c.Units {
			for _, p := range u.Pods {
				if r := l.pods[UID(p.UID)]; r != nil && r.class != nil {
					f.classes[p.Class] = r.class
				}
			}
		}
	}
	return f
}

// eligibility keeps no picture: what it judges does not depend on who is there.
type eligibility struct {
	world   preemption.World
	classes map[string]*class
	facts   []Node
	commits int
}

func (f *eligibility) Fits(c *preemption.Claimant, at int, _ []string) bool {
	class := f.classes[c.Class]
	e := node{Node: f.facts[at], known: true}
	return class != nil && e.takes(class)
}

func (f *eligibility) Commit(*preemption.Claimant, int, []string) { f.commits++ }
func (f *eligibility) Commits() int                               { return f.commits }
func (f *eligibility) Rollback(n int)                             { f.commits = n }
func (f *eligibility) Budgets(string) []int                       { return nil }
func (f *eligibility) Allowed(int) int                            { return 0 }
