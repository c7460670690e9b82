package integration

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The tree of the test: weights 1, 2, 3 under root, and 1, 4 under each of them.
var (
	parents = map[string]int64{"root.a": 1, "root.b": 2, "root.c": 3}
	leaves  = map[string]int64{"small": 1, "large": 4}
)

const window = 16

// 900 equal pods, room for 450 (3,000 and 1,500 with -long): at every prefix of the order of reservations, usage over weight of any two siblings that both wait
// differs by no more than window+1 pods of the larger one; and the final allocations are the shares to within one pod per level.
func TestReservationsFollowTheWeightsAtEveryPrefix(t *testing.T) {
	perLeaf, nodes := scale(150, 500), scale(15, 50)
	room := nodes * 30
	w := newWorld(t, nodes, "30", "120Gi")
	var pods []*v1.Pod
	for parent, weight := range parents {
		w.queue(fmt.Sprintf("%s weight=%d", parent, weight))
		for leaf, weight := range leaves {
			w.queue(fmt.Sprintf("%s.%s weight=%d", parent, leaf, weight))
			for i := range perLeaf {
				p := pod(fmt.Sprintf("%s-%s-%d", strings.TrimPrefix(parent, "root."), leaf, i), parent+"."+leaf, "1", "1Gi")
				p.Labels["fairway.dev/application"] = fmt.Sprintf("app-%d", i%10)
				pods = append(pods, p)
			}
		}
	}
	w.create(pods...)
	s, _ := w.scheduler(ledger.Options{Window: window, Journal: 100_000})
	w.untilBound(room)
	used, waiting := map[string]int64{}, map[string]int64{}
	for parent := range parents {
		for leaf := range leaves {
			waiting[parent+"."+leaf] = int64(perLeaf)
			waiting[parent] += int64(perLeaf)
		}
	}
	compare := func(a, b string, wa, wb int64, n int) {
		if waiting[a] == 0 || waiting[b] == 0 {
			return
		}
		x, y := big.NewRat(used[a], wa), big.NewRat(used[b], wb)
		if x.Cmp(y) < 0 {
			x, y, wa = y, x, wb
		}
		if new(big.Rat).Sub(x, y).Cmp(big.NewRat(window+1, wa)) > 0 {
			t.Errorf("after %d reservations %s has %d and %s has %d", n, a, used[a], b, used[b])
		}
	}
	n := 0
	for _, e := range s.Ledger.Journal(0) {
		if e.State != ledger.Reserved {
			continue
		}
		n++
		leaf := string(e.Queue)
		parent := string(e.Queue.Parent())
		for _, q := range []string{leaf, parent} {
			used[q]++
			waiting[q]--
		}
		for p, wp := range parents {
			for o, wo := range parents {
				compare(p, o, wp, wo, n)
			}
			compare(p+".small", p+".large", leaves["small"], leaves["large"], n)
		}
	}
	if n != room {
		t.Errorf("%d reservations for %d bound pods", n, room)
	}
	// Of 1500 places (of 450 the same parts), 1500 over 1:2:3 is 250, 500, 750; over 1:4 below: 50/200, 100/400, 150/600 (large of c: only 500 exist, so small gets 250).
	want := map[string]int{"root.a.small": 50, "root.a.large": 200, "root.b.small": 100, "root.b.large": 400, "root.c.small": 250, "root.c.large": 500}
	got := w.bound()
	for q, n := range want {
		n = n * room / 1500
		if d := got[q] - n; d < -2 || d > 2 { // one pod per level, two levels
			t.Errorf("%s has %d pods, its share is %d", q, got[q], n)
		}
	}
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
	if s.Ledger.Repairs() != 0 {
		t.Errorf("the sweeper had to put %d pods right", s.Ledger.Repairs())
	}
}
