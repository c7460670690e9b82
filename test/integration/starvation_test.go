package integration

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The clock of a starved queue is in its status, an event says when preemption is due, and the next leader goes on with the same clock.
func TestAStarvedQueueSaysSinceWhenOverARestart(t *testing.T) {
	w := newWorld(t, 1, "8", "32Gi")
	w.must(w.client.Create(w.ctx, &v1alpha1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "root.a"},
		Spec:       v1alpha1.QueueSpec{Preemption: &v1alpha1.QueuePreemption{FairShareTimeout: "1h"}},
	}))
	w.queue("root.busy")
	_, stop := w.scheduler(ledger.Options{})
	w.create(pod("all", "root.busy", "8", "1Gi"))
	w.untilBound(1)
	w.create(pod("waits", "root.a", "2", "1Gi"))
	w.until("the scheduler knows the pod", func() (bool, string) {
		q := w.getQueue("root.a")
		return q.Status.Pods.Pending == 1, "pending in root.a"
	})
	stop()

	_, stop = w.scheduler(ledger.Options{})
	var began *v1alpha1.Queue
	w.until("the status says since when", func() (bool, string) {
		began = w.getQueue("root.a")
		s := &began.Status
		return s.BelowFairShareSince != nil && s.Preemption != nil && s.Preemption.FairShareDue != nil, "no clock in the status"
	})
	since, due := began.Status.BelowFairShareSince, began.Status.Preemption.FairShareDue
	if due.Unix()-since.Unix() != 3600 {
		t.Errorf("below since %v, and due at %v", since, due)
	}
	w.until("an event says when preemption is due", func() (bool, string) {
		var told []v1.Event
		for _, e := range w.eventsOf("root.a") {
			if e.Reason == "BelowFairShare" {
				told = append(told, e)
			}
		}
		if len(told) == 0 {
			return false, "no event about root.a"
		}
		e := &told[0]
		const want = "queue root.a is below its fair share: it has 0 cpu, should have 4 cpu and asks for 2 cpu, since "
		if e.InvolvedObject.Kind != "Queue" || e.InvolvedObject.UID != began.UID || e.Type != "Warning" || !strings.HasPrefix(e.Message, want) {
			t.Errorf("the event is %s %q about %+v", e.Type, e.Message, e.InvolvedObject)
		}
		return true, ""
	})
	stop()

	_, stop = w.scheduler(ledger.Options{})
	defer stop()
	w.create(pod("waits-too", "root.a", "1", "1Gi"))
	w.until("the next leader writes the status", func() (bool, string) {
		s := w.getQueue("root.a").Status
		if !s.BelowFairShareSince.Equal(since) || !s.Preemption.FairShareDue.Equal(due) {
			t.Fatalf("below since %v, due %+v, want %v and %v", s.BelowFairShareSince, s.Preemption, since, due)
		}
		return s.Pods.Pending == 2, "pending in root.a"
	})
}
