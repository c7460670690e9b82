package ledger

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// checkPreemption checks nominations, victims and the copies of nodes.
func (l *Ledger) checkPreemption(pods []*record) (wrong []string) {
	wrong = append(l.checkNominations(pods), l.checkVictims(pods)...)
	return append(wrong, l.checkCopies()...)
}

// checkNominations: a nominated pod waits or is released, and its room is taken on its node, once.
func (l *Ledger) checkNominations(pods []*record) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	nominated := 0
	for _, r := range pods {
		uid := r.UID
		if r.wantsNomination() && !slices.Contains(l.nominations.outdated, r) {
			say("pod %s is nominated to %q, and nobody is to look at that", uid, r.Nominated)
		}
		if r.nomination == nil {
			if !r.state.charged() && r.assumedOn != nil {
				say("pod %s is %s, has no nomination, and takes room on %s", uid, r.state, r.assumedOn.Name)
			}
			continue
		}
		nominated++
		p := r.nomination
		if !slices.Contains(l.nominations.pods, r) {
			say("pod %s is nominated and not listed so", uid)
		}
		if r.state != Waiting && r.state != Parked && r.state != Released {
			say("pod %s is %s and nominated", uid, r.state)
		}
		if !r.state.charged() && r.assumedOn != r.nominatedNode() {
			say("pod %s is nominated to %s, and its room is not taken there", uid, p.node.Name)
		}
		for i, v := range p.victims {
			if v.victim == nil || v.victim.claimant != r || slices.Contains(p.victims[:i], v) {
				say("pod %s counts on %s, which does not go for it, or is counted twice", uid, v.UID)
			}
		}
	}
	if nominated != len(l.nominations.pods) {
		say("%d pods are nominated, %d are listed", nominated, len(l.nominations.pods))
	}
	return wrong
}

// checkVictims: a victim is bound, and its claimant is nominated and counts on it. A victim whose eviction was accepted may have no claimant.
func (l *Ledger) checkVictims(pods []*record) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	victims, drivers := 0, map[*account]*resource.Sum{}
	for _, r := range pods {
		uid := r.UID
		if r.leaf != nil && r.Role == application.Driver && r.footprint().demands {
			if drivers[r.leaf] == nil {
				drivers[r.leaf] = &resource.Sum{}
			}
			drivers[r.leaf].Add(r.Request)
		}
		if r.victim == nil {
			continue
		}
		victims++
		if !slices.Contains(l.evictions.victims, r) {
			say("pod %s is to go and is not listed so", uid)
		}
		if r.state != Bound {
			say("pod %s is to go and is %s", uid, r.state)
		}
		if c := r.victim.claimant; r.victim.MayStay() && (c.nomination == nil || !slices.Contains(c.nomination.victims, r)) {
			say("pod %s is to go for %s, which does not count on it", uid, c.UID)
		}
	}
	if victims != len(l.evictions.victims) {
		say("%d pods are to go, %d are listed", victims, len(l.evictions.victims))
	}
	for _, n := range l.queues.Nodes {
		a, sum := l.queues.accounts[n.Path], resource.Sum{}
		if drivers[a] != nil {
			sum = *drivers[a]
		}
		if !a.driverDemand.Equal(&sum) {
			say("%s: its drivers hold and ask for %v, they add up to %v", n.Path, a.driverDemand.List(), sum.List())
		}
	}
	return wrong
}

// checkCopies: the copy of a node is as it would be made now.
func (l *Ledger) checkCopies() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	staying := map[*node]int{}
	for _, r := range l.pods { // sums: order does not matter
		if r.assumedOn != nil && (r.state == Bound || r.nomination != nil && !r.state.charged()) {
			staying[r.assumedOn]++
		}
	}
	for _, name := range sortedKeys(l.nodes.byName) {
		e := l.nodes.byName[name]
		for i, r := range e.on {
			if r.assumedOn != e || r.listedOn != e || int(r.onNode) != i {
				say("pod %s is listed on node %s, and its room is not taken there", r.UID, name)
			}
		}
		if staying[e] != len(e.on) {
			say("node %s has room for %d pods that run there or are to, and lists %d", name, staying[e], len(e.on))
		}
		copied := e.copied
		if copied == nil || copied.tree != l.queues.builds || copied.until != 0 && l.now > copied.until {
			continue
		}
		e.copied = nil
		fresh := e.copyForPlan(&l.queues, l.now)
		e.copied = copied
		if !sameCopy(copied, fresh) {
			say("node %s was copied as %+v, and is %+v", name, *copied, *fresh)
		}
	}
	return wrong
}

func sameCopy(a, b *copiedNode) bool {
	if a.Name != b.Name || !a.Free.Equal(b.Free) || a.Slots != b.Slots || len(a.Candidates) != len(b.Candidates) || len(a.leaving) != len(b.leaving) {
		return false
	}
	for i := range a.Candidates {
		if !reflect.DeepEqual(a.Candidates[i], b.Candidates[i]) {
			return false
		}
	}
	var sumA, sumB resource.Sum // in no order that means anything
	for i := range a.leaving {
		sumA.Add(a.leaving[i].request)
		sumB.Add(b.leaving[i].request)
	}
	return sumA.Equal(&sumB)
}
