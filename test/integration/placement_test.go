package integration

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

func ledgerOf(s interface{ Kick() }) *ledger.Ledger { return s.(*app.Scheduler).Ledger }

// One control plane, one story: a pod is held while its queue is unknown or has children, says so, and goes as soon as that changes;
// and a queue with pods stays a leaf.
func TestAPodWaitsForItsQueueAndSaysSo(t *testing.T) {
	w := newWorld(t, 2, "8", "8Gi")
	s, stop := w.scheduler(ledger.Options{})

	w.until("the scheduler creates root", func() (bool, string) {
		err := w.client.Get(w.ctx, client.ObjectKey{Name: "root"}, &v1alpha1.Queue{})
		return err == nil, fmt.Sprint(err)
	})
	w.create(pod("no-queue", "", "1", "1Gi"))
	w.untilBound(1) // root.default came with root
	w.create(pod("early", "team", "1", "1Gi"), pod("bad-name", "a_b", "1", "1Gi"), pod("at-root", "root", "1", "1Gi"))
	w.untilHeld("early", "QueueNotFound", "root.team")
	w.untilHeld("bad-name", "QueueNameInvalid", "a_b")

	w.queue("root.team")
	w.untilBound(2)
	w.untilAccepted("early")
	w.untilHeld("at-root", "QueueNotLeaf", "root.")

	// root.team has a pod: a child of it is kept out and says so, and root.team stays a leaf.
	w.queue("root.team.sub")
	w.untilCondition("root.team.sub", v1alpha1.ConditionReady, metav1.ConditionFalse, "ParentHasPods")
	w.create(pod("second", "root.team", "1", "1Gi"), pod("too-early", "root.team.sub", "1", "1Gi"))
	w.untilBound(3)
	w.untilHeld("too-early", "QueueNotReady", "root.team.sub")
	for _, name := range []string{"early", "second"} {
		w.must(w.client.Delete(w.ctx, w.pods()[name], client.GracePeriodSeconds(0)))
	}
	w.untilCondition("root.team.sub", v1alpha1.ConditionReady, metav1.ConditionTrue, "InForce")
	w.untilBound(2) // no-queue and too-early

	// A missing parent, and FIFO on a parent.
	w.queue("root.x.y")
	w.untilCondition("root.x.y", v1alpha1.ConditionReady, metav1.ConditionFalse, "ParentMissing")
	w.queue("root.x policy=FIFO")
	w.untilCondition("root.x", v1alpha1.ConditionReady, metav1.ConditionFalse, "PolicyNotAllowed")
	w.untilCondition("root.x.y", v1alpha1.ConditionReady, metav1.ConditionTrue, "InForce")
	if p := w.getQueue("root.x").Status.Policy; p != v1alpha1.PolicyDominantResourceFairness {
		t.Errorf("policy in force is %s", p)
	}

	// A queue deleted under its pod keeps the pod's account; a label changed afterwards moves nothing; a restart sees the same.
	w.must(w.client.Delete(w.ctx, w.getQueue("root.default")))
	w.kubectl("label", "pod", "no-queue", v1alpha1.KeyQueue+"=root.x.y")
	quiet(t, w, s)
	before := fingerprint.Of(s.Ledger)
	if !strings.Contains(before, "queue root.default accepting false usage cpu=1") {
		t.Errorf("the deleted queue lost its pod:\n%s", before)
	}
	stop()
	again, _ := w.scheduler(ledger.Options{})
	w.until("the rebuilt ledger equals the old one", func() (bool, string) {
		after := fingerprint.Of(again.Ledger)
		return after == before, "before:\n" + before + "after:\n" + after
	})
}

// untilTold waits until a pod says why it waits, in its condition and in an event.
func (w *world) untilTold(name, reason, mentions string) {
	w.t.Helper()
	w.until("pod "+name+" says why it is held", func() (bool, string) {
		c := queuedCondition(w.pods()[name])
		if c == nil {
			return false, "no condition"
		}
		return c.Status == v1.ConditionTrue && c.Reason == reason && strings.Contains(c.Message, mentions), fmt.Sprint(*c)
	})
	w.until("pod "+name+" has an event", func() (bool, string) {
		for _, e := range w.eventsOf(name) {
			if e.Reason == reason {
				return true, ""
			}
		}
		return false, fmt.Sprint(len(w.eventsOf(name)), " other events")
	})
}

// untilHeld is untilTold of a pod that a queue rule holds: it does not show that it lacks room.
func (w *world) untilHeld(name, reason, mentions string) {
	w.t.Helper()
	w.untilTold(name, reason, mentions)
	for _, c := range w.pods()[name].Status.Conditions {
		if c.Type == v1.PodScheduled {
			w.t.Errorf("pod %s is held by a queue rule and shows PodScheduled=%s, which cluster autoscalers act on", name, c.Status)
		}
	}
}

func (w *world) untilAccepted(name string) {
	w.t.Helper()
	w.until("pod "+name+" is no longer held", func() (bool, string) {
		c := queuedCondition(w.pods()[name])
		return c == nil || c.Status == v1.ConditionFalse, fmt.Sprint(c)
	})
}

func (w *world) untilCondition(queue, kind string, status metav1.ConditionStatus, reason string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s is %s=%s", queue, kind, status), func() (bool, string) {
		for _, c := range w.getQueue(queue).Status.Conditions {
			if c.Type == kind {
				return c.Status == status && c.Reason == reason, fmt.Sprint(c)
			}
		}
		return false, "no such condition"
	})
}
