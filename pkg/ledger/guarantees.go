package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// A queue asks its children for a pod in two turns. First come the children that are below a guarantee and have a pod that asks for a
// resource that they lack; of these, the child that has the smallest part of what it is owed goes first. Then all children come in the
// order of their shares. So a guarantee of GPUs gives a queue GPUs, whatever it holds of other resources, and its pods that ask for no
// GPU gain nothing by it.

// belowGuarantee is what guarantees mean for the order at a queue. Most queues have none.
type belowGuarantee struct {
	below   book.Order[*queueAccount]      // the children below their guarantees that have a pod to release that asks for what they lack
	inBelow book.Competitor[*queueAccount] // of the parent
	lacks   []resource.Name                // resources of which the queue has less than its guarantee owes it; none: it is not below it
}

// guarantees returns what guarantees mean at a queue that has one, or has a child with one.
func (a *queueAccount) guarantees() *belowGuarantee {
	if a.guarantee == nil {
		a.guarantee = &belowGuarantee{}
		a.guarantee.inBelow.Init(a)
	}
	return a.guarantee
}

// rekeyGuarantee recomputes what a queue lacks of its guarantee, and the key with which it takes its turn below it.
func (a *queueAccount) rekeyGuarantee(rule queue.Rule) {
	g := a.guarantees()
	if g.lacks = a.appendLacking(rule, g.lacks[:0]); len(g.lacks) > 0 {
		g.inBelow.KeyUnder(rule.Policy).SetBelow(a.inOrder.KeyUnder(rule.Policy), a.smallestPart())
	}
}

// appendLacking appends to names the resources of which a queue has less than its guarantee owes it. What is kept for the queue counts as
// usage, as everywhere in the order.
func (a *queueAccount) appendLacking(rule queue.Rule, names []resource.Name) []resource.Name {
	if rule.Policy.ByAge() {
		return names
	}
	return guarantee.Lacking(rule, a.spec.Guaranteed, &a.demand, a.standing(), names)
}

// smallestPart returns which part a queue has of what its guarantee owes it, for the resource for which that part is smallest.
func (a *queueAccount) smallestPart() guarantee.Part {
	return guarantee.Smallest(a.parent.spec.Rule(), a.spec.Guaranteed, &a.demand, a.standing())
}

// lacking returns the resources of which a queue has less than its guarantee owes it.
func (a *queueAccount) lacking() []resource.Name {
	if a.guarantee == nil {
		return nil
	}
	return a.guarantee.lacks
}

// offer puts a queue in the order of its parent with the lanes in which something may be released there, and in the order of the queues below their
// guarantees with those in which that is a pod that asks for what it lacks.
func (b *orderBooks) offer(a *queueAccount, lanes book.Lanes) {
	a.parent.queueOrder.Offer(&a.inOrder, lanes)
	if g := a.guarantee; g != nil {
		own := lanes & b.classes.asking(g.lacks)
		if own != 0 || g.inBelow.Competes() {
			a.parent.guarantees().below.Offer(&g.inBelow, own)
		}
	}
}

// firstBelow is first among the children that are below a guarantee.
func (a *queueAccount) firstBelow(open book.Lanes, after *book.Entry[*queueAccount]) *book.Entry[*queueAccount] {
	if a.guarantee == nil {
		return nil
	}
	return a.guarantee.below.First(open, after)
}

// asked is a resource, and the lanes that have a class that asks for it.
type asked struct {
	name  resource.Name
	lanes book.Lanes
}

// asking returns the lanes that have a class that asks for one of these resources.
func (t *classTable) asking(names []resource.Name) (lanes book.Lanes) {
	for _, n := range names {
		for i := range t.asked {
			if t.asked[i].name == n {
				lanes |= t.asked[i].lanes
			}
		}
	}
	return lanes
}

// noteAsked notes what the classes of a lane ask for, after one that asks for these amounts came or went.
func (t *classTable) noteAsked(lane book.Lane, request resource.List) {
	for i := range request.Len() {
		name := request.At(i).Name
		asks := false
		for _, c := range t.lanes.Classes(lane) {
			asks = asks || c.request.Get(name) > 0
		}
		t.setAsked(name, lane, asks)
	}
}

func (t *classTable) setAsked(name resource.Name, lane book.Lane, asks bool) {
	for i := range t.asked {
		if t.asked[i].name != name {
			continue
		}
		t.asked[i].lanes &^= lane.Set()
		if asks {
			t.asked[i].lanes |= lane.Set()
		}
		return
	}
	if asks {
		t.asked = append(t.asked, asked{name, lane.Set()})
	}
}

// asksFor names the resources of which a class asks for some, so that classes which share a lane ask for the same.
func (c *class) asksFor() string {
	var names []byte
	for i := range c.request.Len() {
		if e := c.request.At(i); e.Value > 0 {
			names = append(append(names, e.Name...), ' ')
		}
	}
	return string(names)
}
