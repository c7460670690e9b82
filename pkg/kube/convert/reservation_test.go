package convert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// nightly is 200 cores for two hours between 2 and 6.
func nightly() *v1alpha1.Reservation {
	r := &v1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Namespace: "reports", Name: "nightly"}}
	r.Spec = v1alpha1.ReservationSpec{
		Queue: "analytics.reports", Arrival: at(2), Deadline: at(6), Interpreter: "Order", Recurrence: "24h",
		Requests: []v1alpha1.ReservationRequest{{
			Pods: 50, Concurrency: 10, Duration: "1h30m",
			Resources: corev1.ResourceList{"cpu": apiresource.MustParse("4"), "memory": apiresource.MustParse("1Gi")},
		}},
	}
	return r
}

func at(hour int) metav1.Time { return metav1.NewTime(time.Date(2030, 1, 1, hour, 0, 0, 0, time.UTC)) }

func TestReservation(t *testing.T) {
	path, got, err := convert.Reservation(nightly())
	if err != nil || path != "root.analytics.reports" {
		t.Fatalf("queue %s, %v", path, err)
	}
	midnight := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	want := reservation.Definition{
		Arrival: midnight + 7200, Deadline: midnight + 21600, Interpreter: reservation.Order, Recurrence: 86400,
		Requests: []reservation.Request{{
			Pods: 50, Concurrency: 10, Duration: 5400,
			Resources: resource.Of(resource.Entry{Name: "cpu", Value: 4000}, resource.Entry{Name: "memory", Value: 1 << 30}),
		}},
	}
	if !got.Equal(want) {
		t.Error(cmp.Diff(want, got, cmp.AllowUnexported(resource.List{})))
	}
}

func TestWhatAReservationDoesNotState(t *testing.T) {
	r := nightly()
	r.Spec.Interpreter, r.Spec.Recurrence, r.Spec.Requests[0].Concurrency = "", "", 0
	_, got, err := convert.Reservation(r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Interpreter != reservation.All || got.Recurrence != 0 || got.Requests[0].Concurrency != 1 {
		t.Errorf("%+v", got)
	}
}

func TestReservationNamesObjectAndField(t *testing.T) {
	for want, edit := range map[string]func(*v1alpha1.ReservationSpec){
		"reservation reports/nightly: spec.queue: ":                                                   func(s *v1alpha1.ReservationSpec) { s.Queue = "root..a" },
		"spec.deadline: must be after arrival":                                                        func(s *v1alpha1.ReservationSpec) { s.Deadline = s.Arrival },
		`spec.interpreter: "Both" is not one of All, Any, Order, OrderNoGap`:                          func(s *v1alpha1.ReservationSpec) { s.Interpreter = "Both" },
		`spec.recurrence: "daily" is no duration`:                                                     func(s *v1alpha1.ReservationSpec) { s.Recurrence = "daily" },
		"spec.recurrence: must be at least 15m0s, not 1m0s":                                           func(s *v1alpha1.ReservationSpec) { s.Recurrence = "1m" },
		`spec.requests[0]: duration: "1500ms" is no duration`:                                         func(s *v1alpha1.ReservationSpec) { s.Requests[0].Duration = "1500ms" },
		"spec.requests[0]: duration: must be at least 1s, not 0s":                                     func(s *v1alpha1.ReservationSpec) { s.Requests[0].Duration = "0s" },
		"spec.requests[0]: resources: cpu: must be at least 0, not -1":                                resources("cpu", "-1"),
		"spec.requests[0]: resources: pods: their number is a limit of each node and is not reserved": resources("pods", "1"),
	} {
		t.Run(want, func(t *testing.T) {
			r := nightly()
			edit(&r.Spec)
			_, _, err := convert.Reservation(r)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func resources(name corev1.ResourceName, amount string) func(*v1alpha1.ReservationSpec) {
	return func(s *v1alpha1.ReservationSpec) {
		s.Requests[0].Resources = corev1.ResourceList{name: apiresource.MustParse(amount)}
	}
}
