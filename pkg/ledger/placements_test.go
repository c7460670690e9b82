package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func rule(kind string, edits ...func(*placement.RuleStatement)) placement.RuleStatement {
	r := placement.RuleStatement{Kind: kind}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func withoutCreate(r *placement.RuleStatement) { r.Create = new(bool) }
func below(parent string) func(*placement.RuleStatement) {
	return func(r *placement.RuleStatement) { r.Parent = parent }
}

func nestedIn(kind string) func(*placement.RuleStatement) {
	return func(r *placement.RuleStatement) { r.Nested = &placement.RuleStatement{Kind: kind} }
}

func (f *fixture) placeBy(rules ...placement.RuleStatement) {
	f.t.Helper()
	p, problems := placement.Parse(placement.Statement{Rules: rules})
	if problems != nil {
		f.t.Fatal(problems)
	}
	f.ObservePlacementPolicy(p)
	f.sound()
}

func of(user string, groups ...string) func(*Pod) {
	return func(p *Pod) { p.User, p.Groups = user, groups }
}

// carryOut does what placement needs, as the controller of the leader does, and returns what that was.
func (f *fixture) carryOut() string {
	f.t.Helper()
	var did []string
	do := f.PlacementActions(f.now)
	for _, q := range do.Create {
		text := "+" + string(q.Path)
		if q.For != "" {
			text += " for " + q.For
		}
		if q.Parent {
			text += " as a parent"
		}
		did = append(did, text)
		f.declare(q.Path, func(d *queue.Declaration) {
			d.Created, d.Parent, d.Origin = f.now, q.Parent, queue.Origin{Placement: true, For: q.For}
		})
	}
	for _, p := range do.Remove {
		did = append(did, "-"+string(p))
		f.ForgetQueue(p)
		f.sound()
	}
	return strings.Join(did, ", ")
}

func (f *fixture) wantActions(want string) {
	f.t.Helper()
	if got := f.carryOut(); got != want {
		f.t.Errorf("placement needs %q, want %q", got, want)
	}
}

func TestAPodIsInTheQueueThatTheRulesGive(t *testing.T) {
	f := newFixture(t, Options{})
	for _, p := range []queue.Path{"root", "root.default", "root.ann", "root.dev", "root.dev.bob", "root.ops", "root.x"} {
		f.declare(p)
	}
	f.placeBy(rule("Specified", withoutCreate), rule("NestedUserQueue", nestedIn("PrimaryGroup"), withoutCreate), rule("SecondaryGroupExistingQueue"), rule("User", withoutCreate), rule("Default"))
	for name, c := range map[string]struct {
		queue, user string
		groups      []string
		want        string
	}{
		"what it asks for":        {"x", "ann", []string{"dev"}, "root.x"},
		"nested":                  {"", "bob", []string{"dev"}, "root.dev.bob"},
		"nobody declared it":      {"y", "ann", nil, ""},
		"the order of the groups": {"", "bob", []string{"qa", "ops", "x"}, "root.ops"},
		"the user's":              {"", "ann", []string{"qa"}, "root.ann"},
		"the rest":                {"", "eve", []string{"qa"}, "root.default"},
	} {
		want := "Waiting " + c.want
		if c.want == "" {
			want = "Waiting - PlacementRejected" // NestedUserQueue asks PrimaryGroup, and there is no group
		}
		f.pod("p", c.queue, of(c.user, c.groups...))
		if s, _ := f.PodState("p"); stateText(s) != want {
			t.Errorf("%s: %s, want %s", name, stateText(s), want)
		}
		f.forget("p")
	}
}

func stateText(s PodState) string {
	if s.Leaf == "" {
		return fmt.Sprintf("%s - %s", s.State, s.BlockedBy.Code)
	}
	return fmt.Sprintf("%s %s", s.State, s.Leaf)
}

func TestAnotherPolicyMovesWaitingPodsOnly(t *testing.T) {
	f := newFixture(t, Options{Window: 2})
	for _, p := range []queue.Path{"root", "root.default", "root.ann", "root.a"} {
		f.declare(p)
	}
	f.placeBy(rule("User"))
	for i, uid := range []UID{"bound", "released", "waiting"} {
		f.pod(uid, "a", of("ann"), at(int64(i)))
	}
	f.run("bound")
	f.wantPods(f.choose(), "released", "waiting")
	f.wantState("released", "Released root.ann")
	f.Fail("waiting", Refused, f.now)
	f.placeBy(rule("Specified"), rule("Reject"))
	f.wantState("bound", "Bound root.ann")
	f.wantState("released", "Released root.ann")
	f.wantState("waiting", "Waiting root.a")
	f.Fail("released", Refused, f.now)
	f.wantState("released", "Waiting root.a")
	f.placeBy(rule("Reject"))
	f.wantState("waiting", "Waiting - PlacementRejected")
	if why, _ := f.Why("waiting"); why.Text() != "the placement policy rejects the pod: its rule Reject takes no pod" {
		t.Error(why.Text())
	}
	f.ObservePlacementPolicy(placement.Policy{})
	f.wantState("released", "Waiting root.a")
	f.wantState("bound", "Bound root.ann")
}

// With a policy, what blocks a pod that names a queue is what the tree says of that queue.
func TestAPodThatNamesAQueueWaitsForItWhenTheRulesRefuseIt(t *testing.T) {
	f := newFixture(t, Options{})
	for _, p := range []queue.Path{"root", "root.default", "root.a", "root.a.b"} {
		f.declare(p)
	}
	p, _ := placement.Parse(placement.Statement{Mappings: []string{"u:ann:root.default"}})
	f.ObservePlacementPolicy(p)
	f.pod("mapped", "", of("ann"))
	f.pod("parent", "a", of("bob"))
	f.pod("missing", "c", of("bob"))
	f.pod("wrong", "A b", of("bob"))
	f.wantState("mapped", "Waiting root.default")
	f.wantState("parent", "Waiting - QueueNotLeaf")
	f.wantState("missing", "Waiting - QueueNotFound")
	f.wantState("wrong", "Waiting - QueueNameInvalid")
	f.declare("root.c")
	f.wantState("missing", "Waiting root.c")
}

func TestAQueueIsCreatedBeforeItsPodStarts(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.default")
	f.placeBy(rule("NestedUserQueue", nestedIn("PrimaryGroup")))
	f.pod("p", "", of("Ann", "dev"))
	f.pod("q", "", of("Ann", "dev"))
	f.pod("r", "", of("bob", "dev"))
	f.wantState("p", "Waiting - CreatingQueue")
	f.wantPods(f.choose())
	f.wantActions("+root.dev for dev as a parent")
	f.wantState("p", "Waiting - CreatingQueue")
	f.wantActions("+root.dev.ann for Ann, +root.dev.bob for bob")
	f.wantActions("")
	f.wantState("p", "Waiting root.dev.ann")
	f.run("p", "r", "q")
	f.wantState("q", "Bound root.dev.ann")
	f.pod("s", "dev", of("bob", "dev"), func(p *Pod) { p.Groups = []string{"dev"} })
	f.wantState("s", "Waiting root.dev.bob")
}

// When many pods move at once, no more applications start than may run, and the oldest do.
func TestPodsThatMoveTogetherKeepToLimits(t *testing.T) {
	f := newFixture(t, Options{Window: 4})
	f.declare("root")
	f.declare("root.default")
	f.declare("root.a", func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(2) })
	f.placeBy(rule("Reject"))
	for i, uid := range []UID{"4", "3", "2", "1"} {
		f.pod(uid, "a", at(int64(9-i)), func(p *Pod) { p.Application = "ns/job/" + string(uid) })
	}
	f.lead()
	f.ObservePlacementPolicy(placement.Policy{})
	f.Settle(f.now)
	for uid, want := range map[UID]reason.Code{"1": "", "2": "", "3": reason.MaxRunningApplications, "4": reason.MaxRunningApplications} {
		if s, _ := f.PodState(uid); s.BlockedBy.Code != want {
			t.Errorf("%s: %+v", uid, s)
		}
	}
}

// Those that come too late for the number of queues that may be created are rejected, until there is room.
func TestNoMoreQueuesAreCreatedThanAllowed(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.default")
	f.declare("root.users", func(d *queue.Declaration) { d.Parent, d.MaxCreated = true, queue.AtMost(2) })
	f.placeBy(rule("User", below("root.users")))
	for _, name := range []string{"d", "c", "b", "a"} {
		f.pod(UID(name), "", of(name))
	}
	f.wantActions("+root.users.a for a, +root.users.b for b")
	f.wantState("a", "Waiting root.users.a")
	f.wantState("c", "Waiting - PlacementRejected")
	f.wantActions("")
	f.declare("root.users", func(d *queue.Declaration) { d.Parent, d.MaxCreated = true, queue.AtMost(3) })
	f.wantState("c", "Waiting - CreatingQueue")
	f.wantActions("+root.users.c for c")
	f.wantState("d", "Waiting - PlacementRejected")
	f.forget("a")
	f.wantActions("")
	f.now += placement.DefaultRemoveAfter
	f.wantActions("-root.users.a")
	f.wantActions("+root.users.d for d")
}

func TestTwoNamesThatLookAlikeGetTwoQueues(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.default")
	f.placeBy(rule("User"))
	f.pod("p", "", of("a-b"))
	f.pod("q", "", of("A_b"))
	f.wantActions("+root.a-b for A_b")
	f.wantState("q", "Waiting root.a-b")
	f.wantState("p", "Waiting - CreatingQueue")
	f.wantActions("+root." + placement.HashedLabel("a-b") + " for a-b")
	f.wantState("p", "Waiting root."+placement.HashedLabel("a-b"))
}

func TestAnEmptyCreatedQueueIsRemovedAfterAWhile(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.default")
	by := func(q string, edited bool) func(*queue.Declaration) {
		return func(d *queue.Declaration) { d.Origin = queue.Origin{Placement: true, For: q, Edited: edited} }
	}
	f.declare("root.kept", by("kept", true))
	f.declare("root.busy", by("busy", false))
	f.declare("root.dev", by("dev", false), func(d *queue.Declaration) { d.Parent = true })
	f.declare("root.dev.ann", by("ann", false))
	f.pod("p", "busy")
	f.run("p")
	f.wantActions("")
	f.now += placement.DefaultRemoveAfter - 1
	f.wantActions("")
	f.now++
	f.wantActions("-root.dev.ann")
	f.wantActions("")
	f.forget("p")
	f.now += placement.DefaultRemoveAfter
	f.wantActions("-root.dev")
	f.now += placement.DefaultRemoveAfter - 1
	f.wantActions("")
	f.pod("q", "busy") // used again, it is empty from then on
	f.wantActions("")
	f.forget("q")
	f.now += sec
	f.wantActions("")
	f.now += placement.DefaultRemoveAfter
	f.wantActions("-root.busy")
	f.wantActions("")
}

func TestAQueueForChildrenTakesNoPods(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.pod("older", "dev", at(1))
	f.declare("root.dev", created(5), policy(queue.FIFO), func(d *queue.Declaration) { d.Parent = true })
	f.pod("p", "dev", at(9))
	f.wantState("older", "Waiting - QueueNotLeaf")
	f.wantState("p", "Waiting - QueueNotLeaf")
	f.declare("root.dev.ann", created(7))
	f.pod("q", "dev.ann")
	f.wantState("q", "Waiting root.dev.ann")
	if q := f.queue("root.dev"); q.Leaf || len(q.Problems) != 1 {
		t.Errorf("%+v", q)
	}
}

// Nothing is created for a pod whose user may not submit to the queue that would be created, by what is granted above it. That is asked before it is there.
func TestNothingIsCreatedForAUserWithoutAccess(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root")
	f.declare("root.default")
	f.pod("p", "", of("ann"), func(p *Pod) { p.Submitter = access.NewSubject("ann", nil) })
	f.lead()
	_, before := f.AccessQuestions(0)
	f.placeBy(rule("User"))
	question := access.Question{Subject: access.NewSubject("ann", nil), Queue: "root.ann"}
	if open, version := f.AccessQuestions(before); version == before || len(open) != 1 || open[0] != question {
		t.Fatalf("asked: %v, version %d after %d", open, version, before)
	}
	f.wantState("p", "Waiting - SubmitUnchecked")
	f.wantActions("")
	f.ObserveAccess(question, access.No, f.now)
	f.wantState("p", "Waiting - SubmitForbidden")
	f.wantActions("")
	f.ObserveAccess(question, access.Yes, f.now)
	f.wantState("p", "Waiting - CreatingQueue")
	f.wantActions("+root.ann for ann")
	f.wantState("p", "Waiting root.ann")
}
