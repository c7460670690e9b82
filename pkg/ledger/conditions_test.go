package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// updates takes all conditions that are due: "p QueueNotFound", or "p" where the condition is cleared.
func (f *fixture) updates() (said []string) {
	for ts := f.TakeConditionUpdates(10); len(ts) > 0; ts = f.TakeConditionUpdates(10) {
		for _, t := range ts {
			s := string(t.UID)
			if t.Reason.Code != "" {
				s += " " + string(t.Reason.Code)
			}
			said = append(said, s)
		}
	}
	return said
}

func (f *fixture) wantUpdates(said ...string) {
	f.t.Helper()
	if got := f.updates(); !slices.Equal(got, said) {
		f.t.Errorf("told %q, want %q", got, said)
	}
}

func TestPodIsToldWhatHoldsItOnceAndWhenThatEnds(t *testing.T) {
	f := newFixture(t, Options{})
	want := f.wantUpdates
	f.pod("p", "a")
	f.pod("q", "Not_A_Name")
	want("p QueueNotFound", "q QueueNameInvalid")
	want()
	f.declare("root.a.b")
	f.edit("p", prioritised(3))
	want()
	f.declare("root.a", created(5))
	want("p QueueNotLeaf")
	f.ForgetQueue("root.a.b")
	want("p")
	want()
	f.wantPods(f.choose(), "p")
	f.fail("p", Errored)
	want() // a pod that waits for its turn, or for the end of a back-off, needs no condition
	f.forget("q")
	want()
}

func TestPodThatShowsASentenceAlreadyIsNotToldAgain(t *testing.T) {
	f := newFixture(t, Options{})
	text := reason.Reason{Code: reason.QueueNotFound, Queue: "root.a"}.Text()
	f.pod("p", "a", func(p *Pod) { p.Shown = text })
	f.pod("q", "a", func(p *Pod) { p.Shown = "something older" })
	if got := f.updates(); !slices.Equal(got, []string{"q QueueNotFound"}) {
		t.Errorf("told %q", got)
	}
	f.declare("root.a")
	if got := f.updates(); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("told %q", got)
	}
}

// What a limit stops says so when another leads, too: it is neither taken back nor said again because numbers moved meanwhile.
func TestAnotherLeaderDoesNotRepeatTheSentenceOfALimit(t *testing.T) {
	before := newFixture(t, Options{})
	set := func(f *fixture, running int64) {
		f.declare("root.a", maximum(amounts(4, 400)))
		f.declare("root.b", func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(1) })
		f.pod("ran", "a", asks(running, 4), placedIn("root.a"), boundTo("node"))
		f.pod("app", "b", placedIn("root.b"), boundTo("node"))
	}
	pods := func(f *fixture, shown map[UID]string) {
		for uid, q := range map[UID]string{"p": "a", "q": "b", "r": "a"} {
			f.pod(uid, q, asks(3, 4), func(p *Pod) { p.Shown = shown[uid] })
		}
	}
	set(before, 2)
	pods(before, nil)
	before.now += tellAfter
	before.Survey(10, before.now)
	shown := map[UID]string{}
	for _, s := range before.TakeConditionUpdates(10) {
		shown[s.UID] = s.Reason.Text()
	}
	if len(shown) != 3 {
		t.Fatalf("told %v", shown)
	}
	shown["r"] = "what another limit says"

	f := newFixture(t, Options{})
	pods(f, shown)
	set(f, 3)
	if got := f.updates(); !slices.Equal(got, []string{"r MaxResources"}) {
		t.Errorf("told %q", got)
	}
	f.now += tellAfter
	f.Survey(10, f.now)
	if got := f.updates(); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	f.declare("root.a", maximum(amounts(5, 400)))
	f.Survey(10, f.now)
	if got := f.updates(); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"p MaxResources", "r MaxResources"}) {
		t.Errorf("told %q", got)
	}
	// A replica that stands by sees what the leader writes, and goes on with that.
	f.edit("p", func(p *Pod) { p.Shown = shown["p"] })
	f.declare("root.a", maximum(amounts(4, 400)))
	if got := f.updates(); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	f.declare("root.a")
	if got := f.updates(); !slices.Equal(got, nil) {
		t.Errorf("told %q", got)
	}
}

func TestAConditionThatCouldNotBeWrittenIsWrittenAgain(t *testing.T) {
	f := newFixture(t, Options{})
	f.pod("p", "a")
	ts := f.TakeConditionUpdates(1)
	if len(ts) != 1 || ts[0].Name != "p" || ts[0].Namespace != "default" {
		t.Fatalf("told %+v", ts)
	}
	f.RetryConditionUpdate("p")
	f.RetryConditionUpdate("nobody")
	if got := f.updates(); !slices.Equal(got, []string{"p QueueNotFound"}) {
		t.Errorf("told %q", got)
	}
	f.RetryConditionUpdate("p")
	f.declare("root.a")
	if got := f.updates(); !slices.Equal(got, []string{"p"}) {
		t.Errorf("told %q", got)
	}
}

func TestConditionUpdatesAreTakenInPortions(t *testing.T) {
	f := newFixture(t, Options{})
	for i := range 5 {
		f.pod(UID(fmt.Sprint("p", i)), "a")
	}
	for _, want := range []int{2, 2, 1, 0} {
		if got := len(f.TakeConditionUpdates(2)); got != want {
			t.Errorf("%d condition updates, want %d", got, want)
		}
	}
}

func TestJournalKeepsTheLastSteps(t *testing.T) {
	f := newFixture(t, Options{Journal: 4})
	f.declare("root.a")
	f.pod("p", "a")
	f.run("p")
	steps := func(from uint64) (said []string) {
		for _, e := range f.Journal(from) {
			said = append(said, fmt.Sprint(e.Sequence, " ", e.Name, " ", e.State, " ", e.Queue))
		}
		return said
	}
	want := []string{"0 p Waiting root.a", "1 p Released root.a", "2 p Reserved root.a", "3 p Bound root.a"}
	if got := steps(0); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	f.pod("q", "a")
	want = append(want[1:], "4 q Waiting root.a")
	if got := steps(0); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := steps(4); !slices.Equal(got, want[3:]) {
		t.Errorf("got %q, want %q", got, want[3:])
	}
	if got := steps(5); len(got) != 0 {
		t.Errorf("got %q, want none", got)
	}
	f.forget("p") // the end of a pod that ran is a step too: what is charged can be told from the journal alone
	if got, want := steps(5), []string{"5 p Gone "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := New(Options{}).Journal(0); len(got) != 0 {
		t.Errorf("got %v of a ledger without a journal", got)
	}
}

// What a pod asks for its application, and is no priority, is told once, when nothing else is to be said; also while the pod runs. It ends when that is put
// right.
func TestAPodSaysThatThePriorityItAsksForIsNone(t *testing.T) {
	f := newFixture(t, Options{})
	want := f.wantUpdates
	asks := func(text string) func(*Pod) { return func(p *Pod) { p.UnreadPriority = text } }
	text := reason.Reason{Code: reason.ApplicationPriorityInvalid, Details: reason.Invalid{Why: "high"}}.Text()
	f.declare("root.a")
	f.pod("p", "a", asks("high"))
	f.pod("blocked", "b", asks("high"))
	f.pod("shows it", "a", asks("high"), func(p *Pod) { p.Shown = text })
	f.pod("shows more", "a", func(p *Pod) { p.Shown = text })
	want("p ApplicationPriorityInvalid", "blocked QueueNotFound", "shows more")
	f.declare("root.b")
	want("blocked ApplicationPriorityInvalid")
	f.edit("shows more", asks("1.5"))
	want("shows more ApplicationPriorityInvalid")
	f.wantPods(f.choose(), "p")
	f.reserve("p")
	f.bindAll("p")
	want()
	f.edit("p", asks("low"))
	want("p ApplicationPriorityInvalid")
	f.edit("p", asks(""))
	want("p")
	f.sound()
}
