package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// UserState is what one user has in one queue, and may have there.
type UserState struct {
	Queue     queue.Path
	User      string
	Allocated resource.List
	// Active: pods of the user wait there, and nothing but a limit, room or their turn holds them.
	Active bool
	// Limited: the queue limits its users. Limit is what the user may have there now, and Weight multiplies it, in milli.
	Limited bool
	Limit   resource.List
	Weight  int64
	// Reason is why the limit stops a pod of the user; zero: it stops none.
	Reason reason.Reason
}

// Users returns the users of all queues, in the order of the paths, then of the names.
func (l *Ledger) Users() []UserState {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []UserState
	for _, n := range l.queues.Nodes {
		leaf := l.queues.accounts[n.Path]
		of := map[string][]*appAccount{}
		for _, app := range leaf.apps { // sorted by userState
			of[app.slot.User] = append(of[app.slot.User], app)
		}
		for _, name := range sortedKeys(of) {
			all = append(all, l.userState(leaf, name, of[name]))
		}
	}
	return all
}

func (l *contents) userState(leaf *queueAccount, name string, apps []*appAccount) UserState {
	slices.SortFunc(apps, bySubmission)
	s := UserState{Queue: leaf.path, User: name, Limited: leaf.users != nil, Weight: leaf.spec.Users.WeightOf(name)}
	var used resource.Sum
	for _, app := range apps {
		used.AddSum(&app.usage)
		s.Active = s.Active || app.outstanding > 0
	}
	s.Allocated = used.List()
	if !s.Limited || apps[0].user == nil {
		return s
	}
	s.Limit = l.shares.userLimits(apps[0])
	for _, app := range apps {
		for i := range app.podQueues {
			if why, over := l.shares.userLimitOn(app, app.podQueues[i].class.request); over {
				s.Reason = why
				return s
			}
		}
	}
	return s
}

// userLimits is what the user of an application may have in its leaf.
func (s *shares) userLimits(app *appAccount) resource.List {
	u := s.userOf(app)
	counted := u.Calculator.Of(s.total)
	amounts := make([]resource.Entry, counted.Len())
	for i := range amounts {
		name := counted.At(i).Name
		amounts[i] = resource.Entry{Name: name, Value: limit.WeightedAmount(u.Share.Amount(u.Entitled(name), u.Most(name), u.Used.Get(name), 0), u.Weight)}
	}
	return resource.Of(amounts...)
}
