package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestAFailedClassWaitsForRoomAndTakesItOnce(t *testing.T) {
	w := struct{ leader }{newLeader(Options{})}
	w.ObserveNode(Node{Name: "n", Allocatable: amounts(4, 16), Usable: true})
	w.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
	for _, name := range []string{"p1", "p2", "p3", "p4"} {
		w.ObservePod(Pod{UID: UID(name), Name: name, Queue: "root.a", Application: "x", Class: "c", Request: amounts(2, 8), Created: int64(name[1])}, 1)
	}
	run := func() UID {
		t.Helper()
		r, ok := w.Choose(10)
		if !ok {
			t.Fatal("nothing to release")
		}
		if why, ok := w.Reserve(r.UID, "n", 11); !ok {
			t.Fatal(why.Text())
		}
		p, _ := w.PodState(r.UID)
		p.Node = "n"
		w.ObservePod(p.Pod, 12)
		return r.UID
	}
	first := run()
	run()
	probe, ok := w.Choose(20)
	if !ok {
		t.Fatal("a class that never failed is tried without room: only the attempt tells users and autoscalers why it waits")
	}
	w.Fail(probe.UID, NoFit, 21)
	w.Admitted(probe.UID)
	w.TakeWoken(22)
	if r, ok := w.Choose(23); ok {
		t.Fatalf("%s was released without room", r.UID)
	}
	w.ForgetPod(first, 30)
	run()
	if r, ok := w.Choose(40); ok {
		t.Fatalf("%s was released into room that is taken", r.UID)
	}
	// What the arithmetic may have overlooked is tried now and then all the same.
	if at, ok := w.NextRetry(40); !ok || at != 10+breaker.RoomlessAfter {
		t.Errorf("next retry at %d, %v", at, ok)
	}
	if _, ok := w.Choose(10 + breaker.RoomlessAfter); !ok {
		t.Error("a class that waits for room is never tried again")
	}
	for _, wrong := range w.Check() {
		t.Error(wrong)
	}
}

func TestANodeThatMayNotBeUsedGivesNoRoom(t *testing.T) {
	l := newLeader(Options{})
	l.ObserveNode(Node{Name: "plain", Allocatable: amounts(8, 32), Usable: true, Facts: "plain"})
	l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
	p := Pod{UID: "p", Name: "p", Queue: "root.a", Application: "x", Class: "gpu", Request: amounts(2, 8),
		Eligible: func(f any) bool { return f == "gpu" }}
	l.ObservePod(p, 1)
	probe, _ := l.Choose(2)
	l.Fail(probe.UID, NoFit, 3)
	l.Admitted(probe.UID)
	l.TakeWoken(4)
	if _, ok := l.Choose(5); ok {
		t.Fatal("released although no node it may use exists")
	}
	l.ObserveNode(Node{Name: "gpu", Allocatable: amounts(8, 32), Usable: true, Facts: "gpu", Pods: 1})
	r, ok := l.Choose(6)
	if !ok {
		t.Fatal("a node that fits did not wake the class")
	}
	l.Reserve(r.UID, "gpu", 7)
	p2 := p
	p2.UID, p2.Name = "p2", "p2"
	l.ObservePod(p2, 8)
	if _, ok := l.Choose(9); ok {
		t.Error("released to a node that takes no more pods")
	}
}

// One pod of a class that waits shows why. When that one leaves the class, the next is tried, so that somebody still says it.
func TestAClassThatNoPodSpeaksForIsTriedOnceMore(t *testing.T) {
	for name, leave := range map[string]func(*Ledger, Pod){
		"deleted": func(l *Ledger, p Pod) { l.ForgetPod(p.UID, 6) },
		"deleted in two steps": func(l *Ledger, p Pod) { // the adapter gives a terminating pod no class
			p.Terminating, p.Class = true, ""
			l.ObservePod(p, 6)
		},
		"changed": func(l *Ledger, p Pod) {
			p.Class, p.Request = "larger", amounts(4, 8)
			l.ObservePod(p, 6)
			r, _ := l.Choose(6)
			l.Fail(r.UID, NoFit, 6)
		},
	} {
		l := newLeader(Options{})
		l.ObserveNode(Node{Name: "n", Allocatable: amounts(1, 4), Usable: true})
		l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
		big := Pod{UID: "p1", Name: "p1", Queue: "root.a", Application: "x", Class: "c", Request: amounts(2, 8), Created: 1}
		next := big
		next.UID, next.Name, next.Created = "p2", "p2", 2
		l.ObservePod(big, 1)
		l.ObservePod(next, 1)
		first, _ := l.Choose(2)
		l.Fail(first.UID, NoFit, 3)
		l.Admitted(first.UID)
		l.TakeWoken(4)
		if r, ok := l.Choose(5); ok {
			t.Fatalf("%s: %s was tried without room while %s says why", name, r.UID, first.UID)
		}
		leave(l.Ledger, big)
		if r, ok := l.Choose(7); !ok || r.UID != "p2" {
			t.Errorf("%s: nobody says any more why the class waits", name)
		}
	}
}

// Devices are all taken, and nodes without devices have room for everything else. That is no room for a class that wants a device,
// unless nodes need not list it.
func TestANodeWithoutTheDeviceIsNoRoom(t *testing.T) {
	const gpu resource.Name = "example.com/gpu"
	device := resource.Entry{Name: gpu, Value: 1}
	for what, c := range map[string]struct {
		elsewhere resource.Name
		released  bool
	}{
		"only nodes have it":             {"", false},
		"another resource is elsewhere":  {"example.com/other", false},
		"another group is elsewhere":     {"example", false},
		"the resource is elsewhere":      {gpu, true},
		"its whole group is passed over": {"example.com", true},
	} {
		l := newLeader(Options{})
		l.ObserveNode(Node{Name: "plain", Allocatable: amounts(8, 32), Usable: true})
		l.ObserveNode(Node{Name: "devices", Allocatable: amounts(8, 32).Add(resource.Of(device)), Usable: true})
		l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
		one := amounts(1, 1).Add(resource.Of(device))
		l.ObservePod(Pod{UID: "holder", Foreign: true, Node: "devices", Request: one}, 1)
		l.ObservePod(Pod{UID: "p", Name: "p", Queue: "root.a", Application: "x", Class: "c", Request: one}, 1)
		probe, _ := l.Choose(2)
		l.Fail(probe.UID, NoFit, 3)
		l.Admitted(probe.UID)
		l.TakeWoken(4)
		l.ObserveUnlisted(map[resource.Name]bool{c.elsewhere: true})
		if _, ok := l.Choose(5); ok != c.released {
			t.Errorf("%s: released is %v", what, ok)
		}
		for _, wrong := range l.Check() {
			t.Error(what, wrong)
		}
		l.ForgetPod("holder", 6)
		if _, ok := l.Choose(7); ok == c.released {
			t.Errorf("%s: released to the device that came free is %v", what, ok)
		}
	}
}
