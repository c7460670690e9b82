package ledger

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// ApplicationState is what one application has and waits for.
type ApplicationState struct {
	Queue     queue.Path
	Name      string
	User      string
	Priority  int32 // as it counts
	Submitted int64 // creation of its oldest pod, in nanoseconds since the epoch
	State     application.State
	// Admitted: it counts as one that may run. Else BlockedBy says what keeps its oldest blocked pod from waiting in line.
	Admitted  bool
	BlockedBy reason.Reason
	Allocated resource.List
	Demand    resource.List

	PodsPending, PodsRunning int
	// WaitingSince is the creation of its oldest pod that waits, 0 if none does.
	WaitingSince int64
}

// Applications returns all applications, in the order of their queues' paths, then by submission.
func (l *Ledger) Applications() []ApplicationState {
	l.mu.Lock()
	defer l.mu.Unlock()
	var apps []*appAccount
	for i := range l.queues.Nodes {
		first := len(apps)
		for _, app := range l.queues.accounts[l.queues.Nodes[i].Path].apps { // sorted below
			apps = append(apps, app)
		}
		slices.SortFunc(apps[first:], bySubmission)
	}
	all := make([]ApplicationState, len(apps))
	for i, app := range apps {
		all[i] = l.applicationState(app)
	}
	return all
}

func (l *contents) applicationState(a *appAccount) ApplicationState {
	s := ApplicationState{
		Queue: a.parent.path, Name: a.slot.Name, User: a.slot.User, Priority: a.priority, Submitted: a.slot.Submitted, State: a.state, Admitted: a.slot.Runs,
		Allocated: a.usage.List(), PodsPending: a.pending, PodsRunning: a.running,
	}
	s.Demand = a.countedDemand().List() // as its queues see it
	var oldest *record                  // of the pods that are blocked
	for _, e := range a.members {
		if e.state == Bound {
			continue
		}
		if s.WaitingSince == 0 || e.Created < s.WaitingSince {
			s.WaitingSince = e.Created
		}
		if e.blocked() && (oldest == nil || e.older(oldest)) {
			oldest = e.record
		}
	}
	if !a.slot.Runs && oldest != nil {
		s.BlockedBy = l.applications.blockNow(oldest)
	}
	return s
}

// Pods returns the state of every pod of ours, by namespace and name.
func (l *Ledger) Pods() []PodState {
	l.mu.Lock()
	defer l.mu.Unlock()
	records := make([]*record, 0, len(l.pods))
	for _, r := range l.pods { // sorted below
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	all := make([]PodState, len(records))
	for i, r := range records {
		l.podState(r, &all[i])
	}
	return all
}
