package ledger

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// An order book finds what a sorted list finds that is read from the start, whatever lanes are open.
func TestOrderBookEqualsASortedList(t *testing.T) {
	total := amounts(100, 400)
	rapid.Check(t, func(t *rapid.T) {
		parent := &account{spec: queue.DefaultSpec()}
		children := make([]*account, rapid.IntRange(1, 30).Draw(t, "children"))
		own := make([]lanes, len(children))
		for i := range children {
			children[i] = &account{parent: parent, path: queue.Path(fmt.Sprintf("root.q-%d", i)), ordinal: i + 1, inParent: out,
				apps: map[string]*account{}, spec: queue.DefaultSpec()}
			children[i].rekey(total)
		}
		draw := rapid.Uint64Range(0, 7)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(children)-1).Draw(t, "child")
			own[i] = lanes(draw.Draw(t, "lanes"))
			children[i].usage.Reset()
			children[i].usage.Add(amounts(rapid.Int64Range(0, 3).Draw(t, "cpu"), 0))
			children[i].rekey(total)
			parent.order.offer(children[i], own[i])
			if wrong := parent.checkOrder("root"); len(wrong) > 0 {
				t.Fatal(wrong)
			}
			open := lanes(draw.Draw(t, "open"))
			var got []*account
			for c := parent.order.first(open, nil); c != nil; c = parent.order.first(open, c) {
				got = append(got, c.account)
			}
			if want := sorted(children, func(i int) bool { return own[i]&open != 0 }); !slices.Equal(got, want) {
				t.Fatalf("open %b: got %v, want %v", open, paths(got), paths(want))
			}
		}
	})
}

func sorted(all []*account, has func(int) bool) (some []*account) {
	for i, a := range all {
		if has(i) {
			some = append(some, a)
		}
	}
	slices.SortFunc(some, func(a, b *account) int {
		n, _ := ordering.Compare(queue.DominantResourceFairness, &a.key, &b.key)
		return n
	})
	return some
}

func paths(as []*account) (ps []queue.Path) {
	for _, a := range as {
		ps = append(ps, a.path)
	}
	return ps
}

// More classes than lanes: some share one. Closed classes and limits are still told from open ones, and the order stays.
func TestClassesThatShareALane(t *testing.T) {
	const classes = 3 * laneCount
	f := newFixture(t, Options{Window: classes})
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(10*classes, 10*classes), Usable: true})
	var fits, all []UID
	for i := range classes {
		leaf := queue.Path(fmt.Sprintf("root.q-%03d", i))
		uid := UID(fmt.Sprintf("p-%03d", i))
		f.ObserveQueue(queue.Declaration{Path: leaf, Spec: queue.DefaultSpec()})
		switch i % 3 {
		case 0: // its limit stops it
			f.ObserveQueue(queue.Declaration{Path: leaf, Spec: queue.Spec{Weight: 1000, Max: amounts(0, 4)}})
		case 1:
			all = append(all, uid)
		case 2:
			all, fits = append(all, uid), append(fits, uid)
		}
		p := Pod{UID: uid, Name: string(uid), Namespace: "default", Queue: string(leaf), Application: string(uid), Class: string(uid),
			Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 1000})}
		f.ObservePod(p, f.now)
	}
	f.sound()
	f.wantPods(f.choose(), all...)
	for _, uid := range all {
		f.fail(uid, Refused)
	}
	for i := range all { // those of case 1 fit no node
		if !slices.Contains(fits, all[i]) {
			if r, ok := f.Choose(f.now); !ok || r.UID != all[i] {
				t.Fatalf("chose %q, want %s", r.UID, all[i])
			}
			f.fail(all[i], NoFit)
			continue
		}
		f.run(all[i])
	}
	f.wantPods(f.choose())
	f.ObserveQueue(queue.Declaration{Path: "root.q-000", Spec: queue.DefaultSpec()}) // the limit goes
	f.sound()
	f.wantPods(f.choose(), "p-000")
}

// Pods that leave a line out of turn are passed over, and do not stay in memory.
func TestLineForgetsWhoLeftIt(t *testing.T) {
	f := newFixture(t, Options{Window: 1})
	f.declare("root.a")
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("p-%03d", i)), "a", in("job"), at(int64(100-i)))
	}
	for i := range 95 {
		f.forget(UID(fmt.Sprintf("p-%03d", (i*7+99)%100))) // 7 and 100 have no common divisor: every pod once, the head first
	}
	lines := f.accounts["root.a"].apps["job"].lines
	if len(lines) != 1 || lines[0].valid != 5 || lines[0].entries() > 18 {
		t.Fatalf("%d entries for %d pods", lines[0].entries(), lines[0].valid)
	}
	var left []UID
	for i := 95; i < 100; i++ {
		left = append(left, UID(fmt.Sprintf("p-%03d", (i*7+99)%100)))
	}
	slices.Sort(left)
	slices.Reverse(left) // the last ones are the oldest
	f.run(left...)
}
