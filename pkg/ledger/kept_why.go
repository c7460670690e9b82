package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// What is said to a pod that waits for room: which resource the nodes lack, which room is kept for others, or what kube-scheduler answered.

// noRoom says why a waiting pod lacks room. If its class is parked although some node has room by the numbers, a filter has refused that: then
// it is what kube-scheduler answered.
func (l *contents) noRoom(r *record) reason.Reason {
	if answer := r.answer(); answer != "" && r.class.Parked() && l.nodes.anyFits(&r.class.room) {
		return reason.Reason{Code: reason.Parked, Queue: string(r.leaf.path), Details: reason.Answer{Text: answer}}
	}
	why := l.nodes.noRoom(r)
	n := reason.As[reason.Room](why)
	n.Kept = l.keptFrom(r)
	why.Details = n
	return why
}

// answer is what kube-scheduler answered to the pod, else to one of its class; "" for nothing. Pods of a class are judged alike, but not at
// the same time, so they may show different answers.
func (r *record) answer() string {
	if r.Unschedulable != "" {
		return r.Unschedulable
	}
	return r.class.says()
}

// keptFrom is the room that would do for the pod if it were not kept for others.
func (l *contents) keptFrom(r *record) (k reason.Kept) {
	if !l.nodeHolds.Held() && len(l.nominations.pods) == 0 {
		return k
	}
	var first *record // of the pods to which such room is nominated
	for _, e := range l.nodes.all {
		switch {
		case !e.known || !e.takes(&r.class.room):
		case e.isHeldFrom(r.waiter()):
			if l.nodes.fitsBesides(e, nil, r) {
				k.Held++
			}
		default:
			if nominees := e.nominees(r); len(nominees) > 0 && l.nodes.fitsBesides(e, nominees, r) {
				k.Nominated++
				for _, o := range nominees {
					if first == nil || o.older(first) {
						first = o
					}
				}
			}
		}
	}
	if k.Held > 0 {
		k.Until = l.nodeHolds.Until
		if g := l.nodeHolds.For.group; g != nil {
			k.PodGroup = g.Key
		} else {
			k.LargeOf = string(l.nodeHolds.leaf.path)
		}
	}
	if l.nodeHolds.For == &r.class.wait && l.nodeHolds.leaf == r.leaf {
		k.Own, k.Until = int64(len(l.nodeHolds.nodes)), l.nodeHolds.Until
	}
	if first != nil {
		k.Pod, k.Queue = first.Namespace+"/"+first.Name, string(first.leaf.path)
	}
	return k
}

// nominees are the pods, besides this one, that are to start on the node and do not hold it yet.
func (e *node) nominees(r *record) (others []*record) {
	for _, o := range e.on {
		if o != r && o.leaf != nil && o.nomination != nil && !o.state.charged() {
			others = append(others, o)
		}
	}
	return others
}

// fitsBesides reports whether the node would have room for the pod if it were held for nobody, and if these pods were not to start there.
func (t *nodeTable) fitsBesides(e *node, nominees []*record, r *record) bool {
	var used resource.Sum
	used.AddSum(&e.used)
	pods := e.assumed + e.foreignPods
	for _, o := range nominees {
		used.Sub(o.Request)
		pods--
	}
	return (e.Pods == 0 || pods < e.Pods) && t.capacityOf(e).Fits(&used, r.Request)
}

// keptUnderMax says which max has no room for the pod beside the pods that are nominated: what victims free there is for these.
func (l *contents) keptUnderMax(r *record) (reason.Reason, bool) {
	a := l.nominations.exceedMax(r)
	if a == nil {
		return reason.Reason{}, false
	}
	var kept resource.Sum
	for _, o := range l.nominations.pods {
		if o != r && o.leaf != nil && o.leaf.isUnder(a) && !o.state.charged() {
			kept.Add(o.Request)
		}
	}
	for i := range a.spec.Max.Len() {
		m := a.spec.Max.At(i)
		asked, used := r.Request.Get(m.Name), a.usage.Get(m.Name)
		if asked > 0 && resource.SatAdd(resource.SatAdd(used, kept.Get(m.Name)), asked) > m.Value {
			return reason.Reason{Code: reason.MaxResources, Queue: string(a.path), Resource: m.Name, Limit: m.Value, Used: used, Asked: asked,
				Details: reason.MaxKept{Kept: kept.Get(m.Name)}}, true
		}
	}
	return reason.Reason{}, false
}

// heldFrom is keptFrom as to held nodes, found out once in each look.
func (c *class) heldFrom(l *contents, r *record) reason.Kept {
	if !l.nodeHolds.Held() {
		return reason.Kept{}
	}
	if !c.look.keptKnown || c.look.look != l.backlog.looks {
		lacks := c.waitsForRoom(l, l.now)
		c.look = lookAtClass{l.backlog.looks, lacks, true, l.keptFrom(r)}
	}
	return c.look.kept
}

// outdated reports whether what a pod of the backlog shows is no longer so: it names nodes that are held and are not any more, or does not name them; or it
// says that nodes lack room by the numbers, where they have it and kube-scheduler refuses the class for another reason.
func (l *contents) outdated(r *record) bool {
	if l.message(r) == r.Unschedulable {
		return false // it would be written again and again
	}
	shows, says := reason.ReadShownRoom(r.Unschedulable), reason.ReadShownRoom(r.class.says())
	if r.group.startsTogether() {
		var held reason.ShownHold
		if l.nodeHolds.For == r.waiter() {
			held = reason.HeldForIt(l.nodeHolds.Until)
		}
		return shows.Hold != held
	}
	if held := r.class.heldFrom(l, r).ShownHold(); held != shows.Hold {
		return true
	} else if held != (reason.ShownHold{}) {
		return false
	}
	return shows.Numbers && r.class.says() != "" && !says.Numbers && r.class.Parked() && l.nodes.anyFits(&r.class.room)
}

// message is what a pod of the backlog is to show, in upstream's words; "": what it lacks by the numbers (see Shortage).
func (l *contents) message(r *record) string {
	if why, lacks := l.roomOfGroup(r.group, string(r.leaf.path)); lacks {
		return why.Text()
	}
	if r.class.heldFrom(l, r).Held > 0 {
		return ""
	}
	if says := r.class.says(); reason.ReadShownRoom(says).Hold.For == "" {
		return says
	}
	return ""
}
