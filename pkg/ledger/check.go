package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

func sortQueues(qs []QueueState) {
	slices.SortFunc(qs, func(a, b QueueState) int { return queue.ComparePaths(a.Path, b.Path) })
}

// Check adds every account up, from the pods to the root, and compares, and looks at every order book: what it returns is what is wrong, nothing
// in a sound ledger. It costs as much as a rebuild; tests and the simulator call it after every step.
func (l *Ledger) Check() (wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := checker{contents: &l.contents, byUID: make([]*record, 0, len(l.pods))}
	for _, r := range l.pods {
		c.byUID = append(c.byUID, r)
	}
	slices.SortFunc(c.byUID, func(a, b *record) int { return cmp.Compare(a.UID, b.UID) })
	c.listAccounts()
	c.checkPods()
	c.checkAccounts()
	c.checkDirect()
	c.checkApplications()
	c.checkUsers()
	c.checkGates()
	c.checkGroups()
	c.checkAccess()
	c.checkPlacements()
	c.checkLanes()
	c.checkRosters()
	c.checkNominations()
	c.checkVictims()
	c.checkCopies()
	c.checkRoom()
	return c.wrong
}

// checker compares what the ledger holds with what follows from its pods. It owns the list of what is wrong, and changes nothing else.
type checker struct {
	*contents
	byUID []*record     // all pods, in an order in which faults are always told alike
	tree  []listedQueue // by node
	wrong []string
}

// listedQueue is a queue of the tree with its applications, by name.
type listedQueue struct {
	*queueAccount
	applications []*appAccount
}

// listAccounts lists the accounts of the tree, in an order in which faults are always told alike.
func (c *checker) listAccounts() {
	c.tree = make([]listedQueue, len(c.queues.Nodes))
	for i := range c.tree {
		a := c.queues.accounts[c.queues.Nodes[i].Path]
		applications := make([]*appAccount, 0, len(a.apps))
		for _, app := range a.apps {
			applications = append(applications, app)
		}
		slices.SortFunc(applications, func(a, b *appAccount) int { return cmp.Compare(a.slot.Name, b.slot.Name) })
		c.tree[i] = listedQueue{a, applications}
	}
}

// addUp adds to the count of each queue, by node, those of the queues below it.
func (c *checker) addUp(counts []int64) {
	for i := len(counts) - 1; i > 0; i-- { // children come after their parents
		counts[c.queues.Nodes[i].Parent] += counts[i]
	}
}

func (c *checker) say(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// checkPods looks at every pod by itself, and counts those that are with kube-scheduler.
func (c *checker) checkPods() {
	window, inFlight := 0, map[*class]int{}
	for _, r := range c.byUID {
		e := r.footprint()
		window += btoi(r.state.inWindow())
		if r.state == Released {
			inFlight[r.class]++
		}
		if (r.leaf == nil) && e.charged && c.requests.orphans[r.UID] == nil && !c.requests.isBoundByOthers(r) {
			c.say("pod %s is charged to no queue", r.Name)
		}
		if r.app != nil {
			if fault := c.checkMember(r); fault != "" {
				c.say("pod %s is %s", r.Name, fault)
			}
		}
		if want := e.queued && r.leaf != nil; want != r.InQueue() {
			c.say("pod %s: in its pod queue is %v, should be %v", r.Name, r.InQueue(), want)
		}
	}
	if window != c.window.pods {
		c.say("window holds %d pods, counted %d", window, c.window.pods)
	}
	for _, of := range c.classes.byKey {
		if inFlight[of] != of.InFlight() || of.Parked() != (of.probe != nil) {
			c.say("class %q: %d in flight, counted %d; parked is %v, its probe is %v", of.key, inFlight[of], of.InFlight(), of.Parked(), of.probe != nil)
		}
	}
}

// checkAccounts adds up every account of the tree, and looks at its order book.
func (c *checker) checkAccounts() {
	members := 0
	for _, r := range c.byUID {
		members += btoi(r.app != nil)
	}
	for _, a := range c.tree {
		var all sums
		for _, app := range a.applications {
			var s sums
			for _, e := range app.members {
				s.add(e.Request, e.footprint(), e.state == Bound, 1)
			}
			c.wrong = append(c.wrong, app.check(&s)...)
			c.wrong = append(c.wrong, app.checkPodQueues()...)
			members -= len(app.members)
			all.addAccount(&app.account)
		}
		all.addKids(a.queueAccount)
		all.addApplicationDemand(a.queueAccount)
		c.wrong = append(c.wrong, a.checkSums(a.queueAccount, &all)...)
		c.wrong = append(c.wrong, a.checkDemand(a.queueAccount, &all)...)
		c.wrong = append(c.wrong, a.checkOrder()...)
	}
	if members != 0 {
		c.say("applications in the tree lack %d of their pods", members)
	}
}

// checkMember: a pod of an application is listed by it, in its leaf, which is in the tree.
func (c *checker) checkMember(r *record) (fault string) {
	app := r.app
	switch {
	case r.inApp >= len(app.members) || app.members[r.inApp].record != r:
		return "not listed by its application"
	case app.parent != r.leaf || r.leaf.apps[app.slot.Name] != app:
		return "of an application that is not in its leaf"
	case c.queues.accounts[r.leaf.path] != r.leaf:
		return "in a leaf that is not in the tree"
	}
	return ""
}

// checkDirect counts the charged pods of each queue, and looks where those are charged that somebody else has bound.
func (c *checker) checkDirect() {
	type pods struct{ direct, byOthers int }
	in, all := make(map[*queueAccount]pods, len(c.tree)), 0
	for _, r := range c.byUID {
		is := r.footprint()
		if is.charged || is.byOthers {
			n := in[r.leaf]
			in[r.leaf] = pods{n.direct + btoi(is.charged), n.byOthers + btoi(is.byOthers)}
		}
		all += btoi(is.byOthers)
		if is.byOthers != c.requests.isBoundByOthers(r) {
			c.say("pod %s is bound by somebody else: %v, noted is %v", r.Name, is.byOthers, !is.byOthers)
		}
		if is.byOthers && !c.queues.stale && r.leaf != c.queues.nearest(r.asked) {
			c.say("pod %s asks for %q, and is not charged to the nearest queue", r.Name, r.asked)
		}
	}
	if n := len(c.requests.boundByOthers); n != all {
		c.say("%d pods are bound by somebody else, %d are noted", all, n)
	}
	for _, a := range c.tree {
		if is := in[a.queueAccount]; a.direct != is.direct || a.byOthers != is.byOthers {
			c.say("%s has %d charged pods, %d of them bound by somebody else; counted %d and %d", a.title(), is.direct, is.byOthers, a.direct, a.byOthers)
		}
	}
}

// checkRosters compares the lists of pods with what the pods are.
func (c *checker) checkRosters() {
	look := func(what string, list roster, kind rosterKind, is func(*record) bool) {
		n := 0
		for _, r := range c.byUID {
			if !is(r) {
				continue
			}
			n++
			if !list.has(r, kind) {
				c.say("pod %s is %s and not listed so", r.UID, what)
			}
		}
		if n != len(list) {
			c.say("%d pods are %s, %d are listed", n, what, len(list))
		}
	}
	look("released", c.window.released, ofState, func(r *record) bool { return r.state == Released })
	look("reserved", c.window.reserved, ofState, func(r *record) bool { return r.state == Reserved })
	look("parked", c.window.parked, ofState, func(r *record) bool { return r.state == Parked })
	look("shown unschedulable", c.backlog.showing, ofBacklog, func(r *record) bool { return r.inRequest != notIn && r.Unschedulable != "" })
	look("unbound", c.requests.unbound, ofUnbound, func(r *record) bool { return r.inRequest != notIn })
	if fault := c.checkUndrawn(); fault != "" {
		c.say("%s", fault)
	}
}

// checkUndrawn says what should have ended before the lock was given up.
func (c *checker) checkUndrawn() string {
	switch e := &c.effects; {
	case e.apps.some() || e.pods.some() || e.groups.some() || e.labels.some() || c.applications.due:
		return fmt.Sprintf("consequences were not drawn: %d applications, %d pods, %d groups, %d relabelled pods, a round of applications is due: %v",
			len(e.apps.items)-e.apps.first, len(e.pods.items)-e.pods.first, len(e.groups.items)-e.groups.first,
			len(e.labels.items)-e.labels.first, c.applications.due)
	case c.trials.underWay:
		return "a trial was not ended"
	case c.applications.podsAreMoved || c.walk.ceiling != nil:
		return "pods are still being moved, or limits are still left out"
	}
	return ""
}

// wantedLanes are the lanes in which pods wait that no limit stops, by application and queue, and for queues those of them with a pod that asks for what
// the queue lacks of its guarantee.
type wantedLanes struct {
	apps            map[*appAccount]book.Lanes
	queues, lacking map[*queueAccount]book.Lanes
}

func (c *checker) wantLanes() wantedLanes {
	again := c.shares.flips != c.books.flips
	want := wantedLanes{map[*appAccount]book.Lanes{}, map[*queueAccount]book.Lanes{}, map[*queueAccount]book.Lanes{}}
	for _, r := range c.pods {
		if !r.InQueue() || c.nodeHolds.behind.has(r.app) || r.app.waitsWithDriver(r.class) || r.app.userStops(r.class) {
			continue
		}
		want.apps[r.app] |= r.class.lane.Set()
		if r.app.atGate && !r.leaf.gateIsOpen() {
			continue
		}
		for a := r.leaf; a.parent != nil && !a.stops(r.class, &c.shares) && !(again && a.driversWait && r.class.driver); a = a.parent {
			want.queues[a] |= r.class.lane.Set()
			if guarantee.Asks(r.class.request, a.lacking()) {
				want.lacking[a] |= r.class.lane.Set()
			}
		}
	}
	return want
}

// checkLanes follows every pod in a pod queue upwards: until a limit stops its class, each order book must know of it. While no two classes
// share a lane, a book knows of nothing else. Drivers of a leaf that is to be looked at again anyway are left out.
func (c *checker) checkLanes() {
	want := c.wantLanes()
	compare := func(of titled, order string, has, want book.Lanes) {
		if want&^has != 0 || !c.classes.lanes.Shared() && want&^c.classes.driverLanes != has&^c.classes.driverLanes {
			c.say("%s: the %s knows of lanes %b, its pods are in %b", of.title(), order, has, want)
		}
	}
	for _, a := range c.tree {
		if a.parent != nil {
			compare(a.queueAccount, "order book", a.parent.queueOrder.OwnOf(&a.inOrder), want.queues[a.queueAccount])
			if a.guarantee != nil && a.guarantee.inBelow.Competes() || want.lacking[a.queueAccount] != 0 {
				compare(a.queueAccount, "order below guarantees", a.parent.guarantees().below.OwnOf(&a.guarantee.inBelow), want.lacking[a.queueAccount])
			}
		}
		for _, app := range a.applications {
			compare(app, "order book", app.book().OwnOf(&app.inOrder), want.apps[app])
		}
	}
}

// checkRoom adds up what takes room on nodes, and looks for nodes that a class has lost sight of.
func (c *checker) checkRoom() {
	added, assumed := map[*node]*resource.Sum{}, map[*node]int{}
	for _, r := range c.byUID {
		if e := r.assumedOn; e != nil {
			if c.nodes.byName[e.Name] != e || !r.state.charged() && (r.nomination == nil || r.nomination.node != e) {
				c.say("pod %s, %s, takes room on node %s, which is not there for it", r.Name, r.state, e.Name)
			}
			if added[e] == nil {
				added[e] = &resource.Sum{}
			}
			added[e].Add(r.Request)
			assumed[e]++
		}
	}
	for _, name := range sortedKeys(c.nodes.byName) {
		e := c.nodes.byName[name]
		used := added[e]
		if used == nil {
			used = &resource.Sum{}
		}
		used.AddSum(&e.foreign)
		if !e.used.Equal(used) || e.assumed != assumed[e] {
			c.say("node %s: %v taken by %d pods of ours, they add up to %v of %d", name, e.used.List(), e.assumed, used.List(), assumed[e])
		}
		if e.known && (e.index >= len(c.nodes.all) || c.nodes.all[e.index] != e) {
			c.say("node %s is not where the list of nodes has it", name)
		}
		for _, of := range c.classes.byKey {
			if e.known && e.index < of.room.next && c.nodes.fits(e, &of.room) && !slices.Contains(of.room.candidates, e) {
				c.say("class %q has lost sight of node %s, which has room", of.key, name)
			}
		}
	}
}

// sums is what an account should show, added up from the pods.
type sums struct {
	usage, demand             resource.Sum
	pods                      [2]int // not bound, bound
	charged, wanting, limited int    // pods
}

// add puts what a pod of that request has on its accounts on the sums (sign 1), or takes it off (sign -1).
func (s *sums) add(request resource.List, is footprint, bound bool, sign int) {
	if is.charged {
		addSigned(&s.usage, request, sign)
	}
	if is.demands {
		addSigned(&s.demand, request, sign)
	}
	s.charged += sign * btoi(is.charged)
	s.wanting += sign * btoi(is.wants)
	s.limited += sign * btoi(is.limited)
	s.pods[btoi(bound)] += sign
}

// addAccount adds what an account passes up, demand apart.
func (s *sums) addAccount(a *account) {
	s.usage.AddSum(&a.usage)
	s.pods[0] += a.pending
	s.pods[1] += a.running
}

// titled is what has a name in faults.
type titled interface{ title() string }

func (a *queueAccount) title() string { return "queue " + string(a.path) }

func (a *appAccount) title() string {
	return "application " + a.slot.Name + " of queue " + string(a.parent.path)
}

func (a *account) checkSums(of titled, s *sums) (wrong []string) {
	say := func(format string, args ...any) {
		wrong = append(wrong, of.title()+": "+fmt.Sprintf(format, args...))
	}
	if !a.usage.Equal(&s.usage) {
		say("usage %v, its pods add up to %v", a.usage.List(), s.usage.List())
	}
	if a.pending != s.pods[0] || a.running != s.pods[1] {
		say("%d pods pending, %d running, counted %d and %d", a.pending, a.running, s.pods[0], s.pods[1])
	}
	return wrong
}

func (a *account) checkDemand(of titled, s *sums) []string {
	if a.demand.Equal(&s.demand) {
		return nil
	}
	return []string{fmt.Sprintf("%s: demand %v, its pods add up to %v", of.title(), a.demand.List(), s.demand.List())}
}

// check compares an application with the sum of its pods.
func (a *appAccount) check(s *sums) []string {
	wrong := append(a.checkSums(a, s), a.checkDemand(a, s)...)
	if fault := a.checkRuns(s); fault != "" {
		wrong = append(wrong, a.title()+": "+fault)
	}
	return wrong
}

// addKids adds what the queues directly below pass up.
func (s *sums) addKids(a *queueAccount) {
	for _, kid := range a.kids {
		s.addAccount(&kid.account)
		if kid.spec.Max.Len() == 0 {
			s.demand.AddSum(&kid.demand)
		} else { // at least what it uses, which only counts where a max was lowered
			s.demand.Add(kid.demand.List().CapBy(kid.spec.Max).Max(kid.usage.List()))
		}
	}
}

// addApplicationDemand adds what the applications of a leaf pass up.
func (s *sums) addApplicationDemand(leaf *queueAccount) {
	for _, app := range leaf.apps { // a sum: order does not matter
		s.demand.AddSum(app.countedDemand())
	}
}

// checkOrder looks at the order books below a queue, and at what its parent's compare.
func (a *queueAccount) checkOrder() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, a.title()+": "+fmt.Sprintf(format, args...)) }
	queues, apps := (*queueAccount).title, (*appAccount).title
	for _, fault := range slices.Concat(a.queueOrder.Check(queues), a.appOrder.Check(apps), a.gateOrder.Check(apps)) {
		say("%s", fault)
	}
	if len(a.kids) > 0 && a.appOrder.Lanes()|a.gateOrder.Lanes() != 0 {
		say("it has children, and applications with something to release")
	}
	if g := a.guarantee; g != nil {
		for _, fault := range g.below.Check(queues) {
			say("below guarantees, %s", fault)
		}
		if a.parent != nil {
			if lacks := a.appendLacking(a.parent.spec.Rule(), nil); !slices.Equal(g.lacks, lacks) {
				say("it lacks %v of its guarantee, the order knows of %v", lacks, g.lacks)
			}
		}
	}
	return wrong
}

// checkPodQueues looks at the pod queues of an application.
func (a *appAccount) checkPodQueues() (wrong []string) {
	for i := range a.podQueues {
		if fault := a.podQueues[i].Check(); fault != "" {
			wrong = append(wrong, a.title()+": a pod queue "+fault)
		}
	}
	return wrong
}
