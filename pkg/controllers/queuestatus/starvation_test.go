package queuestatus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func nanos(seconds float64) int64 { return start.UnixNano() + int64(seconds*1e9) }

func TestClocksAreShownAndReadBack(t *testing.T) {
	for name, tc := range map[string]struct {
		is   ledger.Starvation
		want v1alpha1.QueueStatus // what of it is about starvation
	}{
		"served": {},
		"below, without a timeout": {
			ledger.Starvation{BelowFairShareSince: nanos(1)}, v1alpha1.QueueStatus{BelowFairShareSince: atSecond(1)},
		},
		// Rounded up: a clock that is read back does not run out before its time.
		"below in the middle of a second": {
			ledger.Starvation{BelowGuaranteedSince: nanos(1.25), GuaranteedDue: nanos(16.25)},
			v1alpha1.QueueStatus{BelowGuaranteedSince: atSecond(2), Preemption: &v1alpha1.QueuePreemptionStatus{GuaranteedDue: atSecond(17)}},
		},
		"owed": {
			ledger.Starvation{BelowFairShareSince: nanos(1), FairShareDue: nanos(61), Claiming: true, Owed: amounts(3, 4)},
			v1alpha1.QueueStatus{BelowFairShareSince: atSecond(1), Preemption: &v1alpha1.QueuePreemptionStatus{
				FairShareDue: atSecond(61), ClaimOpen: true, Owed: list("3", "4Gi")}},
		},
		"above the threshold, and still owed": {
			ledger.Starvation{Claiming: true, Owed: amounts(1, 1)},
			v1alpha1.QueueStatus{Preemption: &v1alpha1.QueuePreemptionStatus{ClaimOpen: true, Owed: list("1", "1Gi")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := sound("root.a")
			q.Starvation = tc.is
			got := Status(q, v1alpha1.QueueStatus{}, 1, metav1.NewTime(start))
			about := v1alpha1.QueueStatus{BelowFairShareSince: got.BelowFairShareSince, BelowGuaranteedSince: got.BelowGuaranteedSince, Preemption: got.Preemption}
			if diff := cmp.Diff(tc.want, about); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&got)
			if err != nil {
				t.Fatal(err)
			}
			if read := statusOf(&unstructured.Unstructured{Object: map[string]any{"status": content}}); !equality.Semantic.DeepEqual(read, got) {
				t.Errorf("would be written again and again, -written +read:\n%s", cmp.Diff(got, read))
			}
			q.InTree = false
			if kept := Status(q, got, 1, metav1.NewTime(start)); !kept.BelowFairShareSince.Equal(got.BelowFairShareSince) || !equality.Semantic.DeepEqual(kept.Preemption, got.Preemption) {
				t.Errorf("out of the tree it shows %+v", kept)
			}
		})
	}
}

// contest is a cluster of 1000 cores in which root.busy runs pods of one core and root.a asks for 10 of a share of 500, with 60 seconds to
// its fair share and no timeout to its guarantee of 5.
type contest struct {
	*world
	writer *Writer
	events []string
}

func newContest(t *testing.T) *contest {
	c := &contest{world: newWorld(t)}
	c.declare("root.a", "root.busy")
	c.timeout(queue.Timeout{Stated: true, Nanoseconds: 60e9})
	c.begin()
	return c
}

func (c *contest) timeout(fairShare queue.Timeout) {
	spec := queue.DefaultSpec()
	spec.Guaranteed = resource.Of(resource.Entry{Name: resource.CPU, Value: 5000})
	spec.Preemption = queue.Preemption{FairShareThreshold: queue.AtMost(1000), FairShareTimeout: fairShare}
	d := queue.Declaration{Path: "root.a", Spec: spec}
	if u := c.stored["root.a"]; u != nil { // what the feed makes of the status
		q, err := convert.DecodeQueue(u)
		if err != nil {
			c.Fatal(err)
		}
		read, err := convert.Declaration(q)
		if err != nil {
			c.Fatal(err)
		}
		d.Memory = read.Memory
	}
	c.ledger.ObserveQueue(d)
}

// begin starts a writer, as a process does that begins to lead.
func (c *contest) begin() { c.writer = c.world.writer(Options{Queues: c.store, Recorder: c}) }

// Eventf implements events.EventRecorder.
func (c *contest) Eventf(about, _ runtime.Object, kind, why, action, note string, args ...any) {
	ref, ok := about.(*corev1.ObjectReference)
	if !ok || ref.Kind != "Queue" || ref.APIVersion != "scheduling.fairway.dev/v1alpha1" || ref.Name != "root.a" ||
		ref.UID != c.stored["root.a"].GetUID() || action == "" || len(action) > 128 {
		c.Errorf("an event about %v, with action %q", about, action)
	}
	c.events = append(c.events, kind+" "+why+" "+fmt.Sprintf(note, args...))
}

// ask lets pods of root.a wait.
func (c *contest) ask(names ...string) {
	for _, name := range names {
		c.ledger.ObservePod(ledger.Pod{
			UID: ledger.UID(name), Name: name, Queue: "root.a", Application: "asks", Class: "one", Created: 1,
			Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 1000}),
		}, c.clock.Now().UnixNano())
	}
}

// after lets time go by, looks at the clocks, makes a pass, and checks what it tells.
func (c *contest) after(d time.Duration, want ...string) {
	c.Helper()
	c.clock.Step(d)
	c.ledger.Lead(c.clock.Now().UnixNano())
	c.ledger.LookAtStarvation(c.clock.Now().UnixNano())
	c.events = nil
	c.writer.pass(c.context)
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(c.events, "\n")); diff != "" {
		c.Errorf("told (-want +got):\n%s", diff)
	}
}

const (
	belowSince = "Warning BelowFairShare queue root.a is below its fair share: it has 0 cpu, should have 500 cpu and asks for 2 cpu, since 2024-05-01T12:00:00Z; " +
		"pods of other queues are preempted for it from 2024-05-01T12:01:00Z on"
	restored = "Normal FairShareRestored queue root.a is no longer below its fair share: it has 2 cpu, should have 500 cpu and asks for 2 cpu"
)

func TestAStarvationThatLastsIsToldOnce(t *testing.T) {
	c := newContest(t)
	c.run("p", "busy")
	c.ask("one", "two")
	c.after(0)
	if got, _ := c.condition("root.a", "Starved"); got != "True BelowGuaranteed" {
		t.Errorf("the condition is %q", got)
	}
	c.after(999 * time.Millisecond) // not yet: it may be for a moment
	c.after(time.Millisecond, belowSince)
	c.after(time.Second)
	c.after(time.Minute)
	if s := c.status("root.a"); !s.Preemption.ClaimOpen || !s.BelowFairShareSince.Equal(atSecond(0)) {
		t.Errorf("a minute later, the status is %+v", s)
	}
	c.run("one", "a")
	c.after(time.Second)
	c.run("two", "a")
	c.after(time.Second, restored)
	if got, _ := c.condition("root.a", "Starved"); got != "False Served" || c.status("root.a").Preemption != nil {
		t.Errorf("the condition is %q, and the status %+v", got, c.status("root.a"))
	}
	c.after(time.Minute)
}

func TestAStarvationForAMomentIsNotTold(t *testing.T) {
	c := newContest(t)
	c.run("p", "busy")
	c.ask("one", "two")
	c.after(0)
	c.run("one", "a")
	c.run("two", "a")
	c.after(500 * time.Millisecond)
	c.after(time.Minute)
}

func TestAStarvationWithoutATimeoutIsNotTold(t *testing.T) {
	for name, timeout := range map[string]queue.Timeout{"not stated": {}, "never": {Stated: true, Never: true}} {
		t.Run(name, func(t *testing.T) {
			c := newContest(t)
			c.timeout(timeout)
			c.run("p", "busy")
			c.ask("one", "two")
			c.after(0)
			c.after(time.Hour)
			if s := c.status("root.a"); !s.BelowFairShareSince.Equal(atSecond(0)) || s.Preemption != nil {
				t.Errorf("the status is %+v", s)
			}
			c.run("one", "a")
			c.run("two", "a")
			c.after(time.Second)
		})
	}
}

// The next leader goes on with the clock and records the end of starvation. It repeats the event of a start that is less than a minute old, since the
// previous leader may have died before it wrote it. It does not repeat an older one.
func TestAClockAndWhatWasToldOutliveTheProcess(t *testing.T) {
	c := newContest(t)
	c.run("p", "busy")
	c.ask("one", "two")
	c.after(0)
	c.after(2*time.Second, belowSince)
	restart := func() {
		c.ledger = ledger.New(ledger.Options{})
		c.ledger.ObserveNode(ledger.Node{Name: "n", Allocatable: amounts(1000, 1000), Usable: true})
		c.inform()
		c.timeout(queue.Timeout{Stated: true, Nanoseconds: 60e9})
		c.run("p", "busy")
		c.begin()
	}
	restart()
	c.ask("one", "two")
	c.after(10*time.Second, belowSince)
	restart()
	c.ask("one", "two")
	c.after(47*time.Second, belowSince)
	restart()
	c.ask("one", "two")
	c.after(time.Second)
	if s := c.status("root.a"); !s.BelowFairShareSince.Equal(atSecond(0)) || !s.Preemption.FairShareDue.Equal(atSecond(60)) {
		t.Errorf("after a restart the clock is %v, due %+v", s.BelowFairShareSince, s.Preemption)
	}
	restart()
	c.run("one", "a")
	c.run("two", "a")
	c.after(10*time.Second, restored)
}

// Many queues that starve at once are told of over several passes, each once.
func TestEventsOfAPassAreBounded(t *testing.T) {
	w := newWorld(t)
	writer := w.writer(Options{Queues: w.store, Recorder: silent{}})
	for i := range 2*eventsPerPass + 1 {
		r := &record{name: fmt.Sprintf("root.q%d", i)}
		r.state.Starvation = ledger.Starvation{BelowFairShareSince: 1, FairShareDue: 2}
		writer.starved = append(writer.starved, r)
	}
	for pass, want := range []int{25, 50, 51, 51} {
		writer.tell(start)
		told := 0
		for _, r := range writer.starved {
			if r.told[1] {
				told++
			}
		}
		if told != want {
			t.Errorf("pass %d: %d told in all, want %d", pass, told, want)
		}
	}
}

type silent struct{}

func (silent) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// The numbers are of the resource of which the queue has the smallest part, whatever it uses most of. When nothing is lacking any more, they are of what was.
func TestAGuaranteeIsShownByTheResourceThatIsLacking(t *testing.T) {
	list := func(cpu, gpus int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: "nvidia.com/gpu", Value: gpus})
	}
	s := ledger.Snapshot{Total: list(100, 16), Queues: []ledger.QueueState{
		{Path: "root", Spec: queue.DefaultSpec()},
		{Path: "root.a", Spec: queue.Spec{Guaranteed: list(40, 4)}, Allocated: list(60, 0), Demand: list(70, 6)},
	}}
	for _, c := range []struct {
		allocated resource.List
		before    resource.Name
		want      reason.Reason
	}{
		{list(60, 0), "", reason.Reason{Resource: "nvidia.com/gpu", Used: 0, Asked: 6, Details: reason.Shortfall{Entitled: 4}}},
		{list(10, 2), "", reason.Reason{Resource: resource.CPU, Used: 10, Asked: 70, Details: reason.Shortfall{Entitled: 40}}},
		{list(60, 4), "nvidia.com/gpu", reason.Reason{Resource: "nvidia.com/gpu", Used: 4, Asked: 6, Details: reason.Shortfall{Entitled: 4}}},
		{list(60, 4), "", reason.Reason{Resource: resource.CPU, Used: 60, Asked: 70, Details: reason.Shortfall{Entitled: 40}}},
	} {
		c.want.Code, c.want.Queue = reason.BelowGuaranteed, "root.a"
		s.Queues[1].Allocated = c.allocated
		if got := starvations[0].reason(&s, &s.Queues[1], c.before); got != c.want {
			t.Errorf("with (%s) and %q before: %+v, want %+v", c.allocated, c.before, got, c.want)
		}
	}
}
