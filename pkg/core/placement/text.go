package placement

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// What rules answer, in words. A rule that gives a queue answers with its path alone.
const (
	asksForNone      = "the pod asks for no queue"
	asksForOne       = "the pod asks for a queue, and override is false"
	oneGroup         = "the user has no group besides the primary one"
	noMapping        = "no mapping fits"
	noSecondaryGroup = "the user has no secondary group with a queue"
	noRule           = "none of its rules gives a queue"
	rejectsAll       = "its rule Reject takes no pod"
)

func missing(p queue.Path) string {
	return "queue " + string(p) + " does not exist, and create is false"
}

func createdOnly(p queue.Path) string {
	return "queue " + string(p) + " was created by placement, and create is false"
}

func parentIsLeaf(p queue.Path) string {
	return "queue " + string(p) + " is a leaf, and there is no queue below it"
}

func hasChildren(p queue.Path) string {
	return "queue " + string(p) + " has child queues and takes no pods itself"
}

func noParent(p queue.Path) string {
	return "queue " + string(p) + " does not exist, and " + string(p.Parent()) + " is no parent queue"
}

func noGroupHasQueue(groups []string) string {
	return "no secondary group has a queue: " + strings.Join(groups, ", ")
}

func noGroups(user string) string { return "user " + user + " has no groups" }

func nestedPasses(kind Kind, outcome string) string { return kind.String() + ": " + outcome }

func insteadOf(m QueueMapping, why string) string {
	return string(queue.Default) + ", as mapping " + m.String() + " cannot be used: " + why
}
