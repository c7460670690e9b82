package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// world is a real ledger with a Checker, and an API server that answers from a list of grants.
type world struct {
	t *testing.T
	*Checker
	ledger *ledger.Ledger
	clock  *testingclock.FakeClock

	mu     sync.Mutex
	yes    map[string]bool // "user verb queue"
	fails  error
	asked  []string
	hangs  bool
	atOnce int
	most   int
}

func newWorld(t *testing.T, o Options) *world {
	w := &world{t: t, ledger: ledger.New(ledger.Options{}), clock: testingclock.NewFakeClock(time.Unix(1000, 0)), yes: map[string]bool{}}
	o.Clock = w.clock
	w.Checker = New(w.ledger, w.answer, o)
	w.ledger.Lead(w.clock.Now().UnixNano())
	return w
}

func (w *world) answer(ctx context.Context, s access.Subject, g access.Grant) (bool, error) {
	line := fmt.Sprintf("%s %s %s", s.User, g.Verb, g.Queue)
	w.mu.Lock()
	w.asked = append(w.asked, line)
	w.atOnce++
	w.most = max(w.most, w.atOnce)
	yes, err, hangs := w.yes[line], w.fails, w.hangs
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.atOnce--
		w.mu.Unlock()
	}()
	if hangs {
		<-ctx.Done()
		return false, ctx.Err()
	}
	return yes, err
}

func (w *world) declare(paths ...queue.Path) {
	for _, p := range paths {
		w.ledger.ObserveQueue(queue.Declaration{Path: p, Spec: queue.DefaultSpec()})
	}
}

func (w *world) pod(uid, user, q string) {
	w.ledger.ObservePod(ledger.Pod{UID: ledger.UID(uid), Name: uid, Application: uid, Class: "c", Queue: q, Submitter: access.NewSubject(user, nil)}, w.clock.Now().UnixNano())
}

// passes runs passes until nothing is due, and returns what was asked.
func (w *world) passes() []string {
	w.t.Helper()
	w.asked = nil
	for range 1000 {
		if w.pass(w.t.Context()) > 0 {
			return w.asked
		}
	}
	w.t.Fatal("something is always due")
	return nil
}

func (w *world) want(uid string, want reason.Code) {
	w.t.Helper()
	s, ok := w.ledger.PodState(ledger.UID(uid))
	if !ok || s.BlockedBy.Code != want {
		w.t.Errorf("%s is blocked by %q (known %v), want %q", uid, s.BlockedBy.Code, ok, want)
	}
}

func (w *world) wantAsked(got []string, want ...string) {
	w.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// In an open tree, one review for each user answers for all queues and pods.
func TestOneReviewAnswersForAUserInAnOpenTree(t *testing.T) {
	w := newWorld(t, Options{})
	w.yes["ada submit root"], w.yes["bob submit root"] = true, true
	for i := range 20 {
		q := fmt.Sprintf("root.q%d", i)
		w.declare(queue.Path(q))
		for n := range 3 {
			w.pod(fmt.Sprint("a", i, "-", n), "ada", q)
			w.pod(fmt.Sprint("b", i, "-", n), "bob", q)
		}
	}
	w.wantAsked(w.passes(), "ada submit root", "bob submit root")
	for i := range 20 {
		w.want(fmt.Sprint("a", i, "-2"), "")
		w.want(fmt.Sprint("b", i, "-0"), "")
	}
	w.pod("late", "ada", "root.q7")
	w.want("late", "")
	w.wantAsked(w.passes())
}

func TestEachGrantIsAskedAboutOnce(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a", "root.a.b", "root.a.c")
	w.yes["ada administer root.a.c"] = true
	w.pod("b", "ada", "root.a.b")
	w.pod("c", "ada", "root.a.c")
	w.wantAsked(w.passes(), "ada submit root", "ada submit root.a", "ada submit root.a.b", "ada submit root.a.c",
		"ada administer root", "ada administer root.a", "ada administer root.a.b", "ada administer root.a.c")
	w.want("b", reason.SubmitForbidden)
	w.want("c", "")
}

// Roles change: what pods depend on is asked again, what they do not is forgotten.
func TestAnAnswerIsAskedForAgain(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.yes["ada submit root"] = true
	w.pod("p", "ada", "root.a")
	w.pod("q", "bob", "root.a")
	w.passes()
	w.want("p", "")
	w.want("q", reason.SubmitForbidden)
	w.yes = map[string]bool{"bob submit root.a": true}
	w.clock.Step(DefaultRecheck - 1)
	w.wantAsked(w.passes())
	w.clock.Step(1)
	w.passes()
	w.want("p", reason.SubmitForbidden)
	w.want("q", "")

	w.ledger.ForgetPod("p", 0)
	w.ledger.ForgetPod("q", 0)
	w.passes()
	w.clock.Step(DefaultRecheck)
	w.wantAsked(w.passes())
	if len(w.questions) != 0 {
		t.Errorf("%d questions are kept on which no pod depends", len(w.questions))
	}
	w.pod("p", "ada", "root.a")
	w.want("p", reason.SubmitUnchecked)
	w.passes()
	w.want("p", reason.SubmitForbidden)
}

// While the API server does not answer, what was answered counts on for a while; then nothing is allowed.
func TestAnswersExpireWhileNobodyAnswers(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.yes["ada submit root"] = true
	w.pod("p", "ada", "root.a")
	w.passes()
	w.fails = errors.New("no answer")
	w.pod("q", "bob", "root.a")
	for began := w.clock.Now(); w.clock.Since(began) < DefaultExpire-time.Minute; w.clock.Step(10 * time.Second) {
		w.passes()
		w.want("p", "")
		w.want("q", reason.SubmitUnchecked)
	}
	for range 13 {
		w.clock.Step(10 * time.Second)
		w.passes()
	}
	w.want("p", reason.SubmitUnchecked)
	w.fails = nil
	w.clock.Step(time.Minute)
	w.passes()
	w.want("p", "")
	w.want("q", reason.SubmitForbidden)
}

// One user with many queues does not delay others by more than a pass, and no more than a few reviews are under way.
func TestNobodyWaitsForAllQuestionsOfAnother(t *testing.T) {
	w := newWorld(t, Options{})
	for i := range 200 {
		w.declare(queue.Path(fmt.Sprintf("root.q%03d", i)))
		w.pod(fmt.Sprint("greedy", i), "greedy", fmt.Sprintf("root.q%03d", i))
	}
	w.pass(t.Context())
	w.pod("p", "ada", "root.q000")
	w.pod("q", "bob", "root.q001")
	if wait := w.pass(t.Context()); wait > 0 {
		t.Errorf("the next pass comes in %s", wait)
	}
	w.want("p", reason.SubmitForbidden)
	w.want("q", reason.SubmitForbidden)
	w.want("greedy199", reason.SubmitUnchecked)
	w.passes()
	w.want("greedy199", reason.SubmitForbidden)
	if w.most > 4 {
		t.Errorf("%d reviews at once", w.most)
	}
}

// A cache of any size gives the same answers, for more requests.
func TestASmallCacheStillAnswers(t *testing.T) {
	w := newWorld(t, Options{Grants: 1})
	w.yes["ada submit root.a.b"] = true
	w.declare("root.a", "root.a.b", "root.a.c")
	w.pod("b", "ada", "root.a.b")
	w.pod("c", "ada", "root.a.c")
	w.passes()
	w.want("b", "")
	w.want("c", reason.SubmitForbidden)
	if n := len(w.grants.Keys()); n > 1 {
		t.Errorf("%d grants are kept", n)
	}
}

// A new leader asks once before it begins, and begins all the same if nobody answers.
func TestPrime(t *testing.T) {
	w := newWorld(t, Options{})
	w.yes["ada submit root"] = true
	for i := range 50 {
		w.declare(queue.Path(fmt.Sprintf("root.q%d", i)))
		w.pod(fmt.Sprint("p", i), "ada", fmt.Sprintf("root.q%d", i))
	}
	w.Prime(t.Context())
	for i := range 50 {
		w.want(fmt.Sprint("p", i), "")
	}

	w = newWorld(t, Options{})
	w.declare("root.a")
	w.pod("p", "ada", "root.a")
	w.fails = errors.New("forbidden")
	w.Prime(t.Context()) // returns
	w.want("p", reason.SubmitUnchecked)

	w.hangs = true
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w.clock.Step(time.Hour)
	w.Prime(ctx) // returns
}

// A user about whom nobody answers costs one review in a pass, and the others of the pass are answered.
func TestAFailureEndsTheTurnOfItsSubject(t *testing.T) {
	w := newWorld(t, Options{})
	review := w.review
	w.review = func(ctx context.Context, s access.Subject, g access.Grant) (bool, error) {
		yes, err := review(ctx, s, g)
		if s.User == "broken" {
			err = errors.New("no answer")
		}
		return yes, err
	}
	w.yes["ada submit root"] = true
	for i := range 5 {
		w.declare(queue.Path(fmt.Sprintf("root.q%d", i)))
		w.pod(fmt.Sprint("b", i), "broken", fmt.Sprintf("root.q%d", i))
	}
	w.pod("p", "ada", "root.q0")
	w.pass(t.Context())
	w.wantAsked(w.asked, "broken submit root", "ada submit root")
	w.want("p", "")
	w.want("b0", reason.SubmitUnchecked)
	w.want("b4", reason.SubmitUnchecked)
}

// Where there is more to ask than can be asked, new subjects and those whose answers are due take turns, whichever are more.
func TestNewSubjectsAndRenewalsTakeTurns(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	add := func(kind string, n int) {
		for i := range n {
			w.pod(fmt.Sprint(kind, i), fmt.Sprint(kind, i), "root.a")
		}
	}
	pass := func() (fresh, known int) {
		w.asked = nil
		w.pass(t.Context())
		for _, line := range w.asked {
			switch {
			case !strings.HasSuffix(line, " submit root"): // the first of a subject's
			case strings.HasPrefix(line, "new"):
				fresh++
			default:
				known++
			}
		}
		return fresh, known
	}
	add("known", 3*subjectsPerPass)
	w.passes()
	w.clock.Step(2 * DefaultRecheck)
	add("new", 1)
	if fresh, known := pass(); fresh != 1 || known != subjectsPerPass-1 {
		t.Errorf("%d new, %d known subjects were asked about", fresh, known)
	}
	add("newer", subjectsPerPass)
	if fresh, known := pass(); fresh != subjectsPerPass/2 || known != subjectsPerPass/2 {
		t.Errorf("%d new, %d known subjects were asked about", fresh, known)
	}
}

// What was refused is asked again less and less often, up to a bound, and as often as at first once it was allowed.
func TestRefusalsAreAskedAgainAtGrowingIntervals(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.pod("p", "ada", "root.a")
	began := w.clock.Now()
	var at []int
	for range 400 {
		if len(w.passes()) > 0 {
			at = append(at, int(w.clock.Since(began).Seconds()))
		}
		if w.clock.Since(began) == 330*time.Second {
			w.yes["ada submit root"] = true
		}
		if w.clock.Since(began) == 450*time.Second {
			w.yes = map[string]bool{}
		}
		w.clock.Step(5 * time.Second)
		if w.clock.Since(began) > 720*time.Second {
			break
		}
	}
	// Refused at 0, 30, 90, 210 and 330; allowed at 450; refused from 480 on.
	if want := []int{0, 30, 90, 210, 330, 450, 480, 510, 570, 690}; !slices.Equal(at, want) {
		t.Errorf("asked after %v seconds, want %v", at, want)
	}
}

// An answer that nobody comes to renew ends as one that nobody gives.
func TestAnswersExpireWhileThereIsTooMuchToAsk(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	const n = 2 * subjectsPerPass
	blocked := func() (count int) {
		for i := range n {
			if s, _ := w.ledger.PodState(ledger.UID(fmt.Sprint(i))); s.BlockedBy.Code == reason.SubmitUnchecked {
				count++
			}
		}
		return count
	}
	for i := range n {
		user := fmt.Sprint("user", i)
		w.yes[user+" submit root"] = true
		w.pod(fmt.Sprint(i), user, "root.a")
	}
	w.passes()
	w.clock.Step(DefaultExpire - 1)
	w.pass(t.Context())
	if got := blocked(); got != 0 {
		t.Errorf("%d pods are blocked too early", got)
	}
	w.clock.Step(1)
	w.expire(w.clock.Now())
	if got := blocked(); got != n-subjectsPerPass {
		t.Errorf("%d pods are blocked, want %d", got, n-subjectsPerPass)
	}
	w.passes()
	if got := blocked(); got != 0 {
		t.Errorf("%d pods are blocked although all was asked", got)
	}
}
