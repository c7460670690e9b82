package reason

import (
	"strconv"
	"time"
)

// stateAwareText: behind whom, since when, until when at the latest, at which place.
func (r Reason) stateAwareText() string {
	return "queue " + r.Queue + " lets " + applications(r.Limit) + " start at a time, and " + orElse(r.Other, "another one") + " is starting" +
		after(" since ", clock(r.Since)) + after(", until ", clock(r.Until), " at the latest") + r.learntText() +
		"; this one is " + ordinal(r.Asked) + " in line, and goes when that one has a second pod placed or has ended, or with a higher maxStarting"
}

// learntText says where the time at the latest comes from.
func (r Reason) learntText() string {
	if r.Used == 0 {
		return ""
	}
	return " (learnt: of the last starts here, 95% took at most " + time.Duration(r.Used).Round(100*time.Millisecond).String() + ")"
}

// MinResources is the Detail where what a pod group states keeps it, and not what its pods ask for.
const MinResources = "minResources"

// gangText holds the sentences about pod groups, whose pods start together.
func (r Reason) gangText() string {
	needed := counted(r.Limit, "1 pod", "pods")
	switch r.Code {
	case PodGroupNotFound:
		return "pod group " + r.Other + " does not exist; create it, or take the pod out of it"
	case GangIncomplete:
		return "pod group " + r.Other + " starts with " + needed + " at once, and " + strconv.FormatInt(r.Used, 10) +
			" exist; it waits for the others, or for a lower minMember"
	case GangTooLarge:
		if r.Detail == MinResources {
			return "pod group " + r.Other + " needs " + r.amount(r.Asked) + " by its minResources, and the nodes would have only " + r.amount(r.Used) +
				" if they were empty; it waits for more or larger nodes, or for a lower minResources"
		}
		return "pod group " + r.Other + " starts with " + needed + " at once" + r.together() + ", and the nodes could hold only " +
			strconv.FormatInt(r.Used, 10) + " of them if they were empty; it waits for more or larger nodes, or for a lower minMember"
	case GangWaitsForRoom:
		if r.Detail == MinResources {
			return "pod group " + r.Other + " needs " + r.amount(r.Asked) + " free by its minResources, and now the nodes have " + r.amount(r.Used) +
				after("; nodes are kept free for it until ", clock(r.Until))
		}
		return "pod group " + r.Other + " needs room for " + needed + " at once, and now " + strconv.FormatInt(r.Used, 10) + " fit" +
			after("; nodes are kept free for it until ", clock(r.Until))
	default:
		return "pod group " + r.Other + " came before and waits for room" + after(" since ", clock(r.Since)) +
			": what came after it in queue " + r.Queue + " waits" + after(", until ", clock(r.Until), " at the latest")
	}
}

func (r Reason) together() string {
	if r.Resource == "" {
		return ""
	}
	return ", " + r.amount(r.Asked) + " together"
}

// clock spells a time to the second, "" where there is none.
func clock(nanoseconds int64) string {
	if nanoseconds == 0 {
		return ""
	}
	return time.Unix(0, nanoseconds).UTC().Format(time.RFC3339)
}

// ordinal spells a place in line.
func ordinal(n int64) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n, 10) + suffix
}
