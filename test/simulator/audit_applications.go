package simulator

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func blockedByAppLimit(s ledger.PodState) bool {
	switch s.BlockedBy.Code {
	case reason.MaxRunningApplications, reason.UserMaxRunningApplications:
		return true
	}
	return refused(s)
}

// excess is by how much more applications than allowed may run since the last look that found none too many: where limits were edited,
// any number; and one for each that was started by others. The users are one.
type excess map[queue.Path]int64

const (
	users    queue.Path = "users"
	anything int64      = 1 << 40
)

func (e excess) grow(q queue.Path, n int64) {
	for e[users] += n; q != ""; q = q.Parent() {
		e[q] += n
	}
}

// excuseUsers: an application of several users may count for another when a pod comes or goes.
func (w *World) excuseUsers(application string) {
	for _, p := range w.known.pods {
		if w.opts.Limits && p.seen.Application == application && p.seen.User != userOf(application) {
			w.excess[users] += anything
			return
		}
	}
}

// auditStart: an application of which the first pod is released breaks no limit on applications. Those without charged pods are not
// counted here, nor, for their user, those with pods of several users.
func (w *World) auditStart(p *pod) {
	if !w.opts.Limits {
		return
	}
	apps, c := w.apps(), newCounts()
	for k, a := range apps {
		if a.charged {
			c.add(a)
			if a.mixed {
				c.users[a.oldest.User]--
			}
		}
		if k == (appKey{p.charged, p.seen.Application}) && w.chargedBeside(p) {
			return // it ran before
		}
	}
	if a := apps[appKey{p.charged, p.seen.Application}]; w.opts.Stops && w.stopped(p.charged) && a.oldest.Created >= w.stoppedSince(p.charged) {
		w.fail("pod %s was released, and its application was submitted at %d to queue %s, which is stopped since %d", p.UID, a.oldest.Created, p.charged,
			w.stoppedSince(p.charged))
	}
	for q := p.charged; q != ""; q = q.Parent() {
		if l := w.known.queues[q].Spec.MaxRunningApplications; !l.Admits(c.queues[q] - w.excess[q]) {
			w.fail("pod %s was released, and %d applications run in queue %s of at most %d (%d excused)", p.UID, c.queues[q], q, l.Most, w.excess[q])
		}
	}
	a := apps[appKey{p.charged, p.seen.Application}]
	l := w.known.queues[queue.Root].Spec.MaxRunningApplicationsPerUser
	if n := c.users[a.oldest.User]; !a.mixed && !l.Admits(n-w.excess[users]) {
		w.fail("pod %s was released, and user %s runs %d applications of at most %d", p.UID, a.oldest.User, n, l.Most)
	}
}

// chargedBeside: another pod of the application is charged.
func (w *World) chargedBeside(p *pod) bool {
	for _, o := range w.known.pods {
		if o != p && o.charged == p.charged && o.seen.Application == p.seen.Application {
			return true
		}
	}
	return false
}

// auditApplications: an application that a limit blocks does not fit below it, and all others count. No application waits for a free slot,
// whatever the order of events.
func (w *World) auditApplications() {
	if !w.opts.Limits {
		return
	}
	apps, c := w.apps(), newCounts()
	for _, a := range apps {
		if a.holds {
			c.add(a)
		}
	}
	for q := range w.excess {
		if q != users && w.known.queues[q].Spec.MaxRunningApplications.Admits(c.queues[q]) {
			delete(w.excess, q)
		}
	}
	perUser := w.known.queues[queue.Root].Spec.MaxRunningApplicationsPerUser
	if len(c.users) == 0 || perUser.Admits(slices.Max(slices.Collect(maps.Values(c.users)))) {
		delete(w.excess, users)
	}
	for _, a := range apps {
		if a.wants && a.entered && !a.holds && w.fits(c, a) && w.quiet() {
			w.fail("application %s in queue %s is blocked, and no limit blocks it", a.name, a.queue)
		}
	}
}

// restart returns the applications that a ledger which knows nothing of the past must let run: those with charged pods, then the others
// in order of submission as far as limits allow: first into their queues, then to run there. same: those have entered, and run, now.
func (w *World) restart() (entered, running map[appKey]bool, same bool) {
	apps, in, c := w.apps(), newCounts(), newCounts()
	var others []*app
	entered, running, same = map[appKey]bool{}, map[appKey]bool{}, true
	for k, a := range apps {
		if a.charged {
			entered[k], running[k] = true, true
			in.add(a)
			c.add(a)
		} else if a.wants {
			others = append(others, a)
		}
	}
	slices.SortFunc(others, func(a, b *app) int {
		return cmp.Or(cmp.Compare(a.oldest.Created, b.oldest.Created), cmp.Compare(a.name, b.name), cmp.Compare(a.queue, b.queue))
	})
	limits := w.entryLimits()
	for _, a := range others {
		if w.enters(limits, in, a) {
			in.add(a)
			entered[a.appKey] = true
		}
	}
	forced := true // all that have entered have charged pods
	for _, a := range others {
		if entered[a.appKey] && w.fits(c, a) {
			c.add(a)
			running[a.appKey] = true
		}
		same = same && running[a.appKey] == a.holds && entered[a.appKey] == a.entered
		forced = forced && !a.entered
	}
	if forced && !same {
		w.fail("all applications in their queues have pods that run, and others would be there after a restart")
	}
	return entered, running, same
}

// auditRestart compares the applications that run in a rebuilt ledger with those that must run.
func (w *World) auditRestart(twin *ledger.Ledger, entered, running map[appKey]bool) {
	for _, p := range w.known.pods {
		uid := p.UID
		s, ok := twin.PodState(uid)
		if !ok || s.Leaf == "" {
			continue
		}
		k := appKey{s.Leaf, s.Application}
		if wants := s.BlockedBy.Code == "" || blockedByAppLimit(s); wants && blockedByAppLimit(s) == running[k] {
			w.fail("after a restart pod %s of application %s in queue %s: %s %s, may run: %v", uid, k.name, k.queue, s.State, s.BlockedBy.Code, running[k])
		} else if wants && refused(s) == entered[k] {
			w.fail("after a restart pod %s of application %s in queue %s: %s %s, is taken in: %v", uid, k.name, k.queue, s.State, s.BlockedBy.Code, entered[k])
		}
	}
}
