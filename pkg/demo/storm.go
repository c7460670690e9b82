package demo

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
)

// The storm: each of the two queues gets more drivers at once than its half of the cluster has places.
const (
	withoutGate = "root.without-gate"
	withGate    = "root.with-gate"

	stormApps      = 36
	stormExecutors = 4
	stormNodes     = 6
	stormNodeCores = 10
	stormPlaces    = stormNodes * stormNodeCores / 2 / spark.PodCores // per queue: room for 6 applications
	stormStarting  = 1                                                // the default of maxStarting

	// A driver starts in a second, as a JVM may. Executors run long enough that about as many applications run
	// at a time as have room.
	stormStartUp = time.Second
	stormRunFor  = 6 * time.Second
)

// half is one queue at one moment, and its half of the cluster.
type half struct {
	spark.Counts
	completed int
}

// stuck reports whether drivers hold every place, and every pod that could let one of them end waits for a
// place.
func (h half) stuck() bool {
	return h.DriversRunning == stormPlaces && h.ExecutorsRunning == 0 && h.ExecutorsWaiting == stormPlaces*stormExecutors
}

func (h half) String() string {
	return fmt.Sprintf("%d of %d applications are complete, %d drivers and %d executors hold places, %d executors wait",
		h.completed, stormApps, h.DriversRunning, h.ExecutorsRunning, h.ExecutorsWaiting)
}

// storm decides what happens next. It depends only on what it saw and on the clock that it is given.
type storm struct {
	once  bool          // end when everything has happened, or with an error if it is late
	limit time.Duration // how long that may take
	since time.Time

	late, told      bool      // it was said that it is late, and how it ended
	freed           bool      // the stuck queue is no longer stuck: someone deleted a driver
	stuck, complete time.Time // when the one queue got stuck, and when the other was done
}

// headline says how far the storm is.
func (s *storm) headline() string {
	switch {
	case s.freed:
		return "somebody ended a driver: without the gate, too, applications go on, slowly"
	case !s.complete.IsZero() && !s.stuck.IsZero():
		return "with the gate all is done, without it nothing ever will be"
	case !s.complete.IsZero():
		return "with the gate all is done"
	case !s.stuck.IsZero():
		return "without the gate drivers hold every place; with it applications go on"
	}
	return fmt.Sprintf("a storm: %d drivers at once in each queue", stormApps)
}

// step looks at both queues and decides.
func (s *storm) step(now time.Time, without, with half) (d decision) {
	if s.since.IsZero() {
		s.since = now
	}
	elapsed := now.Sub(s.since)
	if s.stuck.IsZero() && without.stuck() {
		s.stuck = now
		d.tell("%s: %d drivers hold all %d places,", withoutGate, without.DriversRunning, stormPlaces)
		d.tell("  and the %d executors that they asked for wait for one", without.ExecutorsWaiting)
	}
	if s.complete.IsZero() && with.completed == stormApps {
		s.complete = now
		d.tell("%s: all %d applications are complete, %.0fs after their submission", withGate, stormApps, elapsed.Seconds())
	}
	s.freed = !s.stuck.IsZero() && !without.stuck()
	switch {
	case s.told:
	case !s.stuck.IsZero() && !s.complete.IsZero():
		s.told = true
		s.sumUp(&d, without, with)
	case elapsed > s.limit && !s.late:
		s.late = true
		s.fail(&d, fmt.Sprintf("the storm did not come true within %s", s.limit), without, with)
	}
	return d
}

// sumUp says what became of both. Without the gate nothing ends by itself, so the storm is over when the other
// queue is done.
func (s *storm) sumUp(d *decision, without, with half) {
	if s.once && (s.freed || without.completed > 0) || with.MostStarting > stormStarting {
		s.fail(d, "the gate did not make the difference", without, with)
		return
	}
	d.tell("with the gate:    %d of %d applications complete in %.0fs;", with.completed, stormApps, s.complete.Sub(s.since).Seconds())
	d.tell("                  at most %d driver at a time had no executor yet", with.MostStarting)
	if s.freed {
		d.tell("without the gate: %d of %d", without.completed, stormApps)
		return
	}
	d.tell("without the gate: %d of %d complete; since second %.0f, %d drivers hold all %d places,", without.completed, stormApps,
		s.stuck.Sub(s.since).Seconds(), without.DriversRunning, stormPlaces)
	d.tell("                  at most %d of them at a time had no executor yet, %d executors wait", without.MostStarting, without.ExecutorsWaiting)
	d.tell("it would stay so until somebody ends a driver, because simulated drivers never")
	d.tell("give up; so that half got as much time as the other one needed")
	d.done = s.once
}

func (s *storm) fail(d *decision, what string, without, with half) {
	lines := []string{what, fmt.Sprintf("%s: %s", withoutGate, without), fmt.Sprintf("%s: %s; at most %d starting at a time", withGate, with, with.MostStarting)}
	if s.once {
		d.err = errors.New(strings.Join(lines, "\n  "))
		return
	}
	d.say = append(d.say, lines...)
}
