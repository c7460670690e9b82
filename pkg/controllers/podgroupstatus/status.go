package podgroupstatus

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// counts are of the pods of a group that exist, ended ones among them.
type counts struct {
	all, ours                  int
	placed                     int // have or had a node
	running, succeeded, failed int32
}

// statusOf is what a PodGroup should say, given what it says.
func statusOf(g ledger.PodGroupState, c counts, before podgroup.PodGroupStatus) podgroup.PodGroupStatus {
	whole := wasWhole(g, c, before)
	status := podgroup.PodGroupStatus{
		Phase: phase(g, c, before.Phase, whole), Running: c.running, Succeeded: c.succeeded, Failed: c.failed,
	}
	switch {
	case g.Since != 0:
		status.ScheduleStartTime = metav1.NewTime(time.Unix(0, g.Since).Truncate(time.Second)) // as it is stored
	case whole:
		status.ScheduleStartTime = before.ScheduleStartTime // of before a restart
	}
	return status
}

// wasWhole: the ledger forgets that a group was whole when its last pod has ended, and may see that before we do, or
// after. While a pod exists that has or had a node, what the status said stays true: a pod that replaces a failed one
// must not wait for the others.
func wasWhole(g ledger.PodGroupState, c counts, before podgroup.PodGroupStatus) bool {
	if g.Pods == 0 && c.all == 0 {
		return false
	}
	took := max(g.MinMember, 1)
	// The previous leader may have died before it wrote that the group is whole.
	return g.Whole || g.Bound >= took || c.placed >= took || c.placed > 0 && convert.WasWhole(before)
}

// phase is one of Scheduling, Running, Finished and Failed exactly if the group was whole, or has ended and has no pods
// any more. convert.WasWhole reads it so.
func phase(g ledger.PodGroupState, c counts, before podgroup.PodGroupPhase, whole bool) podgroup.PodGroupPhase {
	ended := before == podgroup.PodGroupFinished || before == podgroup.PodGroupFailed
	took := int32(max(g.MinMember, 1))
	none := g.Pods == 0 && c.running == 0
	switch {
	case !whole && none && c.all == 0 && ended:
		return before
	case !whole && g.Bound > 0:
		return podgroup.PodGroupUnknown
	case !whole:
		return podgroup.PodGroupPending
	case c.succeeded >= took:
		return podgroup.PodGroupFinished
	case none && ended:
		return before // ended pods are deleted one by one
	case c.running+c.succeeded >= took:
		return podgroup.PodGroupRunning
	case c.failed > 0:
		return podgroup.PodGroupFailed
	case none && c.succeeded > 0:
		return podgroup.PodGroupFinished
	}
	return podgroup.PodGroupScheduling
}

// equal compares what we write of a status.
func equal(a, b podgroup.PodGroupStatus) bool {
	return a.Phase == b.Phase && a.Running == b.Running && a.Succeeded == b.Succeeded && a.Failed == b.Failed &&
		a.ScheduleStartTime.Equal(&b.ScheduleStartTime)
}

// fields returns a status as it is applied. A struct would state an unset time as null, which the API server refuses.
func fields(s podgroup.PodGroupStatus) map[string]any {
	m := map[string]any{
		"phase": string(s.Phase), "running": int64(s.Running), "succeeded": int64(s.Succeeded), "failed": int64(s.Failed),
	}
	if !s.ScheduleStartTime.IsZero() {
		m["scheduleStartTime"] = s.ScheduleStartTime.UTC().Format(time.RFC3339)
	}
	return m
}
