package reason

import (
	"strconv"
	"strings"
)

// WaitsForPreferred begins every sentence of WaitingForPreferredNodes.
const WaitsForPreferred = "waits for its preferred "

// preferredText says which nodes the pod waits for, how many opportunities its application has missed, and what comes then.
func (r Reason) preferredText() string {
	p := As[Preferred](r)
	if p.Shown != "" {
		return p.Shown
	}
	what, then := "nodes"+after(" ", someOf(p.Nodes)), "any node"
	if p.Nodes == "" && p.Racks != "" {
		what = "racks " + someOf(p.Racks)
	} else if p.Racks != "" {
		then = "any node of its preferred racks " + someOf(p.Racks)
	}
	return WaitsForPreferred + what + ": its application has missed " + strconv.FormatInt(p.Missed, 10) + " of " + strconv.FormatInt(p.Of, 10) +
		" opportunities to start elsewhere; then it takes " + then + ", and earlier if no other pod wants the room"
}

// someOf lists the first of some names that are joined by commas.
func someOf(list string) string {
	const most = 3
	if list == "" {
		return ""
	}
	names := strings.Split(list, ",")
	if more := len(names) - most; more > 1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(more) + " others"
	}
	return strings.Join(names, ", ")
}
