package simulator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

// heldWorld is a calm world in which nodes are held for a group of root.b, and small pods wait that came later. The nodes have 10 cpu each, and pods of
// root.a run on them. The group needs at most half of the nodes: so its queue is owed them.
func heldWorld(t *testing.T, seed uint64) *World {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 21))
	obs := Objects{Groups: []ledger.PodGroup{{Key: "default/g"}}}
	for _, p := range []queue.Path{"root", "root.a", "root.b"} {
		obs.Queues = append(obs.Queues, queue.Declaration{Path: p, Spec: queue.DefaultSpec(), PolicyInForce: queue.Unstated})
	}
	add := func(name, q string, cpu, created int64) *ledger.Pod {
		obs.Pods = append(obs.Pods, ledger.Pod{
			UID: ledger.UID(name), Name: name, Namespace: "default", Queue: q, Application: name, Created: created, Class: fmt.Sprint(cpu),
			Request: resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000}),
		})
		return &obs.Pods[len(obs.Pods)-1]
	}
	nodes, size := 2+rng.IntN(3), []int64{4, 5, 6, 10}[rng.IntN(4)]
	for n := range nodes {
		node := fmt.Sprintf("n%d", n)
		obs.Nodes = append(obs.Nodes, ledger.Node{
			Name: node, Allocatable: resource.Of(resource.Entry{Name: resource.CPU, Value: 10_000}), Usable: true,
		})
		p := add("fill-"+node, "root.a", 10-int64(rng.IntN(int(min(size, 4)))), 0)
		p.Node, p.Placed, p.Bound = node, "root.a", 1
	}
	members := 1 + rng.IntN(nodes/2*int(10/size))
	obs.Groups[0].MinMember = max(members, 2)
	for i := range obs.Groups[0].MinMember {
		p := add(fmt.Sprint("gang-", i), "root.b", size, 1)
		p.PodGroup, p.Application = "default/g", "g"
	}
	w := Start(seed, obs, Options{Calm: true, Groups: true, Every: -1000, Window: ledger.DefaultWindow})
	for w.Holds == 0 && w.agenda.len() > 0 && w.now < 60*second {
		if err := w.Run(1); err != nil {
			t.Fatal(err)
		}
	}
	small := len(obs.Pods)
	for i := range 1 + rng.IntN(4) {
		add(fmt.Sprint("small-", i), []string{"root.a", "root.b"}[rng.IntN(2)], 1+int64(rng.IntN(3)), w.now)
	}
	for _, p := range obs.Pods[small:] {
		w.pods[p.UID] = &pod{Pod: p, exists: true}
		w.podChanged(w.pods[p.UID])
	}
	w.changed()
	w.rest(t)
	return w
}

// holds reports whether nodes are held.
func (w *World) holds() bool {
	for _, q := range w.Ledger.Snapshot().Queues {
		if len(q.Holds) > 0 {
			return true
		}
	}
	return false
}

// Where nodes are held for a group: a pod of which the answer is that it waits does, for the reason that the scheduler gives, and what would let it start does,
// and nothing smaller.
func TestWhatWouldLetAPodStartBesideHeldNodesDoes(t *testing.T) {
	const worlds = 150
	held, changes := map[reason.Code]int{}, 0
	for seed := range uint64(worlds) {
		w := heldWorld(t, seed)
		if !w.holds() {
			continue
		}
		p := w.picture()
		for _, uid := range w.waiting() {
			live := w.Ledger.Explain([]ledger.UID{uid}, w.now)
			a, ok := p.Why(uid)
			if !ok || a.Verdict == picture.Next || len(live) == 0 || a.Reason.Code != live[0].Reason.Code {
				t.Errorf("seed %d: %s: %s, and the scheduler says %+v", seed, uid, a.Reason.Text(), live)
				continue
			}
			held[a.Reason.Code]++
			if len(a.WouldStartIf) == 0 {
				t.Errorf("seed %d: %s: no way out of: %s", seed, uid, a.Reason.Text())
				continue
			}
			c := a.WouldStartIf[0]
			if c.Kind == picture.ChangePod {
				continue
			}
			changes++
			if w := heldWorld(t, seed); !w.change(t, c, uid) {
				t.Errorf("seed %d: %s (%s) does not start: %s", seed, uid, a.Reason.Text(), c.Message)
			}
			for _, smaller := range smallerThan(c) {
				if w := heldWorld(t, seed); w.change(t, smaller, uid) {
					t.Errorf("seed %d: %s (%s) starts with less than: %s", seed, uid, a.Reason.Text(), c.Message)
				}
			}
		}
	}
	t.Logf("%v, %d changes were tried", held, changes)
	for _, code := range []reason.Code{reason.WaitingForRoom, reason.BehindGang, reason.GangWaitsForRoom} {
		if held[code] < worlds/10 {
			t.Errorf("few pods said %s", code)
		}
	}
}
