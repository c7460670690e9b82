package integration

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

// A parent is stopped while its leaf has one application that runs and one that waits for room. Both end, with a further pod of the first; a later one
// waits and says why, also for a scheduler that is started meanwhile. The drained queue starts again, and all that waited runs. Then it is drained once
// more and becomes a parent; when its child is deleted it is a leaf again and runs what waited for that; and it is drained and deleted.
func TestAStoppedQueueDrainsAndStarts(t *testing.T) {
	w := newWorld(t, 1, "4", "64Gi")
	w.queue("root.etl")
	w.queue("root.etl.day")
	w.queue("root.web")
	s, stop := w.scheduler(ledger.Options{})
	w.create(of("runs", pod("runs", "etl.day", "3", "1Gi")))
	w.untilBound(1)
	w.create(of("waits", pod("waits", "etl.day", "3", "1Gi")))
	w.untilState("root.etl.day", v1alpha1.QueueRunning)
	time.Sleep(1100 * time.Millisecond) // creation times have whole seconds: what came in the very second of the stop would wait

	w.state("root.etl", v1alpha1.QueueStopped)
	since := w.untilState("root.etl.day", v1alpha1.QueueDraining)
	w.untilState("root.etl", v1alpha1.QueueDraining)
	w.untilState("root", v1alpha1.QueueRunning)
	w.until("the status of root names the queue that is stopped", func() (bool, string) {
		names := w.getQueue("root").Status.StoppedQueues
		return fmt.Sprint(names) == "[root.etl]", fmt.Sprint(names)
	})
	w.create(of("late", pod("late", "etl.day", "1", "1Gi")), of("runs", pod("more", "etl.day", "1", "1Gi")))
	w.untilBound(2)
	sentence := "queue root.etl.day takes no new applications since " + since.UTC().Format(time.RFC3339) +
		", because root.etl is stopped; this one follows when root.etl is Running again"
	w.held("late", "QueueStopped", sentence)
	w.untilHeld("late", "QueueStopped", sentence) // and in an event

	quiet(t, w, s)
	before := fingerprint.Of(s.Ledger)
	stop()
	s, stop = w.scheduler(ledger.Options{})
	w.untilEqual(s, before)
	if again := w.untilState("root.etl.day", v1alpha1.QueueDraining); !again.Equal(since) {
		t.Errorf("stopped since %s, after a restart since %s", since, again)
	}
	w.endPods("runs", "more")
	w.untilRuns("waits") // it was submitted before
	w.endPods("waits")
	w.untilState("root.etl.day", v1alpha1.QueueStopped)
	w.untilState("root.etl", v1alpha1.QueueStopped)
	w.held("late", "QueueStopped", sentence)

	w.state("root.etl", v1alpha1.QueueRunning)
	w.untilRuns("late")
	w.untilState("root.etl.day", v1alpha1.QueueRunning)
	if q := w.getQueue("root.etl.day"); q.Status.StoppedSince != nil {
		t.Errorf("it runs, and is stopped since %s", q.Status.StoppedSince)
	}
	w.sound(s, stop)

	s, stop = w.scheduler(ledger.Options{})
	w.state("root.etl.day", v1alpha1.QueueStopped)
	w.untilState("root.etl.day", v1alpha1.QueueDraining)
	w.queue("root.etl.day.early")
	w.untilCondition("root.etl.day.early", v1alpha1.ConditionReady, metav1.ConditionFalse, "ParentHasPods")
	w.endPods("late")
	w.untilState("root.etl.day", v1alpha1.QueueStopped)
	w.untilCondition("root.etl.day.early", v1alpha1.ConditionReady, metav1.ConditionTrue, "InForce")
	w.state("root.etl.day.early", v1alpha1.QueueRunning)
	w.untilCondition("root.etl.day.early", v1alpha1.ConditionFieldsIgnored, metav1.ConditionTrue, "RunningBelowStopped")

	w.state("root.etl.day", v1alpha1.QueueRunning)
	w.untilCondition("root.etl.day.early", v1alpha1.ConditionFieldsIgnored, metav1.ConditionFalse, "AllFieldsCount")
	w.create(of("young", pod("young", "etl.day.early", "1", "1Gi")), of("again", pod("again", "etl.day", "1", "1Gi")))
	w.untilRuns("young")
	w.untilHeld("again", "QueueNotLeaf", "queue root.etl.day has child queues and takes no pods itself")
	w.must(w.client.Delete(w.ctx, w.getQueue("root.etl.day.early")))
	w.endPods("young")
	w.untilGone("root.etl.day.early")
	w.untilRuns("again") // its queue is a leaf again
	w.state("root.etl.day", v1alpha1.QueueStopped)
	w.untilState("root.etl.day", v1alpha1.QueueDraining)
	w.endPods("again")
	w.untilState("root.etl.day", v1alpha1.QueueStopped)
	for _, q := range []string{"root.etl.day", "root.etl"} {
		w.must(w.client.Delete(w.ctx, w.getQueue(q)))
		w.untilGone(q)
	}
	w.sound(s, stop)
}

// of puts a pod in an application.
func of(application string, p *v1.Pod) *v1.Pod {
	p.Labels[v1alpha1.KeyApplication] = application
	return p
}

func (w *world) state(queue string, state v1alpha1.QueueState) {
	w.t.Helper()
	w.must(w.client.Patch(w.ctx, w.getQueue(queue), client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"state":%q}}`, state))))
}

// untilState waits until a queue shows the state, and returns since when it is stopped.
func (w *world) untilState(queue string, state v1alpha1.QueueState) (since time.Time) {
	w.t.Helper()
	w.until(fmt.Sprintf("queue %s is %s", queue, state), func() (bool, string) {
		q := w.getQueue(queue)
		if q.Status.StoppedSince != nil {
			since = q.Status.StoppedSince.Time
		}
		return q.Status.State == state && q.Status.ObservedGeneration == q.Generation, fmt.Sprint(q.Status.State, q.Status.StoppedSince)
	})
	return since
}

func (w *world) untilRuns(name string) {
	w.t.Helper()
	w.until("pod "+name+" has a node", func() (bool, string) {
		p := w.pods()[name]
		return p != nil && p.Spec.NodeName != "", fmt.Sprint(p)
	})
}

func (w *world) endPods(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.must(w.client.Delete(w.ctx, w.pods()[name], client.GracePeriodSeconds(0)))
	}
}
