package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reservation asks for capacity of a queue for a time: so many pods of such a size, for so long, between two instants, once or again and again.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=reservations,singular=reservation,scope=Namespaced,shortName=fr
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Queue",type=string,JSONPath=`.spec.queue`,description="In which queue"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="Where it stands"
// +kubebuilder:printcolumn:name="Start",type=string,JSONPath=`.status.start`,description="When its allocation begins"
// +kubebuilder:printcolumn:name="Deadline",type=string,JSONPath=`.spec.deadline`,description="When it has to be over"
// +kubebuilder:printcolumn:name="Fits",type=string,priority=1,JSONPath=`.status.refusal.fitsWithDeadline`,description="The deadline with which it would fit"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.refusal.message`,description="Why it was refused"
type Reservation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is to be reserved.
	Spec ReservationSpec `json:"spec"`

	// What came of it.
	//
	// +optional
	Status ReservationStatus `json:"status,omitempty"`
}

// ReservationSpec is what a user asks for.
//
// +kubebuilder:validation:XValidation:rule="self.deadline > self.arrival",fieldPath=".deadline",message="must be after arrival"
// +kubebuilder:validation:XValidation:rule="!has(self.recurrence) || !self.recurrence.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') || size(self.recurrence) == 0 || self.deadline - self.arrival <= duration(self.recurrence)",fieldPath=".recurrence",message="must be at least the time from arrival to deadline, else periods overlap"
type ReservationSpec struct {
	// The queue in which capacity is reserved. It is a leaf with reservable: true.
	// It cannot be changed.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot be changed: delete the Reservation and create another one"
	Queue string `json:"queue"`

	// Nothing is reserved before.
	Arrival metav1.Time `json:"arrival"`

	// All is over by then. Capacity is reserved as late before as it fits.
	Deadline metav1.Time `json:"deadline"`

	// How the requests belong together: All (in any order, or at the same time),
	// Any (the first that fits), Order (one after the other), OrderNoGap (one
	// after the other, each with all its pods together, and the next when the one
	// before ends).
	//
	// +optional
	// +kubebuilder:default=All
	// +kubebuilder:validation:Enum=All;Any;Order;OrderNoGap
	Interpreter string `json:"interpreter,omitempty"`

	// What is to be reserved: capacity for equal pods, of one size or of several.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Requests []ReservationRequest `json:"requests"`

	// How long it is from one period to the next, if the same is reserved again
	// and again: from 15m to 168h in hours, minutes and seconds, such as 24h. A
	// week must be a whole number of periods. If it is not stated, once.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('15m') && duration(self) <= duration('168h') && duration('168h').getSeconds() % duration(self).getSeconds() == 0",message="must be a duration from 15m to 168h that divides a week, such as 1h, 24h or 168h"
	Recurrence string `json:"recurrence,omitempty"`
}

// ReservationRequest is capacity for equal pods.
//
// +kubebuilder:validation:XValidation:rule="self.pods % self.concurrency == 0",fieldPath=".pods",message="must be a multiple of concurrency"
type ReservationRequest struct {
	// For how many pods.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Pods int64 `json:"pods"`

	// What each of the pods requests.
	//
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!('pods' in self)",message="pods: their number is a limit of each node and is not reserved"
	// +kubebuilder:validation:XValidation:rule="self.all(name, isQuantity(string(self[name])) && quantity(string(self[name])).compareTo(quantity('0')) >= 0)",messageExpression="self.filter(name, !(isQuantity(string(self[name])) && quantity(string(self[name])).compareTo(quantity('0')) >= 0))[0] + ': an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi'",message="an amount must be a quantity of at least 0, such as 500m, 8 or 64Gi"
	// +kubebuilder:validation:XValidation:rule="self.exists(name, isQuantity(string(self[name])) && quantity(string(self[name])).compareTo(quantity('0')) > 0)",message="an amount must be above 0"
	Resources map[corev1.ResourceName]resource.Quantity `json:"resources"`

	// For how long each of them has the capacity: from 1s to 2160h in hours,
	// minutes and seconds, such as 90m.
	//
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('2160h')",message="must be a duration from 1s to 2160h in hours, minutes and seconds, such as 90s, 10m or 24h"
	Duration string `json:"duration"`

	// How many of the pods are of use only together: they have capacity at the
	// same time. Their number must be a multiple of this.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Concurrency int64 `json:"concurrency,omitempty"`
}

// ReservationPhase is where a Reservation stands.
//
// +kubebuilder:validation:Enum=Pending;Accepted;Rejected;Active;Ended;Cancelled
type ReservationPhase string

// The phases.
const (
	// ReservationPending: nobody has looked at it yet, or its queue is not reservable.
	ReservationPending ReservationPhase = "Pending"
	// ReservationAccepted: its allocation is to come, or the next period of it.
	ReservationAccepted ReservationPhase = "Accepted"
	// ReservationRejected: it does not fit.
	ReservationRejected ReservationPhase = "Rejected"
	// ReservationActive: its allocation has begun and is not over.
	ReservationActive ReservationPhase = "Active"
	// ReservationEnded: its allocation is over.
	ReservationEnded ReservationPhase = "Ended"
	// ReservationCancelled: it was accepted, and went when there was less to reserve.
	ReservationCancelled ReservationPhase = "Cancelled"
)

// ReservationStatus is written only by the scheduler that leads.
type ReservationStatus struct {
	// The generation of the spec that this status answers to.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Where the reservation stands: Pending, Accepted, Rejected, Active, Ended or
	// Cancelled (accepted, and gone when there was less to reserve).
	//
	// +optional
	Phase ReservationPhase `json:"phase,omitempty"`

	// Accepted is False with the reason of the refusal while the spec is not what
	// is reserved.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// When it was accepted. Of two that do not fit any more, the one that was
	// accepted last goes.
	//
	// +optional
	AcceptedTime *metav1.MicroTime `json:"acceptedTime,omitempty"`

	// How long it is from one period of the allocation to the next, if it recurs.
	// While an update is refused, this is that of the last accepted spec.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Recurrence string `json:"recurrence,omitempty"`

	// What is reserved, in order; if it recurs, in its first period.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Allocation []ReservationStep `json:"allocation,omitempty"`

	// When its allocation begins; if it recurs, that of the present period or of
	// the next one.
	//
	// +optional
	Start *metav1.Time `json:"start,omitempty"`

	// The queue in which its pods run. It is there from a little before the start,
	// so that room can be made in time, until the end.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Queue string `json:"queue,omitempty"`

	// Why the spec was refused, if it was.
	//
	// +optional
	Refusal *ReservationRefusal `json:"refusal,omitempty"`
}

// ReservationStep is what is reserved from one instant to another.
type ReservationStep struct {
	From      metav1.Time         `json:"from"`
	To        metav1.Time         `json:"to"`
	Resources corev1.ResourceList `json:"resources"`
}

// ReservationRefusal says what stands in the way.
type ReservationRefusal struct {
	// One word, such as NoRoom.
	Reason string `json:"reason"`

	// The field of the spec.
	//
	// +optional
	Field string `json:"field,omitempty"`

	// The sentence, with numbers.
	Message string `json:"message"`

	// A later deadline with which it would have fitted, if one was found.
	//
	// +optional
	FitsWithDeadline *metav1.Time `json:"fitsWithDeadline,omitempty"`
}

// ReservationList is a list of reservations.
//
// +kubebuilder:object:root=true
type ReservationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Reservation `json:"items"`
}
