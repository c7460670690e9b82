package access

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"
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
