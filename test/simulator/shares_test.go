package simulator

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// With equal pods everywhere, final allocations are the computed shares.
//
// Exactly, where the shares are whole pods. Else no queue is ahead of its share by more than one pod for each level, and none is behind
// by more than that where siblings have equal weights or come in pairs. Where weights differ and there are more siblings, each of the
// others may be one pod ahead at the same moment, and all of that is missing at a heavy one: with weights 10, 1, 1, ... (ten ones) and
// 11 pods, each has one, and 5.5 would be the share of the first.
func TestEqualPodsEndWithTheComputedShares(t *testing.T) {
	whole, broken := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		tree := equalTree(rng, rng.IntN(3) == 0)
		shares := tree.shares()
		pods := int64(20 + rng.IntN(60))
		if least := tree.leastWhole(shares); rng.IntN(2) == 0 && least <= 200 {
			pods = least
		}
		w := Start(seed, tree.objects(pods, shares), Options{Calm: true, Every: -1})
		if err := w.Close(100000); err != nil {
			t.Fatal(err)
		}
		if int64(len(w.Reserved)) != pods {
			t.Fatalf("seed %d: %d pods run, %d fit", seed, len(w.Reserved), pods)
		}
		got := map[queue.Path]int64{}
		for _, r := range w.Reserved {
			for q := r.Queue; q != ""; q = q.Parent() {
				got[q]++
			}
		}
		isWhole := true
		for _, q := range tree.queues {
			share := new(big.Rat).Mul(shares[q.Path], new(big.Rat).SetInt64(pods))
			isWhole = isWhole && share.IsInt()
		}
		if isWhole {
			whole++
		} else {
			broken++
		}
		for _, q := range tree.queues {
			share := new(big.Rat).Mul(shares[q.Path], new(big.Rat).SetInt64(pods))
			apart := new(big.Rat).Sub(new(big.Rat).SetInt64(got[q.Path]), share)
			levels := new(big.Rat).SetInt64(int64(q.Path.Depth() - 1))
			switch {
			case isWhole && apart.Sign() != 0,
				apart.Cmp(levels) > 0,
				tree.even && apart.Cmp(new(big.Rat).Neg(levels)) < 0:
				t.Errorf("seed %d: %s has %d pods, its share is %s", seed, q.Path, got[q.Path], share.FloatString(2))
			}
		}
	}
	if whole < 50 || broken < 50 {
		t.Errorf("%d worlds with whole shares, %d with others: the test lost its subject", whole, broken)
	}
}

// equalWorld is a tree all of whose pods are equal.
type equalWorld struct {
	queues []queue.Declaration
	leaves []queue.Path
	even   bool // equal weights, or pairs
}

func equalTree(rng *rand.Rand, even bool) *equalWorld {
	e := &equalWorld{even: even}
	e.add(queue.Root, queue.DefaultWeight)
	levels := 3 + rng.IntN(3)
	var grow func(parent queue.Path)
	grow = func(parent queue.Path) {
		n := 2 + rng.IntN(3)
		for i := range n {
			weight := 1000 * int64(1+rng.IntN(3))
			if even && n > 2 {
				weight = 1000
			}
			q := e.add(parent+queue.Path(fmt.Sprintf(".q%d", i)), weight)
			if q.Depth() < levels && (i == 0 || rng.IntN(4) == 0) {
				grow(q)
			} else {
				e.leaves = append(e.leaves, q)
			}
		}
	}
	grow(queue.Root)
	return e
}

func (e *equalWorld) add(path queue.Path, weight int64) queue.Path {
	s := queue.DefaultSpec()
	s.Weight = weight
	e.queues = append(e.queues, queue.Declaration{Path: path, Spec: s})
	return path
}

// shares are the parts of the whole, as exact fractions.
func (e *equalWorld) shares() map[queue.Path]*big.Rat {
	siblings := map[queue.Path]int64{}
	for _, q := range e.queues {
		siblings[q.Path.Parent()] += q.Spec.Weight
	}
	shares := map[queue.Path]*big.Rat{"": big.NewRat(1, 1)}
	for _, q := range e.queues { // parents first
		shares[q.Path] = new(big.Rat).Mul(shares[q.Path.Parent()], big.NewRat(q.Spec.Weight, siblings[q.Path.Parent()]))
	}
	return shares
}

// leastWhole is the smallest number of pods of which every share is whole.
func (e *equalWorld) leastWhole(shares map[queue.Path]*big.Rat) int64 {
	n := big.NewInt(1)
	for _, q := range e.queues {
		d := shares[q.Path].Denom()
		n.Div(new(big.Int).Mul(n, d), new(big.Int).GCD(nil, nil, n, d))
	}
	if !n.IsInt64() {
		return 1 << 62
	}
	return n.Int64()
}

// objects: room for the given number of pods over four nodes, and in every leaf more pods than it may come to run.
func (e *equalWorld) objects(pods int64, shares map[queue.Path]*big.Rat) Objects {
	one := size{cpu: 1000, memory: 4 * gib}
	obs := Objects{Queues: e.queues}
	for i := range int64(4) {
		var s size
		for range (pods + i) / 4 {
			s = s.plus(one)
		}
		obs.Nodes = append(obs.Nodes, ledger.Node{Name: fmt.Sprintf("node-%d", i), Allocatable: s.list(), Usable: true})
	}
	for _, leaf := range e.leaves {
		share := new(big.Rat).Mul(shares[leaf], new(big.Rat).SetInt64(pods))
		enough := new(big.Int).Div(share.Num(), share.Denom()).Int64() + int64(leaf.Depth()) + 2
		for i := range enough {
			uid := ledger.UID(fmt.Sprintf("%s-%03d", leaf, i))
			obs.Pods = append(obs.Pods, ledger.Pod{
				UID: uid, Queue: string(leaf), Application: fmt.Sprintf("%s-%d", leaf, i%3), Class: "equal", Request: one.list(), Created: i,
			})
		}
	}
	return obs
}
