package convert

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reservation"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
)

// DecodeReservation reads one Reservation.
func DecodeReservation(object *unstructured.Unstructured) (*v1alpha1.Reservation, error) {
	r := &v1alpha1.Reservation{}
	return r, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, r)
}

// ReservationObject returns what a Reservation and its status say. What cannot be read is invalid, and the object says why. It counts for the user that its
// annotation names; without one, as a pod that names no service account.
func ReservationObject(object *unstructured.Unstructured) reservations.Object {
	o := reservations.Object{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()), Generation: object.GetGeneration(),
		User: Reserver(object).User,
	}
	if at := object.GetCreationTimestamp(); !at.IsZero() {
		o.Created = at.UnixNano()
	}
	r, err := DecodeReservation(object)
	if err != nil {
		o.Invalid = "cannot be read: " + err.Error()
		return o
	}
	o.Stored = storedStatus(&r.Status)
	if o.Queue, o.Definition, err = Reservation(r); err != nil {
		o.Queue, _ = queue.ParseRequest(r.Spec.Queue)
		o.Invalid = strings.TrimPrefix(err.Error(), "reservation "+o.Key()+": ")
	}
	return o
}

// Reserver returns the user for whom a Reservation counts, with the groups.
func Reserver(object *unstructured.Unstructured) access.Subject {
	like := &corev1.Pod{}
	like.Namespace, like.Annotations = object.GetNamespace(), object.GetAnnotations()
	return Submitter(like)
}

func storedStatus(s *v1alpha1.ReservationStatus) reservations.Status {
	out := reservations.Status{ObservedGeneration: s.ObservedGeneration, Phase: reservations.Phase(s.Phase), At: queue.Path(s.Queue)}
	if s.AcceptedTime != nil {
		out.AcceptedTime = s.AcceptedTime.UnixMicro()
	}
	if s.Start != nil {
		out.Start = s.Start.Unix()
	}
	if d, err := time.ParseDuration(s.Recurrence); err == nil {
		out.Recurrence = int64(d / time.Second)
	}
	for i := range s.Allocation {
		step := &s.Allocation[i]
		out.Steps = append(out.Steps, reservation.Step{From: step.From.Unix(), To: step.To.Unix(), Amounts: Amounts(step.Resources)})
	}
	if r := s.Refusal; r != nil {
		out.Refusal = reservations.Refusal{Reason: r.Reason, Field: r.Field, Message: r.Message}
		if r.FitsWithDeadline != nil {
			out.Refusal.Fits = r.FitsWithDeadline.Unix()
		}
	}
	return out
}

// ReservationStatus returns a status as it is stored, where before is what is stored now.
func ReservationStatus(s reservations.Status, before *v1alpha1.ReservationStatus, now time.Time) v1alpha1.ReservationStatus {
	out := v1alpha1.ReservationStatus{ObservedGeneration: s.ObservedGeneration, Phase: v1alpha1.ReservationPhase(s.Phase), Queue: string(s.At)}
	if s.AcceptedTime != 0 {
		at := metav1.NewMicroTime(time.UnixMicro(s.AcceptedTime).UTC())
		out.AcceptedTime = &at
	}
	out.Start = timeOf(s.Start)
	if s.Recurrence != 0 {
		out.Recurrence = (time.Duration(s.Recurrence) * time.Second).String()
	}
	for _, step := range s.Steps {
		out.Allocation = append(out.Allocation, v1alpha1.ReservationStep{
			From: *timeOf(step.From), To: *timeOf(step.To), Resources: ResourceList(step.Amounts),
		})
	}
	accepted := metav1.Condition{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonReserved, Message: "the spec is what is reserved"}
	if s.Refusal.Reason != "" {
		out.Refusal = &v1alpha1.ReservationRefusal{
			Reason: s.Refusal.Reason, Field: s.Refusal.Field, Message: s.Refusal.Message, FitsWithDeadline: timeOf(s.Refusal.Fits),
		}
		accepted.Status, accepted.Reason, accepted.Message = metav1.ConditionFalse, s.Refusal.Reason, s.Refusal.Message
	}
	accepted.ObservedGeneration, accepted.LastTransitionTime = s.ObservedGeneration, metav1.NewTime(now)
	if old := meta.FindStatusCondition(before.Conditions, accepted.Type); old != nil && old.Status == accepted.Status {
		accepted.LastTransitionTime = old.LastTransitionTime
	}
	out.Conditions = []metav1.Condition{accepted}
	return out
}

// timeOf is a time in an object, nil for 0.
func timeOf(seconds int64) *metav1.Time {
	if seconds == 0 {
		return nil
	}
	t := metav1.NewTime(time.Unix(seconds, 0).UTC())
	return &t
}
