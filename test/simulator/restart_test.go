package simulator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// restarts is a driver storm in which the scheduler's process ends at any moment, most often while an application starts. The status of the
// queue is written now and then, and may be lost. Its own books go through all of it.
type restarts struct {
	*storm
	rng      *rand.Rand
	shortest int64              // timeout that was in force
	gotOn    map[string]bool    // applications of which an executor has had a node
	since    map[string]int64   // when a driver got its node
	most     int                // applications that were starting at a time
	n        int                // restarts
	midway   int                // of those, with an application that was starting
	drivers  map[string]*pod    // by application
	inFlight map[ledger.UID]int // the life in which a pod was reserved last
}

func newRestarts(seed uint64, apps []sparkApp, spec queue.Spec, shortest int64) *restarts {
	r := &restarts{
		storm: newStorm(seed, apps, spec, false), rng: rand.New(rand.NewPCG(seed, 11)), shortest: shortest,
		gotOn: map[string]bool{}, since: map[string]int64{}, drivers: map[string]*pod{}, inFlight: map[ledger.UID]int{},
	}
	for _, p := range r.w.pods {
		r.drivers[p.Application] = p
	}
	bound := r.w.bound
	r.w.bound = func(p *pod) {
		if p.Role == application.Driver {
			r.since[p.Application] = r.w.now
		} else {
			r.gotOn[p.Application] = true
		}
		bound(p)
	}
	return r
}

// starting counts the applications whose driver has a node, or is about to be bound by the process that lives, and which have not shown
// yet that they get on.
func (r *restarts) starting() (n int) {
	for name, d := range r.drivers { // counts: order does not matter
		reserved := d.Node != "" || d.on != "" && r.inFlight[d.UID] == r.w.life
		timely := d.Node == "" || r.w.now < r.since[name]+r.shortest
		if d.exists && reserved && timely && !r.gotOn[name] {
			n++
		}
	}
	return n
}

func (r *restarts) restart() {
	r.n++
	if r.starting() > 0 {
		r.midway++
	}
	if r.rng.IntN(5) == 0 {
		r.w.LoseStatus()
	}
	r.w.Restart()
}

// now and then something happens until the storm is over.
func (r *restarts) nowAndThen(most int64, what func()) {
	r.w.at(r.rng.Int64N(most), func() {
		if len(r.done) < len(onlyHealthy(r.apps)) {
			what()
			r.nowAndThen(most, what)
		}
	})
}

// follow runs the storm, and looks at every reservation.
func (r *restarts) follow(starters int) error {
	r.nowAndThen(40*second, r.restart)
	r.nowAndThen(20*second, r.w.WriteStatus)
	seen := 0
	for range longestStorm {
		if !r.w.Step() {
			return nil
		}
		for ; seen < len(r.w.Reserved); seen++ {
			uid := r.w.Reserved[seen].UID
			r.inFlight[uid] = r.w.life
			if n := r.starting(); n > starters {
				return fmt.Errorf("%d s, after %d restarts: %s was reserved, and %d applications of at most %d are starting", r.w.now/second, r.n, uid, n, starters)
			}
			r.most = max(r.most, r.starting())
			if p := r.w.pods[uid]; p.Role == application.Driver && r.rng.IntN(2) == 0 {
				r.w.at(r.rng.Int64N(20*millisecond), r.restart)
			}
		}
		if len(r.w.wrong) > 0 {
			return fmt.Errorf("%d s: %q", r.w.now/second, r.w.wrong)
		}
	}
	return fmt.Errorf("still busy after %d s", r.w.now/second)
}

// Whenever the scheduler restarts, and whatever the status of the queue says: never more applications are starting than may be, by books
// that know all that has happened, and all complete.
func TestRestartsDuringStartsLetNoMoreStart(t *testing.T) {
	for name, c := range map[string]struct {
		timeout  queue.StartingTimeout
		shortest int64
		starters int
	}{
		"one at a time":    {queue.StartingTimeout{Nanoseconds: 30 * second}, 30 * second, 1},
		"three at a time":  {queue.StartingTimeout{Nanoseconds: 30 * second}, 30 * second, 3},
		"adaptive timeout": {queue.StartingTimeout{Adaptive: true}, 5 * second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				apps := spoiled(seed, sparkApps(seed, stormSize, 180*second))
				r := newRestarts(seed, apps, stateAware(c.timeout, int64(c.starters)), c.shortest)
				if err := r.follow(c.starters); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				t.Logf("seed %d: %d restarts, %d of them while an application was starting; %d reservations", seed, r.n, r.midway, len(r.w.Reserved))
				if good := len(onlyHealthy(apps)); len(r.done) != good || r.most != c.starters || r.midway < 20 {
					t.Errorf("seed %d: %d of %d completed, at most %d were starting, %d restarts meanwhile", seed, len(r.done), good, r.most, r.midway)
				}
			}
		})
	}
}
