package reason

import "strings"

// noQueueText returns the sentences about a pod that no queue takes.
func (r Reason) noQueueText() string {
	switch r.Code {
	case QueueNameInvalid:
		return quoted(r.Queue) + ` is not the name of a queue` + after(": ", As[Invalid](r).Why)
	case QueueNotFound:
		return "queue " + r.Queue + " does not exist; create it, or name another one in fairway.dev/queue"
	case QueueNotLeaf:
		return r.queueNotLeafText()
	case QueueNotReady:
		return r.queueNotReadyText()
	case PlacementRejected:
		return r.placementText()
	case CreatingQueue:
		return "queue " + r.Queue + " is being created for this pod, as the placement policy says"
	}
	return "queue " + r.Queue + " is deleted and takes no more pods; name another one in fairway.dev/queue"
}

func (r Reason) placementText() string {
	if above := As[Parent](r).Path; above != "" {
		return "queue " + r.Queue + " cannot be created, because " + above + " above it is a leaf; create it, or name another one in fairway.dev/queue"
	}
	return "the placement policy rejects the pod" + after(": ", As[Invalid](r).Why)
}

func (r Reason) queueNotLeafText() string {
	why := "has child queues and"
	switch {
	case r.Queue == "root": // the root takes no pods even if it has no children
		why = "holds all queues and"
	case As[Child](r).Path == "":
		why = "is for child queues and"
	}
	return "queue " + r.Queue + " " + why + " takes no pods itself; name a queue below it" + after(", for example ", As[Child](r).Path)
}

func (r Reason) queueNotReadyText() string {
	why := As[Cause](r)
	// A waiting pod shows the same sentence about a blocked queue as the queue's status.
	if strings.HasPrefix(why.Problem, "queue "+r.Queue+" ") {
		return why.Problem
	}
	return "queue " + r.Queue + " is not in force yet" + after(", because queue ", why.Queue, " is not") +
		after(": ", why.Problem) + after("; it follows once ", why.Queue, " is")
}
