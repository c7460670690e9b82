package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/invariant"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// Every plan of a random world keeps what is promised: see invariant.Plan.
func TestPlansKeepTheInvariants(t *testing.T) {
	victims := 0
	for seed := range runs(2000) {
		w, f := tiny(rand.New(rand.NewPCG(uint64(seed), 2)))
		p := preemption.Make(*w, f)
		victims += len(p.Victims)
		for name, with := range map[string]preemption.Feasibility{"filters": f, "arithmetic": nil} {
			if faults := invariant.Plan(*w, p, with); len(faults) > 0 {
				t.Fatalf("seed %d, %s: %s", seed, name, strings.Join(faults, "; "))
			}
		}
	}
	if victims < runs(2000)/10 {
		t.Errorf("only %d victims: the worlds try nothing", victims)
	}
}

// The order in which nodes, candidates and claims are handed in changes nothing.
func TestShuffledWorldsGiveTheSamePlan(t *testing.T) {
	for seed := range runs(2000) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		w, f := tiny(r)
		first := say(w, preemption.Make(*w, f))
		where := r.Perm(len(w.Nodes))
		shuffled := *w
		shuffled.Nodes = make([]preemption.Node, len(w.Nodes))
		barred := map[string]bool{}
		for from, to := range where {
			n := w.Nodes[from]
			n.Candidates = slices.Clone(n.Candidates)
			r.Shuffle(len(n.Candidates), func(i, j int) { n.Candidates[i], n.Candidates[j] = n.Candidates[j], n.Candidates[i] })
			shuffled.Nodes[to] = n
			for _, c := range w.Claims {
				if class := fmt.Sprint("class-", c.Queue); f.barred[fmt.Sprint(class, "/", from)] {
					barred[fmt.Sprint(class, "/", to)] = true
				}
			}
		}
		shuffled.Claims = slices.Clone(w.Claims)
		slices.Reverse(shuffled.Claims)
		f.barred, f.done, f.exact = barred, nil, &shuffled
		if second := say(&shuffled, preemption.Make(shuffled, f)); first != second {
			t.Fatalf("seed %d: shuffled, the plan is\n%s\ninstead of\n%s", seed, second, first)
		}
	}
}

// say spells a plan without the indices of nodes.
func say(w *preemption.World, p preemption.Plan) string {
	var b strings.Builder
	for _, c := range p.Claims {
		fmt.Fprintf(&b, "claim %d %s owed (%s) unpaid %q\n", c.Queue, c.Kind, c.Owed, c.Unpaid)
		for _, at := range c.Nominations {
			fmt.Fprintf(&b, "  %s on %s\n", at.UID, w.Nodes[at.Node].Name)
		}
	}
	for _, v := range p.Victims {
		fmt.Fprintf(&b, "  %s goes from %s for %s, above %d, surplus %d %s, with %q\n", v.UID, w.Nodes[v.Node].Name, v.For, v.Above, v.Surplus, v.Resource, v.With)
	}
	return b.String()
}
