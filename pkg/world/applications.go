package world

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

func below(as report.Applications, top queue.Path) report.Applications {
	return slices.DeleteFunc(slices.Clone(as), func(a report.Application) bool { return !top.Contains(queue.Path(a.Queue)) })
}

// Applications are those of a queue and of the queues below it, ordered by queue and then by submission.
func (w *World) Applications(top queue.Path) report.Applications {
	w.details()
	return below(w.apps, top)
}

// Users are those with applications in a queue and below it: the sums over these, and what they may have of each queue there.
func (w *World) Users(top queue.Path) report.Users {
	return w.withLimits(usersOf(w.Applications(top)), top)
}

// applications returns all, ordered by queue and then by submission.
func (w *World) applications() report.Applications {
	why, shares := w.waitsFor(), make(map[queue.Path]ledger.QueueState, len(w.Snapshot.Queues))
	for _, q := range w.Snapshot.Queues {
		shares[q.Path] = q
	}
	all := make(report.Applications, 0, len(w.states))
	for from := 0; from < len(w.states); {
		to := from
		for to < len(w.states) && w.states[to].Queue == w.states[from].Queue {
			to++
		}
		all = append(all, applicationsOf(shares[w.states[from].Queue], w.states[from:to], why)...)
		from = to
	}
	return all
}

// applicationsOf converts those of one queue, with their shares of it.
func applicationsOf(q ledger.QueueState, states []ledger.ApplicationState, why map[applicationKey]reason.Reason) report.Applications {
	admitted := 0
	for _, a := range states {
		if a.Admitted {
			admitted++
		}
	}
	shares := fairshare.Applications(q.Spec.Rule(), q.FairShare, admitted)
	all := make(report.Applications, 0, len(states))
	for _, a := range states {
		row := report.Application{
			Name: a.Name, Queue: string(a.Queue), User: a.User, State: a.State, Reason: why[applicationKey{a.Queue, a.Name}],
			Allocated: a.Allocated, Demand: a.Demand, Pending: int64(a.PodsPending), Running: int64(a.PodsRunning),
			Priority: a.Priority, Submitted: a.Submitted, WaitingSince: a.WaitingSince,
		}
		if a.Admitted {
			row.FairShare, shares = shares[0], shares[1:]
		}
		row.Held = a.State == application.Accepted && (!a.Admitted || row.Reason.Code == reason.StateAware)
		if a.State == application.Starting && q.Starts != nil {
			for _, s := range q.Starts.Starting {
				if s.Application == a.Name {
					row.StartingSince, row.StartingUntil = s.Since, s.Until
				}
			}
		}
		all = append(all, row)
	}
	return all
}

type applicationKey struct {
	queue queue.Path
	name  string
}

// waitsFor returns, for each application with waiting pods, why the oldest of them waits.
func (w *World) waitsFor() map[applicationKey]reason.Reason {
	oldest := map[applicationKey]ledger.PodState{}
	for _, p := range w.pods {
		if p.State != ledger.Waiting || p.Leaf == "" {
			continue
		}
		key := applicationKey{p.Leaf, p.Application}
		if o, ok := oldest[key]; !ok || cmp.Or(cmp.Compare(p.Created, o.Created), cmp.Compare(p.UID, o.UID)) < 0 {
			oldest[key] = p
		}
	}
	why, now := make(map[applicationKey]reason.Reason, len(oldest)), w.ledger.Rehearse()
	for key, p := range oldest { // each on its own: order does not matter
		why[key] = now.Stopped(p.UID)
	}
	return why
}

// stateOrder orders the states: if several applications of a user differ, the last of their states counts.
var stateOrder = []application.State{application.Accepted, application.Completing, application.Starting, application.Running}

// count adds an application to its user.
func count(u *report.User, a report.Application) {
	switch {
	case a.State == application.Starting:
		u.ApplicationsStarting++
	case a.State != application.Accepted:
		u.ApplicationsRunning++
	case a.Held:
		u.ApplicationsHeld++
	default:
		u.ApplicationsPending++
	}
	if slices.Index(stateOrder, a.State) > slices.Index(stateOrder, u.State) {
		u.State = a.State
	}
}

// usersOf sums applications by user, in the order of names.
func usersOf(as report.Applications) report.Users {
	var users report.Users
	at := map[string]int{}
	for _, a := range as { // by queue
		i, ok := at[a.User]
		if !ok {
			i, at[a.User] = len(users), len(users)
			users = append(users, report.User{Name: a.User})
		}
		u := &users[i]
		if n := len(u.Queues); n == 0 || u.Queues[n-1] != a.Queue { // those of one queue follow each other
			u.Queues = append(u.Queues, a.Queue)
		}
		u.FairShare, u.Allocated, u.Demand = u.FairShare.Add(a.FairShare), u.Allocated.Add(a.Allocated), u.Demand.Add(a.Demand)
		u.Pending += a.Pending
		u.Running += a.Running
		count(u, a)
		if a.WaitingSince != 0 && (u.WaitingSince == 0 || a.WaitingSince < u.WaitingSince) {
			u.WaitingSince = a.WaitingSince
		}
	}
	slices.SortFunc(users, func(a, b report.User) int { return cmp.Compare(a.Name, b.Name) })
	return users
}

// withLimits adds to users what they have and may have in each queue.
func (w *World) withLimits(users report.Users, top queue.Path) report.Users {
	for _, s := range w.users { // by queue
		i, known := slices.BinarySearchFunc(users, s.User, func(u report.User, name string) int { return cmp.Compare(u.Name, name) })
		if !known || !top.Contains(s.Queue) {
			continue
		}
		users[i].Limits = append(users[i].Limits, report.UserLimit{
			Queue: string(s.Queue), Limited: s.Limited, Limit: s.Limit, Allocated: s.Allocated, Active: s.Active, Weight: s.Weight, Reason: s.Reason,
		})
	}
	return users
}
