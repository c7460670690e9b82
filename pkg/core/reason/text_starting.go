package reason

import (
	"strconv"
	"time"
)

// stateAwareText says which application must leave Starting first, since when it is starting, when it leaves
// at the latest, and the place in line.
func (r Reason) stateAwareText() string {
	n := As[Start](r)
	return "queue " + r.Queue + " lets " + applications(n.Most) + " start at a time, and " + orElse(n.Next, "another one") + " is starting" +
		after(" since ", clock(n.Since)) + after(", until ", clock(n.Until), " at the latest") + n.learntText() +
		"; this one is " + ordinal(n.Position) + " in line, and goes when that one has a second pod placed or has ended, or with a higher maxStarting"
}

// learntText says how the latest time was computed.
func (n Start) learntText() string {
	if n.Took == 0 {
		return ""
	}
	return " (learnt: of the last starts here, 95% took at most " + time.Duration(n.Took).Round(100*time.Millisecond).String() + ")"
}

// gangText returns the sentences about pod groups.
func (r Reason) gangText() string {
	switch r.Code {
	case PodGroupNotFound:
		return "pod group " + r.PodGroup + " does not exist; create it, or take the pod out of it"
	case GangIncomplete:
		n := As[Members](r)
		return "pod group " + r.PodGroup + " starts with " + pods(n.Needed) + " at once, and " + strconv.FormatInt(n.Exist, 10) +
			" exist; it waits for the others, or for a lower minMember"
	case GangTooLarge:
		if n, ok := r.Details.(MinResources); ok {
			return "pod group " + r.PodGroup + " needs " + r.amount(r.Asked) + " by its minResources, and the nodes would have only " + r.amount(n.Free) +
				" if they were empty; it waits for more or larger nodes, or for a lower minResources"
		}
		n := As[Packing](r)
		return "pod group " + r.PodGroup + " starts with " + pods(n.Needed) + " at once" + r.together() + ", and the nodes could hold only " +
			strconv.FormatInt(n.Fit, 10) + " of them if they were empty; it waits for more or larger nodes, or for a lower minMember"
	case GangWaitsForRoom:
		if n, ok := r.Details.(MinResources); ok {
			return "pod group " + r.PodGroup + " needs " + r.amount(r.Asked) + " free by its minResources, and now the nodes have " + r.amount(n.Free) +
				after("; nodes are kept free for it until ", clock(n.Until))
		}
		n := As[Packing](r)
		return "pod group " + r.PodGroup + " needs room for " + pods(n.Needed) + " at once, and now " + strconv.FormatInt(n.Fit, 10) + " fit" +
			after("; nodes are kept free for it until ", clock(n.Until))
	default:
		n := As[Turn](r)
		return "pod group " + r.PodGroup + " came before and waits for room" + after(" since ", clock(n.Since)) +
			": what came after it in queue " + r.Queue + " waits" + after(", until ", clock(n.Until), " at the latest")
	}
}

func (r Reason) together() string {
	if r.Resource == "" {
		return ""
	}
	return ", " + r.amount(r.Asked) + " together"
}

func pods(n int64) string { return counted(n, "1 pod", "pods") }

// clock prints a time to the second, "" for none.
func clock(nanoseconds int64) string {
	if nanoseconds == 0 {
		return ""
	}
	return time.Unix(0, nanoseconds).UTC().Format(time.RFC3339)
}

// ordinal prints a place in line.
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
