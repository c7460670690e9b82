package ledger

import (
	"reflect"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// checkNominations: a nominated pod waits or is released, and its room is taken on its node, once.
func (c *checker) checkNominations() {
	nominated := 0
	for _, r := range c.byUID {
		uid := r.UID
		if r.wantsNomination() && !slices.Contains(c.nominations.outdated, r) {
			c.say("pod %s is nominated to %q, and nobody is to look at that", uid, r.Nominated)
		}
		if r.nomination == nil {
			if !r.state.charged() && r.assumedOn != nil {
				c.say("pod %s is %s, has no nomination, and takes room on %s", uid, r.state, r.assumedOn.Name)
			}
			continue
		}
		nominated++
		p := r.nomination
		if !slices.Contains(c.nominations.pods, r) {
			c.say("pod %s is nominated and not listed so", uid)
		}
		if r.state != Waiting && r.state != Parked && r.state != Released {
			c.say("pod %s is %s and nominated", uid, r.state)
		}
		if !r.state.charged() && r.assumedOn != r.nominatedNode() {
			c.say("pod %s is nominated to %s, and its room is not taken there", uid, p.node.Name)
		}
		for i, v := range p.victims {
			if v.victim == nil || v.victim.claimant != r || slices.Contains(p.victims[:i], v) {
				c.say("pod %s counts on %s, which does not go for it, or is counted twice", uid, v.UID)
			}
		}
	}
	if nominated != len(c.nominations.pods) {
		c.say("%d pods are nominated, %d are listed", nominated, len(c.nominations.pods))
	}
}

// checkVictims: a victim is bound, and its claimant is nominated and counts on it. A victim whose eviction was accepted may have no claimant.
func (c *checker) checkVictims() {
	victims, drivers := 0, map[*queueAccount]*resource.Sum{}
	for _, r := range c.byUID {
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
		if !slices.Contains(c.evictions.victims, r) {
			c.say("pod %s is to go and is not listed so", uid)
		}
		if r.state != Bound {
			c.say("pod %s is to go and is %s", uid, r.state)
		}
		if by := r.victim.claimant; r.victim.MayStay() && (by.nomination == nil || !slices.Contains(by.nomination.victims, r)) {
			c.say("pod %s is to go for %s, which does not count on it", uid, by.UID)
		}
	}
	if victims != len(c.evictions.victims) {
		c.say("%d pods are to go, %d are listed", victims, len(c.evictions.victims))
	}
	for _, a := range c.tree {
		sum := resource.Sum{}
		if drivers[a.queueAccount] != nil {
			sum = *drivers[a.queueAccount]
		}
		if !a.driverDemand.Equal(&sum) {
			c.say("%s: its drivers hold and ask for %v, they add up to %v", a.path, a.driverDemand.List(), sum.List())
		}
	}
}

// checkCopies: the copy of a node is as it would be made now.
func (c *checker) checkCopies() {
	staying := map[*node]int{}
	for _, r := range c.pods { // sums: order does not matter
		if r.assumedOn != nil && (r.state == Bound || r.nomination != nil && !r.state.charged()) {
			staying[r.assumedOn]++
		}
	}
	for _, name := range sortedKeys(c.nodes.byName) {
		e := c.nodes.byName[name]
		for _, r := range e.on {
			if r.assumedOn != e || r.listedOn != e || !e.on.has(r, ofNode) {
				c.say("pod %s is listed on node %s, and its room is not taken there", r.UID, name)
			}
		}
		if staying[e] != len(e.on) {
			c.say("node %s has room for %d pods that run there or are to, and lists %d", name, staying[e], len(e.on))
		}
		copied := e.copied
		if copied == nil || copied.tree != c.queues.builds || copied.until != 0 && c.now > copied.until {
			continue
		}
		e.copied = nil
		fresh := e.copyForPlan(&c.queues, c.now)
		e.copied = copied
		if !sameCopy(copied, fresh) {
			c.say("node %s was copied as %+v, and is %+v", name, *copied, *fresh)
		}
	}
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
