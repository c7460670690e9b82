package ledger

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A round takes its part of what is still owed, in whole pods, but one at least. What is announced counts as not taken, so the next part comes when it is
// gone: one round in each wait. With a factor of 0.5 all but a thirty-second, and less than a pod, is evicted after five waits.
func TestAFactorTakesItsPartOfWhatIsStillOwedInEachWait(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := factorWorld{
			pods: 20 * rapid.Int64Range(1, 2).Draw(rt, "a twentieth of the cluster, in pods"), size: rapid.Int64Range(1, 5).Draw(rt, "cpu of a pod"),
			wait: rapid.Int64Range(1, 10).Draw(rt, "wait"), factor: rapid.OneOf(rapid.Just[int64](500), rapid.Int64Range(1, 1000)).Draw(rt, "factor"),
			byWeight: rapid.Bool().Draw(rt, "by weight"),
		}
		p.owed = p.pods / 20 * rapid.Int64Range(1, 19).Draw(rt, "twentieths that are owed")
		got, took := p.play(t)
		var want []int64
		for left := p.owed; left > 0; {
			milli := resource.PartUp(left*p.size*1000, p.factor, 1000)
			n := max(milli/(p.size*1000), 1)
			want, left = append(want, n), left-n
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v: the rounds take %v, want %v", p, got, want)
		}
		// Each round is announced when the last has been evicted, a wait later, or a second after that: that is the time between two rounds here.
		if most := int64(len(want)) * (p.wait + 1) * sec; took > most {
			rt.Fatalf("%+v: it took %d ms, more than %d for %d rounds", p, took/1e6, most/1e6, len(want))
		}
		var after int64
		for _, n := range got[:min(len(got), 5)] {
			after += n
		}
		if p.factor == 500 && after*32 < p.owed*31-31 {
			rt.Fatalf("%+v: %d of %d are evicted after five waits", p, after, p.owed)
		}
	})
}

// factorWorld is a queue that has the cluster and one that is owed a part of it.
type factorWorld struct {
	pods, size, owed, wait, factor int64
	byWeight                       bool
}

// play returns how many pods each round announces, and how long it took until the last was evicted.
func (p factorWorld) play(t *testing.T) (rounds []int64, took int64) {
	f := &fixture{leader: newLeader(Options{}), t: t, now: 100 * sec}
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(p.pods*p.size, 0), Usable: true})
	f.declare("root", fairShareTimeout(1), func(d *queue.Declaration) {
		d.Spec.Preemption.NaturalTerminationFactor = queue.AtMost(p.factor)
		d.Spec.Preemption.MaxWaitBeforeKill = queue.Timeout{Stated: true, Nanoseconds: p.wait * sec}
		d.Spec.Preemption.Interval = queue.Timeout{Stated: true, Nanoseconds: sec}
		d.Spec.Preemption.FairShareThreshold = queue.AtMost(1000)
	})
	share := func(pods int64) func(*queue.Declaration) {
		if p.byWeight {
			return weight(pods)
		}
		return byCapacity(queue.Whole * pods / p.pods)
	}
	f.declare("root.busy", share(p.pods-p.owed))
	f.declare("root.starved", share(p.owed))
	for i := range p.pods {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", boundTo("node"), at(i), asks(p.size, 0))
	}
	for i := range p.owed + 3 {
		f.pod(UID(fmt.Sprintf("new-%03d", i)), "starved", at(1000+i), asks(p.size, 0))
	}
	f.clocks()
	began, evicted, run := int64(0), int64(0), p.pods
	for ; evicted < p.owed; f.now += sec {
		if began != 0 && f.now-began > 100*(p.wait+1)*sec {
			t.Fatalf("%+v: %d of %d are evicted", p, evicted, p.owed)
		}
		for _, v := range f.PendingActions(f.now).Evict {
			f.Evicted(v.UID, f.now)
			f.forget(v.UID)
			evicted, run = evicted+1, run-1
		}
		f.TakeWoken(f.now)
		for next := f.choose(); len(next) > 0; next = f.choose() {
			for _, uid := range next {
				if run == p.pods {
					f.fail(uid, NoFit)
				} else {
					f.bind(uid)
					run++
				}
			}
		}
		if due, _ := f.LookAtStarvation(f.now); !due {
			continue
		}
		w, _ := f.Preemption(f.now)
		f.Adopt(w, preemption.Make(w, f.Feasibility(w)), f.now)
		f.sound()
		if n := f.PendingActions(f.now).Announce; len(n) > 0 {
			f.announce(victims(n)...)
			if rounds = append(rounds, int64(len(n))); began == 0 {
				began = f.now
			}
		}
	}
	return rounds, f.now - sec - began
}
