package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

const (
	plan = "root.plan"
	// The weight of plan is that of all others together, so 24 of 48 cpu are its own: they are reserved to the last one.
	planWeight, nightPods, besidePods = "8", 12, 12
	// The scheduler is replaced while night is pending, when it is accepted, when it has begun and when it has ended: time enough for each.
	untilNight, nightLong = 60 * time.Second, 40 * time.Second
)

// booked is every version of the Reservations, and of the Queues that were made for them.
type booked struct {
	mu       sync.Mutex
	statuses map[string][]v1alpha1.ReservationStatus // by name
	queues   map[string]map[types.UID]bool           // by the Reservation for which they are, "" for the one of the other pods
	there    map[string]bool                         // the queues that are there
}

// watchReservations follows them until the test ends.
func (w *world) watchReservations() *booked {
	w.t.Helper()
	b := &booked{statuses: map[string][]v1alpha1.ReservationStatus{}, queues: map[string]map[types.UID]bool{}, there: map[string]bool{}}
	c, err := dynamic.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(c, 0)
	see := func(o any) {
		if u, ok := o.(*unstructured.Unstructured); ok {
			b.see(u)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, o any) { see(o) }, DeleteFunc: func(o any) {
		if u, ok := o.(*unstructured.Unstructured); ok {
			b.gone(u)
		}
	}}
	_, err = factory.ForResource(v1alpha1.ReservationResource).Informer().AddEventHandler(handler)
	w.must(err)
	_, err = factory.ForResource(v1alpha1.QueueResource).Informer().AddEventHandler(handler)
	w.must(err)
	factory.Start(w.ctx.Done())
	factory.WaitForCacheSync(w.ctx.Done())
	return b
}

func (b *booked) see(u *unstructured.Unstructured) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.GetKind() == "Reservation" {
		r := &v1alpha1.Reservation{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, r); err != nil {
			panic(err)
		}
		b.statuses[r.Name] = append(b.statuses[r.Name], r.Status)
		return
	}
	if u.GetLabels()[v1alpha1.KeyCreatedBy] == v1alpha1.CreatedByReservation {
		owner := u.GetAnnotations()[v1alpha1.KeyCreatedFor]
		if b.queues[owner] == nil {
			b.queues[owner] = map[types.UID]bool{}
		}
		b.queues[owner][u.GetUID()] = true
		b.there[u.GetName()] = true
	}
}

func (b *booked) gone(u *unstructured.Unstructured) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.there, u.GetName())
}

// phase is that which a Reservation is in now.
func (b *booked) phase(name string) v1alpha1.ReservationPhase {
	b.mu.Lock()
	defer b.mu.Unlock()
	if all := b.statuses[name]; len(all) > 0 {
		return all[len(all)-1].Phase
	}
	return ""
}

// course is the phases of a Reservation one after the other, and each start, allocation and time of acceptance that it ever had.
func (b *booked) course(name string) (phases string, accepted []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var words []string
	known := map[string]bool{}
	for _, s := range b.statuses[name] {
		if s.Phase != "" {
			words = append(words, string(s.Phase))
		}
		if s.AcceptedTime != nil {
			text, err := json.Marshal([]any{s.AcceptedTime, s.Start, s.Allocation})
			if err != nil {
				panic(err)
			}
			known[string(text)] = true
		}
	}
	return strings.Join(slices.Compact(words), " "), slices.Sorted(maps.Keys(known))
}

func (w *world) reserve(name string, pods int64, from time.Time, long time.Duration) {
	w.t.Helper()
	w.must(w.client.Create(w.ctx, &v1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec: v1alpha1.ReservationSpec{
			Queue: plan, Arrival: metav1.NewTime(from), Deadline: metav1.NewTime(from.Add(long)),
			Requests: []v1alpha1.ReservationRequest{{
				Pods: pods, Resources: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}, Duration: long.String(),
			}},
		},
	}))
}

func (w *world) createReserved(reservation string, pods int) {
	w.t.Helper()
	for i := range pods {
		p := newPod(fmt.Sprintf("%s-%02d", reservation, i), "", amounts{1000, 256 << 20})
		p.Labels = map[string]string{v1alpha1.KeyReservation: reservation}
		_, err := w.kube.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{})
		w.must(err)
	}
}

// busyWithPlan is a cluster that pods of root.etl fill, beside a queue that is not reservable yet and is entitled to half of it.
func (w *world) busyWithPlan() {
	w.t.Helper()
	root, stop := &v1alpha1.Queue{}, ptr.To[int64](1)
	w.must(w.client.Get(w.ctx, client.ObjectKey{Name: "root"}, root))
	root.Spec.Preemption = &v1alpha1.QueuePreemption{Interval: "1s", MaxWaitBeforeKill: "1s"}
	w.must(w.client.Update(w.ctx, root))
	q := declare(plan, weight(planWeight), func(q *v1alpha1.Queue) { q.Spec.Preemption = &v1alpha1.QueuePreemption{GuaranteedTimeout: "1s"} })
	w.must(w.client.Create(w.ctx, &q))
	for i := range nodes * nodeCPU / 1000 {
		p := newPod(fmt.Sprintf("busy-%02d", i), "root.etl", amounts{1000, 256 << 20})
		p.Spec.TerminationGracePeriodSeconds = stop
		_, err := w.kube.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{})
		w.must(err)
	}
	w.untilBound(nodes * nodeCPU / 1000)
}

// reservationsThrough lets night go through all phases, and has the leader replaced in each of them, as soon as it shows. lose takes the leader away and
// returns what is to be done when the next one has decided.
func (w *world) reservationsThrough(b *booked, lose func() (after func())) {
	w.t.Helper()
	replaced := 0
	replace := func(phase v1alpha1.ReservationPhase) {
		w.t.Helper()
		w.until(fmt.Sprintf("night is %s", phase), func() (bool, string) {
			is := b.phase("night")
			return is == phase, string(is)
		})
		before, began := w.history.leader(), time.Now()
		after := lose()
		r := &v1alpha1.Reservation{}
		w.must(w.client.Get(w.ctx, client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "night"}, r))
		if r.Status.Phase != phase {
			w.t.Fatalf("when the leader was gone, night was %s and not %s any more", r.Status.Phase, phase)
		}
		w.until("another process leads", func() (bool, string) {
			now := w.history.leader()
			return now != before && now.identity != "", fmt.Sprint(now)
		})
		// It has looked at all of them when it has answered this.
		probe := fmt.Sprintf("probe-%d", replaced)
		replaced++
		w.reserve(probe, 1, w.began.Add(3*time.Hour).Truncate(time.Second), time.Hour)
		w.until(probe+" is answered", func() (bool, string) { return b.phase(probe) != "", "it is not" })
		after()
		w.say("lost the leader while night was %s: the next one had decided after %.1fs", phase, time.Since(began).Seconds())
	}
	arrival := time.Now().Add(untilNight).Truncate(time.Second)
	w.reserve("night", nightPods, arrival, nightLong)
	replace(v1alpha1.ReservationPending)
	w.must(w.client.Patch(w.ctx, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: plan}},
		client.RawPatch(types.MergePatchType, []byte(`{"spec":{"reservable":true}}`))))
	replace(v1alpha1.ReservationAccepted)
	w.reserve("beside", besidePods, arrival, time.Hour)
	w.reserve("too-much", 1, arrival, nightLong)
	w.createReserved("night", nightPods)
	w.createReserved("beside", besidePods)
	replace(v1alpha1.ReservationActive)
	w.untilHeld(map[string]int64{plan + ".default-night": nightPods, plan + ".default-beside": besidePods})
	replace(v1alpha1.ReservationEnded)
	w.untilHeld(map[string]int64{plan + ".default": nightPods, plan + ".default-beside": besidePods, plan: nightPods + besidePods})
	w.until("the queue of night is gone", func() (bool, string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return !b.there[plan+".default-night"], "it is there"
	})
}

func (w *world) untilHeld(pods map[string]int64) {
	w.t.Helper()
	w.until(fmt.Sprintf("queues hold %v", pods), func() (bool, string) {
		for queue, n := range pods {
			if held := w.history.held(queue); held.cpu != 1000*n {
				return false, fmt.Sprintf("%s holds %s", queue, held)
			}
		}
		return true, ""
	})
}

// auditReservations: each went through its phases once, was accepted once and for one place, and had one queue.
func (w *world) auditReservations(b *booked) {
	w.t.Helper()
	for name, want := range map[string]string{
		"night": "Pending Accepted Active Ended", "beside": "Accepted Active", "too-much": "Rejected",
		"probe-0": "Pending Accepted", "probe-1": "Accepted", "probe-2": "Accepted", "probe-3": "Accepted",
	} {
		phases, accepted := b.course(name)
		if phases != want || len(accepted) > 1 {
			w.t.Errorf("%s was %s, want %s; it was accepted as %v", name, phases, want, accepted)
		}
	}
	b.mu.Lock()
	for _, owner := range []string{"", "default/night", "default/beside"} {
		if n := len(b.queues[owner]); n != 1 {
			w.t.Errorf("%d queues were made for %q", n, owner)
		}
	}
	if len(b.queues) != 3 {
		w.t.Errorf("queues were made for %v", b.queues)
	}
	b.mu.Unlock()
	reserved := 0
	for _, s := range w.history.stories() {
		if s.reserved {
			reserved++
			if s.binds != 1 || s.ended {
				w.t.Errorf("pod %s was bound %d times; ended: %t", s.name, s.binds, s.ended)
			}
		}
	}
	if reserved != nightPods+besidePods {
		w.t.Errorf("%d reserved pods were seen", reserved)
	}
	w.auditBooks()
	w.auditLogs()
	w.goodbye()
}

// TestKillsInEachPhaseOfAReservation kills the scheduler with kill -9 as soon as a reservation is pending, accepted, active and ended.
func TestKillsInEachPhaseOfAReservation(t *testing.T) {
	w := newWorld(t)
	r := w.replica("single", w.kubeconfig(), nil)
	w.busyWithPlan()
	b := w.watchReservations()
	w.reservationsThrough(b, func() func() {
		r.kill()
		return func() {}
	})
	w.auditReservations(b)
}

// TestFailoverInEachPhaseOfAReservation lets the standby take over in each phase, and wakes the old leader up when that has decided.
func TestFailoverInEachPhaseOfAReservation(t *testing.T) {
	w := newWorld(t)
	var pair [2]*replica
	for i := range pair {
		name := string(rune('a' + i))
		f := w.frontFor(name)
		pair[i] = w.replica(name, f.kubeconfig, f)
	}
	w.busyWithPlan()
	b := w.watchReservations()
	w.reservationsThrough(b, func() func() {
		i := w.leading()
		w.until("the standby is ready", func() (bool, string) { return pair[1-i].now().ready(), "it is not" })
		old := pair[i].now()
		old.Signal(syscall.SIGSTOP)
		w.woken[sender{pair[i].front, old.number}] = true
		return func() {
			old.Signal(syscall.SIGCONT)
			w.until("the old leader ends", func() (bool, string) { return old.Gone(), "it runs" })
		}
	})
	w.auditReservations(b)
	w.auditWrites()
}
