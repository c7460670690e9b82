package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// DefaultGroupTimeout is how long pods of a group that have a node wait for the others, where the group does not say.
// scheduler-plugins Coscheduling: permitWaitingTimeSeconds.
const DefaultGroupTimeout int64 = 60e9

// lastGroupBackOff bounds the back-off of a group, which grows as that of a pod does. Its attempts cost more.
const lastGroupBackOff int64 = 60e9

// PodGroup is a pod group as declared: pods that start together or not at all.
type PodGroup struct {
	// Key names the group over the cluster, and is what Pod.PodGroup says: "<namespace>/<name>".
	Key string
	// MinMember is the number of pods with which the group starts. Up to 1, its pods are pods like any others.
	MinMember int
	// MinResources is what those ask for together at least, where that is stated.
	MinResources resource.List
	// Timeout is how long those that have a node wait for the others, in nanoseconds; 0 for the default.
	Timeout int64
	// Whole: once, as many of its pods as it needs had nodes at the same time. From then on its pods are pods like any others, until
	// none is left.
	Whole bool
	// Succeeded is how many of its pods have succeeded, and still exist. The group needs so many pods less to start. That matters if a
	// restart came before the group was whole.
	Succeeded int
}

// PodGroupState is what a declared pod group has and waits for. Pods that ended are in no count.
type PodGroupState struct {
	PodGroup
	Pods     int   // that exist and are not being deleted
	Reserved int   // of those with a node, those that are not bound
	Bound    int   // of those with a node, those that are bound
	Since    int64 // when its pods were first released together, unix nanoseconds; 0: not yet
}

// group is a pod group and its pods.
type group struct {
	PodGroup
	gang.Members      // counted when one of the pods moves
	declared     bool // by a PodGroup; else only pods name it
	redeclared   bool // its declaration has changed since its last review
	unreviewed   bool // see effects
	pods         roster
	reserved     int    // of those taken
	complete     bool   // declared, and enough pods exist, or did
	tried        uint64 // the last walk in which its release was tried

	since    int64 // when its pods were first released together
	attempts int   // failed in a row
	retryAt  int64
	partial  bool // in the table's list of those
	wait     waiter
}

// startsTogether: its pods start together or not at all.
func (g *group) startsTogether() bool { return g != nil && g.Together() }

// hasBegun: its pods started together, and those that come later are pods like any others.
func (g *group) hasBegun() bool { return g != nil && g.MinMember > 1 && g.Members.Whole }

func (g *group) timeout() int64 { return cmp.Or(g.Timeout, DefaultGroupTimeout) }

// count counts its pods again.
func (g *group) count() {
	g.Members = gang.Members{Minimum: g.MinMember - g.Succeeded, Whole: g.Members.Whole}
	g.reserved = 0
	for _, r := range g.pods { // sums: order does not matter
		if r.state == Gone || r.Terminating {
			continue
		}
		g.Live++
		switch r.state {
		case Released, Reserved:
			g.Taken++
			g.reserved += btoi(r.state == Reserved)
		case Bound:
			g.Bound++
		case Waiting:
			g.Ready += btoi(r.InQueue())
		case Parked, Gone:
		}
	}
}

// blocks says what stops a pod of the group, as long as the group cannot start as it is. A group that backs off makes its pods do so.
func (g *group) blocks(r *record, now int64) reason.Reason {
	switch {
	case g == nil:
	case !g.declared:
		return reason.Reason{Code: reason.PodGroupNotFound, Queue: string(r.asked), PodGroup: g.Key}
	case g.Together() && !g.complete:
		return g.incomplete(string(r.asked), g.Live)
	case g.Together() && g.retryAt > now:
		r.retryAt = max(r.retryAt, g.retryAt)
	}
	return reason.Reason{}
}

func (g *group) incomplete(queue string, there int) reason.Reason {
	return reason.Reason{Code: reason.GangIncomplete, Queue: queue, PodGroup: g.Key, Details: reason.Members{
		Needed: int64(g.MinMember), Exist: int64(there + g.Succeeded),
	}}
}

// pause lets the group back off, once for each time that it is tried.
func (g *group) pause(now int64) {
	if g.retryAt <= now {
		g.attempts++
		g.retryAt = now + backoff.After(g.attempts, lastGroupBackOff)
	}
}

// groupTable owns the pod groups: what is declared of them, and which pods are in which.
//
// It hears what is declared (declare, undeclare), and which pods name a group (join, quit). A group is counted again after each move of one of its pods
// (group.count). The table says which groups have only a part of their nodes. Which group is being released, and for which one nodes are held, is not
// here: see group_release.go and node_holds.go.
type groupTable struct {
	byKey   map[string]*group
	partial []*group // that have some of their nodes and not all, in the order in which they came to that
}

// get finds a group, or makes one that is not declared yet.
func (t *groupTable) get(key string) *group {
	g := t.byKey[key]
	if g == nil {
		g = &group{PodGroup: PodGroup{Key: key}}
		g.wait.group = g
		t.byKey[key] = g
	}
	return g
}

// declare takes in a group as declared; nil: nothing has changed. Whether it is whole is only believed before the ledger leads, or while it has no pods.
func (t *groupTable) declare(d PodGroup, leading bool) *group {
	g := t.get(d.Key)
	whole := g.Members.Whole || d.Whole && !leading
	if len(g.pods) == 0 {
		whole = d.Whole // pods of it may have ended, which nobody else says: what takes their place must not wait for them
	}
	if g.declared && g.MinMember == d.MinMember && g.Timeout == d.Timeout && g.MinResources.Equal(d.MinResources) && g.Succeeded == d.Succeeded &&
		g.Members.Whole == whole && g.PodGroup.Whole == d.Whole {
		return nil
	}
	g.PodGroup, g.declared, g.redeclared = d, true, true
	g.Members.Whole = whole
	g.wait.roomAt = 0 // it may need less now
	return g
}

// undeclare notes that a group is not declared any more; nil: it was not.
func (t *groupTable) undeclare(key string) *group {
	g := t.byKey[key]
	if g == nil || !g.declared {
		return nil
	}
	g.declared, g.PodGroup, g.redeclared = false, PodGroup{Key: key}, true
	return g
}

// join makes the pod a member of the group that it names. The caller has the groups reviewed.
func (t *groupTable) join(r *record, leading bool) {
	if r.PodGroup == "" {
		return
	}
	g := t.get(r.PodGroup)
	r.group = g
	g.pods.add(r, ofGroup)
	g.wait.roomAt = 0
	if g.PodGroup.Whole && !leading {
		g.Members.Whole = true
	}
}

// quit takes the pod out of its group.
func (r *record) quit() {
	g := r.group
	if g == nil {
		return
	}
	g.pods.remove(r, ofGroup)
	r.group = nil
	g.wait.roomAt = 0
}

// notePartial keeps the list of groups that have only a part of their nodes.
func (t *groupTable) notePartial(g *group) {
	partial := g.declared && g.Partial() && g.complete
	if partial == g.partial {
		return
	}
	if g.partial = partial; partial {
		t.partial = append(t.partial, g)
	} else {
		t.partial = slices.DeleteFunc(t.partial, func(o *group) bool { return o == g })
	}
}

// dropUnused forgets a group that neither a declaration nor a pod names.
func (t *groupTable) dropUnused(g *group) {
	if len(g.pods) == 0 && !g.declared {
		delete(t.byKey, g.Key)
	}
}

// ObservePodGroup takes in a pod group as declared.
func (l *Ledger) ObservePodGroup(d PodGroup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.groups.declare(d, l.leading); g != nil {
		l.effects.reviewLater(g)
		l.version++
		l.drain()
	}
}

// ForgetPodGroup takes out a pod group that is not declared any more.
func (l *Ledger) ForgetPodGroup(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.groups.undeclare(key); g != nil {
		l.effects.reviewLater(g)
		l.version++
		l.drain()
	}
}

// PodGroups returns the declared pod groups in the order of their keys.
func (l *Ledger) PodGroups() []PodGroupState {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]PodGroupState, 0, len(l.groups.byKey))
	for _, key := range sortedKeys(l.groups.byKey) {
		if g := l.groups.byKey[key]; g.declared {
			s := PodGroupState{PodGroup: g.PodGroup, Pods: g.Live, Reserved: g.reserved, Bound: g.Bound, Since: g.since}
			s.Whole = g.Members.Whole
			all = append(all, s)
		}
	}
	return all
}
