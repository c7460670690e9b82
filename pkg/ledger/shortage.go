package ledger

import (
	"math"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Shortage is why nodes have no room for a pod, counted as kube-scheduler counts: a node may lack several things. What it would say of
// nodes that the pod may not use at all has many forms and is not known here.
type Shortage struct {
	Nodes   int // that exist
	TooMany int // of them, those that take no more pods
	Lacking []Lack
	Kept    reason.Kept // nodes that have room, for others
}

// Lack is on how many nodes too little of a resource is free.
type Lack struct {
	Resource resource.Name
	Nodes    int
}

// Shortage says what keeps an unbound pod off the nodes, as far as arithmetic knows; false: the ledger knows no such pod.
func (l *Ledger) Shortage(uid UID) (Shortage, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil && r.class != nil {
		s := l.nodes.shortage(&r.class.room)
		s.Kept = l.keptFrom(r)
		return s, true
	}
	return Shortage{}, false
}

func (t *nodeTable) shortage(c *room) Shortage {
	s := Shortage{Nodes: len(t.all)}
	lacking := make([]int, c.request.Len())
	for _, e := range t.all {
		if !e.takes(c) {
			continue
		}
		s.TooMany += btoi(e.full())
		for i := range lacking {
			want := c.request.At(i)
			lacking[i] += btoi(t.capacityOf(e).Lacks(e.used.Get(want.Name), want))
		}
	}
	for i, nodes := range lacking {
		if nodes > 0 {
			s.Lacking = append(s.Lacking, Lack{c.request.At(i).Name, nodes})
		}
	}
	return s
}

// noRoom says why no node has room for a waiting pod: which resource is short on the node that comes closest. That is the node that
// lacks the smallest part of what the pod asks for.
func (t *nodeTable) noRoom(r *record) reason.Reason {
	why := reason.Reason{Code: reason.WaitingForRoom, Queue: string(r.leaf.path)}
	n := reason.Room{Nodes: int64(len(t.all))}
	least := int64(math.MaxInt64)
	for _, e := range t.all { // the least of all: order does not matter
		if !e.takes(&r.class.room) {
			continue
		}
		n.Usable++
		n.Full += int64(btoi(e.full()))
		name, free, part := t.shortOf(e, r.class.request)
		if name != "" && (part < least || part == least && name < why.Resource) {
			least, why.Resource, why.Asked, n.Free = part, name, r.class.request.Get(name), free
		}
	}
	why.Details = n
	return why
}

// shortOf returns the resource of which the node lacks the largest part of the request, in millionths, and what is free of it.
func (t *nodeTable) shortOf(e *node, request resource.List) (name resource.Name, free, part int64) {
	has := t.capacityOf(e)
	for i := range request.Len() {
		want := request.At(i)
		used := e.used.Get(want.Name)
		if !has.Lacks(used, want) {
			continue
		}
		left := max(has.Free(want.Name, used), 0)
		if p := resource.Part(1_000_000, want.Value-left, want.Value); name == "" || p > part {
			name, free, part = want.Name, left, p
		}
	}
	return name, free, part
}
