package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// A queue at several moments.
var (
	flooded = half{Counts: spark.Counts{DriversRunning: 30, DriversWaiting: 6, ExecutorsWaiting: 120, Starting: 30, MostStarting: 30}}
	almost  = half{Counts: spark.Counts{DriversRunning: 30, DriversWaiting: 6, ExecutorsWaiting: 119, Starting: 30, MostStarting: 30}}
	going   = half{Counts: spark.Counts{DriversRunning: 6, ExecutorsRunning: 20, ExecutorsWaiting: 3, Starting: 1, MostStarting: 1}, completed: 20}
	done    = half{Counts: spark.Counts{MostStarting: 1}, completed: stormApps}
)

// told runs the storm over pairs of moments, a second apart, and returns the last decision and everything that
// was said.
func told(s *storm, moments ...[2]half) (last decision, said string) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, m := range moments {
		last = s.step(now, m[0], m[1])
		said += strings.Join(append(last.say, ""), "\n")
		now = now.Add(time.Second)
	}
	return last, said
}

func TestTheStormEndsWhenTheGateHasMadeTheDifference(t *testing.T) {
	s := &storm{once: true, limit: time.Minute}
	last, said := told(s, [2]half{{}, {}}, [2]half{almost, going}, [2]half{flooded, going}, [2]half{flooded, going}, [2]half{flooded, done})
	if !last.done || last.err != nil {
		t.Fatalf("it ends with %+v", last)
	}
	for _, want := range []string{
		"root.without-gate: 30 drivers hold all 30 places,\n  and the 120 executors that they asked for wait for one\n",
		"root.with-gate: all 36 applications are complete, 4s after their submission\n",
		"36 of 36 applications complete in 4s;", "at most 1 driver at a time",
		"0 of 36 complete; since second 2, 30 drivers hold all 30 places,", "at most 30 of them", "120 executors wait", "simulated drivers never\ngive up",
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("not said once: %q", want)
		}
	}
	if s.headline() != "with the gate all is done, without it nothing ever will be" {
		t.Errorf("the title is %q", s.headline())
	}
}

func TestTheStormGoesOnForViewers(t *testing.T) {
	s := &storm{limit: 3 * time.Second}
	over := [2]half{flooded, done}
	freed := half{Counts: flooded.Counts, completed: 1} // someone deleted a driver
	last, said := told(s, [2]half{flooded, going}, [2]half{flooded, going}, over, over, over, [2]half{freed, done}, [2]half{freed, done})
	if last.done || last.err != nil || strings.Contains(said, "did not") || strings.Count(said, "with the gate:") != 1 {
		t.Errorf("it ends with %+v and said\n%s", last, said)
	}
}

func TestADeletedDriverFreesTheStorm(t *testing.T) {
	s := &storm{limit: time.Minute}
	freed := half{Counts: spark.Counts{DriversRunning: 29, ExecutorsRunning: 1, MostStarting: 30}, completed: 1}
	last, said := told(s, [2]half{flooded, going}, [2]half{freed, going}, [2]half{freed, done})
	if last.err != nil || strings.Contains(said, "nothing would change") || !strings.Contains(said, "without the gate: 1 of 36\n") || !strings.HasPrefix(s.headline(), "somebody ended") {
		t.Errorf("it ends with %+v under %q and said\n%s", last, s.headline(), said)
	}
}

func TestAStormThatDoesNotComeTrueIsAnError(t *testing.T) {
	overtaken := done
	overtaken.MostStarting = 2
	served := flooded
	served.completed = 1
	for name, c := range map[string]struct {
		moments []half // without and with the gate, alternating
		want    string
		watched bool // a viewer is told
	}{
		"never stuck":                {[]half{almost, done, almost, done, almost, done}, "did not come true within 1s", true},
		"never complete":             {[]half{flooded, going, flooded, going, flooded, going}, "did not come true within 1s", true},
		"two started at a time":      {[]half{flooded, going, flooded, overtaken}, "make the difference", true},
		"one completed without":      {[]half{flooded, going, served, done}, "make the difference", false},
		"no longer stuck in the end": {[]half{flooded, going, almost, done}, "make the difference", false},
	} {
		for _, once := range []bool{true, false} {
			var moments [][2]half
			for i := 0; i < len(c.moments); i += 2 {
				moments = append(moments, [2]half{c.moments[i], c.moments[i+1]})
			}
			last, said := told(&storm{once: once, limit: time.Second}, moments...)
			if once && (last.err == nil || !strings.Contains(last.err.Error(), c.want) || !strings.Contains(last.err.Error(), "of 36 applications are complete")) {
				t.Errorf("%s: it ends with %v, want %q", name, last.err, c.want)
			}
			if !once && !c.watched {
				continue
			}
			if !once && (last.err != nil || last.done || strings.Count(said, c.want) != 1) {
				t.Errorf("%s: it ends with %+v and said\n%s", name, last, said)
			}
		}
	}
}

// Both queues are alike except for the gate, and the storm is larger than the room of either.
func TestTheStormsQueuesAndApplications(t *testing.T) {
	objects, err := decode(stormYAML)
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]queue.Spec{}
	for _, object := range objects {
		q, err := convert.DecodeQueue(object)
		if err != nil {
			t.Fatal(err)
		}
		d, err := convert.Declaration(q)
		if err != nil {
			t.Fatal(err)
		}
		specs[q.Name] = d.Spec
	}
	without, with := specs[withoutGate], specs[withGate]
	if len(specs) != 2 || without.Policy != queue.FIFO || with.Policy != queue.StateAware || with.Starters() != stormStarting {
		t.Errorf("the queues are %+v", specs)
	}
	if without.Policy = with.Policy; !without.Equal(with) {
		t.Errorf("they differ in more than the policy: %+v", specs)
	}
	queues, names := map[string]int{}, map[string]bool{}
	for _, a := range stormApplications() {
		queues[a.Queue]++
		names[a.Name] = true
	}
	if queues[withoutGate] != queues[withGate] || queues[withGate] <= stormPlaces || len(names) != 2*stormApps {
		t.Errorf("%v drivers for %d places, %d names", queues, stormPlaces, len(names))
	}
}

func TestTheStormsTable(t *testing.T) {
	v := view{title: (&storm{stuck: time.Unix(1, 0)}).headline(), elapsed: 24 * time.Second, body: stormRows{flooded, going}}
	want := []string{
		"   24s  without the gate drivers hold every place; with it applications go on",
		"QUEUE               COMPLETE   DRIVERS   ALONE   MOST   EXECUTORS   WAITING",
		"root.without-gate    0 of 36        30      30     30           0       120",
		"root.with-gate      20 of 36         6       1      1          20         3",
	}
	if got := v.plain(plainWidth, report.Style{ASCII: true}); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	chart := stormRows{flooded, going}.chart(0, report.Style{})
	if chart[3] != "root.without-gate  "+strings.Repeat("D", 30) || chart[4] != "root.with-gate     DDDDDDEEEEEEEEEEEEEEEEEEEE...." {
		t.Errorf("got\n%s", strings.Join(chart, "\n"))
	}
	for _, width := range []int{20, 60, 79} {
		for _, line := range v.lines(width, report.Style{}) {
			if len(line) > width {
				t.Errorf("%d characters do not fit %d: %q", len(line), width, line)
			}
		}
	}
	if more := (view{title: v.title, body: stormRows{flooded, {Counts: going.Counts, completed: 21}}}); more.essence() != v.essence() {
		t.Error("each application that ends makes a table")
	}
}
