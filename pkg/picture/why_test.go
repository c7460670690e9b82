package picture

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Every reason has a deliberate verdict: a new code gets none by chance.
func TestVerdictOfEveryReason(t *testing.T) {
	want := map[reason.Code]Verdict{
		reason.QueueNameInvalid: Refused, reason.QueueNotFound: Refused, reason.QueueNotLeaf: Refused, reason.QueueNotReady: Refused,
		reason.QueueDeleted: Refused, reason.QueueStopped: Held, reason.SubmitForbidden: Held, reason.SubmitUnchecked: Held, reason.PlacementRejected: Refused, reason.CreatingQueue: Held, reason.Terminating: Held,
		reason.ReservationNotFound: Refused, reason.ReservationPending: Held, reason.ReservationRejected: Refused, reason.ReservationNotStarted: Held,
		reason.ReservationEnded: Refused, reason.ReservationCancelled: Refused, reason.QueueReserved: Refused,
		reason.MaxResources: Held, reason.MaxPodResources: Held, reason.MaxRunningApplications: Held, reason.UserMaxRunningApplications: Held,
		reason.MaxApplications: Refused, reason.UserMaxApplications: Refused,
		reason.MaxDriverShare: Held, reason.UserMaxDriverShare: Held, reason.UserLimit: Held, reason.WaitingForDriver: Held, reason.StateAware: Held,
		reason.PodGroupNotFound: Held, reason.GangIncomplete: Held, reason.GangTooLarge: Held, reason.GangWaitsForRoom: Room, reason.BehindGang: Held,
		reason.Parked: Parked, reason.BackOff: Held, reason.SchedulingGate: Held, reason.WaitingForRoom: Room, reason.WaitingTurn: Waiting,
		reason.WaitingForPreferredNodes: Waiting,
	}
	ofQueues := []reason.Code{
		reason.ParentMissing, reason.ParentHasPods, reason.Deleting, reason.PolicyNotAllowed, reason.PolicyBelowFair, reason.FairResourceNotAllowed, reason.MaxPodResourcesRaised,
		reason.FieldIgnored, reason.RunningBelowStopped, reason.CapacityMissing, reason.CapacitySumInvalid, reason.MaxCapacityTooLow,
		reason.Overcommitted, reason.ApplicationPriorityInvalid, reason.OverLimit, reason.BelowGuaranteed, reason.BelowFairShare, reason.SpecInvalid,
	}
	for _, code := range ofQueues { // no pod waits for one of these
		want[code] = Held
	}
	want[reason.ApplicationPriorityInvalid] = Held // nor for this one
	for _, code := range reason.Codes() {
		if v, known := want[code]; !known || verdictOf(code) != v {
			t.Errorf("%s is %q, want %q", code, verdictOf(code), v)
		}
	}
}

// If no change of limits and nodes helps, the answer says in words what would.
func TestWhatHelpsAPodGroup(t *testing.T) {
	gang := reason.Reason{PodGroup: "team/ring"}
	for code, want := range map[reason.Code]string{
		reason.PodGroupNotFound: "a PodGroup team/ring",
		reason.GangIncomplete:   "1 more pod in pod group team/ring, or a lower minMember of it",
		reason.GangTooLarge:     "more or larger nodes, or a lower minMember of pod group team/ring",
		reason.GangWaitsForRoom: "room for 8 pods of pod group team/ring at once",
		reason.BehindGang:       "the start of pod group team/ring, or the end of its turn",
	} {
		gang.Code, gang.Details = code, reason.Packing{Needed: 8, Fit: 7}
		if code == reason.GangIncomplete {
			gang.Details = reason.Members{Needed: 8, Exist: 7}
		}
		if got := manual(gang); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
