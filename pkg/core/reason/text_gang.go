package reason

import (
	"strconv"
	"strings"
)

// gangText returns the sentences about pod groups.
func (r Reason) gangText() string {
	switch r.Code {
	case PodGroupNotFound:
		return "pod group " + r.PodGroup + " does not exist; create it, or take the pod out of it"
	case GangIncomplete:
		n := As[Members](r)
		return "pod group " + r.PodGroup + " starts with " + pods(n.Needed) + " at once, and " + strconv.FormatInt(n.Exist, 10) +
			" exist; it waits for the others, or for a lower " + r.MinimumField()
	case GangTooLarge:
		if n, ok := r.Details.(MinResources); ok {
			return "pod group " + r.PodGroup + " needs " + r.amount(n.Stated) + " by its minResources, and the nodes would have only " +
				r.amount(n.Free) + " if they were empty; it waits for more or larger nodes, or for a lower minResources"
		}
		n := As[Packing](r)
		return "pod group " + r.PodGroup + " starts with " + pods(n.Needed) + " at once" + r.together() + ", and the nodes could hold only " +
			strconv.FormatInt(n.Fit, 10) + " of them if they were empty; it waits for more or larger nodes, or for a lower " + r.MinimumField()
	case GangWaitsForRoom:
		if n, ok := r.Details.(MinResources); ok {
			return "pod group " + r.PodGroup + " needs " + r.amount(n.Stated) + " free by its minResources, and now the nodes have " +
				r.amount(n.Free) + heldUntil(n.Until) + n.Forbids.text()
		}
		n := As[Packing](r)
		return "pod group " + r.PodGroup + " needs room for " + pods(n.Needed) + " at once, and now " + strconv.FormatInt(n.Fit, 10) + " fit" +
			heldUntil(n.Until) + n.Forbids.text()
	default:
		n := As[Turn](r)
		return "pod group " + r.PodGroup + " came before and waits for room" + after(" since ", clock(n.Since)) +
			": what came after it in queue " + r.Queue + " waits" + after(", until ", clock(n.Until), " at the latest")
	}
}

// text says which share forbids it, and what would lift that; "" if none does.
func (f ShareForbids) text() string {
	if f.Queue == "" {
		return ""
	}
	return "; no nodes may be held for it: with them, queue " + f.Queue + " would have " + amount(f.Resource, f.Usage) +
		", above its fair share of " + amount(f.Resource, f.Share) + ", while queue " + f.Waiting + " waits and would be below " + Reason{Code: f.Below}.entitlement() +
		"; they may once no such queue waits, or once the share of " + f.Queue + " is that large, by more weight or a guarantee"
}

// inTree ends the name of a pod group of Kubernetes itself.
const inTree = "(scheduling.k8s.io)"

// MinimumField is the field that says with how many pods the group starts.
func (r Reason) MinimumField() string {
	if strings.Contains(r.PodGroup, inTree) {
		return "minCount"
	}
	return "minMember"
}

func heldUntil(at int64) string {
	if at == 0 {
		return ""
	}
	return heldForIt + until + clock(at)
}

func (r Reason) together() string {
	if r.Resource == "" {
		return ""
	}
	return ", " + r.amount(r.Asked) + " together"
}

func pods(n int64) string { return counted(n, "1 pod", "pods") }
