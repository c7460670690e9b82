package simulator

import (
	"math/bits"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The limits of a world by the simulator's own arithmetic: everything is added up again from the pods each time.

// total is what the queues share: what usable nodes allow less foreign pods there, plus what our pods use on other nodes.
func (w *World) total() size { return recall(w, &w.derived.total, w.sumTotal) }

func (w *World) sumTotal() (sum size) {
	foreign, ours := map[string]size{}, map[string]size{}
	for _, p := range w.known.pods {
		switch now := &p.seen; {
		case now.Node == "":
		case now.Foreign:
			foreign[now.Node] = foreign[now.Node].plus(p.asks)
		default:
			ours[now.Node] = ours[now.Node].plus(p.asks)
		}
	}
	for name, n := range w.known.nodes {
		if n.Usable {
			delete(ours, name)
			left := sizeOf(n.Allocatable).minus(foreign[name])
			for i := range left {
				left[i] = max(left[i], 0)
			}
			sum = sum.plus(left)
		}
	}
	for _, s := range ours {
		sum = sum.plus(s)
	}
	return sum
}

// caps are the maxima of one queue; -1 is no limit.
type caps = size

var uncapped = caps{-1, -1, -1}

// stated reads what is stated as an amount or in percent of the cluster, rounded down.
func stated(absolute, percent resource.List, total size) (c caps) {
	for i, n := range resources {
		c[i] = -1
		if v, ok := absolute.Lookup(n); ok {
			c[i] = v
		}
		if v, ok := percent.Lookup(n); ok {
			hi, lo := bits.Mul64(uint64(total[i]), uint64(v))
			q, _ := bits.Div64(hi, lo, 100_000)
			c[i] = int64(q)
		}
	}
	return c
}

// maxOf is what a queue may use: max, or its guarantee where that is more.
func (w *World) maxOf(q queue.Path, total size) caps {
	return w.capsAt(total).recall(w, &w.caps.max, q, w.readMax)
}

func (w *World) readMax(q queue.Path, total size) caps {
	d := w.known.queues[q]
	most := stated(d.Spec.Max, d.Percent.Max, total)
	if d.Spec.Capacity.Stated {
		return most.capBy(w.maxCapacityOf(q), w.counted(total))
	}
	guaranteed := stated(d.Spec.Guaranteed, d.Percent.Guaranteed, total)
	for i := range most {
		if most[i] >= 0 {
			most[i] = max(most[i], guaranteed[i])
		}
	}
	return most
}

// over returns the first resource of which more is used than the caps allow.
func (s size) over(most caps) (int, bool) {
	for i := range s {
		if most[i] >= 0 && s[i] > most[i] {
			return i, true
		}
	}
	return 0, false
}

// tooLarge: of each resource, a pod may have the least that a queue on its path states.
func (w *World) tooLarge(q queue.Path, s size, total size) bool {
	_, over := s.over(w.capsAt(total).recall(w, &w.caps.maxPod, q, w.readMaxPod))
	return over
}

func (w *World) readMaxPod(q queue.Path, total size) caps {
	most := uncapped
	for ; q != ""; q = q.Parent() {
		d := w.known.queues[q]
		own := stated(d.Spec.MaxPod, d.Percent.MaxPod, total)
		for i := range most {
			if own[i] >= 0 && (most[i] < 0 || own[i] < most[i]) {
				most[i] = own[i]
			}
		}
	}
	return most
}

// appKey names an application: the queue it is in, and its name.
type appKey struct {
	queue queue.Path
	name  string
}

// app is an application as its pods make it.
type app struct {
	appKey
	charged bool // some pod is released, reserved or bound
	wants   bool // or waits for nothing but limits, room and its turn
	holds   bool // a pod is charged, or no limit on applications blocks it
	entered bool // its queue has taken it in
	mixed   bool // its pods are of several users
	oldest  *ledger.Pod
}

// apps gathers the applications. Which of those without charged pods were let in depends on what happened before: only
// for that, it asks the ledger, and the audits check whether the answer is possible.
func (w *World) apps() map[appKey]*app { return inLook(w, &w.derived.inLook.apps, w.gatherApps) }

func (w *World) gatherApps() map[appKey]*app {
	total, accepting := w.total(), w.accepting()
	out, leads := make(map[appKey]*app, len(w.known.pods)/2), w.leads()
	defer w.beginLook()()
	for _, p := range w.known.pods {
		now, at := &p.seen, p.at(accepting)
		if at == "" {
			continue
		}
		k := appKey{at, now.Application}
		a := out[k]
		if a == nil {
			a = &app{appKey: k, oldest: now}
			out[k] = a
		}
		a.meet(now)
		a.charged = a.charged || p.charged != ""
		led := now.Role == application.Driver || !leads[k].hopeless()
		if p.charged != "" || now.Gate == "" && led && !w.tooLarge(at, p.asks, total) && !w.groupHolds(now) {
			a.wants = true
			if p.charged != "" {
				a.holds, a.entered = true, true
			}
			if a.holds && a.entered {
				continue // whatever the ledger says of the pod
			}
			state, _ := w.Ledger.PodState(p.UID)
			a.holds = a.holds || state.Leaf == at && !blockedByAppLimit(state)
			a.entered = a.entered || state.Leaf == at && !refused(state)
		}
	}
	return out
}

// meet counts a pod among those of the application, of which the oldest says whose it is.
func (a *app) meet(p *ledger.Pod) {
	a.mixed = a.mixed || a.oldest.User != p.User
	if p.Created < a.oldest.Created || p.Created == a.oldest.Created && p.UID < a.oldest.UID {
		a.oldest = p
	}
}

// at is the queue in which a pod is charged or waits, "" if none takes it.
func (p *pod) at(accepting map[queue.Path]bool) queue.Path {
	now := &p.seen
	if p.charged != "" {
		return p.charged
	}
	if now.Foreign || now.Node != "" || now.Terminating {
		return ""
	}
	if !accepting[p.home] {
		return ""
	}
	return p.home
}

// charge notes to which queue a pod must be charged from now on.
func (w *World) charge(p *pod, q queue.Path) {
	p.charged = q
	if q != "" && p.seen.Node != "" && w.opts.Limits {
		w.looked.noteBound(appKey{q, p.seen.Application})
	}
	if q == "" && p.known && p.seen.Node == "" && p.says != identityOf(&p.seen) {
		p.says.on(&p.seen)
		p.home = w.homeOf(p)
	}
	w.outdate()
}

// counts of applications: of each queue's subtree, of each user, and of each user in a leaf.
type counts struct {
	queues map[queue.Path]int64
	users  map[string]int64
	inLeaf map[userKey]int64
}

func newCounts() counts {
	return counts{map[queue.Path]int64{}, map[string]int64{}, map[userKey]int64{}}
}

func (c counts) add(a *app) {
	for q := a.queue; q != ""; q = q.Parent() {
		c.queues[q]++
	}
	c.users[a.oldest.User]++
	c.inLeaf[userKey{a.queue, a.oldest.User}]++
}

// fits: one more application breaks no limit, and its queue takes it.
func (w *World) fits(c counts, a *app) bool {
	if !w.goesOn(a) {
		return false
	}
	for q := a.queue; q != ""; q = q.Parent() {
		if !w.known.queues[q].Spec.MaxRunningApplications.Admits(c.queues[q] + 1) {
			return false
		}
	}
	return w.known.queues[queue.Root].Spec.MaxRunningApplicationsPerUser.Admits(c.users[a.oldest.User] + 1)
}

// auditDriver: a driver that was released into a leaf where drivers run is within its part.
func (w *World) auditDriver(p *pod, what string) {
	if !w.opts.Limits || p.seen.Role != application.Driver || p.alone {
		return
	}
	if i, part, used := w.driverOver(p.charged, p, p.asks); i >= 0 {
		w.fail("driver %s was %s, and the drivers in queue %s use %d %s of at most %d", p.UID, what, p.charged, used, resources[i], part)
	}
	if i, most, used := w.userDriverOver(p.charged, p, p); i >= 0 {
		w.fail("driver %s was %s, and those of its user in queue %s use %d %s of at most %s", p.UID, what, p.charged, used, resources[i], most)
	}
}

// driverOver returns the resource of which the drivers of a leaf would use more than their part with one more of this size, -1 if
// there is none. self is not counted.
func (w *World) driverOver(leaf queue.Path, self *pod, s size) (i int, part, used int64) {
	return w.driverOverBeside(leaf, s, func(p *pod) bool { return p != self && p.charged == leaf })
}

// driverOverBeside is driverOver beside those of the drivers that count.
func (w *World) driverOverBeside(leaf queue.Path, s size, counts func(*pod) bool) (i int, part, used int64) {
	share := w.driverShare(leaf)
	var drivers size
	idle := true
	for _, p := range w.pods {
		if p.seen.Role == application.Driver && counts(p) {
			idle = false
			drivers = drivers.plus(p.asks)
		}
	}
	if idle || share >= 1000 {
		return -1, 0, 0
	}
	base := w.fairShare(leaf)
	total := w.total()
	most := w.maxOf(leaf, total)
	s = w.counted(s)
	for i := range s {
		if base[i] == 0 {
			base[i] = total[i]
			if most[i] >= 0 {
				base[i] = min(base[i], most[i])
			}
		}
		part := (base[i]*share + 999) / 1000
		if s[i] > 0 && drivers[i]+s[i] > part {
			return i, part, drivers[i] + s[i]
		}
	}
	return -1, 0, 0
}

// driverShare is the part of a leaf that drivers may use, in milli.
func (w *World) driverShare(leaf queue.Path) int64 {
	switch spec, _ := w.inForce(leaf); {
	case spec.MaxDriverShare.Stated:
		return spec.MaxDriverShare.Most
	case spec.Capacity.Stated:
		return 100
	}
	return 500
}

// fairShare divides the whole tree again among the queues with an application that may run.
func (w *World) fairShare(leaf queue.Path) size {
	tree := w.tree()
	active := make([]bool, len(tree.Nodes))
	for _, a := range w.apps() {
		if i, ok := tree.Find(a.queue); ok && a.holds {
			active[i] = true
		}
	}
	i, ok := tree.Find(leaf)
	if !ok {
		return size{}
	}
	return sizeOf(fairshare.Shares(tree, w.total().list(), active)[i])
}
