package reason

// IgnoredCause is why a field of a queue has no effect where it stands.
type IgnoredCause string

// The causes.
const (
	// ForLeaves: the field is for queues without children.
	ForLeaves IgnoredCause = "ForLeaves"
	// NoSiblings: the queue is root, which shares with none.
	NoSiblings IgnoredCause = "NoSiblings"
	// WholeCluster: the queue is root, which has all there is.
	WholeCluster IgnoredCause = "WholeCluster"
	// AmongCapacities: the siblings of the queue share by capacity.
	AmongCapacities IgnoredCause = "AmongCapacities"
	// ForFair: the field is for policy Fair, and By is in force.
	ForFair IgnoredCause = "ForFair"
	// ForFIFO: the field is for policy FIFO, and By is in force.
	ForFIFO IgnoredCause = "ForFIFO"
	// ForStateAware: the field is for policy StateAware, and By is in force.
	ForStateAware IgnoredCause = "ForStateAware"
	// ParentDividesOne: By are resources that the parent, whose policy is Fair, does not divide.
	ParentDividesOne IgnoredCause = "ParentDividesOne"
	// CalculatorCountsOne: By are resources that the calculator of the root does not count.
	CalculatorCountsOne IgnoredCause = "CalculatorCountsOne"
	// NoUserLimit: the queue does not limit what its users use.
	NoUserLimit IgnoredCause = "NoUserLimit"
	// NoGuarantee: neither the queue nor one below it has a guarantee.
	NoGuarantee IgnoredCause = "NoGuarantee"
	// NoTimeout: nothing is preempted, since no queue has a timeout in force.
	NoTimeout IgnoredCause = "NoTimeout"
	// ProtectedAbove: By, a queue above, says that no pod below it is preempted.
	ProtectedAbove IgnoredCause = "ProtectedAbove"
	// AboveMaxPriority: the priority counts as By, maxPriority of the root.
	AboveMaxPriority IgnoredCause = "AboveMaxPriority"
)

// fieldIgnoredText names the field, why it has no effect, and what to do.
func (r Reason) fieldIgnoredText() string {
	d := As[Ignored](r)
	field := "spec." + d.Field
	head := field + " of queue " + r.Queue + " has no effect: "
	switch d.Cause {
	case ForLeaves:
		return head + "it is for queues without children; state it in the queues below, or remove it"
	case NoSiblings:
		return head + "root has no siblings with which it could share; remove it"
	case WholeCluster:
		return head + "root has the whole cluster; remove it"
	case AmongCapacities:
		return head + "its siblings share by capacity; state capacity in its place"
	case ForFair:
		return head + "it is for policy Fair, and " + d.By + " is in force; set policy to Fair, or remove it"
	case ForFIFO:
		return head + "it is for policy FIFO, and " + d.By + " is in force; set policy to FIFO, or remove it"
	case ForStateAware:
		return head + "it is for policy StateAware, and " + d.By + " is in force; set policy to StateAware, or remove it"
	case ParentDividesOne:
		return field + " of " + d.By + " in queue " + r.Queue + " has no effect: the parent divides another resource alone (policy Fair); " +
			"remove it, or change the policy of the parent"
	case CalculatorCountsOne:
		return field + " of " + d.By + " in queue " + r.Queue + " has no effect: resourceCalculator Memory of queue root counts memory alone; " +
			"remove it, or change the calculator"
	case NoUserLimit:
		return head + "a queue that shares by weight limits its users only if it states users.minSharePercent or users.shareFactor; " +
			"state one of them, or remove it"
	case NoGuarantee:
		return head + "neither this queue nor one below it has guaranteed, and what a capacity entitles to is a fair share, with fairShareTimeout; " +
			"state guaranteed, or remove it"
	case NoTimeout:
		return head + "no fairShareTimeout and no guaranteedTimeout is in force in any queue, so nothing is preempted; state one, or remove it"
	case ProtectedAbove:
		return head + d.By + " above it states false, which covers all queues below but those with a capacity; " +
			"remove it, or set it to true in " + d.By
	case AboveMaxPriority:
		return field + " of queue " + r.Queue + " counts as " + d.By + ", which is maxPriority of queue root; lower the one, or raise the other"
	}
	return head + string(d.Cause) + after(" ", d.By)
}
