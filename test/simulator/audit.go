package simulator

import (
	"math/rand/v2"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

// audit looks at the books when that is due.
func (w *World) audit() {
	w.auditWithheld()
	quiet := w.quiet()
	every, inQuiet := w.opts.Every, 8
	switch {
	case every == 0:
		every = 1
	case every < 0:
		every, inQuiet = 0, -8*every
	}
	due := every > 0 && w.Steps%every == 0
	if due || quiet && (w.agenda.len() == 0 || w.Steps%inQuiet == 0) {
		w.look(quiet)
	}
}

// look compares the ledger with itself and with the simulator's own books.
func (w *World) look(quiet bool) {
	w.Audits++
	defer w.beginLook()()
	w.Ledger.Settle(w.now)
	w.moveBoundByOthers()
	w.wrong = append(w.wrong, w.Ledger.Check()...)
	for _, v := range w.Ledger.Inspect(1 + w.Steps%7).Violations { // a round is long over when it ends what it began
		w.fail("inspection: %s", v.Text)
	}
	w.expectWithdrawals()
	w.auditCharges()
	w.auditApplications()
	w.auditEntries()
	w.auditStops()
	w.auditGates()
	w.auditGroups()
	w.auditPlaced()
	if !w.opts.Blind {
		w.lookAtBacklog(everyPod)
	}
	if n := w.Ledger.Repairs(); n > 0 {
		w.fail("%d charges had to be repaired", n)
	}
	if w.dispatcher.Sweep(w.now-second, w.now) > 0 {
		w.fail("the sweeper found pods that kube-scheduler lost")
	}
	w.lookAgain() // the look at the backlog and the sweeper act
	if quiet {
		w.Quiet++
		w.auditRebuild()
		w.auditPlans()
		w.auditNominations()
		w.auditRest()
		w.auditGroupsAtRest()
		w.auditConditions()
	}
}

// quiet: nothing is under way, and no back-off is due. (A class that waits for room is tried again after some minutes: the net below
// the rules, which must not hide that one of them missed something.)
func (w *World) quiet() bool {
	const longestBackOff = 10 * second
	return w.idle() && (w.retry == 0 || w.retry > w.now+longestBackOff)
}

// idle: nothing is under way.
func (w *World) idle() bool {
	return w.underWay == 0 && !w.roundDue && !w.kube.busy && len(w.kube.active) == 0
}

// home is the queue that a pod is charged to when it is released, or, if that never happened here, when it is seen bound; one that somebody else has
// bound, in the nearest queue above it (see nearest).
func home(p *ledger.Pod) queue.Path {
	request := p.Queue
	if p.Node != "" && p.Placed != "" {
		request = p.Placed
	}
	switch {
	case request == "":
		return queue.Default
	case request != strings.ToLower(request) || strings.Contains(request, "_"):
		return queue.Root // not a name; bound pods of that kind count at the root
	case request == "root" || strings.HasPrefix(request, "root."):
		return queue.Path(request)
	}
	return queue.Root + "." + queue.Path(request)
}

// auditLimits: after a pod was released or reserved, no hard limit above it is broken.
func (w *World) auditLimits(p *pod, what string) {
	total := w.total()
	for q := p.charged; q != ""; q = q.Parent() {
		most := w.maxOf(q, total)
		if most == uncapped {
			continue
		}
		var used size
		for _, o := range w.known.pods {
			if o.charged != "" && q.Contains(o.charged) {
				used = used.plus(o.asks)
			}
		}
		if i, over := used.over(most); over {
			w.fail("pod %s was "+what+", and queue %s uses %d %s of at most %d", p.UID, q, used[i], resources[i], most[i])
		}
	}
	if w.tooLarge(p.charged, p.asks, total) {
		w.fail("pod %s was "+what+", and is larger than queue %s allows", p.UID, p.charged)
	}
	w.auditDriver(p, what)
	w.auditUserLimit(p, what)
	w.auditLed(p, what)
}

// auditCharges: every pod that was released and neither refunded nor ended is charged once, at every level, and no other is.
func (w *World) auditCharges() {
	charges, window := map[queue.Path]size{}, 0
	for _, p := range w.pods {
		if p.charged == "" {
			continue
		}
		if p.seen.Node == "" {
			window++
		}
		for q := p.charged; q != ""; q = q.Parent() {
			charges[q] = charges[q].plus(p.asks)
		}
	}
	s := w.snapshot()
	if s.InWindow != window || window > w.Window && !w.opts.Groups {
		w.fail("the window of %d holds %d, should hold %d", w.Window, s.InWindow, window)
	}
	for _, q := range s.Queues {
		if got, want := sizeOf(q.Allocated), charges[q.Path]; got != want {
			w.fail("queue %s is charged %v, should be %v", q.Path, got, want)
		}
		if q.InTree {
			delete(charges, q.Path)
		}
	}
	for q, c := range charges {
		if c != (size{}) {
			w.fail("queue %s should be charged %v, and is not in the tree", q, c)
		}
	}
}

// auditRebuild: a ledger that gets the same objects in another order comes to the same picture, with one exception: an
// application without charged pods may have been let in before an older one came. Then it only compares which
// applications run with those that must run.
func (w *World) auditRebuild() {
	twin := w.rebuild(rand.New(rand.NewPCG(w.seed, uint64(w.Steps))))
	entered, running, same := w.restart()
	same = same && !w.ageless() && !w.backingOff()
	w.auditRestart(twin, entered, running)
	if same {
		w.Alike++
	}
	leaving, _ := w.Ledger.Leaving()
	is := fingerprint.Reading{Snapshot: w.snapshot(), Leaving: leaving, Applications: w.applications(), Pods: w.Ledger.Pods()}
	again := fingerprint.Read(twin)
	alike := is.Equal(again)
	if w.opts.Recount && alike != (fingerprint.Of(w.Ledger) == again.String()) {
		w.fail("two ledgers are alike: %v, and their fingerprints are not", alike)
	}
	if same && !alike {
		w.fail("the ledger differs from one that is built again:\n%s", difference(is.String(), again.String()))
	}
}

// rebuild gives another ledger what is known, in another order.
func (w *World) rebuild(shuffle *rand.Rand) *ledger.Ledger {
	twin := ledger.New(w.ledgerOptions())
	var memories map[queue.Path]queue.Memory
	if w.opts.Gates || w.opts.Stops {
		memories = w.memories()
	}
	observe := make([]func(), 0, len(w.known.queues)+len(w.known.nodes)+len(w.known.pods)+len(w.known.groups)+1)
	for _, path := range sorted(w.known.queues) {
		observe = append(observe, func() {
			d := w.known.queues[path]
			d.Memory = memories[path]
			twin.ObserveQueue(d)
		})
	}
	for _, name := range sorted(w.known.nodes) {
		observe = append(observe, func() { twin.ObserveNode(w.known.nodes[name]) })
	}
	for _, p := range w.known.pods {
		observe = append(observe, func() { twin.ObservePod(p.seen, w.now) })
	}
	if w.opts.Placement {
		policy, _ := w.known.policy.policy()
		observe = append(observe, func() { twin.ObservePlacementPolicy(policy) })
	}
	whole := w.whole()
	for _, key := range sorted(w.known.groups) {
		g := w.known.groups[key]
		g.Whole = whole[key]
		observe = append(observe, func() { twin.ObservePodGroup(g) })
	}
	shuffle.Shuffle(len(observe), func(i, j int) { observe[i], observe[j] = observe[j], observe[i] })
	for _, f := range observe {
		f()
	}
	twin.Lead(w.now)
	return twin
}

// difference lists the lines that only one of the two has.
func difference(got, want string) string {
	lines := map[string]int{}
	for line := range strings.Lines(got) {
		lines[line]++
	}
	for line := range strings.Lines(want) {
		lines[line]--
	}
	var b strings.Builder
	for _, line := range sorted(lines) {
		switch n := lines[line]; {
		case n > 0:
			b.WriteString("- " + line)
		case n < 0:
			b.WriteString("+ " + line)
		}
	}
	return b.String()
}

// auditRest: in a quiet moment nothing waits that could run, and kube-scheduler holds nothing that it should not.
func (w *World) auditRest() {
	tree := w.tree()
	apps, leads := w.apps(), w.leads()
	for _, p := range w.known.pods {
		uid, now := p.UID, &p.seen
		if p.place != nowhere && !now.Terminating && !w.Ledger.Inside(uid) {
			w.fail("kube-scheduler holds pod %s, which is not released", uid)
		}
		if now.Foreign || now.Node != "" || now.Terminating || now.Gate != "" {
			continue
		}
		i, ok := tree.Find(p.home)
		if !ok || !tree.Nodes[i].Accepting {
			continue
		}
		k := appKey{p.home, now.Application}
		if node := w.freeFit(p); node != "" && ledNow(now, leads[k]) && !w.groupWaits(p) && w.admits(p, apps[k]) && !w.exceedsMax(p, 1) &&
			!w.waitsWithItsClass(p) && !w.gateHolds(k, tree) {
			state, _ := w.Ledger.PodState(uid)
			w.fail("pod %s waits (%s %v) although it fits on %s and within every limit", uid, state.State, state.BlockedBy.Code, node)
		}
	}
}

// admits: one more pod of the size breaks no limit on the path.
func (w *World) admits(p *pod, a *app) bool {
	charges := w.charges()
	total, s := w.total(), p.asks
	for q := p.home; q != ""; q = q.Parent() {
		if _, over := charges[q].plus(s).over(w.maxOf(q, total)); over {
			return false
		}
	}
	if w.tooLarge(p.home, s, total) || w.opts.Limits && !a.holds { // for that see auditApplications
		return false
	}
	if i, _, _ := w.userOver(p.home, p, nil, 0, false); i >= 0 {
		return false
	}
	if p.seen.Role == application.Driver {
		i, _, _ := w.driverOver(p.home, nil, s)
		ofUser, _, _ := w.userDriverOver(p.home, p, nil)
		return i < 0 && ofUser < 0
	}
	return true
}

// auditConditions: after all writes, every pod shows the sentence for what blocks it, and no other. Pods that are being
// deleted are not edited.
func (w *World) auditConditions() {
	for ts := w.Ledger.TakeConditionUpdates(100); len(ts) > 0; ts = w.Ledger.TakeConditionUpdates(100) {
		for _, t := range ts {
			w.write(t)
		}
	}
	for _, p := range w.known.pods {
		uid := p.UID
		state, _ := w.Ledger.PodState(uid)
		if state.State == ledger.Gone {
			continue
		}
		want := ""
		switch state.BlockedBy.Code {
		case reason.QueueNameInvalid, reason.QueueNotFound, reason.QueueNotLeaf, reason.QueueNotReady, reason.PlacementRejected, reason.QueueDeleted,
			reason.MaxPodResources, reason.MaxRunningApplications, reason.UserMaxRunningApplications, reason.MaxApplications, reason.UserMaxApplications,
			reason.QueueStopped, reason.PodGroupNotFound:
			want = state.BlockedBy.Text()
		}
		if got := w.shown[uid]; got != want {
			w.fail("pod %s shows %q, should show %q", uid, got, want)
		}
	}
}
