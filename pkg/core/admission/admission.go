// Package admission decides which applications run where their number is limited: in a queue with everything below it, on every level of the path,
// and per user over all queues. YARN FairScheduler: maxRunningApps, userMaxAppsDefault, MaxRunningAppsEnforcer.
//
// In: applications that want to run, that end, or that count for another user, and the limits in force. Out: which of them run, in which order those
// that wait get their turn, and which limit stops one. It does not know pods, and carries nothing out.
package admission

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Queue is a queue as far as the number of its applications goes.
type Queue struct {
	Path   queue.Path
	Parent *Queue // nil: it is the root
	Most   queue.Limit
	// Running is the number of applications that run in it and below it.
	Running int64
}

func (q *Queue) isUnder(top *Queue) bool {
	for ; q != nil; q = q.Parent {
		if q == top {
			return true
		}
	}
	return false
}

// Application is one that may run, wait for that, or neither.
type Application struct {
	Leaf *Queue
	Name string // over the whole cluster
	// User is whose applications are counted with it, and Submitted when it came, in unix nanoseconds. They change by Slots.Change.
	User      string
	Submitted int64
	Runs      bool
	Waits     bool // a limit keeps it out
}

// Compare is the order in which applications that wait get their turn: by submission.
func Compare(a, b *Application) int {
	return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Leaf.Path, b.Leaf.Path))
}

// Mode says whom an application that comes now may pass.
type Mode uint8

const (
	// Open: whoever fits runs.
	Open Mode = iota
	// TakingIn: not all applications have been seen. One that any limit concerns waits, since an older one may come.
	TakingIn
	// Closed: the tree is about to change. Every new application waits.
	Closed
)

// Slots are the numbers of applications that run, and those that wait for one of them to end.
//
// Invariant, once Admit has run in mode Open: no application that waits fits.
type Slots struct {
	// PerUser bounds the applications of each user.
	PerUser queue.Limit

	users   map[string]int64
	waiting []*Application // in the order of Compare
	// moves grows whenever an application starts, ends or counts for another user.
	moves  uint64
	levels []limit.Level // memory
}

// Moves grows with every change of a number that a limit looks at.
func (s *Slots) Moves() uint64 { return s.moves }

// Waiting are the applications that a limit keeps out, in order. It is not to be edited, and holds until the next change.
func (s *Slots) Waiting() []*Application { return s.waiting }

// OfUser is how many applications of the user run.
func (s *Slots) OfUser(user string) int64 { return s.users[user] }

// Fits says whether one more application of the user may run in the leaf; if not, which limit stops it: the user's first, then those from the leaf
// up. In a mode other than Open the reason has no numbers.
func (s *Slots) Fits(leaf *Queue, user string, m Mode) (reason.Reason, bool) {
	if m == Closed || m == TakingIn && s.limited(leaf) {
		return reason.Reason{Code: reason.MaxRunningApplications, Queue: string(leaf.Path)}, false
	}
	if m == TakingIn {
		return reason.Reason{}, true
	}
	why, over := limit.MaxRunningApplications(s.path(leaf, user))
	return why, !over
}

// limited reports whether any limit on applications is stated that those of the leaf are subject to.
func (s *Slots) limited(leaf *Queue) bool {
	for q := leaf; q != nil; q = q.Parent {
		if q.Most.Stated {
			return true
		}
	}
	return s.PerUser.Stated
}

// path returns the numbers of the user and those from the leaf up.
func (s *Slots) path(leaf *Queue, user string) []limit.Level {
	s.levels = append(s.levels[:0], limit.Level{Queue: string(queue.Root), User: user, OfUser: true, Running: s.users[user], Most: s.PerUser})
	for q := leaf; q != nil; q = q.Parent {
		s.levels = append(s.levels, limit.Level{Queue: string(q.Path), Running: q.Running, Most: q.Most})
	}
	return s.levels
}

// Wait puts an application in line, Leave takes it out. Both do nothing where that is so already.
func (s *Slots) Wait(a *Application) {
	if !a.Waits {
		a.Waits = true
		i, _ := slices.BinarySearchFunc(s.waiting, a, Compare)
		s.waiting = slices.Insert(s.waiting, i, a)
	}
}

// Leave takes an application out of the line.
func (s *Slots) Leave(a *Application) {
	if a.Waits {
		a.Waits = false
		i, _ := slices.BinarySearchFunc(s.waiting, a, Compare)
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// Start counts an application as one that runs, whatever the limits: its pods may have nodes already.
func (s *Slots) Start(a *Application) {
	s.Leave(a)
	a.Runs = true
	s.count(a, 1)
}

// Freed is what an application leaves behind when it ends.
type Freed struct {
	below    *Queue // the highest queue that was full; nil: none was
	user     string
	userFull bool
}

// End takes an application off the numbers.
func (s *Slots) End(a *Application) Freed {
	levels := s.path(a.Leaf, a.User)
	f := Freed{user: a.User}
	_, f.userFull = limit.HighestFull(levels[:1])
	if i, full := limit.HighestFull(levels[1:]); full {
		f.below = a.Leaf
		for range i {
			f.below = f.below.Parent
		}
	}
	a.Runs = false
	s.count(a, -1)
	return f
}

func (s *Slots) count(a *Application, n int64) {
	s.moves++
	s.countUser(a.User, n)
	for q := a.Leaf; q != nil; q = q.Parent {
		q.Running += n
	}
}

func (s *Slots) countUser(user string, n int64) {
	if s.users == nil {
		s.users = map[string]int64{}
	}
	if s.users[user] += n; s.users[user] == 0 {
		delete(s.users, user)
	}
}

// Change gives an application another user or another time of submission, as its oldest pod says. numbers: it counts for another user from now on, so
// others may fit.
func (s *Slots) Change(a *Application, user string, submitted int64) (numbers bool) {
	numbers = user != a.User && (a.Runs || a.Waits)
	if user == a.User && submitted == a.Submitted {
		return false
	}
	waits := a.Waits
	s.Leave(a)
	if numbers {
		s.moves++
	}
	if a.Runs {
		s.countUser(user, 1)
		s.countUser(a.User, -1)
	}
	a.User, a.Submitted = user, submitted
	if waits {
		s.Wait(a)
	}
	return numbers
}

// HandOn gives what was freed to the applications that were submitted first: one slot below the queue that was full, one to the user that was at its
// limit. It returns those that run from now on.
func (s *Slots) HandOn(f Freed) (started []*Application) {
	slots := 0
	if f.below != nil {
		slots++
	}
	if f.userFull {
		slots++
	}
	for range slots {
		i := slices.IndexFunc(s.waiting, func(a *Application) bool {
			if (f.below == nil || !a.Leaf.isUnder(f.below)) && (!f.userFull || a.User != f.user) {
				return false
			}
			_, fits := s.Fits(a.Leaf, a.User, Open)
			return fits
		})
		if i < 0 {
			break
		}
		started = append(started, s.waiting[i])
		s.Start(s.waiting[i])
	}
	return started
}

// Admit lets every application in that fits, in order of submission, and returns those that run from now on.
func (s *Slots) Admit(m Mode) (started []*Application) {
	stay := s.waiting[:0]
	for _, a := range s.waiting {
		if _, fits := s.Fits(a.Leaf, a.User, m); !fits {
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
