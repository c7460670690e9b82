package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

func strict(d *queue.Declaration) { d.Spec.Policy, d.Spec.Strict = queue.FIFO, true }

// While an older pod of a strict queue is with kube-scheduler without room, no later one is released.
func TestNoPodPassesAParkedOneOfAStrictQueue(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.a", strict)
	f.pod("large", "a", asks(200, 4), ofClass("large"), at(1))
	f.pod("small", "a", asks(1, 4), ofClass("small"), at(2))
	f.wantPods(f.choose(), "large") // small would pass large while that is tried
	f.fail("large", NoFit)
	f.wantPods(f.choose())
	f.wantState("large", "Parked root.a")
	f.forget("large")
	f.wantPods(f.choose(), "small")
}

// Pods of a strict queue start in the order in which they came, whatever ends, is deleted or fails meanwhile; those of a queue beside it do not wait for them.
func TestPodsOfAStrictQueueStartInOrder(t *testing.T) {
	passed := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := newFixture(t, Options{Window: 4})
		f.declare("root.a", strict)
		f.declare("root.b")
		last, live := -1, map[UID]bool{}
		for i := range 60 {
			leaf := string("ab"[rng.IntN(2)])
			cpu := 1 + rng.Int64N(60)
			f.pod(UID(fmt.Sprintf("%s-%03d", leaf, i)), leaf, asks(cpu, 1), ofClass(fmt.Sprint(cpu)), at(f.now))
			for _, uid := range f.place() {
				live[uid] = true
				var n int
				if _, err := fmt.Sscanf(string(uid), "a-%d", &n); err != nil {
					continue
				}
				if n < last {
					t.Fatalf("seed %d: %s started after a-%03d", seed, uid, last)
				}
				last = n
			}
			for _, uid := range sortedKeys(f.pods) {
				if r := f.pods[uid]; r.state == Waiting && r.Queue == "a" && f.nodes.anyFits(&r.class.room) {
					passed++ // it could start, and waits for its turn
				}
				if rng.IntN(12) == 0 {
					f.end(uid)
				}
			}
			f.now += sec
		}
		f.sound()
	}
	if passed == 0 {
		t.Error("no pod waited behind another one")
	}
}
