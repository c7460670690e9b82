package cli

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

const appsLong = `Show the applications of QUEUE and below, or all: share, allocation, demand, pods, state, and since when the oldest pod waits.

An application's fair share is its part of its queue's: an even part among those that may run, or, under policies FIFO and
StateAware, all of it for the one that was submitted first. It is Accepted while no pod of it holds anything, Running when
one does, Completing when all that it still has is being deleted. In a queue with policy StateAware it is Starting at first:
until a pod that is no driver has a node. In any queue it is Starting if its driver waits while others have nodes. REASON is what
its oldest waiting pod waits for; -o wide has the sentence, and the priority of the application as it counts.`

const appsExample = `  # All applications, or those of one queue
  kubectl fairway apps
  kubectl fairway apps root.etl

  # What would run with another limit?
  kubectl fairway apps root.etl --with root.etl.yaml`

const usersLong = `Show the users with applications in QUEUE and below, or all: the sums over their applications.

A user is who the annotation fairway.dev/user of a pod names, else its service account. STATE is that of the application
that has come farthest. HELD and STARTING count applications, RUNNING and PENDING pods. LIMITS is what the user may use of
each queue that limits its users; "reached" where that holds pods.`

const usersExample = `  # Who uses the cluster?
  kubectl fairway users

  # Who uses one queue, with exact amounts?
  kubectl fairway users root.etl -o wide`

func newApps(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "apps [QUEUE]", Aliases: []string{"applications"}, Short: "Show applications with share, allocation and state",
		Long: appsLong, Example: appsExample, Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: o.aboutQueue(func(w *world, top queue.Path) (report.Compared, error) {
			return below(w.allApplications(), top), nil
		}),
	}
	o.addFlags(c)
	o.addWatch(c)
	return c
}

func newUsers(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "users [QUEUE]", Short: "Show users with share, allocation and state",
		Long: usersLong, Example: usersExample, Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: o.aboutQueue(func(w *world, top queue.Path) (report.Compared, error) {
			return w.withLimits(usersOf(below(w.allApplications(), top)), top), nil
		}),
	}
	o.addFlags(c)
	o.addWatch(c)
	return c
}

func below(as report.Applications, top queue.Path) report.Applications {
	return slices.DeleteFunc(slices.Clone(as), func(a report.Application) bool { return !top.Contains(queue.Path(a.Queue)) })
}

func (w *world) allApplications() report.Applications {
	w.details()
	return w.apps
}

// applications returns all, ordered by queue and then by submission.
func (w *world) applications() report.Applications {
	why, shares := w.waitsFor(), make(map[queue.Path]ledger.QueueState, len(w.snapshot.Queues))
	for _, q := range w.snapshot.Queues {
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
func (w *world) waitsFor() map[applicationKey]reason.Reason {
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
		if !slices.Contains(u.Queues, a.Queue) {
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
func (w *world) withLimits(users report.Users, top queue.Path) report.Users {
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
