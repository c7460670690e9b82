package podcondition

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// wantEvents checks which pods have one event that they wait for room, in the words of the condition, in this order. It forgets the events.
func (c *crowded) wantEvents(names ...string) {
	c.Helper()
	var want []string
	for _, name := range names {
		want = append(want, fmt.Sprintf("Pod team/%s uid-%s Warning WaitingForRoom Queueing: %s", name, name, misfit))
	}
	if !slices.Equal(c.recorder.lines, want) {
		c.Errorf("events\n%s\nwant\n%s", strings.Join(c.recorder.lines, "\n"), strings.Join(want, "\n"))
	}
	c.recorder.lines = nil
}

// A pod that waits for room behind the probe of its class has one event, the first in order first, and none within its first seconds. As long as the reason
// stays, there is the next one when the API server is about to drop the first.
func TestAPodThatWaitsForRoomHasOneEvent(t *testing.T) {
	c := newCrowded(t, 9, Options{ShowUnschedulable: true, EventsPerSecond: 2})
	c.wait(1)
	c.probe()
	c.wait5()
	c.passes(5 * time.Second)
	if len(c.recorder.lines) > 1 {
		t.Errorf("events within five seconds: %q", c.recorder.lines)
	}
	c.passes(30 * time.Second)
	c.wantEvents("p00", "p01", "p02", "p03", "p04", "p05")
	c.passes(10 * time.Minute)
	c.wantEvents()
	c.passes(36 * time.Minute)
	c.wantEvents("p00", "p01", "p02", "p03", "p04", "p05")
}

// wait5 makes five more pods that wait, all created now.
func (c *crowded) wait5() {
	c.Helper()
	for i := 1; i <= 5; i++ {
		pod := c.pod(fmt.Sprintf("p%02d", i), "m")
		pod.CreationTimestamp.Time = c.clock.Now().Add(time.Duration(i) * time.Millisecond)
		c.edit(pod.Name, func(p *corev1.Pod) { p.CreationTimestamp = pod.CreationTimestamp })
	}
	c.seen()
}

// One rate for all pods, however many wait.
func TestEventsHaveOneRate(t *testing.T) {
	c := newCrowded(t, 400, Options{ShowUnschedulable: true, EventsPerSecond: 5})
	c.wait(100)
	c.probe()
	c.clock.Step(2 * time.Minute)
	for range 40 { // 20 seconds
		before := len(c.recorder.lines)
		c.pass()
		c.seen()
		if n := len(c.recorder.lines) - before; n > 3 {
			t.Fatalf("%d events in half a second at 5 a second", n)
		}
	}
	if n := len(c.recorder.lines); n < 75 || n > 103 {
		t.Errorf("%d events in 20 seconds at 5 a second, for 100 pods", n)
	}
	for i, line := range c.recorder.lines[:20] {
		if want := fmt.Sprintf("Pod team/p%02d ", i); !strings.HasPrefix(line, want) {
			t.Errorf("event %d is %q, want that of the next in order", i, line)
		}
	}
}

// What starts within a few seconds has no event.
func TestAPodThatStartsSoonHasNoEvent(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.pod("p", "a")
	for range 9 {
		w.pass()
	}
	w.ledger.ObservePod(ledger.Pod{
		UID: "uid-p", Namespace: "team", Name: "p", Queue: "a", Application: "p", Class: "c", Created: start.UnixNano(), Node: "n",
	}, w.clock.Now().UnixNano())
	for range 40 {
		w.pass()
	}
	if len(w.recorder.lines)+len(w.writer.said)+len(w.writer.saidOf) != 0 {
		t.Errorf("events %q, remembered %v", w.recorder.lines, w.writer.said)
	}
}

// Another reason makes another event, and a condition that says the same as the last event makes none.
func TestAnotherReasonHasAnotherEvent(t *testing.T) {
	w := newWorld(t, Options{})
	w.declare("root.a")
	w.pod("p", "a")
	for range 40 {
		w.pass()
	}
	w.ledger.ForgetQueue("root.a")
	w.ledger.Snapshot()
	for range 80 {
		w.pass()
	}
	if len(w.recorder.lines) != 2 || !strings.Contains(w.recorder.lines[0], "Normal WaitingTurn") || !strings.Contains(w.recorder.lines[1], "Warning Queue") {
		t.Errorf("events %q", w.recorder.lines)
	}
}

// The condition Queued does not stay True on a pod that others bound, nor on one that has ended.
func TestQueuedGoesWithWhatBlocked(t *testing.T) {
	w := newWorld(t, Options{})
	for _, name := range []string{"bound", "ended", "deleted", "done", "raced"} {
		w.pod(name, "nowhere")
	}
	w.pass()
	w.wants("bound", corev1.ConditionTrue, "QueueNotFound", notFound, start)
	for _, name := range []string{"bound", "ended", "deleted", "done", "raced"} { // as the watch shows what was written
		w.ledger.ObservePod(ledger.Pod{
			UID: ledger.UID("uid-" + name), Namespace: "team", Name: name, Queue: "nowhere", Application: name, Class: "c", Created: start.UnixNano(), Shown: notFound,
		}, w.clock.Now().UnixNano())
	}
	w.ledger.ObservePod(ledger.Pod{
		UID: "uid-bound", Namespace: "team", Name: "bound", Queue: "nowhere", Application: "bound", Class: "c", Created: start.UnixNano(), Node: "n", Shown: notFound,
	}, w.clock.Now().UnixNano())
	for _, name := range []string{"done", "raced"} { // bound, and gone from the watch before that is written: it has ended, and the last object does not say so
		w.ledger.ObservePod(ledger.Pod{
			UID: ledger.UID("uid-" + name), Namespace: "team", Name: name, Queue: "nowhere", Application: name, Class: "c", Created: start.UnixNano(), Node: "n", Shown: notFound,
		}, w.clock.Now().UnixNano())
		if name == "raced" {
			w.writer.pending = w.ledger.TakeConditionUpdates(10)
		}
	}
	w.ledger.ForgetPod("uid-done", w.clock.Now().UnixNano())
	w.ledger.ForgetPod("uid-raced", w.clock.Now().UnixNano())
	w.ledger.EndPod("uid-ended", w.clock.Now().UnixNano())
	w.ledger.ForgetPod("uid-deleted", w.clock.Now().UnixNano())
	w.patched = nil
	w.pass()
	w.pass()
	if c := w.condition("bound"); c == nil || c.Status != corev1.ConditionFalse {
		t.Errorf("a pod with a node shows %v", c)
	}
	for _, name := range []string{"ended", "done", "raced"} {
		if c := w.condition(name); c != nil {
			t.Errorf("%s, which has ended, shows %s %v", name, v1alpha1.PodConditionQueued, c)
		}
	}
	slices.Sort(w.patched)
	if !slices.Equal(w.patched, []string{"bound", "done", "ended", "raced"}) {
		t.Errorf("patched %v", w.patched)
	}
}

// A pod that got its node before the sentence was written does not get it any more, nor an event.
func TestAPodWithANodeIsNotToldWhatBlockedIt(t *testing.T) {
	w := newWorld(t, Options{})
	w.pod("p", "nowhere")
	w.writer.pending = w.ledger.TakeConditionUpdates(10)
	w.ledger.ObservePod(ledger.Pod{
		UID: "uid-p", Namespace: "team", Name: "p", Queue: "nowhere", Application: "p", Class: "c", Created: start.UnixNano(), Node: "n",
	}, w.clock.Now().UnixNano())
	w.pass()
	w.pass()
	for _, line := range w.recorder.lines {
		if strings.Contains(line, "QueueNotFound") {
			t.Errorf("event %q", line)
		}
	}
	if c := w.condition("p"); c != nil && c.Status == corev1.ConditionTrue {
		t.Errorf("a pod with a node shows %v", c)
	}
}
