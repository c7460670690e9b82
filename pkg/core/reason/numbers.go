package reason

// Numbers are what a reason counts or times, besides amounts of its resource: one type for each kind of
// number, with a name for each number. They compare with ==, so that reasons do. Times are unix nanoseconds, 0
// for none.
type Numbers interface{ numbers() }

// As returns the numbers of a reason; all are 0 if it has none of that kind.
func As[N Numbers](r Reason) N {
	n, _ := r.Numbers.(N)
	return n
}

// Applications are the numbers of MaxRunningApplications and UserMaxRunningApplications.
type Applications struct {
	Most    int64 // applications that may run
	Running int64
}

// Start are the numbers of StateAware.
type Start struct {
	Most     int64 // applications that may be starting at a time
	Position int64 // place in line, from 1
	Since    int64 // when the application that leaves next began to start
	Until    int64 // when it leaves at the latest
	Took     int64 // nanoseconds that nearly all of the last starts took, if Until follows from that
}

// Members are the numbers of GangIncomplete.
type Members struct {
	Needed int64 // pods that must exist before the group starts
	Exist  int64
}

// Packing are the numbers of GangTooLarge and GangWaitsForRoom if not all pods fit.
type Packing struct {
	Needed int64 // pods that must start at once
	Fit    int64 // pods of these that fit
	Until  int64 // until when nodes are held for the group
}

// MinResources are the numbers of GangTooLarge and GangWaitsForRoom if all pods fit, but the group states that
// it needs more than the nodes have.
type MinResources struct {
	Needed int64 // pods that must start at once
	Free   int64 // amount of Resource
	Until  int64 // until when nodes are held for the group
}

// Turn are the numbers of BehindGang.
type Turn struct {
	Since int64 // since when the group waits for room
	Until int64 // until when other pods wait for it at the latest
}

// Room are the numbers of WaitingForRoom.
type Room struct {
	Free   int64 // amount of Resource, on the node that comes closest
	Nodes  int64 // nodes of the cluster
	Usable int64 // nodes that the pod may use
	Full   int64 // usable nodes that take no more pods
}

// Leftovers are the numbers of Deleting.
type Leftovers struct {
	Pods     int64 // charged to the queue or below it
	Children int64 // queues directly below it
}

// Guarantees are the numbers of Overcommitted and SpecInvalid: amounts of Resource.
type Guarantees struct {
	Guaranteed int64 // to the queue
	Children   int64 // guaranteed to its children together
}

// Shortfall are the numbers of BelowGuaranteed and BelowFairShare.
type Shortfall struct {
	Entitled int64 // amount of Resource that the queue should have
	Since    int64 // when it fell below; 0: it is above its threshold again, but its claim is still open
	Until    int64 // when pods of other queues are preempted for it; 0: no timeout is in force
}

func (Applications) numbers() {}
func (Start) numbers()        {}
func (Members) numbers()      {}
func (Packing) numbers()      {}
func (MinResources) numbers() {}
func (Turn) numbers()         {}
func (Room) numbers()         {}
func (Leftovers) numbers()    {}
func (Guarantees) numbers()   {}
func (Shortfall) numbers()    {}
