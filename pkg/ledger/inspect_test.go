package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// atWork is a small cluster at work: two levels of queues, pods that run and pods that wait.
func atWork(t *testing.T) *fixture {
	f := newFixture(t, Options{})
	f.declare("root.a")
	f.declare("root.a.x", runs(2))
	f.declare("root.b")
	for i := range 4 {
		f.pod(UID(fmt.Sprint("x", i)), "a.x", boundTo("node"), in("app"), at(int64(i)))
		f.pod(UID(fmt.Sprint("b", i)), "b", in(fmt.Sprint("b", i)), at(int64(10+i)))
	}
	f.choose()
	return f
}

// sendTo has pods on their way to a new node, half of them released and half of them reserved, and one that runs there.
func (f *fixture) sendTo(node string, pods int) {
	f.t.Helper()
	f.ObserveNode(Node{Name: node, Allocatable: amounts(10, 40), Usable: true})
	f.pod("runs", "b", in("runs"), boundTo(node))
	for i := range pods {
		uid := UID(fmt.Sprint("busy", i))
		f.pod(uid, "b", in(string(uid)))
		f.wantPods(f.choose(), uid)
		if i%2 == 0 {
			f.Reserve(uid, node, f.now)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.nodes.byName[node]
	for _, r := range f.window.released {
		f.nodes.assume(r, e)
	}
	if len(e.on) != 1 || e.assumed != 1+pods {
		f.t.Fatalf("%d pods on node %s, %d of them on their way", e.assumed, node, e.assumed-len(e.on))
	}
}

// round inspects, so much at a time, until a round is complete.
func (f *fixture) round(cost int) (found []Violation, stopped bool) {
	f.t.Helper()
	for range 1000 {
		is := f.Inspect(cost)
		found = append(found, is.Violations...)
		if is.Complete {
			return found, is.Stopped
		}
	}
	f.t.Fatal("the round does not end")
	return nil, false
}

// competeBesideChildren has a queue with children offer something of an application of its own.
func competeBesideChildren(l *Ledger) {
	a := l.queues.accounts["root.a"]
	a.appOrder.Offer(&newAppAccount(a, "app").inOrder, 1)
}

// Whatever is wrong is found within a round, however small the looks, and where it is.
func TestInspectFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		corrupt func(l *Ledger)
		queue   queue.Path
	}{
		"usage of an application":     {func(l *Ledger) { l.queues.accounts["root.a.x"].apps["app"].usage.Add(amounts(1, 0)) }, "root.a.x"},
		"demand of an application":    {func(l *Ledger) { l.queues.accounts["root.a.x"].apps["app"].demand.Add(amounts(0, 1)) }, "root.a.x"},
		"pods that want to run":       {func(l *Ledger) { l.queues.accounts["root.b"].apps["b1"].wanting++ }, "root.b"},
		"usage of a leaf":             {func(l *Ledger) { l.queues.accounts["root.a.x"].usage.Sub(amounts(1, 0)) }, "root.a.x"},
		"usage of a parent":           {func(l *Ledger) { l.queues.accounts["root.a"].usage.Add(amounts(1, 0)) }, "root.a"},
		"usage of the root":           {func(l *Ledger) { l.queues.root.usage.Add(amounts(1, 0)) }, "root"},
		"demand of a parent":          {func(l *Ledger) { l.queues.accounts["root.a"].demand.Add(amounts(1, 0)) }, "root.a"},
		"pods that run":               {func(l *Ledger) { l.queues.accounts["root.b"].running++ }, "root.b"},
		"a pod that is charged twice": {func(l *Ledger) { l.queues.accounts["root.b"].apps["b1"].addUsage(amounts(1, 4), 1) }, "root.b"},
		"applications and children":   {competeBesideChildren, "root.a"},
		"the room of a node":          {func(l *Ledger) { l.nodes.byName["node"].used.Sub(amounts(1, 0)) }, ""},
		"the pods of a node":          {func(l *Ledger) { l.nodes.byName["node"].assumed++ }, ""},
		"a busy node":                 {func(l *Ledger) { l.nodes.byName["busy"].used.Add(amounts(0, 1)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, cost := range []int{1, 5, LookCost} {
				f := atWork(t)
				f.bindAll("b0", "b1", "b2", "b3")
				f.sendTo("busy", 3)
				if found, stopped := f.round(cost); len(found) > 0 || stopped {
					t.Fatalf("in a sound ledger: %v", found)
				}
				f.mu.Lock()
				c.corrupt(f.Ledger)
				f.mu.Unlock()
				found, stopped := f.round(cost)
				if len(found) == 0 || !stopped {
					t.Fatalf("looks of %d find nothing", cost)
				}
				if found[len(found)-1].Queue != c.queue && found[0].Queue != c.queue {
					t.Errorf("looks of %d find %v, want it at %q", cost, found, c.queue)
				}
			}
		})
	}
}

// A violation stops preemption at once, in each of its steps. A whole round without one lets it go on.
func TestAViolationStopsPreemption(t *testing.T) {
	f := scenarioA(t)
	f.pod("first", "busy", boundTo("node"), func(p *Pod) { p.Priority = -1 })
	f.pod("urgent", "busy", func(p *Pod) { p.Priority = 10 })
	f.now += 60 * sec
	f.clocks()
	w, _ := f.Preemption(f.now)
	plan := preemption.Make(w, f.Feasibility(w))
	f.Adopt(w, plan, f.now)
	all := f.PendingActions(f.now).Announce
	if len(all) != 66 {
		t.Fatalf("%d pods are to be announced, want 66", len(all))
	}
	for _, v := range all[:5] {
		f.announce(v.UID)
	}
	f.now += 15 * sec
	if n := len(f.PendingActions(f.now).Evict); n != 5 {
		t.Fatalf("%d pods are to be evicted, want 5", n)
	}

	wrong := func(sign int) {
		f.mu.Lock()
		addSigned(&f.queues.accounts["root.busy"].usage, amounts(1, 0), sign)
		f.mu.Unlock()
	}
	f.round(LookCost)
	wrong(1)
	if found, stopped := f.round(LookCost); len(found) == 0 || !stopped {
		t.Fatalf("found %v, stopped is %v", found, stopped)
	}
	if e := f.PendingActions(f.now); len(e.Announce)+len(e.Evict) > 0 {
		t.Errorf("stopped, and %d are to be announced, %d to be evicted", len(e.Announce), len(e.Evict))
	}
	if f.Adopt(w, plan, f.now); f.PreemptionCounts().Chosen != 66 {
		t.Errorf("stopped, and a plan was adopted: %+v", f.PreemptionCounts())
	}
	f.now += 60 * sec
	if _, due := f.Preemption(f.now); due {
		t.Error("stopped, and a plan is due")
	}
	if f.Outranked("urgent") != nil {
		t.Error("stopped, and a pod may evict by priority")
	}
	if !f.PreemptionCounts().Stopped {
		t.Error("the counts do not say that preemption is stopped")
	}

	wrong(-1)
	if is := f.Inspect(1); !is.Stopped {
		t.Error("a look is not a round, and preemption goes on")
	}
	if found, stopped := f.round(1); len(found) > 0 || stopped {
		t.Errorf("after a round without a violation: %v, stopped is %v", found, stopped)
	}
	if n := len(f.PendingActions(f.now).Evict); n != 5 {
		t.Errorf("%d pods are to be evicted, want 5", n)
	}
	if f.Outranked("urgent") == nil {
		t.Error("preemption by priority does not go on")
	}
}
