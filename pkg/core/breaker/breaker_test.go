package breaker_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
)

const (
	second int64 = 1e9
	window int   = 5
)

// noNodes: nothing but the class decides.
var noNodes breaker.Nodes

func TestAClassStartsSlowly(t *testing.T) {
	b := breaker.New()
	for _, most := range []int{1, 2, 4, 5, 5} { // the window bounds what doubles
		for n := range most {
			if b.Full() {
				t.Fatalf("%d pods are on their way, and no more may go; want %d", n, most)
			}
			b.Enter()
		}
		if !b.Full() || b.InFlight() != most {
			t.Fatalf("%d pods are on their way, and more may go", b.InFlight())
		}
		for range most {
			b.Leave()
		}
		b.Reserve(window)
	}
}

func TestOnePodIsTriedAgainAfter(t *testing.T) {
	for name, event := range map[string]func(*breaker.Breaker){
		"a pod that fits no node":          (*breaker.Breaker).Park,
		"an event that may help the probe": (*breaker.Breaker).Reopen,
		"an error":                         func(b *breaker.Breaker) { b.Error(0) },
		"a pod that made room for itself":  (*breaker.Breaker).ReserveByPriority,
	} {
		b := breaker.New()
		for range 3 {
			b.Reserve(window)
		}
		b.Enter()
		if b.Full() {
			t.Fatal("one pod is as many as may be on their way")
		}
		if event(&b); !b.Full() {
			t.Errorf("after %s more than one pod may be on its way", name)
		}
	}
}

func TestAParkedClassWaitsForAnEvent(t *testing.T) {
	b := breaker.New()
	b.Park()
	if !b.Parked() || b.MayRelease(1<<60) {
		t.Error("time opens a class that is parked")
	}
	b.Reopen()
	if b.Parked() || !b.MayRelease(0) {
		t.Error("it is still parked")
	}
}

func TestErrorsBackOffMoreEachTime(t *testing.T) {
	b := breaker.New()
	now := int64(0)
	for _, seconds := range []int64{1, 2, 4, 8, 10, 10} {
		b.Error(now)
		if at := b.NextTry(true, now); at != now+seconds*second {
			t.Fatalf("the next try is at %d, want %d seconds from now, %d", at, seconds, now)
		}
		if now += seconds * second; b.MayRelease(now-1) || !b.MayRelease(now) {
			t.Fatalf("the back-off does not end after %d seconds", seconds)
		}
	}
	b.Reserve(window)
	b.Error(now)
	if at := b.NextTry(true, now); at != now+second {
		t.Errorf("after a pod that was reserved the next try is at %d, want %d", at, now+second)
	}
	if b.EndBackOff(); !b.MayRelease(now) {
		t.Error("a node that comes does not end the back-off")
	}
}

func TestRoomIsNeededAfterAFailure(t *testing.T) {
	const fiveMinutes = 300 * second
	for name, c := range map[string]struct {
		before  func(*breaker.Breaker)
		nodes   breaker.Nodes
		without bool // may be released at once
		needs   bool
		next    int64 // when there is no room
	}{
		"never tried":                      {func(*breaker.Breaker) {}, noNodes, true, false, 0},
		"it fitted no node":                {func(b *breaker.Breaker) { b.Park(); b.Reopen() }, noNodes, false, true, fiveMinutes},
		"it is parked":                     {(*breaker.Breaker).Park, noNodes, false, false, fiveMinutes},
		"an error, and time passed":        {func(b *breaker.Breaker) { b.Error(-second) }, noNodes, false, true, fiveMinutes},
		"an error":                         {func(b *breaker.Breaker) { b.Error(0) }, noNodes, false, false, second},
		"the pod that showed why has left": {func(b *breaker.Breaker) { b.Park(); b.Reopen(); b.ForgetFailure() }, noNodes, true, false, 0},
		"a pod made room for itself":       {func(b *breaker.Breaker) { b.Park(); b.Reopen(); b.ReserveByPriority() }, noNodes, true, false, 0},
		"a pod was reserved":               {func(b *breaker.Breaker) { b.Park(); b.Reopen(); b.Reserve(window) }, noNodes, false, true, fiveMinutes},
		"extenders know of other room":     {func(b *breaker.Breaker) { b.Park(); b.Reopen() }, breaker.Nodes{Extenders: true, Held: true}, true, true, fiveMinutes},
		"nodes are held, never tried":      {func(*breaker.Breaker) {}, breaker.Nodes{Held: true}, false, false, 0},
		"nodes are held, it has failed":    {func(b *breaker.Breaker) { b.Park(); b.Reopen() }, breaker.Nodes{Held: true}, false, true, fiveMinutes},
	} {
		b := breaker.New()
		b.Release(0)
		c.before(&b)
		if got := b.MayTryWithoutRoom(c.nodes, fiveMinutes-1); got != c.without {
			t.Errorf("%s: without room a pod may be tried is %v", name, got)
		}
		if got := b.MayTryWithoutRoom(c.nodes, fiveMinutes); got != (c.nodes.Extenders || !c.nodes.Held) {
			t.Errorf("%s: after five minutes a pod may be tried without room is %v", name, got)
		}
		if got := b.NeedsRoom(0); got != c.needs {
			t.Errorf("%s: it needs room is %v", name, got)
		}
		if got := b.NextTry(false, 0); got != c.next {
			t.Errorf("%s: the next try is at %d, want %d", name, got, c.next)
		}
	}
}
