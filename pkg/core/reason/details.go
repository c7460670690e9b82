package reason

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// Details are what only some reasons say: one type for each kind, with a name for each value, which means the
// same under every code. They compare with ==, so that reasons do. Times are unix nanoseconds, 0 for none.
type Details interface{ details() }

// As returns the details of a reason; all are zero if it has none of that kind.
func As[D Details](r Reason) D {
	d, _ := r.Details.(D)
	return d
}

// Invalid are the details of QueueNameInvalid, of SpecInvalid without a resource, of PlacementRejected, and of ApplicationPriorityInvalid.
type Invalid struct {
	Why string // the error; of ApplicationPriorityInvalid what is written
}

// Child are the details of QueueNotLeaf.
type Child struct {
	Path string // a child of the queue, as an example; "" if it has none
}

// Cause are the details of QueueNotReady: a queue above, or the problem of the queue itself.
type Cause struct {
	Queue   string // a queue above that is not in force
	Problem string // a sentence; one about the queue itself is used unchanged
}

// Parent are the details of ParentMissing and ParentHasPods, and of PlacementRejected for a queue below a leaf.
type Parent struct {
	Path string
}

// Reserved are the details of what concerns a reservation.
type Reserved struct {
	Name string // namespace/name of the Reservation
	At   int64  // when it begins; only of ReservationNotStarted
	Why  string // a sentence: why it was refused or cancelled, or is not decided on
}

// Stop are the details of QueueStopped and RunningBelowStopped.
type Stop struct {
	By    string // the queues that state Stopped, from the top, joined by blanks
	Since int64  // since when Queue takes no new applications; only of QueueStopped
}

// Policies are the details of PolicyNotAllowed and PolicyBelowFair.
type Policies struct {
	Stated  string // in the spec
	InForce string // instead of it
}

// Ignored are the details of FieldIgnored.
type Ignored struct {
	Field string // below spec, such as preemption.preemptible
	Cause IgnoredCause
	By    string // what decides instead or is in force: see the causes
}

// FairResource are the details of FairResourceNotAllowed.
type FairResource struct {
	Stated resource.Name // in the spec; the resource of the reason is in force
	// ByCalculator: the calculator of the root counts nothing else. Otherwise the parent divides nothing else.
	ByCalculator bool
}

// Submitter are the details of SubmitForbidden and SubmitUnchecked.
type Submitter struct {
	User string // whose pod it is
}

// UserShare are the details of UserLimit.
type UserShare struct {
	User     string
	Active   int64 // users of the queue with pods that wait, this one among them
	ByFactor bool  // it is users.shareFactor that limits, however many users there are
}

// Gate are the details of SchedulingGate.
type Gate struct {
	Plugin string // which blocks the pod
}

// Answer are the details of Parked.
type Answer struct {
	Text string // of kube-scheduler: why no node fits
}

// Applications are the details of MaxRunningApplications, MaxApplications, and those of users.
type Applications struct {
	User    string // whose applications are counted; "" if all in the queue are
	Most    int64  // applications that may run, or be in the queue
	Running int64  // those that do, or are
	Cluster int64  // of MaxApplications: Most is a part of this number, that of the root; 0: it is stated
}

// Driver are the details of WaitingForDriver.
type Driver struct {
	Pod string // the driver that goes first
	Why Reason // for which it waits
}

// Start are the details of StateAware.
type Start struct {
	Next     string // the application that leaves Starting next; "" if none is known
	Most     int64  // applications that may be starting at a time
	Position int64  // place in line, from 1
	Since    int64  // when the application that leaves next began to start
	Until    int64  // when it leaves at the latest
	Took     int64  // nanoseconds that nearly all of the last starts took, if Until follows from that
}

// Members are the details of GangIncomplete.
type Members struct {
	Needed int64 // pods that must exist before the group starts
	Exist  int64
}

// Packing are the details of GangTooLarge and GangWaitsForRoom if not all pods fit.
type Packing struct {
	Needed int64 // pods that must start at once
	Fit    int64 // pods of these that fit
	Until  int64 // until when nodes are held for the group
	// Forbids is why no nodes may be held for the group; only the answer to why the pod waits says that, since it costs more.
	Forbids ShareForbids
}

// MinResources are the details of GangTooLarge and GangWaitsForRoom if all pods fit, but the group states that
// it needs more than the nodes have.
type MinResources struct {
	Needed int64 // pods that must start at once
	Stated int64 // amount of Resource that the group states that it needs
	Free   int64 // amount of Resource that the nodes have
	Until  int64 // until when nodes are held for the group
	// Forbids is as in Packing.
	Forbids ShareForbids
}

// Preferred are the details of WaitingForPreferredNodes.
type Preferred struct {
	Nodes  string // for which it waits, joined by commas; "" if it waits for Racks
	Racks  string // for which it waits by now, or which it accepts after Nodes, before any node
	Missed int64  // opportunities that its application has missed in a row
	Of     int64  // after how many it accepts more
	Shown  string // the sentence that the pod shows, where nothing else is known
}

// ShareForbids says that no nodes may be held for a pod group: with them, Queue would be above its fair share, while
// another queue waits. If Queue is empty, its share does not forbid it.
type ShareForbids struct {
	Queue    string        // of the group, or above
	Resource resource.Name // of which Queue would have the largest part
	Share    int64         // amount of Resource: the fair share of Queue
	Usage    int64         // amount of Resource that Queue would have
	Waiting  string        // a queue that waits for room
	Below    Code          // BelowFairShare or BelowGuaranteed: what Waiting would be
}

// Turn are the details of BehindGang.
type Turn struct {
	Since int64 // since when the group waits for room
	Until int64 // until when other pods wait for it at the latest
}

// Room are the details of WaitingForRoom.
type Room struct {
	Free   int64 // amount of Resource, on the node that comes closest
	Nodes  int64 // nodes of the cluster
	Usable int64 // nodes that the pod may use
	Full   int64 // usable nodes that take no more pods
	Kept   Kept
}

// Kept is room that would do for a pod, and is kept for others. For whom is empty if there is none.
type Kept struct {
	Held      int64  // nodes with room that are held for PodGroup, or for large pods of queue LargeOf
	PodGroup  string // namespace/name
	LargeOf   string
	Until     int64  // until when they are held at the latest
	Own       int64  // nodes that are held for large pods like this one
	Nominated int64  // nodes with room that is kept for nominated pods, of which Pod of Queue is the first
	Pod       string // namespace/name
	Queue     string
}

// MaxKept are the details of MaxResources if only pods for which room is kept bring the queue to its max.
type MaxKept struct {
	Kept int64 // amount of Resource that those pods ask for
}

// Leftovers are the details of Deleting.
type Leftovers struct {
	Pods     int64 // charged to the queue or below it
	Children int64 // queues directly below it
}

// MaxCapacity are the details of MaxResources, if the queue states maxCapacity: its max has that in it.
type MaxCapacity struct {
	Percent int64 // thousandths of a percent of its parent's maximum
}

// Capacities are the details of CapacityMissing, CapacitySumInvalid and MaxCapacityTooLow. Lists name the queues with
// what they state.
type Capacities struct {
	Parent  string // whose children contradict each other
	Stated  string // what they state
	InForce string // what counts until that is mended
	Sum     int64  // of the capacities, in thousandths of a percent, as the next
	Whole   int64  // what they must sum to
	// Child is the queue with too low a maximum; it and its capacity in millionths of a percent of the cluster.
	Child         string
	Capacity, Max int64
	UpTo          bool // its capacity may grow to this: it is below a queue that shares by weight
}

// Guarantees are the details of SpecInvalid, and of Overcommitted if the queue states a guarantee of its own:
// amounts of Resource.
type Guarantees struct {
	Guaranteed int64 // to the queue
	Children   int64 // guaranteed to its children together
}

// Divided are the details of Overcommitted if the queue states no guarantee of its own: amounts of Resource.
type Divided struct {
	Share    int64 // what there is to divide: the steady share of the queue
	Children int64 // guaranteed to its children together
}

// Shortfall are the details of BelowGuaranteed and BelowFairShare.
type Shortfall struct {
	Entitled int64 // amount of Resource that the queue should have
	Since    int64 // when it fell below; 0: it is above its threshold again, but its claim is still open
	Until    int64 // when pods of other queues are preempted for it; 0: no timeout is in force
	Declined int64 // when its claim ended, as all surplus is ignored; 0: none did, or one is open again
}

func (Invalid) details()      {}
func (Child) details()        {}
func (Cause) details()        {}
func (Parent) details()       {}
func (Reserved) details()     {}
func (Stop) details()         {}
func (Policies) details()     {}
func (Ignored) details()      {}
func (FairResource) details() {}
func (Submitter) details()    {}
func (UserShare) details()    {}
func (Gate) details()         {}
func (Answer) details()       {}
func (Applications) details() {}
func (Driver) details()       {}
func (Start) details()        {}
func (Members) details()      {}
func (Packing) details()      {}
func (Preferred) details()    {}
func (MinResources) details() {}
func (Turn) details()         {}
func (Room) details()         {}
func (MaxKept) details()      {}
func (Leftovers) details()    {}
func (MaxCapacity) details()  {}
func (Capacities) details()   {}
func (Guarantees) details()   {}
func (Divided) details()      {}
func (Shortfall) details()    {}
