package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/heap"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// UID identifies a pod; a pod deleted and created again under its old name is another pod.
type UID string

// Pod is what the ledger needs to know of a pod, as its newest API object says it.
type Pod struct {
	// What a release reads comes first, together, as in record.
	UID UID
	// Created is the creation time, in nanoseconds since the epoch.
	Created int64
	// Request is the pod's size as kube-scheduler counts it.
	Request  resource.List
	Priority int32
	Role     application.Role
	// Foreign pods are not ours to schedule: they only take room on their node.
	Foreign bool
	// Terminating: deletion was asked for. An unbound one takes no part any more.
	Terminating bool
	// Deadline is when a terminating pod should be gone, unix nanoseconds; 0 where it is not terminating.
	Deadline int64
	// Single: the application is known to be this one pod. It is not believed where there are more.
	Single bool
	// Classed: the pod names a PriorityClass. Without one a Priority of 0 says nothing.
	Classed bool
	// AskedPriority is what the pod asks for its application.
	AskedPriority application.AskedPriority

	Namespace string
	Name      string
	// Queue is the queue asked for, as written (see queue.ParseRequest): what the rules of placement begin with, see placements.go. Ignored once
	// the pod is charged.
	Queue string
	// Reservation is why the reservation that an unbound pod names gives it no queue now; the zero one: Queue is what it gives, without the rules of
	// placement. nil: the pod names none.
	Reservation *reason.Reason
	// Placed is the queue a bound pod was charged to when this scheduler bound it: it beats Queue. "": somebody else has bound it.
	Placed string
	// Application names the application, unique over the cluster. It, Role and User do not change from the release of a pod until it is bound or goes
	// back: see relabelled.go.
	Application string
	// User is whose application the pod belongs to; an application has the user of its oldest pod.
	User string
	// Submitter is the subject whose right to submit to the queue is checked; zero: none is checked.
	Submitter access.Subject
	// Groups are those of the user, for the rules of placement: the primary one first. Ignored once the pod has a node.
	Groups []string
	// PodGroup is the Key of the pod group without which the pod does not start, "" for none.
	PodGroup string
	// PreferredNodes and PreferredRacks are the names of nodes and racks where the pod would rather run, each once, in order, joined by commas.
	PreferredNodes string
	PreferredRacks string
	// Class is equal for pods that every filter would judge alike.
	Class string
	// Eligible reports whether the pod may use a node of these facts (Node.Facts) as far as the node itself decides; nil: any usable
	// node. Pods of one class have equal ones. It is called under the lock: it must be pure and must not call the ledger.
	Eligible func(facts any) bool
	// Node is where the pod is bound, "" while it is not.
	Node string
	// Bound is when it got its node, in nanoseconds since the epoch, as the pod says; 0 where it does not.
	Bound int64
	// Lasts is for how long it will run at most, or probably, in nanoseconds, by what it says of itself; 0: it says nothing.
	Lasts int64
	// Nominated is the node that the status of an unbound pod names as the one whose room is being made for it, "" if none.
	Nominated string
	// Announced is since when the pod shows that this scheduler is about to evict it (condition DisruptionTarget), unix nanoseconds; 0: it
	// does not.
	Announced int64
	// Gate names the PreEnqueue plugin of another party that blocks the pod, "" if none does.
	Gate string
	// UnreadPriority is what the pod asks for its application, if that is no priority. It has no effect, and the pod says so.
	UnreadPriority string
	// Shown is the sentence of the pod's Queued condition, "" where it shows none.
	Shown string
	// Unschedulable is the message of the pod's PodScheduled condition where that says Unschedulable, "" where it does not.
	Unschedulable string
}

// State is the stage that a pod of ours has reached.
type State uint8

const (
	// Waiting pods are outside kube-scheduler, blocked or in an order book.
	Waiting State = iota
	// Released pods are charged and in kube-scheduler's hands, not yet reserved.
	Released
	// Reserved pods have a node and are being bound.
	Reserved
	// Parked pods fitted no node; kube-scheduler keeps them as the probe of their class. Not charged.
	Parked
	// Bound pods run, or are about to.
	Bound
	// Gone pods are on no account: they have no node and are being deleted, or were forgotten. A new pod is Gone until it is entered.
	Gone
)

var stateNames = [...]string{"Waiting", "Released", "Reserved", "Parked", "Bound", "Gone"}

func (s State) String() string { return stateNames[s] }

func (s State) charged() bool { return s == Released || s == Reserved || s == Bound }

// inWindow: released and not yet bound.
func (s State) inWindow() bool { return s == Released || s == Reserved }

// record is a pod of ours and what it has put on the accounts. What a release touches comes first, together, as in queueAccount.
type record struct {
	class      *class
	leaf       *queueAccount // where it is entered, nil while no queue takes it
	app        *appAccount
	group      *group      // the pod group that it names
	assumedOn  *node       // where its room is taken: on a node that had some, then on its own
	nomination *nomination // where room is kept for it while it waits: see nominations.go
	victim     *victim     // it is to go: see evictions.go
	listedOn   *node       // see listOnNode
	preference *preference // what it prefers, while it is of a class; nil: nothing. See delays.go

	ticket       uint64 // of the last release; never changes while kube-scheduler holds the pod
	since        int64  // when it entered its state
	state        State
	conditionDue bool // its condition may have to change
	alone        bool // no driver ran in its leaf at its last release, but those with which it starts
	again        bool // it was released before its last release
	inherited    bool // another process wrote the condition that it shows
	doubtful     bool // its last failure was one to bind it, its first in a row
	unjudged     bool // it is to be judged again: see effects
	backfills    bool // its room is on a node that is held for others, see backfill.go
	misfit       bool // its attempt is about to fail, and requests a round: see Misfit
	book.Item
	places [rosterKinds]int32 // in the rosters that have it

	inBackOffs    int            // place among the back-off timers
	limitShown    *reason.Reason // of a pod in a pod queue: the limit that its condition names; nil: none
	lastCondition string         // the sentence that its condition shows, as far as is known

	Pod

	// why a Waiting pod takes no part; zero: it is in its pod queue. Of a Parked pod: the same, as soon as it has left kube-scheduler's queue
	blockedBy reason.Reason

	relabelled *identity // what it says of itself, while it is charged as something else: see relabelled.go

	formerApp *appAccount  // while it is revised: the application that it has belonged to until now
	asked     queue.Path   // the queue that it asks for, by what it says or by the rules of placement; "" if that is none
	access    *accessEntry // on which answer it depends, nil: on none
	inApp     int          // place among the pods of its application
	inDrivers int          // of a driver: place among those of its application, by age
	inRequest int          // place among the pods that ask for the same queue
	attempts  int32        // failed with an error in a row
	addedIn   uint32       // the last addition of inspect.go that counts it
	retryAt   int64        // end of its back-off

	madeRoom    string                 // the node of its last MadeRoom, while its status does not name it yet
	replacement preemption.Replacement // the eviction that it makes up for, if any: see eviction_memory.go
	exemptUntil int64                  // no victim until then: its disruption budget did not allow it

	submission *submission // see placements.go; nil without a policy

	backlog inBacklog
}

// shownLimit is the limit that the pod's condition names, zero if it names none.
func (r *record) shownLimit() reason.Reason {
	if r.limitShown == nil {
		return reason.Reason{}
	}
	return *r.limitShown
}

// blocked reports whether a rule keeps a waiting pod out of the order books.
func (r *record) blocked() bool { return r.blockedBy.Code != "" }

// footprint is what a pod has put on the accounts of its leaf; set undoes and redoes it.
type footprint struct {
	charged, demands, queued bool
	wants                    bool // its application wants to run because of it: see applications.go
	limited                  bool // it wants to run, and a limit on applications blocks it
	doubted                  bool // see gate.go
	stuck                    bool // see with_driver.go
	byOthers                 bool // charged, and somebody else has bound it
}

// outstanding: it counts as demand, and holds nothing.
func (f footprint) outstanding() bool { return f.demands && !f.charged }

func (r *record) footprint() footprint {
	waits := r.state == Waiting && !r.blocked()
	return footprint{
		charged: r.state.charged(),
		demands: waits || r.state == Parked && !r.blocked() || r.state.charged(),
		queued:  waits,
		wants:   r.wants(),
		limited: r.blockedByAppLimit(),
		doubted: r.inDoubt(),
		stuck:   r.isStuck(),

		byOthers: r.state == Bound && r.Placed == "",
	}
}

// notIn is the index of what is in no list or heap.
const notIn = heap.Out

// appEntry is a pod in the heap of its application: beside it, it may be in others.
type appEntry struct{ *record }

// The first pod of an application, its oldest, gives it its submission time.
func (e *appEntry) Before(o *appEntry) bool { return e.record.older(o.record) }
func (e *appEntry) Moved(to int)            { e.inApp = to }

func (r *record) older(o *record) bool {
	if r.Created != o.Created {
		return r.Created < o.Created
	}
	return r.UID < o.UID
}
