package simulator

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// siege is a cluster that honest queues would fill for ever with pods of one cpu and one GiB, and an adversary. Nodes have as many GiB as cpus, so the
// cluster has so many units, of which an honest pod takes one and the adversary's usage is the larger of its cpus and its GiB.
//
// All honest queues have pods that wait at any time. So whenever fewer units are in use than the cluster has, and the adversary would be above its
// share with the rest, some honest queue is below its own, and one of its pods fits there: the shares of all sum to the cluster.
type siege struct {
	w      *World
	a      *adversary
	rng    *rand.Rand
	units  int64
	num    int64 // the adversary's share of the cluster is num/den
	den    int64
	honest []string
	pods   int
	at     int64
	lost   int64 // integral: units that honest pods do not use
	idle   int64 // integral: units that nobody uses, beyond what the adversary is owed
	taken  int64 // integral: what the adversary uses, in thousandths
	unit   int64 // the largest pod or group of it that ran, in thousandths
	since  int64 // since when some are idle beyond that, whenever nothing is under way
	wrong  []string
}

const siegeRuns = 300 * second

func newSiege(seed uint64, attacked bool) *siege {
	s := &siege{rng: rand.New(rand.NewPCG(seed, 43)), at: second}
	s.honest = []string{"honest", "other"}
	weight := []int64{1, 1, 10, 100, 1000, 6000}[s.rng.IntN(6)]
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}}}
	leaf := queue.Path("root.adversary")
	s.num, s.den = weight, 2000+weight
	add := func(path queue.Path, weight int64) {
		d := queue.Declaration{Path: path, Spec: unlimited()}
		d.Spec.Weight, d.Spec.Policy = weight, queue.DominantResourceFairness
		obs.Queues = append(obs.Queues, d)
	}
	add("root.honest", 1000)
	add("root.other", 1000)
	if s.rng.IntN(3) == 0 {
		leaf = "root.team.adversary"
		s.num, s.den = weight, 3*(1000+weight)
		add("root.team", 1000)
		add("root.team.mate", 1000)
		s.honest = append(s.honest, "team.mate")
	}
	add(leaf, weight)
	cpus := 4 + s.rng.Int64N(9)
	for i := range 2 + s.rng.IntN(4) {
		if s.rng.IntN(3) == 0 {
			cpus = 4 + s.rng.Int64N(9)
		}
		s.units += cpus
		obs.Nodes = append(obs.Nodes, withFacts(ledger.Node{
			Name: fmt.Sprintf("node-%02d", i), Allocatable: size{cpu: cpus * 1000, memory: cpus * gib}.list(), Usable: true,
		}, false))
	}
	o := Options{Calm: true, Groups: true, Every: -100_000_000, Window: []int{4, ledger.DefaultWindow}[s.rng.IntN(2)], Preemption: s.rng.IntN(3) == 0}
	if o.Preemption {
		p := &obs.Queues[0].Spec.Preemption
		p.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: second * (1 + s.rng.Int64N(10))}
		p.MaxWaitBeforeKill = queue.Timeout{Stated: true, Nanoseconds: second * s.rng.Int64N(10)}
		p.FairShareThreshold = queue.AtMost(1000)
	}
	s.w = Start(seed, obs, o)
	s.w.bound = s.isBound
	for range 2 * s.units {
		s.submit()
	}
	s.a = newAdversary(s.w, leaf, []int{40, 200}[s.rng.IntN(2)], s.w.idleFor)
	s.w.adversary = s.a
	if attacked {
		s.w.at(second+s.rng.Int64N(20*second), s.act)
	}
	return s
}

func (s *siege) act() {
	s.a.act()
	s.w.at(second+s.a.rng.Int64N(25*second), s.act)
}

// submit makes one more honest pod wait: there are always as many of them as the cluster has units.
func (s *siege) submit() {
	s.pods++
	leaf := s.honest[s.pods%len(s.honest)]
	name := fmt.Sprintf("%s-%06d", leaf, s.pods)
	s.w.create(ledger.Pod{UID: ledger.UID(name), Name: name, Queue: leaf, Application: name, Created: s.w.now, Class: leaf,
		Request: size{cpu: 1000, memory: gib}.list()})
}

func (s *siege) isBound(p *pod) {
	if s.a.owns(p) {
		if s.a.kinds[p.UID] != again {
			s.w.at(10*second+s.a.rng.Int64N(50*second), func() { s.a.delete(p) })
		}
		return
	}
	s.submit()
	s.w.at(10*second+s.rng.Int64N(50*second), func() { s.w.vanish(p) })
}

// thousandths are those of a unit that a pod takes.
func thousandths(c size) int64 { return max(c[cpu], c[memory]*1000/gib) }

// look follows what is lost.
func (s *siege) look() {
	dt := s.w.now - s.at
	s.at = s.w.now
	var honest int64
	var mine size
	var largest int64
	groups := map[string]int64{}
	for _, p := range s.w.pods { // sums: order does not matter
		if p.on == "" {
			continue
		}
		if !s.a.owns(p) {
			honest++
			continue
		}
		asks := p.asks
		mine = mine.plus(asks)
		largest = max(largest, thousandths(asks))
		if p.PodGroup != "" {
			groups[p.PodGroup] += thousandths(asks)
			largest = max(largest, groups[p.PodGroup])
		}
	}
	s.unit = max(s.unit, largest)
	var idle int64
	for _, r := range s.w.kube.rooms { // a sum: order does not matter
		free := sizeOf(r.node.Allocatable).minus(r.used)
		idle += max(min(free[cpu]/1000, free[memory]/gib), 0)
	}
	used := thousandths(mine)
	s.lost += dt / millisecond * (s.units - honest)
	s.taken += dt / millisecond * used
	if idle > 0 && (1000*idle+used)*s.den > 1000*s.units*s.num {
		s.idle += dt / millisecond * idle
		if s.since == 0 {
			s.since = s.w.now
		}
		if s.w.idle() && s.w.now-s.since > atMostWithheld {
			s.wrong = append(s.wrong, fmt.Sprintf("at %d ms: %d of %d units lie idle; the adversary uses %d m, and its share is %d m; held for %q",
				s.w.now/millisecond, idle, s.units, used, 1000*s.units*s.num/s.den, s.w.heldFor))
		}
	} else if s.w.idle() {
		s.since = 0
	}
	if used > 0 && (used-largest)*s.den >= 1000*s.units*s.num && s.w.idle() {
		s.wrong = append(s.wrong, fmt.Sprintf("at %d ms: the adversary uses %d m of its share of %d m, of which the largest pod or group has %d m",
			s.w.now/millisecond, used, 1000*s.units*s.num/s.den, largest))
	}
}

func (s *siege) run() {
	for s.w.now < siegeRuns && s.w.Step() && len(s.w.wrong) == 0 {
		s.look()
	}
}

// checks compares the siege with one in which the adversary submits nothing.
func (s *siege) checks(without *siege) error {
	wrong := append(s.w.wrong, without.w.wrong...)
	wrong = append(wrong, s.wrong[:min(len(s.wrong), 3)]...)
	all := s.units * (siegeRuns / millisecond)
	share := s.num * s.units * (siegeRuns / millisecond) / s.den
	if more := s.idle - without.idle; more > all/100 {
		wrong = append(wrong, fmt.Sprintf("of %d unit-ms, %d more lie idle than without the adversary, beyond what it is owed", all, more))
	}
	if more := s.lost - without.lost; more > share+s.unit*(siegeRuns/millisecond)/1000+all/100 {
		wrong = append(wrong, fmt.Sprintf("of %d unit-ms, the others lose %d; the adversary's share is %d, and its largest pod or group that ran has %d m",
			all, more, share, s.unit))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d units, share %d m: %s\nit likes %s", s.units, 1000*s.units*s.num/s.den, strings.Join(wrong, "\n"), s.a.favourites())
	}
	return nil
}

// Whatever one queue submits, the others lose no more than its share. The same cluster is followed twice, with the attacks and without:
//   - Whenever nothing is under way, but for moments of up to two seconds, no more lies idle than what the adversary is owed and does not
//     use. (Room is kept only while its queue and those above would not be above their share with it, or nobody below its own waits; here
//     somebody always does.)
//   - Over the whole time, no more lies idle beyond that than without the adversary, but for a hundredth: attempts for its pods cost
//     nobody else a turn.
//   - Whenever nothing is under way, the adversary without its largest pod or group that runs is below its share: it started something
//     only while it was (the order of queues).
//   - So the others have what they have without the adversary, less its share and one such pod or group.
func TestAnAdversaryCostsOthersNoMoreThanItsShare(t *testing.T) {
	var holds, taken, tried atomic.Int64
	seeds(t, 60, func(seed uint64, _ Options) error {
		with, without := newSiege(seed, true), newSiege(seed, false)
		with.run()
		without.run()
		holds.Add(int64(with.w.Holds))
		taken.Add(with.taken)
		for _, tr := range with.a.trials {
			tried.Add(min(tr.times, 1))
		}
		if err := with.checks(without); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		return nil
	})
	t.Cleanup(func() {
		t.Logf("nodes were held %d times; %d attacks were tried in all worlds together; the adversary used %d unit-s",
			holds.Load(), tried.Load(), taken.Load()/1_000_000)
		if *seedFlag == 0 && *runsFlag == 0 && (holds.Load() == 0 || taken.Load() == 0) {
			t.Error("nothing was held for the adversary, or nothing of it ran: the test lost its subject")
		}
	})
}
