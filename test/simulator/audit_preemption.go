package simulator

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// freeFit returns a node that has room for a waiting pod besides what is nominated to others, or "". Room that was made for the pod itself
// counts, whatever else is nominated to the node, as far as the running pods leave it.
func (w *World) freeFit(p *pod) string {
	kept := w.kept()
	if w.openFit(p, func(name string) bool { return w.kube.rooms[name].fits(p) }) == "" {
		return "" // as mostly
	}
	going := false
	for _, v := range w.Ledger.Victims() {
		going = going || v.ForUID == p.UID
	}
	node := w.openFit(p, func(name string) bool {
		if w.preempting.nominated[p.UID] == name { // of one that kube-scheduler nominated, the ledger need not have the nomination any more
			return !going && w.kube.rooms[name].fits(p)
		}
		r := *w.kube.rooms[name]
		r.keep(w, name, kept, func(uid ledger.UID) bool { return uid != p.UID })
		return r.fits(p)
	})
	if node == "" {
		w.preempting.counts.Kept++
	}
	return node
}

// keep takes the room off a node that is kept there for others.
func (r *room) keep(w *World, name string, kept map[ledger.UID]string, others func(ledger.UID) bool) {
	for uid, node := range kept { // sums: order does not matter
		if node == name && others(uid) {
			r.used = r.used.plus(w.pods[uid].asks)
			r.pods++
		}
	}
}

// auditNominations: a plan nominates a pod to the node to which it did when it was adopted, or no more.
func (w *World) auditNominations() {
	for _, uid := range sorted(w.preempting.nominated) {
		if is, was := w.Ledger.NominatedTo(uid), w.preempting.nominated[uid]; is != "" && is != was {
			w.fail("pod %s was nominated to %s by a plan, and is nominated to %s", uid, was, is)
		}
	}
}

// exceedsMax reports whether n pods of this size and all nominated pods together would exceed the max of a queue above both, in a resource that
// the pods ask for.
func (w *World) exceedsMax(p *pod, n int) bool {
	kept := w.kept()
	if len(kept) == 0 {
		return false
	}
	charges, total := w.charges(), w.total()
	coming := sums{}
	for uid := range kept { // sums: order does not matter
		if o := w.pods[uid]; o != p {
			coming.add(o.home, o.asks)
		}
	}
	s := p.asks
	for q := p.home; q != ""; q = q.Parent() {
		most, with := w.maxOf(q, total), charges[q].plus(coming[q]).plus(s.times(n))
		for i := range s {
			if coming[q] != (size{}) && most[i] >= 0 && s[i] > 0 && with[i] > most[i] {
				w.preempting.counts.Kept++
				return true
			}
		}
	}
	return false
}

// waitsWithItsClass: the pod is nominated, and a max leaves no room for the other pods of its class as long as it is. A walk then leaves out the
// class, so the pod waits for the room that is made for it, although it would fit elsewhere.
func (w *World) waitsWithItsClass(p *pod) bool {
	if _, nominated := w.kept()[p.UID]; !nominated {
		return false
	}
	for _, o := range w.known.pods { // whether there is one
		if o != p && o.seen.Node == "" && o.charged == "" && o.seen.Class == p.seen.Class && o.seen.Request.Equal(p.seen.Request) && w.exceedsMax(o, 1) {
			return true
		}
	}
	return false
}

// auditPlans: two ledgers that were told the same in another order plan the same.
func (w *World) auditPlans() {
	if !w.opts.Preemption || w.Quiet%4 > 0 || len(w.kept()) > 0 { // an earlier nomination comes first
		return
	}
	type plan struct {
		World preemption.World
		Made  preemption.Plan
	}
	planned := func(seed uint64) (p plan) {
		l := w.rebuild(rand.New(rand.NewPCG(w.seed, seed)))
		p.World = l.WhatPreemption(w.now)
		p.Made = preemption.Make(p.World, l.Feasibility(p.World))
		for _, c := range p.World.Claims {
			for _, u := range c.Units {
				for i := range u.Pods {
					u.Pods[i].Class = "" // of two that share a key and nothing else, the second gets another name
				}
			}
		}
		return p
	}
	a, b := planned(1), planned(2)
	if reflect.DeepEqual(a, b) {
		return // as mostly; text takes longer
	}
	text := func(p plan) string { return strings.ReplaceAll(fmt.Sprintf("%+v\n%+v", p.World, p.Made), " {", "\n{") }
	if a, b := text(a), text(b); a != b {
		w.fail("told in another order, the same is planned otherwise:\n%s", difference(a, b))
	}
}
