package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// toyCluster is the minimum that can replace a scheduler: slots for pods, given one by one to the queue that
// holds least for its weight. The story must not notice a difference.
type toyCluster struct {
	now     time.Time
	weights map[string]int64 // per queue; each gets its part of the sum
	waiting map[string][]time.Duration
	running map[string][]time.Time // when each pod ends
	slots   int
	made    int
}

func newToyCluster() *toyCluster {
	return &toyCluster{
		now:     time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		weights: map[string]int64{busy: 1, sometimesBusy: 3},
		waiting: map[string][]time.Duration{}, running: map[string][]time.Time{}, slots: allPods,
	}
}

var queueNames = []string{busy, sometimesBusy}

func (c *toyCluster) advance(d time.Duration) {
	c.now = c.now.Add(d)
	for name, ends := range c.running {
		c.running[name] = slices.DeleteFunc(ends, func(end time.Time) bool { return !end.After(c.now) })
	}
	for len(c.running[busy])+len(c.running[sometimesBusy]) < c.slots {
		first := ""
		for _, name := range queueNames {
			if len(c.waiting[name]) > 0 && (first == "" || c.ratio(name) < c.ratio(first)) {
				first = name
			}
		}
		if first == "" {
			return
		}
		c.running[first] = append(c.running[first], c.now.Add(c.waiting[first][0]))
		c.waiting[first] = c.waiting[first][1:]
	}
}

func (c *toyCluster) ratio(name string) int64 {
	return int64(len(c.running[name])) * 1000 / c.weights[name]
}

func (c *toyCluster) submit(s submission) {
	for range s.pods {
		c.made++
		run, err := time.ParseDuration(runSeconds(c.made, s.few) + "s")
		if err != nil {
			panic(err)
		}
		c.waiting[s.queue] = append(c.waiting[s.queue], run)
	}
}

func (c *toyCluster) world() world {
	w := world{bound: map[string]resource.List{}, waiting: map[string]int{}, running: map[string]int{}}
	for _, name := range queueNames {
		share := podSize(int(allPods * c.weights[name] / (c.weights[busy] + c.weights[sometimesBusy])))
		held := podSize(len(c.running[name]))
		w.queues = append(w.queues, report.Queue{Name: name, Weight: c.weights[name] * 1000, SteadyFairShare: share, FairShare: share, Allocated: held})
		w.bound[name] = held
		w.waiting[name] = len(c.waiting[name])
		w.running[name] = len(c.running[name])
	}
	return w
}

// tell runs the story on the toy until a condition holds, and returns everything that was said.
func tell(t *testing.T, s *story, c *toyCluster, until func(decision, world) bool) []string {
	t.Helper()
	var said []string
	for range 2000 {
		w := c.world()
		d := s.step(c.now, w)
		said = append(said, d.say...)
		if until(d, w) {
			return said
		}
		for _, submission := range d.submit {
			c.submit(submission)
		}
		c.advance(stepEvery)
	}
	t.Fatalf("no end in %s, stage %q:\n%s", 2000*stepEvery, s.stage, strings.Join(said, "\n"))
	return nil
}

func TestSharesArriveOnAClusterThatSharesFairly(t *testing.T) {
	s, c := &story{once: true, limit: time.Minute}, newToyCluster()
	began := c.now
	crowdedSeen := false
	said := tell(t, s, c, func(d decision, w world) bool {
		if d.err != nil {
			t.Fatal(d.err)
		}
		if s.stage == crowded && c.now.Equal(s.since) {
			crowdedSeen = true
			if got := w.running[busy]*100 + w.running[sometimesBusy]; got != 9010 {
				t.Errorf("Scenario A with %d running", got)
			}
		}
		if s.stage >= contested && c.now.Sub(s.since) > time.Second && (w.waiting[busy] == 0 || w.waiting[sometimesBusy] == 0) {
			t.Errorf("a backlog ran dry: %v", w.waiting)
		}
		return d.done
	})
	if !crowdedSeen {
		t.Error("no Scenario A")
	}
	w := c.world()
	if w.running[busy] != 25 || w.running[sometimesBusy] != 75 {
		t.Errorf("done with %v", w.running)
	}
	if took := c.now.Sub(began); took > 40*time.Second {
		t.Errorf("the story took %s", took)
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, "root.busy holds 50c 200Gi, root.sometimes-busy holds 150c 600Gi") {
		t.Errorf("said:\n%s", all)
	}
	for _, line := range said {
		if len(line)+len("  12.3s  ") > 80 {
			t.Errorf("too long for 80 columns: %q", line)
		}
	}
}

func TestAllocationsFollowAnEditedWeight(t *testing.T) {
	s, c := &story{limit: time.Minute}, newToyCluster()
	tell(t, s, c, func(decision, world) bool { return s.stage == shared })
	c.weights[busy] = 2 // two fifths and three fifths
	said := tell(t, s, c, func(d decision, _ world) bool {
		return s.arrived && slices.ContainsFunc(d.say, func(l string) bool { return strings.HasPrefix(l, "allocations followed") })
	})
	if !slices.Contains(said, "  root.busy 80c 320Gi, root.sometimes-busy 120c 480Gi") {
		t.Errorf("said:\n%s", strings.Join(said, "\n"))
	}
	if n := c.world().running[busy]; n < 39 || n > 41 {
		t.Errorf("busy runs %d pods", n)
	}
	// Without a change nothing more is said.
	steps := 0
	if more := tell(t, s, c, func(decision, world) bool { steps++; return steps > 100 }); len(more) > 0 {
		t.Errorf("said %q", more)
	}
}

func TestSharesThatDoNotArriveAreAnError(t *testing.T) {
	s, c := &story{once: true, limit: 20 * time.Second}, newToyCluster()
	var failure error
	tell(t, s, c, func(d decision, _ world) bool {
		if s.stage == contested {
			c.weights[sometimesBusy] = 1 // the cluster uses other weights than the story expects
		}
		failure = d.err
		return failure != nil
	})
	for _, want := range []string{"the shares did not arrive within 20s", "root.busy: fair share 100c 400Gi, allocated 100c 400Gi, its 50 bound pods hold 100c 400Gi"} {
		if !strings.Contains(failure.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, failure)
		}
	}
}

func TestAClusterThatDoesNotFill(t *testing.T) {
	s, c := &story{once: true, limit: 20 * time.Second}, newToyCluster()
	c.slots = 0
	var failure error
	tell(t, s, c, func(d decision, _ world) bool { failure = d.err; return failure != nil })
	if !strings.Contains(failure.Error(), "the cluster did not fill within 20s") {
		t.Error(failure)
	}
	// A viewer is told once, and the story goes on.
	s, c = &story{limit: 20 * time.Second}, newToyCluster()
	c.slots = 0
	said := tell(t, s, c, func(d decision, _ world) bool {
		if d.err != nil {
			t.Fatal(d.err)
		}
		if c.made > 0 && c.now.Sub(s.since) > time.Minute {
			c.slots = allPods
		}
		return s.stage == shared
	})
	if n := strings.Count(strings.Join(said, "\n"), "did not fill"); n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestArrivalIsExactAndConfirmedByPods(t *testing.T) {
	exact := func() world {
		c := newToyCluster()
		c.running[busy] = make([]time.Time, 25)
		c.running[sometimesBusy] = make([]time.Time, 75)
		return c.world()
	}
	for _, c := range []struct {
		about  string
		change func(*world)
		want   bool
	}{
		{"exact", func(*world) {}, true},
		{"a byte less in the status", func(w *world) {
			w.queues[0].Allocated = w.queues[0].Allocated.Sub(resource.Of(resource.Entry{Name: resource.Memory, Value: 1}))
		}, false},
		{"a pod less is bound than the status says", func(w *world) { w.bound[sometimesBusy] = podSize(74) }, false},
		{"a third resource", func(w *world) {
			w.queues[1].Allocated = w.queues[1].Allocated.Add(resource.Of(resource.Entry{Name: "example.com/gpu", Value: 1}))
		}, false},
		{"no shares yet", func(w *world) { w.queues = nil; w.bound = nil }, false},
		{"equal to a share that the weights do not promise", func(w *world) {
			for i := range w.queues {
				w.queues[i].FairShare, w.queues[i].Allocated, w.bound[w.queues[i].Name] = podSize(50), podSize(50), podSize(50)
			}
		}, false},
	} {
		w := exact()
		c.change(&w)
		if got := (&story{once: true}).sharesArrived(w); got != c.want {
			t.Errorf("%s: got %v", c.about, got)
		}
	}
}

func TestFeedIsBounded(t *testing.T) {
	for stage := filling; stage <= shared; stage++ {
		s := &story{stage: stage}
		total := 0
		for _, submission := range s.feed(world{}) {
			total += submission.pods
			if submission.few != (stage < contested && submission.queue == sometimesBusy) {
				t.Errorf("stage %q: %+v", stage, submission)
			}
		}
		if total != stepPods {
			t.Errorf("stage %q: %d pods", stage, total)
		}
	}
	full := world{waiting: map[string]int{busy: busyBacklog, sometimesBusy: burstBacklog}, running: map[string]int{sometimesBusy: fewPods}}
	for stage := filling; stage <= shared; stage++ {
		if got := (&story{stage: stage}).feed(full); len(got) > 0 {
			t.Errorf("stage %q: %+v", stage, got)
		}
	}
}
