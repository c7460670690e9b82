package report

// The sentences of reports that no reason says. Those about decisions are in pkg/core/reason, those about what would help in pkg/picture/text.go.

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

// verdicts say what becomes of a pod.
var verdicts = map[picture.Verdict]string{
	picture.Running: "runs",
	picture.Next:    "is about to be released",
	picture.Waiting: "waits for its turn",
	picture.Room:    "waits for room",
	picture.Held:    "is blocked",
	picture.Parked:  "fitted no node",
	picture.Refused: "is in no queue",
}

// memoryText says what the calculator Memory is.
const memoryText = "Memory alone counts in shares, order, preemption, maxCapacity, maxDriverShare and the limits of users, as queue root states"

// noClaims is said of a plan without a claim, noReleases of an order without a pod.
const (
	noClaims   = "no queue with a timeout in force is starved: nothing would be taken"
	noReleases = "no pod would be released"
)

// turnText says how many pods are released before a pod that is about to be released.
func turnText(ahead int) string {
	if ahead == 0 {
		return "it is the first of the next releases"
	}
	return "it is number " + strconv.Itoa(ahead+1) + " of the next releases"
}

// holdersText is the heading of the applications that use what a pod lacks.
func holdersText(why reason.Reason) string {
	name := reason.Name(string(why.Resource))
	switch {
	case why.Code == reason.StateAware:
		return "what is starting in queue " + why.Queue + ":"
	case why.Code == reason.WaitingForRoom:
		return "who holds the " + name + " of the cluster:"
	case why.Code == reason.MaxDriverShare || why.Code == reason.UserMaxDriverShare:
		return "whose drivers hold the " + name + " of queue " + why.Queue + ":"
	case name != "":
		return "who holds the " + name + " of queue " + why.Queue + ":"
	}
	return "what runs in queue " + why.Queue + ":"
}

func (s Shortfall) text() string {
	guaranteed := resource.Format(s.Resource, s.Guaranteed) + " " + reason.Name(string(s.Resource))
	has := resource.Format(s.Resource, s.Has)
	if s.Covered {
		return "queue " + s.Queue + " has " + has + " of the " + guaranteed + " that it is guaranteed and asks for; until it has them, its pods that ask for " +
			reason.Name(string(s.Resource)) + " come first"
	}
	return "queue " + s.Queue + " is guaranteed " + guaranteed + ", but its parent's share is only " + has + " for all guarantees in it"
}

func (p Plan) heading(l Layout) string {
	n := len(p.Plan.Victims)
	if n == 0 {
		return "No pod would go any more:"
	}
	text := counted(n, "pod", "pods") + " would go, " + l.amounts(p.Plan.Taken) + " together"
	if lost := p.podSeconds(); lost > 0 {
		text += ", which have run for " + strconv.FormatInt(lost, 10) + " pod-seconds"
	}
	if p.World.Settings.ObserveOnly {
		text += " (Queue root says observeOnly: none will)"
	}
	return text + ":"
}

// Text says what a queue is below, for how long, and when pods are preempted for it.
func (q StarvedQueue) Text(l Layout) string {
	return "below " + q.Kind.String() + " for " + l.age(q.Since) + ", preemption " + l.due(q)
}

// Text is the gauge in words.
func (g Gauge) Text() string {
	text := reason.Name(string(g.Resource)) + ": " + strings.TrimSpace(percent(g.Allocated)) + " allocated, fair share " + strings.TrimSpace(percent(g.FairShare)) +
		", steady share " + strings.TrimSpace(percent(g.SteadyFairShare))
	if g.Guaranteed > 0 {
		text += ", guaranteed " + strings.TrimSpace(percent(g.Guaranteed))
	}
	if g.Limited {
		text += ", max " + strings.TrimSpace(percent(g.Max))
	}
	return text
}
