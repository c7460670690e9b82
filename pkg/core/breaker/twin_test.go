package breaker_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/breaker"
)

// event is something that a class has heard of.
type event struct {
	what string
	at   int64
}

// twin remembers all events and nothing else. It answers by reading them from the first on.
type twin []event

// last returns the place of the last event of these, -1 for none.
func (t twin) last(of ...string) int {
	for i := len(t) - 1; i >= 0; i-- {
		for _, what := range of {
			if t[i].what == what {
				return i
			}
		}
	}
	return -1
}

// count is how many events of these come after a place.
func (t twin) count(after int, of ...string) (n int) {
	for _, e := range t[after+1:] {
		for _, what := range of {
			if e.what == what {
				n++
			}
		}
	}
	return n
}

func (t twin) parked() bool { return t.last("park") > t.last("reopen") }

func (t twin) failed() bool {
	return t.last("park", "error") > t.last("reserve by priority", "forget")
}

func (t twin) full() bool {
	most := 1
	for range t.count(t.last("park", "reopen", "error", "reserve by priority"), "reserve") {
		if most *= 2; most > window {
			most = window
		}
	}
	return t.count(-1, "enter")-t.count(-1, "leave") >= most
}

func (t twin) backsOffUntil() int64 {
	i := t.last("error")
	if i < 0 || t.last("reopen", "end") > i {
		return 0
	}
	pause := second
	for range t[:i+1].count(t[:i].last("reserve", "reserve by priority"), "error") - 1 {
		pause = min(2*pause, 10*second)
	}
	return t[i].at + pause
}

func (t twin) triedAt() int64 {
	if i := t.last("release"); i >= 0 {
		return t[i].at
	}
	return 0
}

// nextTry is the first of all moments at which time alone changes something.
func (t twin) nextTry(room bool, now int64) (first int64) {
	moments := []int64{t.backsOffUntil()}
	if !room && t.failed() {
		moments = append(moments, t.triedAt()+breaker.RoomlessAfter)
	}
	for _, at := range moments {
		if at > now && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// A breaker says at any time what all that it has heard of amounts to.
func TestABreakerSaysWhatItsHistoryAmountsTo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, h, now := breaker.New(), twin{}, int64(0)
		do := map[string]func(){
			"park": func() { b.Park() }, "reopen": func() { b.Reopen() }, "error": func() { b.Error(now) }, "end": func() { b.EndBackOff() },
			"forget": func() { b.ForgetFailure() }, "release": func() { b.Release(now) }, "enter": func() { b.Enter() }, "leave": func() { b.Leave() },
			"reserve": func() { b.Reserve(window) }, "reserve by priority": func() { b.ReserveByPriority() },
		}
		names := []string{"park", "reopen", "error", "end", "forget", "release", "enter", "leave", "reserve", "reserve by priority"}
		for range rapid.IntRange(0, 40).Draw(rt, "events") {
			now += rapid.SampledFrom([]int64{0, 1, second, 20 * second, breaker.RoomlessAfter}).Draw(rt, "passes")
			what := rapid.SampledFrom(names).Draw(rt, "event")
			if what == "leave" && b.InFlight() == 0 {
				what = "enter"
			}
			do[what]()
			h = append(h, event{what, now})
			compare(rt, &b, h, now)
		}
	})
}

func compare(t *rapid.T, b *breaker.Breaker, h twin, now int64) {
	if b.Parked() != h.parked() || b.Full() != h.full() {
		t.Fatalf("after %v: parked %v, full %v; want %v, %v", h, b.Parked(), b.Full(), h.parked(), h.full())
	}
	if may := !h.parked() && now >= h.backsOffUntil(); b.MayRelease(now) != may || b.NeedsRoom(now) != (may && h.failed()) {
		t.Fatalf("after %v: may be released %v, needs room %v; want %v", h, b.MayRelease(now), b.NeedsRoom(now), may)
	}
	for _, n := range []breaker.Nodes{{}, {Held: true}, {Extenders: true}, {Held: true, Extenders: true}} {
		want := n.Extenders || !n.Held && (!h.failed() || now >= h.triedAt()+breaker.RoomlessAfter)
		if got := b.MayTryWithoutRoom(n, now); got != want {
			t.Fatalf("after %v, %+v: may be tried without room %v", h, n, got)
		}
	}
	for _, room := range []bool{true, false} {
		if got, want := b.NextTry(room, now), h.nextTry(room, now); got != want {
			t.Fatalf("after %v, room %v: the next try is at %d, want %d", h, room, got, want)
		}
	}
}
