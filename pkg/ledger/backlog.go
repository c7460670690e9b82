package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/reason"

// The backlog is what more nodes would let run: pods that wait for room, and that limits would let run together if they were charged
// one after the other in the order of release. These pods show Unschedulable, on which cluster autoscalers act. No other pod may show
// it, even if another party wrote it: a node that is added for such a pod would stay empty.

// maxReviewed bounds how many of the pods that show Unschedulable one look reviews. It begins with those that were not reviewed for
// longest. There are more only if thousands of classes were tried in vain.
const maxReviewed = 4000

// backlog owns which unbound pods show Unschedulable, and what looks found: which pods limits let run together, in which order, and since when they lack
// room.
//
// It hears what pods show (observed, forget), and what a look finds (begin, together, lacksRoom). It says which pods have lacked room for long enough, and
// which of those that show it have their turn to be reviewed (next), and which pods to be asked why they wait (nextWaiter).
type backlog struct {
	looks   uint64 // how many there were, the one under way included
	showing roster // unbound pods that show Unschedulable
	review  int    // where the review of these goes on
	order   []*record
	waiter  int // where nextWaiter goes on
}

// inBacklog is what the backlog knows of a pod.
type inBacklog struct {
	togetherIn uint64 // the last look in which limits let it run together with those before it
	lackedIn   uint64 // the last look in which it was one of these and lacked room, and
	lackSince  int64  // since when it has been so in every look
}

// lookAtClass is whether a class lacked room in a look.
type lookAtClass struct {
	look      uint64
	lacksRoom bool
	keptKnown bool
	kept      reason.Kept
}

// observed takes in what an unbound pod shows, and so what its class does.
func (b *backlog) observed(r *record) {
	if r.Unschedulable == "" || r.inRequest == notIn {
		b.forget(r)
		return
	}
	r.class.lastMessage = r.Unschedulable
	if !b.showing.has(r, ofBacklog) {
		b.showing.add(r, ofBacklog)
	}
}

// forget takes a pod off the list: it shows nothing, or is not unbound any more.
func (b *backlog) forget(r *record) {
	if b.showing.has(r, ofBacklog) {
		b.showing.remove(r, ofBacklog)
	}
}

// begin begins a look.
func (b *backlog) begin() { b.looks, b.order = b.looks+1, nil }

// found notes which pods a look went through, in the order of release.
func (b *backlog) found(order []*record) { b.order = order }

// nextWaiter is the unbound pod whose turn it is.
func (b *backlog) nextWaiter(unbound []*record) *record {
	b.waiter = (b.waiter + 1) % len(unbound)
	return unbound[b.waiter]
}

// together notes that limits let a pod run together with those before it.
func (b *backlog) together(r *record) { r.backlog.togetherIn = b.looks }

// lacksRoom notes that one of these pods lacks room, and says since when it has in every look.
func (b *backlog) lacksRoom(r *record, now int64) (since int64) {
	in := &r.backlog
	if in.lackedIn == 0 || in.lackedIn+1 != b.looks {
		in.lackSince = now
	}
	in.lackedIn = b.looks
	return in.lackSince
}

// next is the pod whose turn it is to be reviewed.
func (b *backlog) next() *record {
	b.review = (b.review + 1) % len(b.showing)
	return b.showing[b.review]
}

// Backlogged is a pod of which the PodScheduled condition is to change.
type Backlogged struct {
	UID       UID
	Namespace string
	Name      string
	// Message is what a pod of its class shows, in upstream's words; "" where none does (see Shortage).
	Message string
	// Again: it shows Unschedulable with a message that is no longer so.
	Again bool
}

func (r *record) backlogged() Backlogged {
	return Backlogged{UID: r.UID, Namespace: r.Namespace, Name: r.Name}
}

// Backlog looks at up to n pods in the order of release. Pods that are parked or back off count twice. It returns the pods that are to show
// Unschedulable, and those that are to show it no more.
//
//   - show: every look for at least this long (after, in nanoseconds) found that the pod waits for room, and the pod does not show it yet.
//   - unshow: a rule blocks the pod, or limits would not let it run together with the pods before it. Pods beyond n are looked at one by
//     one: such a pod is left as it is unless a rule or a limit stops it now.
//
// A pod that shows it already goes on to show it when room appears: upstream takes the condition back when it binds the pod. If its message is no longer so,
// it is to show it again, with another.
func (l *Ledger) Backlog(n int, after, now int64) (show, unshow []Backlogged) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.leading {
		return nil, nil
	}
	l.settleAll()
	l.backlog.begin()
	together, more := l.together(n)
	l.backlog.found(together)
	for _, r := range together {
		l.backlog.together(r)
		if r.blocked() || !r.class.waitsForRoom(&l.contents, now) {
			continue // to be tried within seconds
		}
		if now-l.backlog.lacksRoom(r, now) < after {
			continue
		}
		if r.limitShown != nil { // no limit stops it any more: it must not say both
			l.conditions.limit(r, nil)
		}
		if r.Unschedulable == "" || l.outdated(r) {
			b := r.backlogged()
			b.Message, b.Again = l.message(r), r.Unschedulable != ""
			show = append(show, b)
		}
	}
	for range min(len(l.backlog.showing), maxReviewed) {
		if r := l.backlog.next(); l.mustNotShow(r, more) {
			unshow = append(unshow, r.backlogged())
		}
	}
	return show, unshow
}

// together returns the first pods that limits would let run together, in the order of release. more: there may be others. n bounds how many
// pods are moved for that, with those that are parked or back off. If these alone are more than n, it returns none: parked pods show
// upstream's own condition, and are backlog enough.
func (l *releases) together(n int) (pods []*record, more bool) {
	if len(l.window.parked)+len(l.backOffs) > n {
		return nil, true
	}
	t := l.try()
	more = true
	for more && len(t.before) < n {
		more = t.next() != nil
	}
	t.end()
	return t.charged, more
}

// mustNotShow reports whether a pod that shows Unschedulable is not of the backlog. more: the look did not come to all pods.
func (l *contents) mustNotShow(r *record, more bool) bool {
	switch {
	case r.state != Waiting && r.state != Parked:
		return false // in kube-scheduler's hands, which says itself what comes of it
	case r.leaf == nil:
		return true
	case r.backlog.togetherIn == l.backlog.looks:
		return false
	case r.blocked() && r.blockedBy.Code != reason.BackOff || !more:
		return true
	}
	_, limited := l.limitOn(r.app, r.class)
	return limited
}

// waitsForRoom is lacksRoom, found out once in each look.
func (c *class) waitsForRoom(l *contents, now int64) bool {
	if c.look.look != l.backlog.looks {
		c.look = lookAtClass{look: l.backlog.looks, lacksRoom: l.lacksRoom(c, now)}
	}
	return c.look.lacksRoom
}

// lacksRoom reports whether the class waits behind a pod that fitted no node, or for a node that has room for it (see mayTry). It changes
// nothing.
func (l *contents) lacksRoom(c *class, now int64) bool {
	if c.group.startsTogether() {
		return l.groupLacksRoom(c.group)
	}
	if c.Parked() || l.opts.Extenders {
		return c.Parked()
	}
	if !c.NeedsRoom(now) && (!c.MayRelease(now) || l.mayTryWithoutRoom(c, now)) { // no attempt has failed, and one may be made
		return false
	}
	return !l.nodes.anyFits(&c.room)
}

// says is what the pod that failed last shows, or what one of the class showed last.
func (c *class) says() string {
	if c.lastFailed != nil && c.lastFailed.Unschedulable != "" {
		return c.lastFailed.Unschedulable
	}
	return c.lastMessage
}
