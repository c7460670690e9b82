package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

var ada, bob = access.Subject{User: "ada", Groups: "ads"}, access.Subject{User: "bob"}

func submittedBy(s access.Subject) func(*Pod) { return func(p *Pod) { p.Submitter = s } }

func (f *fixture) answer(s access.Subject, q queue.Path, a access.Answer) {
	f.t.Helper()
	f.ObserveAccess(access.Question{Subject: s, Queue: q}, a, f.now)
	f.sound()
}

func (f *fixture) wantQuestions(want ...string) {
	f.t.Helper()
	open, _ := f.AccessQuestions(0)
	slices.SortFunc(open, access.Question.Compare)
	got := make([]string, len(open))
	for i, q := range open {
		got[i] = q.User + " " + string(q.Queue)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("asks %q, want %q", got, want)
	}
}

func TestAPodStartsOnceItsUserMaySubmit(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("free", "a")
	f.pod("p", "a", submittedBy(ada))
	f.pod("q", "a", submittedBy(bob))
	f.wantState("p", "Waiting root.a SubmitUnchecked")
	f.run("free")
	f.wantPods(f.choose())
	f.answer(ada, "root.a", access.Yes)
	f.answer(bob, "root.a", access.No)
	f.wantState("q", "Waiting root.a SubmitForbidden")
	f.run("p")
	f.answer(bob, "root.a", access.Yes)
	f.answer(bob, "root.a", access.Unknown) // as if it had never been answered
	f.wantPods(f.choose())
	f.answer(bob, "root.a", access.Yes)
	f.wantPods(f.choose(), "q")
}

// What lies between the release and the binding is stopped, at the latest in Reserve. What is bound stays.
func TestAUserWhoMayNoLongerSubmitStartsNothingMore(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.answer(ada, "root.a", access.Yes)
	for _, uid := range []UID{"parked", "bound", "reserved", "released", "waiting"} {
		f.pod(uid, "a", submittedBy(ada), ofClass(string(uid)))
		if uid == "waiting" {
			break
		}
		f.wantPods(f.choose(), uid)
		switch uid {
		case "bound":
			f.reserve(uid)
			f.bindAll(uid)
		case "reserved":
			f.reserve(uid)
		case "parked":
			f.fail(uid, NoFit)
		}
	}
	f.answer(ada, "root.a", access.No)
	f.wantState("bound", "Bound root.a")
	f.wantState("parked", "Parked root.a SubmitForbidden")
	f.wantState("waiting", "Waiting root.a SubmitForbidden")
	if why, ok := f.Reserve("released", "node", f.now); ok || why.Code != reason.SubmitForbidden {
		t.Errorf("Reserve of the released pod: %v %s", ok, why.Code)
	}
	if why, ok := f.Recheck("reserved"); ok || why.Code != reason.SubmitForbidden {
		t.Errorf("a look at the reserved pod: %v %s", ok, why.Code)
	}
	f.fail("released", Refused)
	f.wantState("released", "Waiting root.a SubmitForbidden")
	f.wantPods(f.choose())
}

func TestOnlyWhatPodsDependOnIsAsked(t *testing.T) {
	f := newFixture(t, Options{})
	f.pod("p", "a", submittedBy(ada))
	f.pod("again", "a", submittedBy(ada))
	f.pod("bad", "Not_A_Name", submittedBy(ada))
	f.wantQuestions() // no queue takes them
	f.declare("root.a")
	f.declare("root.b")
	f.pod("q", "b", submittedBy(bob))
	f.wantQuestions("ada root.a", "bob root.b")
	_, version := f.AccessQuestions(0)
	f.pod("r", "b", submittedBy(bob))
	if open, now := f.AccessQuestions(version); open != nil || now != version {
		t.Errorf("a second pod of the same question made %v of it, and version %d of %d", open, now, version)
	}
	f.edit("p", relabelled("b"))
	f.wantQuestions("ada root.a", "ada root.b", "bob root.b")
	f.forget("again")
	f.wantQuestions("ada root.b", "bob root.b")
	f.edit("p", boundTo("node"))
	f.edit("q", terminating)
	f.wantQuestions("bob root.b")
}

// A pod that may not be submitted keeps no children out of the queue that it asks for. It says why it waits, and is asked about, also when that queue has
// children: the tree depends on the answer. Until there is one, the tree stays as it is.
func TestAPodThatMayNotBeSubmittedKeepsNoChildrenOut(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", created(10))
	f.pod("p", "a", at(20), submittedBy(ada))
	f.declare("root.a.b", created(30))
	f.pod("q", "a.b", at(40))
	f.pod("young", "a", at(50), submittedBy(bob))
	f.wantState("q", "Waiting - QueueNotReady")
	f.answer(ada, "root.a", access.No)
	f.wantQuestions("ada root.a")
	f.wantState("q", "Waiting root.a.b")
	f.wantState("p", "Waiting - SubmitForbidden")
	f.wantState("young", "Waiting - QueueNotLeaf")
	f.answer(ada, "root.a", access.Yes) // it is older than the child
	f.Settle(f.now)
	f.sound()
	f.wantState("q", "Waiting - QueueNotReady")
	f.wantState("p", "Waiting root.a")
	f.answer(ada, "root.a", access.No)
	f.wantPods(f.choose(), "q")
	f.answer(ada, "root.a", access.Yes)
	f.Settle(f.now)
	f.sound()
	f.wantState("p", "Waiting - QueueNotLeaf") // a pod is in the child

	f.forget("q")
	f.answer(ada, "root.a", access.No)
	f.declare("root.a.c", created(5)) // p is younger than this child
	f.Settle(f.now)
	f.sound()
	f.wantState("p", "Waiting - QueueNotLeaf")
	f.wantQuestions()
	_, version := f.AccessQuestions(0)
	f.pod("oldest", "a", at(1), submittedBy(ada))
	f.wantQuestions("ada root.a")
	if _, now := f.AccessQuestions(0); now == version {
		t.Error("the list of questions changed, and its version did not")
	}
	f.wantState("oldest", "Waiting - SubmitForbidden")
}

// An answer outlives the pods that depended on it, until it is forgotten: the next pod of the user starts at once.
func TestAnAnswerWaitsForTheNextPod(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("p", "a", submittedBy(ada))
	f.answer(ada, "root.a", access.Yes)
	if f.ForgetAccess(access.Question{Subject: ada, Queue: "root.a"}) {
		t.Error("an answer is forgotten on which a pod depends")
	}
	f.run("p")
	f.pod("q", "a", submittedBy(ada))
	f.run("q")
	if !f.ForgetAccess(access.Question{Subject: ada, Queue: "root.a"}) {
		t.Error("an answer on which no pod depends is not forgotten")
	}
	f.pod("r", "a", submittedBy(ada))
	f.wantState("r", "Waiting root.a SubmitUnchecked")
}

// A pod is told at once that its user may not submit. That nobody has answered yet, it is told only if that lasts, and what it shows stays meanwhile.
func TestWhatAPodIsToldAboutAccess(t *testing.T) {
	f := newFixture(t, Options{})
	want := func(said ...string) {
		t.Helper()
		if got := f.updates(); !slices.Equal(got, said) {
			t.Errorf("told %q, want %q", got, said)
		}
	}
	f.declare("root.a")
	before := reason.Reason{Code: reason.SubmitForbidden, Queue: "root.a", Details: reason.Submitter{User: "bob"}}
	f.pod("p", "a", submittedBy(ada))
	f.pod("q", "a", submittedBy(bob), func(p *Pod) { p.Shown = before.Text() })
	want()
	f.answer(bob, "root.a", access.No)
	want() // it shows that already
	f.now += 3 * sec
	f.Survey(10, f.now)
	want("p SubmitUnchecked")
	f.answer(ada, "root.a", access.No)
	want("p SubmitForbidden")
	f.answer(ada, "root.a", access.Yes)
	f.answer(bob, "root.a", access.Yes)
	want("p", "q")
}

// The other pods of an application whose driver may not be submitted wait with it, and say so.
func TestTheOthersWaitForADriverThatMayNotBeSubmitted(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.pod("driver", "a", in("app"), driver, submittedBy(ada), ofClass("d"))
	f.pod("executor", "a", in("app"))
	f.answer(ada, "root.a", access.No)
	f.wantPods(f.choose())
	s, _ := f.PodState("executor")
	if why := s.BlockedBy.Cause(); why.Code != reason.SubmitForbidden || reason.As[reason.Submitter](why).User != "ada" {
		t.Errorf("the executor waits for %+v", s.BlockedBy)
	}
	f.answer(ada, "root.a", access.Yes)
	f.wantPods(f.choose(), "driver", "executor")
}

// Whatever happens in whatever order: a pod that waits where a queue takes it is blocked by access exactly if the last answer about its user and queue is
// not yes; and a ledger that is given the same objects and answers in another order comes to the same.
func TestAccessEqualsItsTwin(t *testing.T) {
	subjects := []access.Subject{{}, ada, bob, {User: "ada"}}
	paths := []queue.Path{"root.a", "root.b", "root.b.c"}
	since := map[queue.Path]int64{"root.b.c": 5} // some pods that wait for root.b are older, and keep it out unless they may not be submitted
	blocked, refused := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(16, seed))
		f := newFixture(t, Options{Window: 3})
		answers, pods, queues := map[access.Question]access.Answer{}, map[UID]Pod{}, map[queue.Path]bool{}
		for range 60 {
			uid, path := UID(fmt.Sprint("p", r.IntN(6))), paths[r.IntN(len(paths))]
			switch r.IntN(6) {
			case 0:
				if queues[path] = !queues[path]; queues[path] {
					f.declare(path, created(since[path]))
				} else {
					f.ForgetQueue(path)
				}
			case 1, 2:
				p, known := pods[uid]
				if !known {
					p = Pod{UID: uid, Name: string(uid), Application: string(uid), Class: "c", Request: amounts(1, 4), Created: int64(r.IntN(9))}
				}
				if p.Node == "" {
					p.Queue, p.Submitter = string(path), subjects[r.IntN(len(subjects))]
				}
				pods[uid] = p
				f.observe(p)
			case 3:
				delete(pods, uid)
				f.forget(uid)
			case 4:
				q, a := access.Question{Subject: subjects[1+r.IntN(3)], Queue: path}, access.Answer(r.IntN(3))
				answers[q] = a
				f.answer(q.Subject, q.Queue, a)
			case 5:
				if c, ok := f.Choose(f.now); ok {
					p := pods[c.UID]
					p.Node, p.Placed = "node", p.Queue
					pods[c.UID] = p
					f.observe(p)
				}
			}
			f.Settle(f.now)
			for uid, p := range pods {
				s, _ := f.PodState(uid)
				may := p.Submitter == (access.Subject{}) || answers[access.Question{Subject: p.Submitter, Queue: queue.Path(p.Queue)}] == access.Yes
				is := s.BlockedBy.Code == reason.SubmitForbidden || s.BlockedBy.Code == reason.SubmitUnchecked
				if s.State == Waiting && s.Leaf != "" && is == may {
					t.Fatalf("seed %d: %s waits in %s, its user may submit: %v, and %q blocks it", seed, uid, s.Leaf, may, s.BlockedBy.Code)
				}
				blocked += btoi(is)
				refused += btoi(is && s.Leaf == "")
			}
		}
		twin := newFixture(t, Options{Window: 3})
		for uid, p := range pods {
			twin.ObservePod(p, f.now)
			if r.IntN(2) == 0 {
				twin.ObservePod(pods[uid], f.now)
			}
		}
		for q, a := range answers {
			twin.ObserveAccess(q, a, f.now)
		}
		for path, declared := range queues {
			if declared {
				twin.declare(path, created(since[path]))
			}
		}
		twin.Settle(f.now)
		if got, want := f.Fingerprint(), twin.Fingerprint(); got != want {
			t.Fatalf("seed %d: got\n%s\nbuilt again\n%s", seed, got, want)
		}
	}
	if blocked < 1000 || refused < 100 {
		t.Errorf("access blocked pods only %d times, and kept them from their queue %d times: the test is of little worth", blocked, refused)
	}
}
