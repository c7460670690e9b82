package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/backoff"
	"github.com/fairway-scheduler/fairway/pkg/core/gang"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A pod group is released whole: all pods without which it does not start get their charges and places at once, or none does. Permit then
// keeps them back until the last one is reserved. Where one of them fails, all go back. One group is on its way at a time, so no two can
// hold what the other one needs.

// DefaultGangTimeout is how long places are kept for the pods of a group while the others get theirs, where the group does not say.
// scheduler-plugins Coscheduling: permitWaitingTimeSeconds.
const DefaultGangTimeout int64 = 60e9

// lastGangBackOff bounds the back-off of a group, which grows as that of a pod does. Its attempts cost more.
const lastGangBackOff int64 = 60e9

// Gang is a pod group as declared: pods that start together or not at all.
type Gang struct {
	// Key names the group over the cluster, and is what Pod.Gang says: "<namespace>/<name>".
	Key string
	// MinMember is the number of pods with which the group starts. Up to 1, its pods are pods like any others.
	MinMember int
	// MinResources is what those ask for together at least, where that is stated.
	MinResources resource.List
	// Timeout is how long the places of a part are kept while the others get theirs, in nanoseconds; 0 for the default.
	Timeout int64
	// Whole: as many pods as it takes had their places once. From then on its pods are pods like any others, until none is left.
	Whole bool
	// Succeeded is how many of its pods have succeeded, and still exist. The others start without them: a restart came between, if the group was
	// not whole by then.
	Succeeded int
}

// GangState is what a declared pod group has and waits for. Pods that ended are in no count.
type GangState struct {
	Gang
	Pods     int   // that exist and are not being deleted
	Reserved int   // of those with a place, those that are not bound
	Bound    int   // of those with a place, those that are bound
	Since    int64 // when places were first taken for it, unix nanoseconds; 0: not yet
}

// group is a pod group and its pods.
type group struct {
	Gang
	gang.Members // counted when one of the pods moves
	declared     bool
	redeclared   bool // its declaration has changed since its last review
	unreviewed   bool // see effects
	pods         []*record
	reserved     int    // of those taken
	complete     bool   // declared, and enough pods exist, or did
	tried        uint64 // the last walk in which it was

	since    int64
	attempts int // failed in a row
	retryAt  int64
	partial  bool // in the ledger's list of those
	wait     groupWait
}

// open: its pods start together or not at all.
func (g *group) open() bool { return g != nil && g.Together() }

func (g *group) timeout() int64 { return cmp.Or(g.Timeout, DefaultGangTimeout) }

// groupOf finds or makes a group.
func (l *Ledger) groupOf(key string) *group {
	g := l.gangs[key]
	if g == nil {
		g = &group{Gang: Gang{Key: key}}
		l.gangs[key] = g
	}
	return g
}

// ObserveGang takes in a pod group as declared.
func (l *Ledger) ObserveGang(d Gang) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.groupOf(d.Key)
	whole := g.Members.Whole || d.Whole && !l.leading
	if len(g.pods) == 0 {
		whole = d.Whole // pods of it may have ended, which nobody else says: what takes their place must not wait for them
	}
	if g.declared && g.MinMember == d.MinMember && g.Timeout == d.Timeout && g.MinResources.Equal(d.MinResources) && g.Succeeded == d.Succeeded && g.Members.Whole == whole && g.Gang.Whole == d.Whole {
		return
	}
	g.Gang, g.declared = d, true
	g.Members.Whole = whole
	g.wait.roomAt = 0 // it may need less now
	g.redeclared = true
	l.effects.reviewLater(g)
	l.version++
	l.drain()
}

// ForgetGang takes out a pod group that is not declared any more.
func (l *Ledger) ForgetGang(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.gangs[key]; g != nil && g.declared {
		g.declared, g.Gang, g.redeclared = false, Gang{Key: key}, true
		l.effects.reviewLater(g)
		l.version++
		l.drain()
	}
}

// Gangs returns the declared pod groups in the order of their keys.
func (l *Ledger) Gangs() []GangState {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]GangState, 0, len(l.gangs))
	for _, key := range sortedKeys(l.gangs) {
		if g := l.gangs[key]; g.declared {
			s := GangState{Gang: g.Gang, Pods: g.Live, Reserved: g.reserved, Bound: g.Bound, Since: g.since}
			s.Whole = g.Members.Whole
			all = append(all, s)
		}
	}
	return all
}

// join makes the pod a member of the group that it names, quit takes it out. The caller looks at the groups.
func (l *Ledger) join(r *record) {
	if r.Gang == "" {
		return
	}
	r.group = l.groupOf(r.Gang)
	r.inGroup = len(r.group.pods)
	r.group.pods = append(r.group.pods, r)
	r.group.wait.roomAt = 0
	if r.group.Gang.Whole && !l.leading {
		r.group.Members.Whole = true
	}
}

func (l *Ledger) quit(r *record) {
	g := r.group
	if g == nil {
		return
	}
	last := g.pods[len(g.pods)-1]
	g.pods[r.inGroup], last.inGroup = last, r.inGroup
	g.pods[len(g.pods)-1] = nil
	g.pods = g.pods[:len(g.pods)-1]
	r.group = nil
	g.wait.roomAt = 0
}

func (l *Ledger) dropGroup(g *group) {
	if len(g.pods) == 0 && !g.declared {
		l.endWait(g)
		delete(l.gangs, g.Key)
	}
}

// reviewGroup counts a group's pods again after one of them moved or its declaration changed, and does what follows.
func (l *Ledger) reviewGroup(g *group) {
	told := g.redeclared
	g.redeclared = false
	l.countGroup(g)
	if len(g.pods) == 0 {
		g.Members.Whole, g.attempts, g.retryAt, g.since = told && g.Gang.Whole, 0, 0, 0
	}
	if g.declared && g.Together() && g.Bound >= g.Minimum {
		l.makeWhole(g)
	}
	if complete := g.declared && g.Complete() || g.Members.Whole; complete != g.complete || told {
		g.complete = complete
		l.judgeGroup(g)
	}
	if g.Taken > 0 && (g.Broken() || !g.complete) {
		l.breakUp(g)
	}
	l.noteGroup(g)
	if !g.Together() || !g.complete || g.Need() == 0 {
		l.endWait(g)
	}
	l.dropGroup(g)
}

// judgeGroup asks again what holds the pods of a group.
func (l *Ledger) judgeGroup(g *group) {
	for _, r := range g.pods { // each for itself: order does not matter
		switch r.state {
		case Waiting, Parked:
			l.effects.judgeLater(r)
		case Bound:
			r.touch() // a plan is to know with whom it goes
		case Released, Reserved, Gone:
		}
	}
}

// noteGroup keeps which group is on its way, and which are there in part.
func (l *Ledger) noteGroup(g *group) {
	switch on := g.Taken > 0 && g.Together(); {
	case on:
		l.startingGroup = g
	case l.startingGroup == g:
		l.startingGroup = nil
	}
	if partial := g.declared && g.Partial() && g.complete; partial != g.partial {
		g.partial = partial
		if partial {
			l.partial = append(l.partial, g)
		} else {
			l.partial = slices.DeleteFunc(l.partial, func(o *group) bool { return o == g })
		}
	}
}

func (l *Ledger) countGroup(g *group) {
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

func (l *Ledger) makeWhole(g *group) {
	g.Members.Whole, g.attempts, g.retryAt = true, 0, 0
	l.endWait(g)
	l.version++
}

// breakUp sends all pods of the group back that are on their way: those that were not tried yet at once, the others when their attempts
// have been rejected.
func (l *Ledger) breakUp(g *group) {
	g.pause(l.now)
	for _, r := range g.pods { // each for itself: order does not matter
		switch r.state {
		case Released:
			l.wait(r, l.now)
			l.withdrawn = append(l.withdrawn, r.UID)
		case Reserved:
			l.rejected = append(l.rejected, r.UID)
		case Waiting:
			l.effects.judgeLater(r)
		case Parked, Bound, Gone:
		}
	}
	l.countGroup(g)
}

// groupBlocks says what holds a pod whose group cannot start as it is.
func (l *Ledger) groupBlocks(r *record) reason.Reason {
	g := r.group
	switch {
	case g == nil:
	case !g.declared:
		return reason.Reason{Code: reason.PodGroupNotFound, Queue: string(r.asked), Other: g.Key}
	case g.Together() && !g.complete:
		return g.incomplete(string(r.asked), g.Live)
	case g.Together() && g.retryAt > l.now:
		r.retryAt = max(r.retryAt, g.retryAt)
	}
	return reason.Reason{}
}

func (g *group) incomplete(queue string, there int) reason.Reason {
	return reason.Reason{Code: reason.GangIncomplete, Queue: queue, Other: g.Key, Numbers: reason.Members{
		Needed: int64(g.MinMember), Exist: int64(there + g.Succeeded),
	}}
}

// pause lets the group back off, once for each time that it is tried.
func (g *group) pause(now int64) {
	if g.retryAt <= now {
		g.attempts++
		g.retryAt = now + backoff.After(g.attempts, lastGangBackOff)
	}
}

// failTogether refunds a pod whose group is not whole: all of it goes back.
func (l *Ledger) failTogether(r *record, now int64) (withdraw []UID) {
	r.group.pause(now)
	l.wait(r, now)
	l.drain()
	withdraw = append(l.withdrawn, r.UID)
	l.withdrawn = nil
	return withdraw
}

// rejectAgain is when a pod that should be rejected is rejected again: between Permit and the place where it waits it cannot be found.
const rejectAgain int64 = 100e6

// Rejected returns the reserved pods whose attempts are to be rejected, since their group cannot be whole. Each is returned until its attempt
// has failed.
func (l *Ledger) Rejected() []UID {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rejected = slices.DeleteFunc(l.rejected, func(uid UID) bool {
		r := l.pods[uid]
		return r == nil || r.state != Reserved || r.group == nil || r.group.Members.Whole
	})
	slices.Sort(l.rejected)
	l.rejected = slices.Compact(l.rejected)
	return slices.Clone(l.rejected)
}

// Permission is what Permit says to a reserved pod.
type Permission struct {
	// Wait: at most so long, in nanoseconds, for the others of its group; 0: it may be bound.
	Wait int64
	// Allow are the others of its group, which may wait and may be bound now.
	Allow []UID
}

// Permit says whether a reserved pod may be bound.
func (l *Ledger) Permit(uid UID, now int64) (Permission, reason.Reason, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = now
	r := l.pods[uid]
	why, ok := l.recheck(r)
	if !ok || r.group == nil {
		return Permission{}, why, ok
	}
	g := r.group
	switch {
	case !g.complete || g.Broken():
		return Permission{}, reason.Reason{Code: reason.WaitingTurn, Queue: string(r.leaf.path)}, false
	case !g.Together():
		return Permission{}, reason.Reason{}, true
	}
	if g.reserved+g.Bound < g.Minimum {
		return Permission{Wait: g.timeout()}, reason.Reason{}, true
	}
	l.makeWhole(g)
	l.effects.reviewLater(g)
	l.drain()
	var p Permission
	for _, o := range g.pods {
		// Somebody else may have bound one that waits: its attempt must end too.
		if o != r && (o.state == Reserved || o.state == Bound && o.ticket != 0) {
			p.Allow = append(p.Allow, o.UID)
		}
	}
	slices.Sort(p.Allow)
	return p, reason.Reason{}, true
}
