package simulator

import (
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Where everything is there from the start and no pod ends: each pod that is reserved is the one whose turn it is. At every queue on its way, those children
// come first that have less of something than they are guaranteed and ask for, with a pod that asks for it and fits; of these the one that has the
// smallest part. Else it is the one with the smallest dominant share for its weight.
func TestAtEveryStepGuaranteesComeFirstForWhatIsLacking(t *testing.T) {
	var turns, devices, overruled atomic.Int64
	seeds(t, 500, func(seed uint64, _ Options) error {
		seed += 1 << 33 // other worlds
		o := Options{Calm: true, Every: -1}
		obs := Generate(seed, o)
		j := &guaranteeJudge{due: map[string]size{}}
		j.guarantee(seed, &obs)
		j.judge = newJudge(obs, 1)
		j.demand = map[string]size{}
		w := Start(seed, obs, o)
		if err := w.Close(20000); err != nil {
			return err
		}
		for n, step := range w.Reserved {
			if err := j.step(step); err != nil {
				return fmt.Errorf("seed %d, window %d, reservation %d of %d: %w", seed, w.Window, n+1, len(w.Reserved), err)
			}
		}
		turns.Add(j.turns)
		devices.Add(j.devices)
		overruled.Add(j.overruled)
		return nil
	})
	t.Cleanup(func() {
		t.Logf("%d turns because of a guarantee, %d of them for a device, %d of them against the order of shares", turns.Load(), devices.Load(), overruled.Load())
		if *seedFlag == 0 && *runsFlag == 0 && (devices.Load() == 0 || overruled.Load() == 0) {
			t.Error("no guarantee made a difference: the test lost its subject")
		}
	})
}

// guaranteeJudge knows of guarantees besides.
type guaranteeJudge struct {
	*judge
	due    map[string]size // what queues are guaranteed
	demand map[string]size // of the moment

	turns, devices, overruled int64
}

// guarantee draws guarantees: of some resources, and within the max of the queue.
func (j *guaranteeJudge) guarantee(seed uint64, obs *Objects) {
	g := newGenerator(seed, Options{})
	var all size
	for _, n := range obs.Nodes {
		all = all.plus(sizeOf(n.Allocatable))
	}
	for i := range obs.Queues {
		d := &obs.Queues[i]
		if d.Path == queue.Root || g.IntN(2) == 0 {
			continue
		}
		var due size
		for r, n := range resources {
			if g.IntN(2) == 0 {
				due[r] = all[r] * g.Int64N(8) / 16
			}
			if most, limited := d.Spec.Max.Lookup(n); limited {
				due[r] = min(due[r], most)
			}
		}
		d.Spec.Guaranteed, j.due[string(d.Path)] = due.list(), due
	}
}

// step checks that it is the turn of a pod, and reserves it.
func (j *guaranteeJudge) step(s Reservation) error {
	p := j.pods[s.UID]
	clear(j.demand)
	var way []*sibling
	for q := j.apps[p.Application].parent; q.parent != nil; q = q.parent {
		way = append(way, q)
	}
	root := way[len(way)-1].parent
	j.addDemand(root)
	var asking []size // what queues above lack that have their turn because of that
	for _, q := range slices.Backward(way) {
		var err error
		if asking, err = j.turn(q, asking); err != nil {
			return fmt.Errorf("%s: %w", s.UID, err)
		}
	}
	if !asks(p, asking) {
		return fmt.Errorf("%s of %s asks for nothing of that because of which it had its turn: %v", s.UID, p.Queue, asking)
	}
	if !j.hasRoom(s.Node, p) {
		return fmt.Errorf("%s does not fit on %s", s.UID, s.Node)
	}
	request := sizeOf(p.Request)
	j.waiting[s.UID] = false
	j.free[s.Node] = j.free[s.Node].minus(request)
	j.placed[s.Node]++
	for a := j.apps[p.Application]; a != nil; a = a.parent {
		a.used = a.used.plus(request)
	}
	return nil
}

// addDemand adds up what a queue uses and what waits there, of each child no more than its max.
func (j *guaranteeJudge) addDemand(q *sibling) (demand size) {
	if len(q.below) == 0 || j.queues[queue.Path(q.below[0].name)] != q.below[0] { // a leaf
		demand = q.used
		for _, uid := range q.pods {
			if p := j.pods[uid]; j.waiting[uid] {
				demand = demand.plus(sizeOf(p.Request))
			}
		}
	} else {
		for _, c := range q.below {
			demand = demand.plus(j.addDemand(c))
		}
	}
	j.demand[q.name] = demand
	for i, n := range resources {
		if most, limited := j.limits[queue.Path(q.name)].Lookup(n); limited {
			demand[i] = min(demand[i], most)
		}
	}
	return demand
}

// turn checks that it is the turn of a queue among its siblings, and adds what it lacks if that is why.
func (j *guaranteeJudge) turn(q *sibling, asking []size) ([]size, error) {
	mine, why := j.part(q)
	below := why != (size{}) && j.has(q, append(slices.Clone(asking), why))
	for _, o := range *q.peers {
		if o == q {
			continue
		}
		theirs, lacks := j.part(o)
		switch first := lacks != (size{}) && j.has(o, append(slices.Clone(asking), lacks)); {
		case first && !below:
			return nil, fmt.Errorf("%s has %v of the guarantee of %v; it is the turn of %s, which lacks %v and has %v of %v",
				q.name, q.used, j.due[q.name], o.name, lacks, o.used, j.due[o.name])
		case first && mine.Cmp(theirs) > 0:
			return nil, fmt.Errorf("%s has a part of %v of its guarantee, and %s one of %v", q.name, mine, o.name, theirs)
		case below && !first:
			if j.byShare(q, o) > 0 && j.has(o, asking) {
				j.overruled++
			}
		case j.byShare(q, o) <= 0 || first && mine.Cmp(theirs) < 0:
		case j.has(o, asking):
			return nil, fmt.Errorf("%s (weight %d) uses %v, more than %s (weight %d) with %v", q.name, q.weight, q.used, o.name, o.weight, o.used)
		}
	}
	if !below {
		return asking, nil
	}
	j.turns++
	if why[gpu] > 0 {
		j.devices++
	}
	return append(asking, why), nil
}

// byShare compares dominant shares for weights.
func (j *guaranteeJudge) byShare(a, b *sibling) int {
	x, y := j.dominant(a.used), j.dominant(b.used)
	return x.Mul(x, big.NewInt(b.weight)).Cmp(y.Mul(y, big.NewInt(a.weight)))
}

// part is the smallest part that a queue has of what it is owed of its guarantee, and how much it lacks of each resource.
func (j *guaranteeJudge) part(q *sibling) (least *big.Rat, lacks size) {
	for i, due := range j.due[q.name] {
		if due = min(due, j.demand[q.name][i]); q.used[i] >= due {
			continue
		}
		lacks[i] = due - q.used[i]
		if part := big.NewRat(q.used[i], due); least == nil || part.Cmp(least) < 0 {
			least = part
		}
	}
	return least, lacks
}

// has reports whether a pod waits in a queue that fits, and asks for something of each.
func (j *guaranteeJudge) has(q *sibling, asking []size) bool {
	return slices.ContainsFunc(q.pods, func(uid ledger.UID) bool {
		p := j.pods[uid]
		return j.waiting[uid] && !j.waitsForDriver(p) && asks(p, asking) && j.admits(home(&p), sizeOf(p.Request)) && j.fitsSomewhere(p)
	})
}

func asks(p ledger.Pod, all []size) bool {
	for _, some := range all {
		if !sizeOf(p.Request).someOf(some, queue.Rule{Policy: queue.DominantResourceFairness}) {
			return false
		}
	}
	return true
}
