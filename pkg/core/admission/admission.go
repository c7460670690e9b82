// Package admission decides which applications run, and which are in a queue at all, where their number is limited: in a
// queue and everything below it, at every level of the path, and per user. YARN FairScheduler: maxRunningApps,
// userMaxAppsDefault, MaxRunningAppsEnforcer. YARN CapacityScheduler: maximum-applications.
//
// Input: applications that ask to run, that end, or that change their user, and the limits in force. Output:
// which of them run, the order in which the others get their turn, and the limit that stops an application.
// The package does not know pods and carries nothing out.
package admission

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Queue is what admission knows of a queue.
type Queue struct {
	Path   queue.Path
	Parent *Queue // nil for the root
	Most   queue.Limit
	// Cluster is the number of which Most is a part; 0: Most is stated. PerUser bounds the applications of each user in
	// this very queue. Both are only of queues that take applications in: see Entered.
	Cluster int64
	PerUser queue.Limit
	// Running is the number of applications that run in the queue and below it.
	Running int64
	// Lowered: Most is less than it was before the last Limit.
	Lowered bool
	// Stop says that the queue takes no new applications; zero: it does.
	Stop Stop
}

// Limit sets how many applications may run in the queue and below it.
func (q *Queue) Limit(most queue.Limit) { q.Most, q.Lowered = most, lowered(q.Most, most) }

func lowered(from, to queue.Limit) bool { return to.Stated && (!from.Stated || to.Most < from.Most) }

// Stop is since when a queue has been stopped, and by which queues: see core/queue/state.go.
type Stop struct {
	Since int64 // unix nanoseconds; 0: it is not stopped
	By    string
}

// Stopped reports whether the queue is stopped, for an application that was submitted then and of which no pod holds
// room, and the reason for that.
func (q *Queue) Stopped(submitted int64) (reason.Reason, bool) {
	if queue.GoesOn(submitted, q.Stop.Since, false) {
		return reason.Reason{}, false
	}
	return reason.Reason{Code: reason.QueueStopped, Queue: string(q.Path), Details: reason.Stop{By: q.Stop.By, Since: q.Stop.Since}}, true
}

// Application is an application that runs, waits for a slot, or does neither.
type Application struct {
	Leaf *Queue
	Name string // unique in the cluster
	// User is the user whose limit counts the application. Submitted is when it was submitted, in unix
	// nanoseconds. Only Slots.Change changes them.
	User      string
	Submitted int64
	Runs      bool
	Waits     bool // a limit stops it from running
}

// Compare is the order in which waiting applications get their turn: by submission.
func Compare(a, b *Application) int {
	return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Leaf.Path, b.Leaf.Path))
}

// Mode says which new applications may run.
type Mode uint8

// The modes.
const (
	// Open means that an application runs if it fits.
	Open Mode = iota
	// Bootstrapping means that not all applications have been seen. An application that is subject to any limit waits,
	// because an older one may still come.
	Bootstrapping
	// Closed means that the tree is about to change. Every new application waits.
	Closed
)

// Counts says which applications Slots counts. The comments below speak of those that run.
type Counts uint8

const (
	// Running counts the applications that run, and those of a user over all queues.
	Running Counts = iota
	// Entered counts the applications that a queue has taken in, whether they run or wait to; those of a user in each
	// queue for itself. An application waits here before the queue takes it in.
	Entered
)

// Slots counts the applications that run and keeps those that wait for a slot.
//
// Invariant after Admit has run in mode Open: no waiting application fits.
type Slots struct {
	Counts Counts
	// PerUser bounds the applications of each user over all queues.
	PerUser queue.Limit
	// Lowered: PerUser is less than it was before the last LimitUsers.
	Lowered bool

	users   map[user]int64
	waiting []*Application // in the order of Compare
	// revision grows whenever an application starts, ends, or changes its user.
	revision uint64
	levels   []limit.Level // scratch memory
}

// Revision grows whenever a number changes that a limit depends on.
func (s *Slots) Revision() uint64 { return s.revision }

// Waiting returns the applications that a limit stops, in order. The caller must not change the slice; it is
// valid until the next change.
func (s *Slots) Waiting() []*Application { return s.waiting }

// user is one user, in a queue or over all.
type user struct {
	leaf *Queue // nil: over all
	name string
}

func (s *Slots) user(leaf *Queue, name string) user {
	if s.Counts == Running {
		leaf = nil
	}
	return user{leaf, name}
}

// OfUser returns how many applications of the user run: in all queues, or are in this one.
func (s *Slots) OfUser(leaf *Queue, name string) int64 { return s.users[s.user(leaf, name)] }

// Fits reports whether one more application of the user, submitted then, may run in the leaf. If not, it returns what
// stops it: that the leaf is stopped, then the user's limit, then those from the leaf up. Except in mode Open, the
// reason has no numbers.
func (s *Slots) Fits(leaf *Queue, user string, submitted int64, m Mode) (reason.Reason, bool) {
	code, full := reason.MaxRunningApplications, limit.MaxRunningApplications
	if s.Counts == Entered {
		code, full = reason.MaxApplications, limit.MaxApplications
	}
	if m == Closed || m == Bootstrapping && s.limited(leaf) {
		return reason.Reason{Code: code, Queue: string(leaf.Path)}, false
	}
	if m == Bootstrapping {
		return reason.Reason{}, true
	}
	if why, stopped := leaf.Stopped(submitted); stopped {
		return why, false
	}
	why, over := full(s.path(leaf, user))
	return why, !over
}

// limited reports whether the leaf is stopped, or any limit on the number of applications covers it.
func (s *Slots) limited(leaf *Queue) bool {
	if leaf.Stop.Since != 0 {
		return true
	}
	for q := leaf; q != nil; q = q.Parent {
		if q.Most.Stated {
			return true
		}
	}
	return s.perUser(leaf).Stated
}

func (s *Slots) perUser(leaf *Queue) queue.Limit {
	if s.Counts == Entered {
		return leaf.PerUser
	}
	return s.PerUser
}

// path returns the levels to test: the user, then the queues from the leaf up.
func (s *Slots) path(leaf *Queue, user string) []limit.Level {
	of := limit.Level{Queue: string(queue.Root), User: user, OfUser: true, Running: s.OfUser(leaf, user), Most: s.perUser(leaf)}
	if s.Counts == Entered {
		of.Queue = string(leaf.Path)
	}
	s.levels = append(s.levels[:0], of)
	for q := leaf; q != nil; q = q.Parent {
		s.levels = append(s.levels, limit.Level{Queue: string(q.Path), Running: q.Running, Most: q.Most, Cluster: q.Cluster})
	}
	return s.levels
}

// LimitUsers sets how many applications of each user may run over all queues.
func (s *Slots) LimitUsers(most queue.Limit) { s.PerUser, s.Lowered = most, lowered(s.PerUser, most) }

// TooMany reports whether a limit that was lowered is below the number of applications that run, and covers this one.
func (s *Slots) TooMany(a *Application) bool {
	if s.Lowered && !s.PerUser.Admits(s.OfUser(a.Leaf, a.User)) {
		return true
	}
	for q := a.Leaf; q != nil; q = q.Parent {
		if q.Lowered && !q.Most.Admits(q.Running) {
			return true
		}
	}
	return false
}

// Wait adds an application to those that wait. It does nothing if the application waits already.
func (s *Slots) Wait(a *Application) {
	if !a.Waits {
		a.Waits = true
		i, _ := slices.BinarySearchFunc(s.waiting, a, Compare)
		s.waiting = slices.Insert(s.waiting, i, a)
	}
}

// Leave removes an application from those that wait. It does nothing if the application does not wait.
func (s *Slots) Leave(a *Application) {
	if a.Waits {
		a.Waits = false
		i, _ := slices.BinarySearchFunc(s.waiting, a, Compare)
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// Start counts an application as running, whatever the limits: its pods may have nodes already.
func (s *Slots) Start(a *Application) {
	s.Leave(a)
	a.Runs = true
	s.count(a, 1)
}

func (s *Slots) count(a *Application, n int64) {
	s.revision++
	s.countUser(s.user(a.Leaf, a.User), n)
	for q := a.Leaf; q != nil; q = q.Parent {
		q.Running += n
	}
}

func (s *Slots) countUser(u user, n int64) {
	if s.users == nil {
		s.users = map[user]int64{}
	}
	if s.users[u] += n; s.users[u] == 0 {
		delete(s.users, u)
	}
}

// Change sets the user and the submission time of an application, as its oldest pod states them. numbers is
// true if the user changed: then other applications may fit.
func (s *Slots) Change(a *Application, user string, submitted int64) (numbers bool) {
	numbers = user != a.User && (a.Runs || a.Waits)
	if user == a.User && submitted == a.Submitted {
		return false
	}
	waits := a.Waits
	s.Leave(a)
	if numbers {
		s.revision++
	}
	if a.Runs {
		s.countUser(s.user(a.Leaf, user), 1)
		s.countUser(s.user(a.Leaf, a.User), -1)
	}
	a.User, a.Submitted = user, submitted
	if waits {
		s.Wait(a)
	}
	return numbers
}

// Admit lets in every application that fits, in order of submission, and returns those that run from now on.
func (s *Slots) Admit(m Mode) (started []*Application) {
	stay := s.waiting[:0]
	for _, a := range s.waiting {
		if _, fits := s.Fits(a.Leaf, a.User, a.Submitted, m); !fits {
			stay = append(stay, a)
			continue
		}
		a.Waits, a.Runs = false, true
		s.count(a, 1)
		started = append(started, a)
	}
	clear(s.waiting[len(stay):])
	s.waiting = stay
	return started
}
