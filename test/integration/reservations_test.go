package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
