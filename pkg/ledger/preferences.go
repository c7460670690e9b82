package ledger

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// preference is which nodes and racks some pods of a class prefer. Filters judge all pods of the class alike, whatever they prefer, so pods with
// different preferences share a probe. They wait in different pod queues, so that a pod whose node has room goes before an older one whose node has not.
type preference struct {
	of      preferenceKey
	nodes   []string
	racks   []string
	pods    int // records that refer to it
	onNodes outlook
	inRacks outlook
}

type preferenceKey struct {
	class        *class
	nodes, racks string // as in Pod
}

// outlook is what is known of the nodes of one level. It is looked at again only after one of them gained room, came, changed or went.
type outlook struct {
	fit    *node // with room, as of the last look
	usable bool  // pods of the class may use one of them, once it has room
	known  bool
}

// preferences owns what waiting pods prefer. The table of nodes tells it which nodes changed.
type preferences struct {
	all    map[preferenceKey]*preference
	byNode map[string][]*preference
	byRack map[string][]*preference
}

func newPreferences() preferences {
	return preferences{all: map[preferenceKey]*preference{}, byNode: map[string][]*preference{}, byRack: map[string][]*preference{}}
}

// follow follows a pod that has joined or left a class, or prefers something else by now. The pod is in no pod queue when this is called.
func (t *preferences) follow(r *record) {
	if r.preference == nil && r.PreferredNodes == "" && r.PreferredRacks == "" {
		return
	}
	of := preferenceKey{r.class, r.PreferredNodes, r.PreferredRacks}
	old := r.preference
	if old != nil && old.of == of {
		return
	}
	r.preference = nil
	if r.class != nil && (of.nodes != "" || of.racks != "") {
		r.preference = t.join(of)
	}
	if old != nil {
		t.quit(old)
	}
}

func (t *preferences) join(of preferenceKey) *preference {
	p := t.all[of]
	if p == nil {
		p = &preference{of: of, nodes: namesIn(of.nodes), racks: namesIn(of.racks)}
		t.all[of] = p
		for _, name := range p.nodes {
			t.byNode[name] = append(t.byNode[name], p)
		}
		for _, name := range p.racks {
			t.byRack[name] = append(t.byRack[name], p)
		}
	}
	p.pods++
	return p
}

func (t *preferences) quit(p *preference) {
	if p.pods--; p.pods > 0 {
		return
	}
	delete(t.all, p.of)
	for _, name := range p.nodes {
		without(t.byNode, name, p)
	}
	for _, name := range p.racks {
		without(t.byRack, name, p)
	}
}

func without(by map[string][]*preference, name string, p *preference) {
	if by[name] = slices.DeleteFunc(by[name], func(o *preference) bool { return o == p }); len(by[name]) == 0 {
		delete(by, name)
	}
}

func namesIn(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// changed: a node gained room, came, changed or went.
func (t *preferences) changed(e *node) {
	if len(t.all) == 0 {
		return
	}
	for _, p := range t.byNode[e.Name] {
		p.onNodes.known = false
	}
	for _, p := range t.byRack[e.Rack] {
		p.inRacks.known = false
	}
}

// lookAgain has all nodes be looked at again.
func (t *preferences) lookAgain() {
	for _, p := range t.all { // each for itself: order does not matter
		p.onNodes.known, p.inRacks.known = false, false
	}
}

// preferred returns a node of the level with room for the pods, nil if there is none, and whether they may ever use one. It remembers the answer.
func (t *nodeTable) preferred(p *preference, level locality.Level) (fit *node, usable bool) {
	o := &p.onNodes
	if level == locality.Rack {
		o = &p.inRacks
	}
	if o.fit != nil && t.fits(o.fit, &p.of.class.room) {
		return o.fit, true
	}
	if !o.known || o.fit != nil { // of several nodes with room it knows one
		*o = t.outlook(p, level)
	}
	return o.fit, o.usable
}

// outlook looks at the nodes of a level.
func (t *nodeTable) outlook(p *preference, level locality.Level) outlook {
	o := outlook{known: true}
	look := func(e *node) {
		if o.fit == nil && t.fits(e, &p.of.class.room) {
			o.fit = e
		}
		o.usable = o.usable || o.fit != nil || t.mayEverFit(e, &p.of.class.room)
	}
	if level == locality.Node {
		for _, name := range p.nodes {
			if e := t.byName[name]; e != nil {
				look(e)
			}
		}
		return o
	}
	for _, e := range t.all {
		if p.isInRack(e) {
			look(e)
		}
	}
	return o
}

func (p *preference) isInRack(e *node) bool { return e.Rack != "" && slices.Contains(p.racks, e.Rack) }

// mayEverFit reports whether the pods of a class would fit on the node if it were empty.
func (t *nodeTable) mayEverFit(e *node, s *room) bool {
	return e.known && t.capacityOf(e).Fits(&resource.Sum{}, s.request) && e.takes(s)
}

// levelOf is the best level that a node is of. Any: it is none that they prefer.
func (p *preference) levelOf(e *node) locality.Level {
	switch {
	case slices.Contains(p.nodes, e.Name):
		return locality.Node
	case p.isInRack(e):
		return locality.Rack
	}
	return locality.Any
}

// preferredLike returns up to n nodes with room for a released pod, of the level of the node on which its room is taken, and that node.
func (t *nodeTable) preferredLike(r *record, n int) []string {
	p, level := r.preference, r.preference.levelOf(r.assumedOn)
	names := []string{r.assumedOn.Name}
	add := func(e *node) {
		if len(names) < n && e != r.assumedOn && p.levelOf(e) == level && t.fits(e, &r.class.room) {
			names = append(names, e.Name)
		}
	}
	if level == locality.Node {
		for _, name := range p.nodes {
			if e := t.byName[name]; e != nil {
				add(e)
			}
		}
		return names
	}
	for _, e := range t.all { // into a set: order does not matter
		add(e)
	}
	return names
}

// headsForPreferred: the room of the pod is taken on a node or in a rack that it prefers, which was looked for.
func (r *record) headsForPreferred() bool {
	return r.preference != nil && r.nomination == nil && !r.group.startsTogether() && r.assumedOn != nil && r.assumedOn.known &&
		r.preference.levelOf(r.assumedOn) != locality.Any
}

// PreferredNodes returns up to n nodes that a released pod prefers and that have room for it, if its room is taken on one of them; else none. They are
// its nodes, or if none of these has room, those of its racks.
func (l *Ledger) PreferredNodes(uid UID, n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.pods[uid]; r != nil && r.state == Released && r.headsForPreferred() {
		return l.nodes.preferredLike(r, n)
	}
	return nil
}
