package ledger

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// delays owns how many opportunities applications have missed while their pods waited for nodes that they prefer (core/locality has the rule), and which
// applications decline room in the walk under way.
//
// If the nodes with room are none that a pod prefers, the walk passes the pod and goes on to the next one in order. If that one is
// released, each application that was passed has missed an opportunity. If the walk ends without a pod, no other pod wants the room:
// there is a second walk, in which pods accept any node. So no room is idle because of a delay. Only Choose delays pods: trials,
// rehearsals and plans of preemption do not.
//
// Pods of a group that starts together, and nominated pods, are not delayed. Counts are forgotten at a restart.
type delays struct {
	delay    locality.Delay
	nodes    *nodeTable
	inForce  bool // in the walk under way
	walks    uint64
	declined []declined
}

// declined is an application that declined room for pods of a class.
type declined struct {
	app   *appAccount
	class *class
	room  bool // some node had room for the class when a group was about to be released
}

// missed is of an application.
type missed struct {
	locality.Missed
	countedIn uint64 // the last walk in which it missed an opportunity
}

// known returns what counts of a pod's preferences: none of nodes, or of racks, if the delay for these is 0.
func (d *delays) known(p Pod) (nodes, racks string) {
	if d.delay.Node > 0 {
		nodes = p.PreferredNodes
	}
	if d.delay.Rack > 0 {
		racks = p.PreferredRacks
	}
	return nodes, racks
}

// forget forgets what was declined in the last walk.
func (d *delays) forget() { d.declined = d.declined[:0] }

// begin begins a walk in which pods are delayed.
func (d *delays) begin() {
	d.walks++
	d.inForce = d.delay.IsOn()
}

// haveDeclined reports whether any pods declined room in the last walk: a walk in which they accept any node may find one.
func (d *delays) haveDeclined() bool { return len(d.declined) > 0 }

// end: pods of other walks are not delayed.
func (d *delays) end() { d.inForce = false }

// declines reports whether the pods of a queue decline what room there is, and notes that they do.
func (d *delays) declines(a *appAccount, q *podQueue) bool {
	if !d.inForce || q.preference == nil || q.class.group.startsTogether() || d.accepts(a, q.preference) {
		return false
	}
	if n := len(d.declined); n == 0 || d.declined[n-1].app != a || d.declined[n-1].class != q.class {
		d.declined = append(d.declined, declined{app: a, class: q.class})
	}
	return true
}

// accepts reports whether pods may be released now: their level is any node, or some node of their level has room.
func (d *delays) accepts(a *appAccount, p *preference) bool {
	delay := d.delay.Within(len(d.nodes.all))
	fit, usable := d.nodes.preferred(p, locality.Node)
	has := locality.Names{Nodes: usable}
	if fit == nil && delay.Rack > 0 && len(p.racks) > 0 {
		var inRack *node
		if inRack, has.Racks = d.nodes.preferred(p, locality.Rack); a.missed.Accepted(delay, has) == locality.Rack {
			fit = inRack
		}
	}
	return fit != nil || a.missed.Accepted(delay, has) == locality.Any
}

// nodeFor is where the room of a pod is taken that is about to be released: on one of its nodes, else in one of its racks, else on the given node.
func (d *delays) nodeFor(r *record, given *node) *node {
	if r.preference == nil || r.nomination != nil || r.group.startsTogether() {
		return given
	}
	fit, _ := d.nodes.preferred(r.preference, locality.Node)
	if fit == nil && d.delay.Rack > 0 && len(r.preference.racks) > 0 {
		fit, _ = d.nodes.preferred(r.preference, locality.Rack)
	}
	if fit == nil {
		return given
	}
	return fit
}

// released counts what became of the opportunity: a pod is about to take room on a node; nil: none is known to have room.
func (d *delays) released(r *record, e *node) {
	if e == nil {
		return
	}
	for _, o := range d.declined {
		if d.nodes.fits(e, &o.class.room) {
			d.miss(o.app, r.app)
		}
	}
	if r.preference != nil {
		o := locality.Elsewhere
		if r.preference.levelOf(e) != locality.Any {
			o = locality.Preferred
		}
		r.app.missed.Missed = r.app.missed.Next(o)
	}
}

func (d *delays) miss(app, by *appAccount) {
	if app != by && app.missed.countedIn != d.walks {
		app.missed.Missed, app.missed.countedIn = app.missed.Next(locality.Declined), d.walks
	}
}

// aboutToRelease notes for which of the declined classes some node has room, before a group takes room.
func (d *delays) aboutToRelease() {
	for i := range d.declined {
		o := &d.declined[i]
		o.room = d.nodes.anyFits(&o.class.room)
	}
}

// releasedTogether counts that a group took room.
func (d *delays) releasedTogether(by *appAccount) {
	for _, o := range d.declined {
		if o.room {
			d.miss(o.app, by)
		}
	}
}

// waitsFor says for which nodes a pod waits; false: it waits for none, or no missed opportunity counts for its application.
func (d *delays) waitsFor(r *record) (reason.Reason, bool) {
	p := r.preference
	if p == nil || r.app.missed.Missed == 0 || r.nomination != nil || r.group.startsTogether() {
		return reason.Reason{}, false
	}
	delay := d.delay.Within(len(d.nodes.all))
	onNodes := d.nodes.outlook(p, locality.Node)
	has := locality.Names{Nodes: onNodes.usable}
	var inRacks outlook
	if delay.Rack > 0 {
		inRacks = d.nodes.outlook(p, locality.Rack)
		has.Racks = inRacks.usable
	}
	level, until := r.app.missed.Accepted(delay, has), r.app.missed.Until(delay, has)
	if level == locality.Any || onNodes.fit != nil || level == locality.Rack && inRacks.fit != nil {
		return reason.Reason{}, false
	}
	waits := reason.Preferred{Missed: int64(r.app.missed.Missed), Of: int64(until)}
	if level == locality.Node {
		waits.Nodes = p.of.nodes
	}
	if has.Racks {
		waits.Racks = p.of.racks
	}
	return reason.Reason{Code: reason.WaitingForPreferredNodes, Queue: string(r.leaf.path), Details: waits}, true
}

// saidToWait is waitsFor in a ledger that does not delay pods itself, as that of kubectl fairway: what the pod shows.
func (d *delays) saidToWait(r *record) (reason.Reason, bool) {
	if d.delay.IsOn() || !strings.HasPrefix(r.Shown, reason.WaitsForPreferred) {
		return reason.Reason{}, false
	}
	return reason.Reason{Code: reason.WaitingForPreferredNodes, Queue: string(r.leaf.path), Details: reason.Preferred{Shown: r.Shown}}, true
}

// surveyPreference has a pod told that it waits for nodes that it prefers, or that it does not any more.
func (l *contents) surveyPreference(r *record) {
	shown := r.shownLimit()
	switch why, waits := l.delays.waitsFor(r); {
	case waits && !sameLimit(why, shown):
		l.conditions.limit(r, &why)
	case !waits && shown.Code == reason.WaitingForPreferredNodes:
		l.conditions.limit(r, nil)
	}
}
