package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

const (
	noPort   = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
	noVolume = "0/1 nodes are available: 1 node(s) had volume node affinity conflict. preemption: 0/1 nodes are available: 1 No preemption victims found."
)

// Pods of one class that were tried at different times show different answers, and each pod is told its own. One that shows none is told one of its class.
func TestEachPodIsToldItsOwnAnswer(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	for _, uid := range []UID{"p", "q", "none"} {
		f.pod(uid, "a", asks(1, 1))
	}
	f.shows(noPort, "p")
	f.shows(noVolume, "q")
	h := f.Rehearse()
	for uid, want := range map[UID]string{"p": noPort, "q": noVolume} {
		if why := h.Stopped(uid); why.Code != reason.Parked || reason.As[reason.Answer](why).Text != want {
			t.Errorf("%s: %s %q", uid, why.Code, reason.As[reason.Answer](why).Text)
		}
	}
	if why := h.Stopped("none"); why.Code != reason.Parked {
		t.Errorf("one that shows nothing: %s", why.Code)
	}
}

// The node has room by now, so what the pod shows is no longer so: it is next.
func TestAnAnswerAboutRoomIsOutOfDateWhereNodesHaveRoom(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", asks(1, 1))
	f.shows(misfit, "p")
	h := f.Rehearse()
	if c, ok := h.Next(false, false); !ok || c.UID != "p" {
		t.Errorf("next is %q, %s", c.UID, h.Stopped("p").Code)
	}
}

// The pods of a parked class showed that nodes lack room. They have it now, and kube-scheduler refuses the class for its ports: all of them are to show that.
func TestSiblingsShowWhatTheClassIsRefusedForNow(t *testing.T) {
	f := fullCluster(t, amounts(5, 100))
	f.waiting("p", "m", 3)
	f.probe("p0")
	f.wantLook(1000)
	f.now += 5 * sec
	f.wantLook(1000, "p1", "p2")
	f.shows(misfit, "p1", "p2")
	f.wantLook(1000)
	f.forget("big")
	f.Admitted("p0")
	f.TakeWoken(f.now)
	f.wantPods(f.choose(), "p0")
	f.fail("p0", NoFit)
	f.shows(noPort, "p0")
	f.now += 5 * sec
	show, _ := f.Backlog(1000, 5*sec, f.now)
	want := []Backlogged{
		{UID: "p1", Namespace: "default", Name: "p1", Message: noPort, Again: true}, {UID: "p2", Namespace: "default", Name: "p2", Message: noPort, Again: true},
	}
	if diff := cmp.Diff(want, show); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
