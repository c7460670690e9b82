package access

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/people"
)

func (s *team) reservation(queue string) *v1alpha1.Reservation {
	day := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	return &v1alpha1.Reservation{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: "night", Annotations: map[string]string{v1alpha1.KeyUser: "erin", v1alpha1.KeyGroups: "staff"}},
		Spec: v1alpha1.ReservationSpec{
			Queue: queue, Arrival: metav1.NewTime(day), Deadline: metav1.NewTime(day.Add(time.Hour)),
			Requests: []v1alpha1.ReservationRequest{{
				Pods: 1, Resources: map[corev1.ResourceName]apiresource.Quantity{corev1.ResourceCPU: apiresource.MustParse("1")}, Duration: "1h",
			}},
		},
	}
}

// Making a reservation takes reserve, or administer, on its queue or one above; changing and deleting that of somebody else takes administer. Whose it is says
// the stamp, whatever was written there.
func TestReserveTakesAVerb(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	defer s.Allow(t, s.users["ada"], "", right("reserve", "root.ads"))()
	// The API server takes a while to know a new kind's fields, which the policy that stamps needs.
	people.Until(t, "the policies know Reservations", func() error {
		return s.users["erin"].Client.Create(ctx, s.reservation("root.web"), client.DryRunAll)
	})
	const verbs = "this takes the verb reserve or administer on queues.scheduling.fairway.dev, for "
	for _, tc := range []struct{ user, queue, text string }{
		{"ada", "root.ads.adhoc", ""},
		{"ada", "ads.etl.day", ""},
		{"ada", "root.web", "user ada may not make a reservation in queue root.web: " + verbs + "root.web or a queue above it"},
		{"bob", "root.ads.etl.day", ""},
		{"bob", "root.ads.adhoc", "user bob may not make a reservation in queue root.ads.adhoc: " + verbs + "root.ads.adhoc or a queue above it"},
		{"carol", "root.web", "user carol may not make a reservation in queue root.web: " + verbs + "root.web or a queue above it"}, // submit is another verb
		{"erin", "root.web", ""},
	} {
		err := s.users[tc.user].Client.Create(ctx, s.reservation(tc.queue), client.DryRunAll)
		if tc.text == "" && err != nil || tc.text != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.text)) {
			t.Errorf("%s in %s: %v", tc.user, tc.queue, err)
		}
	}
	r := s.reservation("root.ads.adhoc")
	must(t, s.users["ada"].Client.Create(ctx, r))
	if r.Annotations[v1alpha1.KeyUser] != "ada" {
		t.Errorf("it is stamped with %v", r.Annotations)
	}
	for user, may := range map[string]bool{"ada": true, "bob": false, "dan": false, "erin": true} {
		changed := r.DeepCopy()
		changed.Spec.Requests[0].Pods = 2
		text := "user " + user + " may not change somebody else's reservation in queue root.ads.adhoc: this takes the verb administer on queues."
		if err := s.users[user].Client.Update(ctx, changed, client.DryRunAll); may != (err == nil) || !may && !strings.Contains(err.Error(), text) {
			t.Errorf("%s changes it: %v", user, err)
		}
		err := s.users[user].Client.Delete(ctx, r.DeepCopy(), client.DryRunAll)
		if may != (err == nil) || !may && !strings.Contains(err.Error(), strings.Replace(text, "change", "delete", 1)) {
			t.Errorf("%s deletes it: %v", user, err)
		}
	}
	stolen := r.DeepCopy()
	stolen.Annotations[v1alpha1.KeyUser] = "dan"
	if err := s.users["erin"].Client.Update(ctx, stolen, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "stay as they are") {
		t.Errorf("another stamp: %v", err)
	}
	must(t, s.users["ada"].Client.Delete(ctx, r))
}

// Where no policy of admission is, the scheduler refuses in the same way: anyone who may neither reserve in the queue nor administer it. What was accepted stays
// when the grant goes, and a change is judged again.
func TestTheSchedulerJudgesReservations(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	plan := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.plan"}, Spec: v1alpha1.QueueSpec{Reservable: ptr.To(true)}}
	must(t, s.Admin.Client.Create(ctx, plan))
	s.schedule(t, time.Second)
	defer func() {
		must(t, s.Admin.Client.DeleteAllOf(ctx, &v1alpha1.Reservation{}, client.InNamespace(unguarded)))
		must(t, s.Admin.Client.Delete(ctx, plan))
		people.Until(t, "the queues are gone", func() error {
			err := s.Admin.Client.Get(ctx, client.ObjectKeyFromObject(plan), plan)
			if err == nil {
				return errors.New("they are there")
			}
			return client.IgnoreNotFound(err)
		})
	}()
	revoke := s.Allow(t, s.users["ada"], "", right("reserve", "root.plan"))
	made := map[string]*v1alpha1.Reservation{}
	for i, name := range []string{"ada", "bob", "carol", "dan", "erin"} { // bob and carol have other verbs, on other queues
		r := s.reservation("root.plan")
		from := time.Now().Add(time.Duration(i+1) * time.Hour).Truncate(time.Second)
		r.Namespace, r.Name, r.Spec.Arrival, r.Spec.Deadline = unguarded, name, metav1.NewTime(from), metav1.NewTime(from.Add(time.Hour))
		r.Annotations = map[string]string{v1alpha1.KeyUser: s.users[name].Name, v1alpha1.KeyGroups: strings.Join(s.users[name].Groups, ",")}
		must(t, s.Admin.Client.Create(ctx, r))
		made[name] = r
	}
	await := func(name string, phase v1alpha1.ReservationPhase, refusal string) {
		t.Helper()
		people.Until(t, name+" is answered", func() error {
			r := made[name]
			must(t, s.Admin.Client.Get(ctx, client.ObjectKeyFromObject(r), r))
			got := ""
			if r.Status.Refusal != nil {
				got = r.Status.Refusal.Reason + ": " + r.Status.Refusal.Message
			}
			if r.Status.Phase != phase || got != refusal {
				return fmt.Errorf("it is %s %s", r.Status.Phase, got)
			}
			return nil
		})
	}
	refusal := func(name string) string {
		return "ReserveForbidden: user " + s.users[name].Name + " may not reserve in queue root.plan: this takes the verb reserve or administer on " +
			"queues.scheduling.fairway.dev, for root.plan or a queue above it"
	}
	await("ada", v1alpha1.ReservationAccepted, "")
	await("erin", v1alpha1.ReservationAccepted, "") // administers root
	for _, name := range []string{"bob", "carol", "dan"} {
		await(name, v1alpha1.ReservationRejected, refusal(name))
	}
	revoke()
	more := made["ada"]
	more.Spec.Requests[0].Pods = 2
	must(t, s.Admin.Client.Update(ctx, more))
	await("ada", v1alpha1.ReservationAccepted, refusal("ada"))
	if cpu := made["ada"].Status.Allocation[0].Resources[corev1.ResourceCPU]; cpu.Value() != 1 {
		t.Errorf("%s cpu are reserved for ada", cpu.String())
	}
}
