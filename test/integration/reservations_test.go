package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// busyCluster has 10 nodes of 4 cores, all of which pods of root.busy use. root.plan is entitled to half of them, as is its sibling.
func busyCluster(t *testing.T) (w *world, stop func()) {
	w = newWorldAlone(t, 10, "4", "16Gi")
	w.queue("root preemption.interval=1s preemption.maxWaitBeforeKill=1s")
	_, stop = w.scheduler(ledger.Options{})
	w.queue("root.busy")
	w.plan("preemption: {guaranteedTimeout: 1s}")
	var pods []*v1.Pod
	for i := range 40 {
		p := pod(fmt.Sprintf("busy-%02d", i), "root.busy", "1", "1Gi")
		p.Spec.TerminationGracePeriodSeconds = new(int64)
		pods = append(pods, p)
	}
	w.create(pods...)
	w.untilBound(40)
	return w, stop
}

func (w *world) plan(spec string) {
	w.t.Helper()
	w.apply("{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.plan}, spec: {reservable: true, " + spec + "}}")
}

// reserve asks for so many pods of one core, from an instant on, for so long.
func (w *world) reserve(name string, pods int, from time.Time, long time.Duration) {
	w.t.Helper()
	w.apply(fmt.Sprintf(`{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Reservation, metadata: {name: %s, namespace: default}, spec: {queue: root.plan,
		arrival: %q, deadline: %q, requests: [{pods: %d, resources: {cpu: 1}, duration: %s}]}}`,
		name, from.UTC().Format(time.RFC3339), from.Add(long).UTC().Format(time.RFC3339), pods, long))
}

// reserved creates pods that name a reservation.
func (w *world) reserved(name string, pods int) {
	w.t.Helper()
	var all []*v1.Pod
	for i := range pods {
		p := pod(fmt.Sprintf("%s-%02d", name, i), "", "1", "1Gi")
		p.Labels[v1alpha1.KeyReservation] = name
		all = append(all, p)
	}
	w.create(all...)
}

func (w *world) reservation(name string) v1alpha1.ReservationStatus {
	w.t.Helper()
	r := &v1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	w.must(w.client.Get(w.ctx, client.ObjectKeyFromObject(r), r))
	return r.Status
}

func (w *world) untilPhase(name string, phase v1alpha1.ReservationPhase) (s v1alpha1.ReservationStatus) {
	w.t.Helper()
	w.until("reservation "+name+" is "+string(phase), func() (bool, string) {
		s = w.reservation(name)
		return s.Phase == phase, fmt.Sprintf("%+v", s)
	})
	return s
}

func (w *world) untilIn(queue string, pods int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d pods are in %s", pods, queue), func() (bool, string) {
		b := w.bound()
		return b[queue] == pods, fmt.Sprint(b)
	})
}

// soon is a whole second, in which times of objects are, this far ahead.
func soon(in time.Duration) time.Time { return time.Now().Add(in).Truncate(time.Second) }

// A reservation of half of a busy cluster has its capacity when it begins, a second one is told when it fits, and at the end pods run on as those of the
// queue.
func TestAReservationOfHalfABusyCluster(t *testing.T) {
	w, stop := busyCluster(t)
	arrival := soon(12 * time.Second)
	w.reserve("night", 20, arrival, 40*time.Second)
	w.reserved("night", 20)
	w.untilPhase("night", v1alpha1.ReservationAccepted)
	w.reserve("late", 1, arrival, 40*time.Second)
	w.reserved("late", 1)
	refused := w.untilPhase("late", v1alpha1.ReservationRejected)
	if refused.Refusal.Reason != "NoRoom" || !refused.Refusal.FitsWithDeadline.Time.Equal(arrival.Add(80*time.Second)) {
		t.Errorf("%+v", refused.Refusal)
	}
	w.untilHeld("late-00", "ReservationRejected", "it fits with deadline")
	w.untilIn("root.plan.default-night", 20)
	if late := time.Since(arrival); late > 6*time.Second { // maxWaitBeforeKill is a second, and the victims stop at once
		t.Errorf("all of its pods run %s after it began", late)
	}
	w.untilPhase("night", v1alpha1.ReservationActive)
	before := w.reservation("night")
	stop()
	s, _ := w.scheduler(ledger.Options{})
	w.until("the next scheduler leads", func() (bool, string) { return s.Ledger.Snapshot().Total.Len() > 0, "" })
	ended := w.untilPhase("night", v1alpha1.ReservationEnded)
	if now := time.Now(); now.Before(arrival.Add(40 * time.Second)) {
		t.Errorf("it ended at %s", now)
	}
	if !ended.AcceptedTime.Equal(before.AcceptedTime) || len(ended.Allocation) != 1 || !ended.Allocation[0].From.Time.Equal(arrival) {
		t.Errorf("after the restart it is %+v, before %+v", ended, before)
	}
	w.untilIn("root.plan.default", 20)
	w.untilGone("root.plan.default-night")
	w.reserved("afterwards", 1)
	w.untilHeld("afterwards-00", "ReservationNotFound", "default/afterwards does not exist")
}

// When the cluster loses half of its nodes, the reservation that was accepted last goes, and says why. Its pods run on as those of the queue. The first one
// keeps what it has.
func TestTheLastAcceptedReservationGoesWithTheNodes(t *testing.T) {
	w, _ := busyCluster(t)
	arrival := soon(10 * time.Second)
	w.reserve("first", 8, arrival, 10*time.Minute)
	w.untilPhase("first", v1alpha1.ReservationAccepted)
	w.reserve("last", 8, arrival, 10*time.Minute)
	w.reserved("first", 8)
	w.reserved("last", 8)
	w.untilPhase("first", v1alpha1.ReservationActive)
	w.untilPhase("last", v1alpha1.ReservationActive)
	w.untilIn("root.plan.default-first", 8)
	w.untilIn("root.plan.default-last", 8)
	for i := range 5 {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
		w.must(w.client.Delete(w.ctx, node))
	}
	gone := w.untilPhase("last", v1alpha1.ReservationCancelled)
	if gone.Refusal.Reason != "LessCapacity" || len(gone.Conditions) != 1 || gone.Conditions[0].Reason != "LessCapacity" {
		t.Errorf("%+v", gone)
	}
	if s := w.reservation("first"); s.Phase != v1alpha1.ReservationActive || s.Queue != "root.plan.default-first" {
		t.Errorf("%+v", s)
	}
	w.until("an event says why", func() (bool, string) {
		text := w.kubectl("get", "events", "--field-selector", "involvedObject.kind=Reservation,involvedObject.name=last,reason=Cancelled", "-o", "name")
		return text != "", "there is none"
	})
	w.untilGone("root.plan.default-last")
}

// In each phase another scheduler goes on where the one before ended.
func TestReservationsSurviveRestarts(t *testing.T) {
	w, stop := busyCluster(t)
	arrival := soon(50 * time.Second)
	w.reserve("night", 4, arrival, 15*time.Second)
	w.reserve("too-large", 400, arrival, 15*time.Second)
	w.reserve("later", 4, arrival.Add(time.Hour), time.Hour)
	restarted := func(phases map[string]v1alpha1.ReservationPhase) {
		t.Helper()
		before := map[string]v1alpha1.ReservationStatus{}
		for name, phase := range phases {
			before[name] = w.untilPhase(name, phase)
		}
		stop()
		_, stop = w.scheduler(ledger.Options{})
		w.reserve("probe", 1, arrival.Add(3*time.Hour), time.Hour) // the leader has looked at all of them when it has answered this
		w.untilPhase("probe", v1alpha1.ReservationAccepted)
		for name := range phases {
			is := w.reservation(name)
			if diff := cmp.Diff(before[name], is); diff != "" {
				t.Errorf("%s is another after the restart: %s", name, diff)
			}
		}
		w.kubectl("delete", "reservation", "probe")
	}
	restarted(map[string]v1alpha1.ReservationPhase{"night": v1alpha1.ReservationAccepted, "too-large": v1alpha1.ReservationRejected, "later": v1alpha1.ReservationAccepted})
	w.untilPhase("night", v1alpha1.ReservationActive)
	restarted(map[string]v1alpha1.ReservationPhase{"later": v1alpha1.ReservationAccepted})
	w.untilPhase("night", v1alpha1.ReservationEnded)
	restarted(map[string]v1alpha1.ReservationPhase{"night": v1alpha1.ReservationEnded, "later": v1alpha1.ReservationAccepted})
}

// With moveOnExpiry: false, pods that outlive their reservation are evicted, as far as disruption budgets allow. Until the last one has gone, its queue is
// there and is guaranteed nothing.
func TestPodsAreEvictedAtTheEndOfTheirReservation(t *testing.T) {
	w := newWorld(t, 2, "4", "16Gi")
	w.scheduler(ledger.Options{})
	w.plan("reservations: {moveOnExpiry: false}")
	kept := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: "default"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"kept": "yes"}}},
	}
	w.must(w.client.Create(w.ctx, kept))
	w.reserve("night", 4, soon(3*time.Second), 15*time.Second)
	p := pod("night-kept", "", "1", "1Gi")
	p.Labels = map[string]string{v1alpha1.KeyReservation: "night", "kept": "yes"}
	w.create(p)
	w.reserved("night", 3)
	w.untilIn("root.plan.default-night", 4)
	w.until("the budget counts its pod", func() (bool, string) {
		w.must(w.client.Get(w.ctx, client.ObjectKeyFromObject(kept), kept))
		return kept.Status.CurrentHealthy == 1, fmt.Sprintf("%+v", kept.Status)
	})
	if g := w.getQueue("root.plan.default-night").Spec.Guaranteed[v1.ResourceCPU].Text; g != "4" {
		t.Errorf("during the reservation its queue is guaranteed %q cpu", g)
	}
	w.untilPhase("night", v1alpha1.ReservationEnded)
	w.until("one pod is left", func() (bool, string) {
		b := w.bound()
		return b["all"] == 1, fmt.Sprint(b)
	})
	if b := w.bound(); b["root.plan.default-night"] != 1 || w.pods()["night-kept"] == nil {
		t.Errorf("what is left is %v", b)
	}
	w.until("the queue is guaranteed nothing", func() (bool, string) {
		spec := w.getQueue("root.plan.default-night").Spec
		return len(spec.Guaranteed) == 0, fmt.Sprint(spec.Guaranteed)
	})
	for i := range 3 {
		w.untilEvent(fmt.Sprintf("night-%02d", i), v1alpha1.EventReservationEnded, "evicted, since its reservation has ended and its queue states moveOnExpiry: false")
	}
	w.must(w.client.Delete(w.ctx, kept))
	w.until("the last pod has gone", func() (bool, string) { return len(w.pods()) == 0, fmt.Sprint(w.bound()) })
	w.untilGone("root.plan.default-night")
}

// untilEvent waits for an event on a pod or a Reservation that says so.
func (w *world) untilEvent(name, reason, message string) {
	w.t.Helper()
	w.until("an event on "+name+" says "+reason, func() (bool, string) {
		var said []string
		for _, e := range w.eventsOf(name) {
			if e.Reason == reason && e.Message == message {
				return true, ""
			}
			said = append(said, e.Reason+": "+e.Message)
		}
		return false, strings.Join(said, "; ")
	})
}

// What recurs is planned for its next period as soon as one is over, and a restart between two changes nothing. It begins with the first period that is not
// over yet.
func TestTheNextPeriodOfAReservationIsPlanned(t *testing.T) {
	w := newWorld(t, 2, "4", "16Gi")
	_, stop := w.scheduler(ledger.Options{})
	w.plan("preemption: {guaranteedTimeout: 1s}")
	const period, long = 15 * time.Minute, 10 * time.Second // as often as may be
	start := soon(10 * time.Second)
	arrival := start.Add(-period)
	w.apply(fmt.Sprintf(`{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Reservation, metadata: {name: report, namespace: default}, spec: {queue: root.plan,
		arrival: %q, deadline: %q, recurrence: 15m, requests: [{pods: 2, resources: {cpu: 1}, duration: %s}]}}`,
		arrival.UTC().Format(time.RFC3339), arrival.Add(long).UTC().Format(time.RFC3339), long))
	first := w.untilPhase("report", v1alpha1.ReservationAccepted)
	if !first.Start.Time.Equal(start) || len(first.Allocation) != 1 || !first.Allocation[0].From.Time.Equal(start) {
		t.Errorf("it was placed at %+v, want %s", first, start)
	}
	w.reserved("report", 2)
	w.untilPhase("report", v1alpha1.ReservationActive)
	w.untilIn("root.plan.default-report", 2)
	next := w.untilPhase("report", v1alpha1.ReservationAccepted)
	if !next.Start.Time.Equal(start.Add(period)) || !next.AcceptedTime.Equal(first.AcceptedTime) || next.Queue != "" {
		t.Errorf("after its first period it is %+v", next)
	}
	again := start.Add(period).UTC().Format(time.RFC3339)
	w.untilEvent("report", "Accepted", "its next period begins at "+again)
	w.untilIn("root.plan.default", 2)
	w.untilGone("root.plan.default-report")
	stop()
	w.scheduler(ledger.Options{})
	p := pod("report-later", "", "1", "1Gi")
	p.Labels[v1alpha1.KeyReservation] = "report"
	w.create(p)
	w.untilHeld("report-later", "ReservationNotStarted", again)
	w.reserve("probe", 1, start.Add(3*time.Hour), time.Hour) // the leader has looked at all of them when it has answered this
	w.untilPhase("probe", v1alpha1.ReservationAccepted)
	if diff := cmp.Diff(next, w.reservation("report")); diff != "" {
		t.Errorf("it is another after the restart: %s", diff)
	}
}
