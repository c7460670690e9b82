package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Pod groups: what users do with them, and kube-scheduler's Permit, where the pods of a group wait for each other.

// waits is an attempt that waits at Permit.
type waits struct {
	node string
	over func(f ledger.Failure) // ends it
}

// place is the node on which a cycle puts a pod: one that the ledger names, else any that is not held for others.
func (w *World) place(p *pod) string {
	if node := w.preferredFit(p); node != "" {
		return node
	}
	if !w.opts.Groups && !w.opts.Preemption {
		return w.firstFit(p)
	}
	kept := w.Ledger.NodesNominatedToOthers(p.UID)
	if w.opts.Calm || w.rng.IntN(8) > 0 { // not for a pod that prefers some nodes
		for _, name := range w.Ledger.Candidates(p.UID, 32, 100) {
			if r := w.kube.rooms[name]; r != nil && r.fits(p) && !kept[name] {
				return name
			}
		}
	}
	return w.openFit(p, func(name string) bool { return !kept[name] && w.kube.rooms[name].fits(p) })
}

// openFit is the first node that has room for a pod and is not held for a group.
func (w *World) openFit(p *pod, holds func(node string) bool) string {
	open, some := w.Ledger.NodesOpenTo(p.UID)
	for _, name := range w.kube.names {
		if (!some || slices.Contains(open, name)) && holds(name) {
			return name
		}
	}
	return ""
}

// permit is our Permit plugin and what kube-scheduler does with its answer.
func (w *World) permit(p *pod, node string) {
	whole := w.wasWhole(p)
	permission, _, ok := w.Ledger.Permit(p.UID, w.now)
	switch {
	case !ok:
		w.giveUp(p, ledger.Refused)
	case permission.Wait > 0:
		w.waitAtPermit(p, node, permission.Wait)
	default:
		w.auditPermission(p, whole)
		for _, uid := range permission.Allow {
			w.allow(uid)
		}
		w.bindSoon(p, node)
	}
	w.changed()
}

func (w *World) bindSoon(p *pod, node string) {
	placed, as, life := string(p.charged), identityOf(&p.seen), w.life
	w.at(w.rng.Int64N(w.bindTakes), func() { w.bind(p, node, placed, as, life) })
}

// giveUp ends an attempt that had a place.
func (w *World) giveUp(p *pod, f ledger.Failure) {
	w.underWay--
	w.unassume(p)
	w.wake()
	w.failed(p, f)
}

// waitAtPermit makes the attempt wait. A rejection that comes just before the attempt is known to wait does not find it.
func (w *World) waitAtPermit(p *pod, node string, atMost int64) {
	w.Waited++
	wait := &waits{node: node}
	wait.over = func(f ledger.Failure) {
		if p.waits != wait {
			return // somebody was faster
		}
		p.waits = nil
		w.Rejections++
		w.within(w.rng.Int64N(millisecond), func() { w.giveUp(p, f) })
	}
	start := func() {
		p.waits = wait
		w.within(atMost, func() {
			if p.waits == wait && p.exists && atMost >= 30*second {
				w.fail("pod %s of group %s waited at Permit for %d s", p.UID, p.PodGroup, atMost/second)
			}
			wait.over(ledger.Refused)
		})
	}
	if w.opts.Calm || w.rng.IntN(8) > 0 {
		start()
		return
	}
	w.kube.busy = true
	w.within(w.rng.Int64N(millisecond), func() {
		w.kube.busy = false
		start()
	})
}

// allow lets a pod that waits at Permit go on to be bound. One whose attempt has just been ended goes back all the same.
func (w *World) allow(uid ledger.UID) {
	p := w.pods[uid]
	if p == nil || p.waits == nil {
		w.Late++
		return
	}
	wait := p.waits
	p.waits = nil
	w.bindSoon(p, wait.node)
}

// allowAfterAll is what the dispatcher calls for pods that need not wait any more: as many of their group as start together have a place by
// now, it starts one by one, or they left it.
func (w *World) allowAfterAll(uid ledger.UID) {
	p := w.pods[uid]
	if p == nil || p.waits == nil {
		return
	}
	key := p.seen.PodGroup
	if c, d := w.crews()[key], w.known.groups[key]; key != "" && p.seen.Node == "" && c.placed+c.bound < d.MinMember {
		w.fail("pod %s need not wait any more, and %d pods of group %s of at least %d have places", uid, c.placed+c.bound, key, d.MinMember)
	}
	p.permitted = true
	w.allow(uid)
}

// reject is what the dispatcher calls for pods that wait for a group which cannot be whole.
func (w *World) reject(uid ledger.UID) {
	if p := w.pods[uid]; p != nil && p.waits != nil {
		p.waits.over(ledger.Refused)
	}
}

// rejectDeleted: kube-scheduler itself ends the attempt of a pod that waits and is being deleted. It names no plugin.
func (w *World) rejectDeleted(p *pod) bool {
	if p.waits == nil {
		return false
	}
	p.waits.over(ledger.Errored)
	return true
}

func (w *World) groupChanged(key string) {
	g, ok := w.groups[key]
	w.deliver(groupKind, func() {
		if !ok {
			w.groupSeen(key, nil)
			return
		}
		w.groupSeen(key, &g)
	})
}

func (w *World) groupSeen(key string, g *ledger.PodGroup) {
	if g == nil {
		delete(w.known.groups, key)
		w.Ledger.ForgetPodGroup(key)
	} else {
		w.known.groups[key] = *g
		w.Ledger.ObservePodGroup(*g)
	}
	w.lookAtStarts()
}

// group draws a pod group and its pods: as many as it takes, mostly, of one size or several, in one queue or application, mostly.
func (g *generator) group(st leafStyle, now int64) (ledger.PodGroup, []ledger.Pod) {
	g.groups++
	n := 2 + g.IntN(4)
	if g.IntN(6) == 0 {
		n = 2 + g.IntN(7)
	}
	name := fmt.Sprintf("gang-%03d", g.groups)
	d := ledger.PodGroup{Key: "default/" + name, MinMember: n}
	g.setGroup(&d)
	switch g.IntN(8) {
	case 0:
		d.MinMember = 1 + g.IntN(n)
	case 1:
		n += g.IntN(3)
	case 2:
		n -= g.IntN(2)
	}
	equal := g.IntN(3) > 0
	first := g.pod(st, now)
	g.pods-- // it shows what the others are like, and is none of them
	var pods []ledger.Pod
	for range n {
		p := g.pod(st, now)
		if equal {
			p.Request, p.Class, p.Eligible, p.Priority, p.Role = first.Request, first.Class, first.Eligible, first.Priority, first.Role
		}
		p.Queue, p.PodGroup, p.User, p.Single = first.Queue, d.Key, first.User, false
		if g.IntN(20) > 0 {
			p.Application = "default/podgroup/" + name
		}
		if g.IntN(30) == 0 && !strings.HasSuffix(p.Class, conflicting) {
			p.Class += conflicting
		}
		pods = append(pods, p)
	}
	return d, pods
}

// conflicting ends the class of pods of which no two get on with each other on one node, which the ledger does not know.
const conflicting = " port"

func conflicts(p *ledger.Pod) bool {
	return strings.HasSuffix(strings.TrimRight(p.Class, "'"), conflicting)
}

// setGroup draws settings of a group that mostly are not stated.
func (g *generator) setGroup(d *ledger.PodGroup) {
	switch g.IntN(10) {
	case 0:
		d.Timeout = millisecond + g.Int64N(20*millisecond)
	case 1:
		d.MinResources = resource.Of(resource.Entry{Name: resource.CPU, Value: 1000 * int64(1+g.IntN(20))})
	}
}

// submitGroup makes a group and its pods, in any order, the group not always.
func (w *World) submitGroup() {
	g := w.generator
	st := g.style(w.anyDeclared())
	d, pods := g.group(st, w.now)
	declared := w.rng.IntN(12) > 0
	if early := w.rng.IntN(2) == 0; declared && early {
		w.groups[d.Key] = d
		w.groupChanged(d.Key)
		declared = false
	}
	for i, p := range pods {
		if w.rng.IntN(25) == 0 {
			p.Node = w.anyNode() // bound by another scheduler
		}
		if i > 0 && w.rng.IntN(12) == 0 {
			w.at(w.rng.Int64N(5*second), func() { w.create(p) })
			continue
		}
		w.create(p)
	}
	if declared {
		w.at(w.rng.Int64N(second), func() {
			w.groups[d.Key] = d
			w.groupChanged(d.Key)
		})
	}
}

func (w *World) create(p ledger.Pod) {
	o := &pod{Pod: p, exists: true}
	w.pods[p.UID] = o
	w.podChanged(o)
	if p.Node != "" {
		w.at(second+w.rng.Int64N(3*second), func() { w.end(o) })
	}
}

// groupUser is what users do with groups.
func (w *World) groupUser() {
	if w.rng.IntN(3) == 0 || len(w.groups) == 0 {
		w.submitGroup()
		return
	}
	key := sorted(w.groups)[w.rng.IntN(len(w.groups))]
	d := w.groups[key]
	action := w.rng.IntN(8)
	w.disturbed[key] = w.disturbed[key] || action < 6
	switch action {
	case 0, 1:
		d.MinMember = w.rng.IntN(6)
	case 2:
		d.MinResources = resource.List{}
		w.generator.setGroup(&d)
	case 3:
		delete(w.groups, key)
		w.groupChanged(key)
		return
	case 4: // one more pod, as in the place of one that failed
		p := w.generator.pod(w.generator.style(w.anyDeclared()), w.now)
		p.PodGroup, p.Application, p.Single = key, "default/podgroup/"+strings.TrimPrefix(key, "default/"), false
		w.create(p)
		return
	case 5: // a pod that gets into the group, or out of it
		if p := w.anyPod(); p != nil && !p.Foreign {
			w.disturbed[p.PodGroup], w.disturbed[key] = true, true
			if p.PodGroup = ""; w.rng.IntN(2) == 0 {
				p.PodGroup = key
			}
			w.podChanged(p)
		}
		return
	default:
		w.writeGroups()
		return
	}
	w.groups[key] = d
	w.groupChanged(key)
}

// pace is how long a user waits: in some worlds with groups long enough for nodes to be held for one.
func (w *World) pace() int64 {
	if w.opts.Groups && w.seed%3 == 0 {
		return w.rng.Int64N(5 * second)
	}
	return w.rng.Int64N(second / 4)
}

// lifetime of a bound pod.
func (w *World) lifetime() int64 {
	if w.opts.Preemption && w.rng.IntN(5) > 0 {
		return w.rng.Int64N(60 * second)
	}
	if w.opts.Groups && w.rng.IntN(5) == 0 {
		return w.rng.Int64N(200 * second)
	}
	return second/10 + w.rng.Int64N(4*second)
}

// writeGroups is the writer of the groups' status.
func (w *World) writeGroups() {
	for _, s := range w.Ledger.PodGroups() {
		if d, ok := w.groups[s.Key]; ok && d.Whole != s.Whole {
			d.Whole = s.Whole
			w.groups[s.Key] = d
			w.groupChanged(s.Key)
		}
	}
}
