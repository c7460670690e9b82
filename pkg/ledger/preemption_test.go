package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func fairShareTimeout(seconds int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) {
		d.Spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: seconds * sec}
	}
}

func guaranteedTimeout(seconds int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) {
		d.Spec.Preemption.GuaranteedTimeout = queue.Timeout{Stated: true, Nanoseconds: seconds * sec}
	}
}

// scenarioA is that of the document, an eighth of its size: 100 cpu and 400 GiB, of which busy (weight 1) holds 90 cpu and sometimes-busy (weight 3)
// 10. Then sometimes-busy asks for 80 more. Its share is 75 cpu, that of busy 25.
func scenarioA(t *testing.T) *fixture {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60))
	running := func(q string, n int) {
		for i := range n {
			f.pod(UID(fmt.Sprintf("%s-%03d", q, i)), q, boundTo("node"), at(int64(i)), func(p *Pod) { p.Bound = int64(i) })
		}
	}
	running("busy", 90)
	running("sometimes-busy", 10)
	for i := range 80 {
		f.pod(UID(fmt.Sprintf("new-%03d", i)), "sometimes-busy", at(int64(1000+i)))
	}
	f.wantPods(f.choose(), "new-000")
	f.fail("new-000", NoFit)
	f.clocks()
	return f
}

// clocks looks at the clocks and reports whether a round is due.
func (f *fixture) clocks() bool {
	f.t.Helper()
	due, _ := f.LookAtStarvation(f.now)
	f.sound()
	return due
}

func (f *fixture) wantStarvation(path queue.Path, want Starvation) {
	f.t.Helper()
	got := f.queue(path).Starvation
	if !got.Owed.Equal(want.Owed) {
		f.t.Errorf("%s is owed %v, want %v", path, got.Owed, want.Owed)
	}
	if !got.Owed.Equal(got.FairShareOwed.Max(got.GuaranteedOwed)) || got.Claiming != (got.FairShareClaims || got.GuaranteedClaims) {
		f.t.Errorf("%s is owed %v, for its fair share %v and for its guarantee %v", path, got.Owed, got.FairShareOwed, got.GuaranteedOwed)
	}
	got.Owed, want.Owed = resource.List{}, resource.List{}
	got.FairShareOwed, got.GuaranteedOwed, got.FairShareClaims, got.GuaranteedClaims = resource.List{}, resource.List{}, false, false
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.t.Errorf("%s: got %+v, want %+v", path, got, want)
	}
}

func TestAClaimOpensAfterTheTimeoutAndClosesWhenItIsPaid(t *testing.T) {
	f := scenarioA(t)
	began := f.now
	f.wantStarvation("root.sometimes-busy", Starvation{BelowFairShareSince: began, FairShareDue: began + 60*sec})
	f.wantStarvation("root.busy", Starvation{})
	if f.now += 59 * sec; f.clocks() {
		t.Error("a round is due before the timeout has passed")
	}
	if f.now += sec; !f.clocks() {
		t.Error("no round is due when the timeout has passed")
	}
	f.wantStarvation("root.sometimes-busy", Starvation{BelowFairShareSince: began, FairShareDue: began + 60*sec, Claiming: true, Owed: amounts(65, 260)})

	// At 38 cpu it is above its threshold of 37.5, and the claim stays open; at 75 it is paid.
	take := func(from, to int) {
		for i := from; i < to; i++ {
			f.forget(UID(fmt.Sprintf("busy-%03d", i)))
			f.Admitted("new-000")
			f.TakeWoken(f.now)
			f.bind(f.choose()...)
		}
		f.clocks()
	}
	take(0, 28)
	f.wantStarvation("root.sometimes-busy", Starvation{Claiming: true, Owed: amounts(37, 148)})
	take(28, 64)
	f.wantStarvation("root.sometimes-busy", Starvation{Claiming: true, Owed: amounts(1, 4)})
	take(64, 65)
	f.wantStarvation("root.sometimes-busy", Starvation{})
}

func TestTheClockBeginsAgainAfterABreak(t *testing.T) {
	f := scenarioA(t)
	f.now += 50 * sec
	for i := range 28 {
		f.forget(UID(fmt.Sprintf("busy-%03d", i)))
	}
	f.Admitted("new-000")
	f.TakeWoken(f.now)
	for next := f.choose(); len(next) > 0; next = f.choose() {
		f.bind(next...)
	}
	f.clocks()
	f.wantStarvation("root.sometimes-busy", Starvation{})
	f.forget("sometimes-busy-000")
	f.pod("back", "busy", boundTo("node"))
	f.clocks()
	f.wantStarvation("root.sometimes-busy", Starvation{BelowFairShareSince: f.now, FairShareDue: f.now + 60*sec})
}

// An attempt ends what the queue lacks when it has found a node, and not while it runs; nor does a restart lose what a status has kept meanwhile.
func TestAnAttemptThatFailsCostsNoTime(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.small", fairShareTimeout(60), func(d *queue.Declaration) { d.Memory.BelowFairShareSince = 70 * sec })
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"))
	}
	f.pod("one", "small")
	since := Starvation{BelowFairShareSince: 70 * sec, FairShareDue: 130 * sec}
	try := func(want Starvation) {
		t.Helper()
		f.wantPods(f.choose(), "one")
		f.clocks()
		f.wantStarvation("root.small", want)
	}
	gone := 0
	again := func() {
		f.fail("one", NoFit)
		f.forget(UID(fmt.Sprintf("busy-%03d", gone))) // there is room by the books, and a filter says that it is none
		gone++
		f.Admitted("one")
		f.wantPods(f.TakeWoken(f.now), "one")
	}
	f.now = 71 * sec
	try(since)
	again()
	f.clocks()
	f.wantStarvation("root.small", since)

	f.now = 130 * sec
	f.clocks()
	since.Claiming = true
	try(since) // its room is taken, so that nothing is owed
	again()
	since.Owed = amounts(1, 4)
	f.clocks()
	f.wantStarvation("root.small", since)
	f.wantPods(f.choose(), "one")
	f.reserve("one")
	f.clocks()
	f.wantStarvation("root.small", Starvation{})

	f.pod("two", "small") // what is being tried while no clock runs starts none
	f.wantPods(f.choose(), "two")
	f.clocks()
	f.wantStarvation("root.small", Starvation{})
}

func TestClocksSurviveARestart(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), func(d *queue.Declaration) { d.Memory.BelowFairShareSince = 70 * sec })
	f.declare("root.idle", func(d *queue.Declaration) { d.Memory.BelowFairShareSince = 70 * sec })
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"))
	}
	f.pod("new", "sometimes-busy")
	f.clocks()
	f.wantStarvation("root.sometimes-busy", Starvation{BelowFairShareSince: 70 * sec, FairShareDue: 130 * sec})
	f.wantStarvation("root.idle", Starvation{})
}

func TestAGuaranteeHasAClockOfItsOwn(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.sure", weight(0), guaranteed(amounts(10, 0)), guaranteedTimeout(5))
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"))
	}
	for i := range 20 {
		f.pod(UID(fmt.Sprintf("sure-%03d", i)), "sure")
	}
	f.clocks()
	f.now += 5 * sec
	f.clocks()
	f.wantStarvation("root.sure", Starvation{BelowFairShareSince: 100 * sec, BelowGuaranteedSince: 100 * sec, GuaranteedDue: 105 * sec, Claiming: true,
		Owed: amounts(10, 0)})
}

func TestTimeoutsComeFromTheNearestQueueAboveThatStatesOne(t *testing.T) {
	f := newFixture(t, Options{})
	never := func(d *queue.Declaration) {
		d.Spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Never: true}
	}
	f.declare("root", fairShareTimeout(60))
	f.declare("root.busy", never)
	f.declare("root.a", fairShareTimeout(30))
	f.declare("root.a.own", fairShareTimeout(10))
	f.declare("root.a.heir")
	f.declare("root.b")
	f.declare("root.c", never)
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"))
	}
	due := map[queue.Path]int64{"root.a.own": 110, "root.a.heir": 130, "root.b": 160, "root.c": 0}
	for _, q := range []string{"a.own", "a.heir", "b", "c"} {
		f.pod(UID(q), q)
	}
	f.clocks()
	for path, at := range due {
		f.wantStarvation(path, Starvation{BelowFairShareSince: f.now, FairShareDue: at * sec})
	}
}

// Drivers that their share keeps from starting are no demand: preemption would make room that stays empty.
func TestDriversThatTheirShareHoldsAreNotOwedRoom(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.spark", driverShare(100), fairShareTimeout(10))
	for i := range 95 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"))
	}
	for i := range 5 { // a tenth of its share of 50
		f.pod(UID(fmt.Sprintf("driver-%03d", i)), "spark", driver, boundTo("node"))
	}
	for i := range 20 {
		f.pod(UID(fmt.Sprintf("waits-%03d", i)), "spark", driver)
	}
	f.clocks()
	f.wantStarvation("root.spark", Starvation{})
	f.pod("executor", "spark")
	f.clocks()
	f.wantStarvation("root.spark", Starvation{BelowFairShareSince: f.now, FairShareDue: f.now + 10*sec})
}

// The same where the share has shrunk since the drivers came, and no walk has come by: on a full cluster none does.
func TestDriversThatASmallerShareHoldsAreNotOwedRoom(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.spark", driverShare(100), fairShareTimeout(10))
	for i := range 5 {
		f.pod(UID(fmt.Sprintf("driver-%03d", i)), "spark", driver, boundTo("node"))
	}
	for i := range 20 {
		f.pod(UID(fmt.Sprintf("waits-%03d", i)), "spark", driver)
	}
	f.clocks() // a tenth of 100: five more may start
	f.wantStarvation("root.spark", Starvation{BelowFairShareSince: f.now, FairShareDue: f.now + 10*sec})
	for i := range 95 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"))
	}
	f.clocks() // of 50: none may
	f.wantStarvation("root.spark", Starvation{})
}

// planned is scenario A with a plan: the first n new pods are nominated, and the newest of busy go for them.
func planned(t *testing.T, n int) *fixture { return scenarioA(t).plan(n) }

func (f *fixture) plan(n int) *fixture {
	t := f.t
	t.Helper()
	f.now += 60 * sec
	f.clocks()
	w, ok := f.Preemption(f.now)
	if !ok {
		t.Fatal("no claim is due")
	}
	p := preemption.Plan{Claims: []preemption.Payment{{Claim: w.Claims[0]}}}
	for i := range n {
		claimant := w.Claims[0].Units[i].Pods[0].UID
		p.Claims[0].Nominations = append(p.Claims[0].Nominations, preemption.Nomination{UID: claimant})
		p.Victims = append(p.Victims, preemption.Victim{UID: fmt.Sprintf("busy-%03d", 89-i), For: claimant, Above: 1, Resource: resource.CPU, Surplus: 65_000})
	}
	if stale := f.Adopt(w, p, f.now); stale != 0 {
		t.Fatalf("%d nominations are stale", stale)
	}
	f.TakeWoken(f.now)
	f.sound()
	return f
}

func victims(vs []Victim) (uids []UID) {
	for _, v := range vs {
		uids = append(uids, v.UID)
	}
	return uids
}

func withdrawals(ws []Withdrawal) (uids []UID) {
	for _, w := range ws {
		uids = append(uids, w.UID)
	}
	return uids
}

func (f *fixture) announce(uids ...UID) {
	f.each(uids, func(uid UID) { f.Announced(uid, f.now); f.edit(uid, func(p *Pod) { p.Announced = f.now }) })
}

func TestAWorldIsWhatAPlanNeeds(t *testing.T) {
	f := scenarioA(t)
	f.now += 60 * sec
	f.clocks()
	w, _ := f.Preemption(f.now)
	if len(w.Claims) != 1 || len(w.Claims[0].Units) != 65 || !w.Claims[0].Target.Equal(amounts(75, 300)) {
		t.Fatalf("claims: %+v", w.Claims)
	}
	if first := w.Claims[0].Units[0].Pods[0]; first.UID != "new-000" {
		t.Errorf("the first claimant is %s", first.UID)
	}
	if n := w.Nodes[0]; len(n.Candidates) != 100 || !n.Free.IsZero() {
		t.Errorf("node: %d candidates, free %v", len(n.Candidates), n.Free)
	}
	if q := w.Queues[1]; q.Path != "root.busy" || !q.Entitlement.Equal(amounts(25, 100)) || !q.Usage.Equal(amounts(90, 360)) {
		t.Errorf("busy: %+v", q)
	}
	if due, _ := f.LookAtStarvation(f.now); due {
		t.Error("a round is due again although nothing has changed")
	}
}

func TestTheRoomOfANominationIsForItsClaimant(t *testing.T) {
	f := planned(t, 2)
	if kept := f.NodesNominatedToOthers("new-002"); !kept["node"] {
		t.Error("other pods are not kept off the node")
	}
	e := f.PendingActions(f.now)
	f.wantPods(victims(e.Announce), "busy-089", "busy-088")
	if v := e.Announce[0]; v.ForQueue != "root.sometimes-busy" || v.ForUID != "new-000" || v.Above != "root.busy" || v.Share != 25_000 || v.Surplus != 65_000 {
		t.Errorf("victim: %+v", v)
	}
	if n := e.Nominate; len(n) != 2 || n[0].UID != "new-000" || n[0].Node != "node" {
		t.Errorf("nominations: %+v", n)
	}
	f.announce("busy-089", "busy-088")
	f.now += 15*sec - 1
	f.wantPods(victims(f.PendingActions(f.now).Evict))
	f.now++
	f.wantPods(victims(f.PendingActions(f.now).Evict), "busy-089", "busy-088")
	f.Evicted("busy-089", f.now)
	f.wantPods(victims(f.PendingActions(f.now).Evict), "busy-088")
	f.Evicted("busy-088", f.now)
	f.edit("busy-089", func(p *Pod) { p.Terminating, p.Deadline = true, f.now+30*sec })

	f.pod("urgent", "sometimes-busy", at(-1)) // its queue's next, were it not for the claim
	f.wantPods(f.choose())
	f.forget("busy-089")
	f.wantPods(f.choose(), "new-000")
	f.forget("busy-088")
	f.wantPods(f.choose(), "new-001")
	f.reserve("new-000", "new-001")
	f.forget("busy-087")
	f.wantPods(f.choose(), "urgent")
	if vs := f.Victims(); len(vs) != 0 {
		t.Errorf("victims are left: %v", vs)
	}
}

func TestAnEvictionCountsAlthoughThePodIsGoneAlready(t *testing.T) {
	f := planned(t, 2)
	f.announce("busy-089", "busy-088")
	f.now += 15 * sec
	f.wantPods(victims(f.PendingActions(f.now).Evict), "busy-089", "busy-088")
	f.forget("busy-089") // the watch was faster than the answer
	f.Evicted("busy-089", f.now)
	f.Evicted("busy-088", f.now)
	f.Evicted("busy-088", f.now)
	if n := f.PreemptionCounts().Evicted; n != 2 {
		t.Errorf("%d evictions are counted, want 2", n)
	}
}

func TestAVictimThatIsNotNeededAnyMoreStays(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*fixture)
		stay []UID
		why  reason.WithdrawnCause
	}{
		"its claimant is deleted": {func(f *fixture) { f.forget("new-000") }, []UID{"busy-089"}, reason.NoClaimant},
		"room came otherwise":     {func(f *fixture) { f.forget("busy-000") }, []UID{"busy-089"}, reason.NotNeeded},
		"its queue is not preemptible": {func(f *fixture) {
			f.declare("root.busy", func(d *queue.Declaration) { d.Spec.Preemption.Preemptible = queue.PreemptibleNo })
		}, []UID{"busy-089", "busy-088"}, reason.NotPreemptible},
		"nobody is to be evicted any more": {func(f *fixture) {
			f.declare("root", func(d *queue.Declaration) { d.Spec.Preemption.ObserveOnly = true })
		}, []UID{"busy-089", "busy-088"}, reason.NoClaimant},
		"preemption is switched off":  {func(f *fixture) { f.declare("root.sometimes-busy", weight(3)) }, []UID{"busy-089", "busy-088"}, reason.NoClaimant},
		"its queue is entitled to it": {func(f *fixture) { f.declare("root.busy", weight(1000)) }, []UID{"busy-089", "busy-088"}, reason.NoClaimant},
		"one pod less would be its share": {func(f *fixture) { // 89 of 100 cores, and it has 90
			f.declare("root.busy", weight(89))
			f.declare("root.sometimes-busy", weight(11), fairShareTimeout(60))
		}, []UID{"busy-089"}, reason.BelowShare},
	} {
		t.Run(name, func(t *testing.T) {
			f := planned(t, 2)
			f.announce("busy-089", "busy-088")
			c.do(f)
			f.now += 15 * sec
			f.clocks()
			e := f.PendingActions(f.now)
			f.sound()
			f.wantPods(withdrawals(e.Withdraw), c.stay...)
			for _, w := range e.Withdraw {
				if w.Why != c.why || w.ForQueue != "root.sometimes-busy" {
					t.Errorf("%s stays since %q, for %q; want %q", w.UID, w.Why, w.ForQueue, c.why)
				}
			}
			if want := 2 - len(c.stay); len(e.Evict) != want {
				t.Errorf("evicts %v, want %d", victims(e.Evict), want)
			}
		})
	}
}

// A resource that the node lists counts there, although other nodes need not list it.
func TestAVictimIsNotNeededWhereAListedResourceComesFree(t *testing.T) {
	f := scenarioA(t)
	f.ObserveUnlisted(map[resource.Name]bool{resource.CPU: true, resource.Memory: true})
	f.plan(1)
	f.announce("busy-089")
	f.forget("busy-000")
	f.now += 15 * sec
	f.clocks()
	e := f.PendingActions(f.now)
	f.wantPods(victims(e.Evict))
	f.wantPods(withdrawals(e.Withdraw), "busy-089")
}

func TestAVictimThatABudgetRefusesForLongStays(t *testing.T) {
	f := planned(t, 1)
	f.announce("busy-089")
	for range 2 {
		f.now += 31 * sec
		f.wantPods(victims(f.PendingActions(f.now).Evict), "busy-089")
		f.EvictionFailed("busy-089", true, f.now)
		f.wantPods(victims(f.PendingActions(f.now).Evict))
		if f.PreemptionCounts().Refused == 2 {
			break
		}
		f.now -= 25 * sec
	}
	f.now += 31 * sec
	w := f.PendingActions(f.now).Withdraw
	f.wantPods(withdrawals(w), "busy-089")
	if w[0].Why != reason.BudgetRefuses {
		t.Errorf("it stays since %q", w[0].Why)
	}
	f.clocks()
	world, ok := f.Preemption(f.now)
	if !ok || len(world.Nodes[0].Candidates) != 99 {
		t.Errorf("candidates: %d, want all but the one that is exempt", len(world.Nodes[0].Candidates))
	}
}

func TestANominationOnWhichTheClaimantDoesNotFitEndsAndTheClaimPauses(t *testing.T) {
	f := planned(t, 1)
	f.announce("busy-089")
	f.forget("busy-089")
	f.wantPods(f.choose(), "new-000")
	f.Fail("new-000", NoFit, f.now)
	f.sound()
	f.now += 3 * sec / 2
	if f.clocks() {
		t.Error("the claim does not pause")
	}
	f.now += 3 * sec
	if !f.clocks() {
		t.Error("the claim pauses for too long")
	}
}

// A claim opens at the threshold and is paid at the share. A restart between the two goes on with it, and one after it does not.
func TestAnOpenClaimSurvivesARestart(t *testing.T) {
	for has, claims := range map[int]bool{50: true, 74: true, 75: false} { // of 75 that it is entitled to
		f := newFixture(t, Options{})
		f.declare("root.busy")
		f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), func(d *queue.Declaration) { d.Memory.ClaimsFairShare = true })
		for i := range 100 {
			name := "busy"
			if i < has {
				name = "sometimes-busy"
			}
			f.pod(UID(fmt.Sprintf("%s-%03d", name, i)), name, boundTo("node"))
		}
		f.pod("new", "sometimes-busy")
		if due := f.clocks(); due != claims {
			t.Errorf("with %d pods a round is due: %v", has, due)
		}
		want := Starvation{}
		if claims {
			want = Starvation{Claiming: true, Owed: amounts(1, 4)}
		}
		f.wantStarvation("root.sometimes-busy", want)
	}
}

// A restart finds what an earlier process has announced and nominated, and goes on with it.
func TestARestartGoesOnWithWhatWasAnnounced(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), func(d *queue.Declaration) { d.Memory.BelowFairShareSince = 10 * sec })
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"), func(p *Pod) {
			if i < 2 {
				p.Announced = 95 * sec
			}
		})
	}
	f.edit("busy-001", func(p *Pod) { p.Terminating, p.Deadline = true, f.now+30*sec }) // evicted already
	for i := range 3 {
		f.pod(UID(fmt.Sprintf("new-%03d", i)), "sometimes-busy", at(int64(i)), func(p *Pod) {
			if i < 2 {
				p.Nominated = "node"
			}
		})
	}
	f.wantPods(f.choose())
	if w := f.PendingActions(f.now).Withdraw; len(w) != 0 {
		t.Errorf("what was announced is withdrawn before anything was planned: %v", withdrawals(w))
	}
	if !f.clocks() {
		t.Fatal("no round is due")
	}
	w, _ := f.Preemption(f.now)
	units := w.Claims[0].Units
	if len(units) != 3 || units[0].Pods[0].Nominated != "node" || units[2].Pods[0].Nominated != "" {
		t.Fatalf("claimants: %+v", units)
	}
	// Two nominations are on a node that has room for one, which the pod that was evicted gives back.
	if free := w.Nodes[0].Free; !free.Equal(amounts(1, 4)) {
		t.Errorf("free: %v, want what the evicted pod gives back", free)
	}
	i := slices.IndexFunc(w.Nodes[0].Candidates, func(c preemption.Candidate) bool { return c.Announced })
	if i < 0 || w.Nodes[0].Candidates[i].UID != "busy-000" {
		t.Errorf("the announced pod is not among the candidates")
	}
	p := preemption.Plan{Claims: []preemption.Payment{{Claim: w.Claims[0]}}}
	for _, u := range units {
		p.Claims[0].Nominations = append(p.Claims[0].Nominations, preemption.Nomination{UID: u.Pods[0].UID})
	}
	p.Victims = []preemption.Victim{{UID: "busy-000", For: "new-001", Above: 1}, {UID: "busy-002", For: "new-002", Above: 1}}
	f.Adopt(w, p, f.now)
	f.sound()
	e := f.PendingActions(95*sec + 15*sec)
	f.wantPods(victims(e.Evict), "busy-000") // the wait goes on
	f.wantPods(victims(e.Announce), "busy-002")
	f.wantPods(withdrawals(e.Withdraw))
}

// One round bounds how long it holds the lock: 512 pods of 100m are looked at, and the claim says that there are more.
func TestARoundLooksAtSoManyPodsAtMost(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60))
	f.pod("busy", "busy", boundTo("node"), func(p *Pod) { p.Request = amounts(100, 0) })
	small := resource.Of(resource.Entry{Name: resource.CPU, Value: 100})
	for i := range maxClaimants + 1 {
		uid := UID(fmt.Sprintf("new-%03d", i))
		f.ObservePod(Pod{UID: uid, Name: string(uid), Namespace: "default", Queue: "sometimes-busy", Application: "new", Class: "c", Request: small, Created: int64(i)}, f.now)
		if w := f.WhatPreemption(f.now); i >= maxClaimants-2 && (len(w.Claims[0].Units) != min(i+1, maxClaimants) || w.Claims[0].More != (i+1 >= maxClaimants)) {
			t.Errorf("of %d pods %d are looked at, and more: %v", i+1, len(w.Claims[0].Units), w.Claims[0].More)
		}
	}
	f.sound()
}

// What an earlier process announced is taken back where nobody claims any more, and left as it is as long as nobody has looked.
func TestAnnouncementsOfAnEarlierProcessAreTakenBackWhereNobodyClaims(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.pod("shows", "busy", boundTo("node"), func(p *Pod) { p.Announced = f.now })
	if got := f.PendingActions(f.now).Withdraw; len(got) > 0 {
		t.Errorf("before the first look: %+v", got)
	}
	f.clocks()
	if got := f.PendingActions(f.now).Withdraw; len(got) != 1 || got[0].UID != "shows" || got[0].Why != reason.NotPlanned {
		t.Errorf("after it: %+v", got)
	}
}

// The earlier process had a claim open, but the status of its Queue does not say so yet. Then the clock runs again, and the announcements stay until it
// has run out and a plan is adopted. A queue without a timeout never claims, so it keeps no announcement.
func TestAnnouncementsOfAnEarlierProcessStayWhileAClockRuns(t *testing.T) {
	f := scenarioA(t)
	f.edit("busy-089", func(p *Pod) { p.Announced = f.now })
	f.clocks()
	if got := f.PendingActions(f.now).Withdraw; len(got) > 0 {
		t.Errorf("withdrawn while a clock runs: %+v", got)
	}
	f.declare("root.sometimes-busy", weight(3))
	f.declare("root")
	f.clocks()
	if got := f.PendingActions(f.now).Withdraw; len(got) != 1 {
		t.Errorf("without a timeout, withdrawn is %+v", got)
	}
}

// A process that begins to lead while pods show announcements leaves them alone until a plan of its own is adopted: the plan may take the same pods,
// and nobody is announced twice.
func TestAnnouncementsOfAnEarlierProcessStayWhileAPlanIsMade(t *testing.T) {
	f := scenarioA(t)
	f.edit("busy-089", func(p *Pod) { p.Announced = f.now })
	f.now += 60 * sec
	f.clocks()
	w, ok := f.Preemption(f.now)
	if !ok {
		t.Fatal("no claim is due")
	}
	if got := f.PendingActions(f.now).Withdraw; len(got) > 0 {
		t.Errorf("withdrawn while the plan is made: %+v", got)
	}
	f.Adopt(w, preemption.Plan{}, f.now)
	if got := f.PendingActions(f.now).Withdraw; len(got) != 1 || got[0].UID != "busy-089" {
		t.Errorf("a plan without the pod was adopted, and withdrawn is %+v", got)
	}
}

// A nominated pod that a rule blocks by now is not released. To find out who claims what, it is not charged either: its application would have
// taken a slot that there is not, and kept it.
func TestANominatedPodThatALimitBlocksStartsNoApplicationInAPlan(t *testing.T) {
	f := planned(t, 2)
	f.edit("new-000", at(1<<62)) // the youngest of 90 applications
	f.declare("root.sometimes-busy", weight(3), fairShareTimeout(60), func(d *queue.Declaration) { d.Spec.MaxRunningApplications = queue.AtMost(89) })
	f.clocks()
	const blocks = "MaxRunningApplications root.sometimes-busy 89/89+0"
	f.wantWhy("new-000", blocks)
	if _, ok := f.Preemption(f.now); !ok {
		t.Fatal("no claim is due")
	}
	f.sound()
	f.wantWhy("new-000", blocks)
}
