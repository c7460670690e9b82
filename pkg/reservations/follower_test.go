package reservations

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpus(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: n * 1000})
}

// world is a queue root.plan of 10 cores with a lead time of 10 seconds, and objects whose status is stored after each step.
type world struct {
	*testing.T
	f       *Follower
	queues  []Queue
	objects []Object
	now     int64 // seconds
	last    Result
}

func newWorld(t *testing.T) *world {
	return &world{T: t, f: New(), queues: []Queue{{Path: "root.plan", InForce: true, Capacity: cpus(10), Policy: reservation.DefaultPolicy(), Lead: 10}}}
}

// object adds a Reservation of ns for one pod of so many cores.
func (w *world) object(name string, n, arrival, deadline, duration int64) {
	w.objects = append(w.objects, Object{
		Namespace: "ns", Name: name, UID: fmt.Sprint("uid-", len(w.objects)), Created: int64(len(w.objects)), Generation: 1, Queue: "root.plan", User: "ann",
		Definition: definition(n, arrival, deadline, duration),
	})
}

func definition(n, arrival, deadline, duration int64) reservation.Definition {
	return reservation.Definition{Arrival: arrival, Deadline: deadline, Requests: []reservation.Request{
		{Pods: 1, Resources: cpus(n), Duration: duration, Concurrency: 1},
	}}
}

// to goes on to a time, and wants this of reservations and queues.
func (w *world) to(now int64, want string, children string) {
	w.Helper()
	w.now = now
	w.step()
	var said []string
	for _, key := range slices.Sorted(maps.Keys(w.last.Statuses)) {
		s := w.last.Statuses[key]
		text := strings.TrimPrefix(key, "ns/") + ":" + string(s.Phase)
		if s.Refusal.Reason != "" {
			text += "(" + s.Refusal.Reason + ")"
		}
		said = append(said, text)
	}
	if got := strings.Join(said, " "); got != want {
		w.Errorf("at %d: %s, want %s", now, got, want)
	}
	var queues []string
	for _, c := range w.last.Children {
		if c.For != "" {
			queues = append(queues, fmt.Sprintf("%s(%s)", strings.TrimPrefix(string(c.Path), "root.plan."), c.Guaranteed))
		}
	}
	if got := strings.Join(queues, " "); got != children {
		w.Errorf("at %d the queues are %q, want %q", now, got, children)
	}
}

func (w *world) step() {
	w.last = w.f.Step(w.now*1e9, w.queues, w.objects)
	for i := range w.objects {
		w.objects[i].Stored = w.last.Statuses[w.objects[i].Key()]
	}
}

func (w *world) edit(name string, edit func(*Object)) {
	i := slices.IndexFunc(w.objects, func(o Object) bool { return o.Name == name })
	w.objects[i].Generation++
	edit(&w.objects[i])
}

func (w *world) remove(name string) {
	w.objects = slices.DeleteFunc(w.objects, func(o Object) bool { return o.Name == name })
}

func TestAReservationFromItsAcceptanceToItsEnd(t *testing.T) {
	w := newWorld(t)
	w.object("night", 6, 100, 200, 100)
	w.to(0, "night:Accepted", "")
	if s := w.last.Statuses["ns/night"]; s.Start != 100 || s.At != "" || s.AcceptedTime != 1 || w.last.Next != 90 {
		t.Errorf("%+v, and next at %d", s, w.last.Next)
	}
	w.to(90, "night:Accepted", "ns-night(cpu=6)")
	if s := w.last.Statuses["ns/night"]; s.At != "root.plan.ns-night" {
		t.Errorf("%+v", s)
	}
	w.to(100, "night:Active", "ns-night(cpu=6)")
	w.to(199, "night:Active", "ns-night(cpu=6)")
	w.to(200, "night:Ended", "")
	if s := w.last.Statuses["ns/night"]; s.At != "" || len(s.Steps) != 1 || w.last.Next != math.MaxInt64 {
		t.Errorf("%+v, and next at %d", s, w.last.Next)
	}
	w.to(500, "night:Ended", "")
	w.remove("night")
	w.to(501, "", "")
}

func TestTheFirstToBeCreatedIsServedFirst(t *testing.T) {
	w := newWorld(t)
	w.object("a", 6, 100, 200, 100)
	w.object("b", 6, 100, 200, 100)
	w.to(0, "a:Accepted b:Rejected(NoRoom)", "")
	want := "requests[0]: 0 of 1 times cpu=6 have room for 1m40s between 1970-01-01T00:01:40Z and 1970-01-01T00:03:20Z; it fits with deadline 1970-01-01T00:05:00Z"
	if got := w.last.Statuses["ns/b"].Refusal; got.Message != want || got.Fits != 300 || got.Field != "requests[0]" {
		t.Errorf("%+v", got)
	}
	w.remove("a") // a refusal stands until somebody changes the spec
	w.to(1, "b:Rejected(NoRoom)", "")
	w.edit("b", func(o *Object) { o.Definition.Deadline = 210 })
	w.to(2, "b:Accepted", "")
}

func TestAnUpdateThatDoesNotFitLeavesTheOldOneInForce(t *testing.T) {
	w := newWorld(t)
	w.object("a", 6, 100, 200, 100)
	w.object("b", 4, 100, 200, 100)
	w.to(0, "a:Accepted b:Accepted", "")
	w.edit("b", func(o *Object) { o.Definition = definition(5, 100, 200, 100) })
	w.to(1, "a:Accepted b:Accepted(NoRoom)", "")
	w.f = New() // the refusal is remembered
	w.to(100, "a:Active b:Active(NoRoom)", "ns-a(cpu=6) ns-b(cpu=4)")
	w.edit("b", func(o *Object) { o.Definition = definition(3, 100, 260, 100) })
	w.to(101, "a:Active b:Accepted", "ns-a(cpu=6)")
	if s := w.last.Statuses["ns/b"]; s.AcceptedTime != 101e6 || s.Start != 160 || s.ObservedGeneration != 3 {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsAcceptedLastGoesFirstWhenThereIsLess(t *testing.T) {
	w := newWorld(t)
	w.object("a", 4, 100, 200, 100)
	w.object("b", 4, 100, 200, 100)
	w.to(0, "a:Accepted b:Accepted", "")
	w.queues[0].Capacity = cpus(5)
	w.f = New() // also if somebody else begins to lead
	w.to(1, "a:Accepted b:Cancelled(LessCapacity)", "")
	want := "at 1970-01-01T00:01:40Z at most 5 cpu may be reserved, and reservations have 8 cpu; of those that have some, this one was accepted last"
	if got := w.last.Statuses["ns/b"].Refusal.Message; got != want {
		t.Error(got)
	}
	w.queues[0].Capacity = cpus(10)
	w.to(100, "a:Active b:Cancelled(LessCapacity)", "ns-a(cpu=4)")
	w.queues[0].InForce, w.queues[0].Capacity = false, resource.List{}
	w.to(101, "a:Active b:Cancelled(LessCapacity)", "ns-a(cpu=4)") // as long as nobody knows what there is, nothing goes
}

func TestAQueueThatIsNotReservable(t *testing.T) {
	w := newWorld(t)
	q := w.queues
	w.queues = nil
	w.object("a", 4, 100, 200, 100)
	w.to(0, "a:Pending(QueueNotReservable)", "")
	w.queues = q
	w.queues[0].InForce = false
	w.to(1, "a:Pending(QueueNotReady)", "")
	w.queues[0].InForce = true
	w.to(2, "a:Accepted", "")
	w.queues = nil
	w.to(3, "a:Cancelled(QueueNotReservable)", "")
	w.queues = q
	w.to(100, "a:Cancelled(QueueNotReservable)", "")
	w.object("bad", 4, 100, 200, 100)
	w.edit("bad", func(o *Object) { o.Invalid = "spec.queue: is bad" })
	w.to(101, "a:Cancelled(QueueNotReservable) bad:Rejected(Invalid)", "")
}

func TestADeletedReservationFreesItsTimeAndItsName(t *testing.T) {
	w := newWorld(t)
	w.object("a", 6, 100, 200, 100)
	w.to(150, "a:Rejected(WindowTooShort)", "")
	w.edit("a", func(o *Object) { o.Definition.Deadline = 260 })
	w.to(151, "a:Accepted", "ns-a(cpu=6)")
	w.remove("a")
	w.object("a", 7, 100, 260, 100)
	w.objects[0].UID = "another"
	w.to(160, "a:Active", "ns-a(cpu=7)")
	if s := w.last.Statuses["ns/a"]; s.Steps[0].Amounts.Get(resource.CPU) != 7000 {
		t.Errorf("%+v", s)
	}
}

func TestReservationsThatSpellTheirQueueAlikeHaveTwo(t *testing.T) {
	w := newWorld(t)
	w.object("b-c", 1, 100, 200, 100)
	w.object("c", 1, 100, 200, 100)
	w.objects[0].Namespace, w.objects[1].Namespace = "a", "a-b"
	w.now = 100
	w.step()
	first, second := w.last.Statuses["a/b-c"].At, w.last.Statuses["a-b/c"].At
	if first != "root.plan.a-b-c" || !strings.HasPrefix(string(second), "root.plan.a-b-c-") {
		t.Errorf("%s and %s", first, second)
	}
	w.objects, w.f = w.objects[1:], New()
	w.step()
	if got := w.last.Statuses["a-b/c"].At; got != second {
		t.Errorf("it moved to %s", got)
	}
}

func TestARecurringReservationWaitsForItsNextPeriod(t *testing.T) {
	w := newWorld(t)
	w.object("a", 6, 100, 200, 100)
	w.objects[0].Definition.Recurrence = 3600
	w.to(0, "a:Accepted", "")
	w.to(150, "a:Active", "ns-a(cpu=6)")
	w.to(200, "a:Accepted", "")
	if s := w.last.Statuses["ns/a"]; s.Start != 3700 || s.At != "" || w.last.Next != 3690 {
		t.Errorf("%+v, and next at %d", s, w.last.Next)
	}
	w.f = New()
	w.to(3750, "a:Active", "ns-a(cpu=6)")
}

// Whenever another process begins to lead, nothing is another than it would have been. And at any time, what is accepted has its capacity, and no queue is
// that of two.
func TestARestartLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(nil)
		other := newWorld(nil)
		for w.now < 300 {
			w.now += rapid.Int64Range(1, 40).Draw(t, "seconds")
			for i := range rapid.IntRange(0, 2).Draw(t, "objects") {
				from := w.now + rapid.Int64Range(0, 100).Draw(t, "arrival")
				duration := rapid.Int64Range(1, 60).Draw(t, "duration")
				w.object(fmt.Sprintf("r%d-%d", w.now, i), rapid.Int64Range(1, 8).Draw(t, "cores"), from, from+duration+rapid.Int64Range(0, 60).Draw(t, "slack"), duration)
			}
			if n := len(w.objects); n > 0 && rapid.IntRange(0, 4).Draw(t, "edit") == 0 {
				w.edit(w.objects[rapid.IntRange(0, n-1).Draw(t, "which")].Name, func(o *Object) {
					o.Definition.Requests = []reservation.Request{{Pods: 1, Resources: cpus(rapid.Int64Range(1, 8).Draw(t, "new cores")), Duration: 20, Concurrency: 1}}
					o.Definition.Deadline += o.Generation // a new generation is another spec
				})
			}
			w.queues[0].Capacity = cpus(rapid.SampledFrom([]int64{10, 10, 10, 6}).Draw(t, "capacity"))
			stored := slices.Clone(w.objects)
			w.step()
			if rapid.Bool().Draw(t, "restart") {
				other.f, other.queues, other.objects, other.now = New(), w.queues, stored, w.now
				other.step()
				if diff := cmp.Diff(w.last, other.last, cmp.Comparer(resource.List.Equal)); diff != "" {
					t.Fatalf("at %d: %s", w.now, diff)
				}
				w.f = other.f
			}
			w.keepsWhatIsAccepted(t)
		}
	})
}

func (w *world) keepsWhatIsAccepted(t *rapid.T) {
	guaranteed := map[string]resource.List{}
	at := map[queue.Path]bool{}
	for _, c := range w.last.Children {
		if at[c.Path] {
			t.Fatalf("at %d %s is there twice", w.now, c.Path)
		}
		at[c.Path] = true
		guaranteed[c.For] = c.Guaranteed
	}
	for key, s := range w.last.Statuses {
		for _, step := range s.Steps {
			if s.inPlan() && step.From <= w.now && w.now < step.To && !step.Amounts.Fits(guaranteed[key]) {
				t.Fatalf("at %d %s has %s", w.now, key, guaranteed[key])
			}
		}
	}
}
