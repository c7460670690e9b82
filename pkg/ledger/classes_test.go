package ledger

import (
	"fmt"
	"testing"
)

func TestOneProbePerClassAndItsSiblingsWaitBehindIt(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	for i := range 3 {
		f.pod(UID(fmt.Sprintf("a%d", i)), "a")
		f.pod(UID(fmt.Sprintf("b%d", i)), "b")
	}
	f.pod("other", "b", ofClass("other"), at(9))
	f.wantPods(f.choose(), "a0") // its class is not known to fit: one attempt speaks for all
	f.wantPods(f.fail("a0", NoFit))
	f.wantState("a0", "Parked root.a")
	f.wantPods(f.choose(), "other")
}

func TestMaxInFlightDoublesWithEveryReserve(t *testing.T) {
	f := newFixture(t, Options{Window: 5})
	f.declare("root.a")
	for i := range 20 {
		f.pod(UID(fmt.Sprintf("p%02d", i)), "a")
	}
	f.wantPods(f.choose(), "p00")
	f.reserve("p00")
	f.bindAll("p00")
	f.wantPods(f.choose(), "p01", "p02")
	f.reserve("p01")
	f.bindAll("p01")
	f.wantPods(f.choose(), "p03", "p04", "p05")
	f.reserve("p02")
	f.bindAll("p02")
	f.wantPods(f.choose(), "p06", "p07") // the window allows no more
	f.fail("p03", NoFit)
	f.TakeWoken(f.now)
	f.Admitted("p03")
	f.TakeWoken(f.now)
	f.wantPods(f.choose(), "p03") // opened again, it starts from one
}

func TestWhatWasReleasedAfterAFailedPodIsChosenAgain(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("huge", "a", asks(1000, 4), ofClass("huge"), in("a"), at(1))
	f.pod("small", "a", ofClass("small"), in("a"), at(2))
	for i := range 3 {
		f.pod(UID(fmt.Sprintf("b%d", i)), "b", ofClass(fmt.Sprintf("b%d", i)))
	}
	f.wantPods(f.choose(), "huge", "b0", "b1", "b2", "small")
	f.wantPods(f.fail("huge", NoFit), "b0", "b1", "b2", "small")
	f.wantUsage("root", "")
	f.wantPods(f.choose(), "small", "b0", "b1", "b2")
}

func TestParkedClassOpensWhen(t *testing.T) {
	for name, open := range map[string]func(*fixture){
		"an event wakes the probe": func(f *fixture) {
			if admitted, woken := f.Admitted("p"); admitted || !woken {
				f.t.Errorf("admitted %v, woken %v", admitted, woken)
			}
			f.Admitted("p") // asked twice, it is woken once
			f.wantPods(f.TakeWoken(f.now), "p")
		},
		"the probe is deleted":       func(f *fixture) { f.forget("p") },
		"the probe is to be deleted": func(f *fixture) { f.edit("p", terminating) },
		"the probe is bound":         func(f *fixture) { f.bindAll("p") },
		"the probe changes its class": func(f *fixture) {
			f.edit("p", ofClass("other"))
			f.wantPods(f.TakeWoken(f.now), "p")
		},
		"kube-scheduler lost the probe": func(f *fixture) {
			f.wantPods(f.fail("p", Refused))
			f.wantPods(f.TakeWoken(f.now), "p")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a")
			f.pod("p", "a", at(1), in("p"))
			f.pod("q", "a", at(2), in("q"))
			f.wantPods(f.choose(), "p")
			f.fail("p", NoFit)
			f.wantPods(f.choose())
			open(f)
			f.sound()
			got := f.choose()
			if len(got) == 0 {
				t.Error("nothing is released")
			}
		})
	}
}

func TestTheOrderAndNotTheProbeGetsTheRoomThatWokeIt(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.b")
	f.pod("a", "a")
	f.wantPods(f.choose(), "a")
	f.fail("a", NoFit)
	f.pod("b", "b")
	f.pod("running", "a", boundTo("node"))
	f.Admitted("a")
	f.wantPods(f.TakeWoken(f.now), "a")
	f.wantPods(f.choose(), "b") // root.a uses more
}

func TestOnlyReleasedPodsAreAdmitted(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	check := func(uid UID, want bool) {
		t.Helper()
		if admitted, woken := f.Admitted(uid); admitted != want || woken {
			t.Errorf("pod %s: admitted %v, woken %v", uid, admitted, woken)
		}
	}
	check("nobody", false)
	check("p", false)
	f.wantPods(f.choose(), "p")
	check("p", true)
	f.reserve("p")
	check("p", false)
	f.bindAll("p")
	check("p", false)
}

func TestErrorsBackOffPodAndClass(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", at(1))
	f.pod("q", "a", at(2))
	for i, seconds := range []int64{1, 2, 4, 8, 10, 10} {
		f.wantPods(f.choose(), "p")
		f.wantPods(f.fail("p", Errored), "p")
		f.wantState("p", "Waiting root.a BackOff")
		if next, ok := f.NextRetry(f.now); !ok || next != f.now+seconds*sec {
			t.Fatalf("failure %d: the next try is after %d ns, want %d s", i+1, next-f.now, seconds)
		}
		f.wantPods(f.choose()) // q is of the class that fails
		f.now += seconds*sec - 1
		f.wantPods(f.choose())
		f.now++
	}
	f.run("p", "q")
	if _, ok := f.NextRetry(f.now); ok {
		t.Error("there is nothing to wait for")
	}
}

func TestErrorWhileBindingBacksOffThePodAlone(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", at(1))
	f.pod("q", "a", at(2))
	f.pod("r", "a", at(3))
	f.wantPods(f.choose(), "p")
	f.reserve("p")
	f.wantPods(f.choose(), "q", "r")
	f.wantPods(f.fail("p", Errored), "p")
	f.wantState("q", "Released root.a")
	f.reserve("q", "r")
	f.now += sec
	f.wantPods(f.choose(), "p")
}

func TestNodeThatComesEndsTheBackOffOfAClassNotOfAPod(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", at(1))
	f.pod("q", "a", at(2))
	f.wantPods(f.choose(), "p")
	f.fail("p", Errored)
	f.wantPods(f.choose())
	f.ObserveNode(Node{Name: "new", Allocatable: amounts(1, 4), Usable: true})
	f.wantPods(f.choose(), "q")
}

func TestAnotherPluginsGateHoldsAPodWithoutASlot(t *testing.T) {
	f := newFixture(t, Options{Window: 1})
	f.declare("root.a")
	f.pod("gated", "a", at(1), gatedBy("SchedulingGates"))
	f.pod("p", "a", at(2))
	f.wantState("gated", "Waiting root.a SchedulingGate")
	f.run("p")
	f.edit("gated", gatedBy(""))
	f.run("gated")
}

func TestGateThatComesWhileAPodBacksOffOutlastsIt(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	f.wantPods(f.choose(), "p")
	f.fail("p", Errored)
	f.edit("p", gatedBy("DynamicResources"))
	f.wantState("p", "Waiting root.a SchedulingGate")
	f.now += sec / 2
	f.edit("p", gatedBy(""))
	f.wantState("p", "Waiting root.a BackOff")
	f.now += sec / 2
	f.run("p")
}

func TestPodThatIsGatedWhenItFailsIsNoProbe(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", at(1))
	f.pod("q", "a", at(2))
	f.wantPods(f.choose(), "p")
	f.edit("p", gatedBy("DynamicResources"))
	f.wantPods(f.fail("p", NoFit), "p")
	f.wantState("p", "Waiting root.a SchedulingGate")
	f.wantPods(f.choose(), "q") // nobody would ask us about p while another plugin blocks it
}

func TestPodsOfDifferentSizeUnderOneClassKeyAreKeptApart(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", maximum(amounts(2, 100)))
	f.pod("big", "a", asks(3, 1), at(1))
	f.pod("small", "a", asks(1, 1), at(2))
	f.wantPods(f.choose(), "small")
}

func TestNoFitAfterReserveParksOrStepsBack(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	for i := range 3 {
		f.pod(UID(fmt.Sprintf("p%d", i)), "a")
	}
	f.wantPods(f.choose(), "p0")
	f.reserve("p0")
	f.wantPods(f.choose(), "p1", "p2")
	f.reserve("p1", "p2")
	f.fail("p1", NoFit) // somebody else's Permit
	f.wantState("p1", "Parked root.a")
	f.wantPods(f.fail("p2", NoFit), "p2")
	f.wantState("p2", "Waiting root.a BackOff")
	f.wantUsage("root", "cpu=1 memory=4Gi")
}

func TestAPodThatSomebodysPermitRefusedBacksOffBeforeItIsTriedAgain(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", at(1))
	for _, seconds := range []int64{1, 2, 4, 8, 10, 10} {
		f.wantPods(f.choose(), "p")
		f.reserve("p")
		f.wantPods(f.fail("p", NoFit))
		f.wantState("p", "Parked root.a")
		f.Admitted("p") // what the refusal itself gave back wakes it
		f.wantPods(f.TakeWoken(f.now), "p")
		f.wantState("p", "Waiting root.a BackOff")
		f.now += seconds*sec - 1
		f.wantPods(f.choose())
		f.now++
	}
	f.pod("q", "a", at(2))
	f.wantPods(f.choose(), "p")
	f.reserve("p")
	f.fail("p", NoFit)
	f.Admitted("p")
	f.wantPods(f.TakeWoken(f.now), "p")
	f.wantPods(f.choose(), "q") // only the pod backs off
	f.sound()
}

func TestAParkedPodIsTakenOutWhenItIsToBeDeleted(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a")
	f.wantPods(f.choose(), "p")
	f.fail("p", NoFit)
	f.edit("p", terminating)
	f.wantPods(f.TakeWoken(f.now), "p")
	f.wantState("p", "Gone -")
	f.sound()
}
