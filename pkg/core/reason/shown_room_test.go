package reason

import "testing"

func TestWhichAnswersNameNothingButNumbers(t *testing.T) {
	for answer, want := range map[string]bool{
		"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.": true,
		"0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu, 2 Insufficient memory.":                                              true,
		"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.":                                            false,
		"": false, "0/1 nodes are available.": false, "no nodes available to schedule pods": false,
		"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.": false,
	} {
		if got := ReadShownRoom(answer); got.Numbers != want || got.Hold != (ShownHold{}) {
			t.Errorf("%q: %+v", answer, got)
		}
	}
}

// What a pod was told of held nodes is read back as it was said, to the second.
func TestHoldsAreReadBackFromMessages(t *testing.T) {
	const at int64 = 1_700_000_000_000_000_000
	kept := Kept{Held: 2, PodGroup: "ns/g", Until: at + 999}
	gang := Reason{Code: GangWaitsForRoom, Queue: "root.a", PodGroup: "ns/g"}
	held, forbidden, resources := gang, gang, gang
	held.Details = Packing{Needed: 2, Fit: 1, Until: at + 999}
	forbidden.Details = Packing{Needed: 2, Fit: 1, Forbids: ShareForbids{Queue: "root.a", Waiting: "root.b"}}
	resources.Details = MinResources{Needed: 2, Until: at}
	for message, want := range map[string]ShownHold{
		"0/3 nodes are available: 1 Insufficient cpu, 2" + kept.HeldFor() + ".":   {For: "pod group ns/g", Until: at},
		"0/3 nodes are available: 1 Insufficient cpu, 0" + Kept{}.HeldFor() + ".": {},
		held.Text(): {ForIt: true, Until: at}, resources.Text(): {ForIt: true, Until: at}, forbidden.Text(): {}, "": {},
		"1" + heldNodes:                        {},
		"1" + heldNodes + "x until who knows.": {For: "x"},
		heldForIt:                              {ForIt: true},
	} {
		if got := ReadShownRoom(message).Hold; got != want {
			t.Errorf("%q: %+v, want %+v", message, got, want)
		}
	}
	if got := kept.ShownHold(); got != (ShownHold{For: "pod group ns/g", Until: at}) {
		t.Errorf("%+v", got)
	}
	if (Kept{Nominated: 1}).ShownHold() != (ShownHold{}) || HeldForIt(at+999) != (ShownHold{ForIt: true, Until: at}) {
		t.Error("kept for a nominated pod, or held for it")
	}
}
