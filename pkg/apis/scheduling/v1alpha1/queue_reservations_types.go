package v1alpha1

// QueueReservations is how much of a reservable queue may be reserved, and what becomes of pods that outlive their reservation.
type QueueReservations struct {
	// Over which time the average of a user is taken: from 1m to 2160h in hours,
	// minutes and seconds; 24h if not stated.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1m') && duration(self) <= duration('2160h')",message="must be a duration from 1m to 2160h in hours, minutes and seconds, such as 24h"
	Window string `json:"window,omitempty"`

	// What one user may have reserved on average over any window, of what the
	// queue is entitled to: from "0%" to "100%" with at most two decimals; "100%"
	// if not stated.
	//
	// +optional
	AverageShare Percentage `json:"averageShare,omitempty"`

	// What all reservations of the queue together may have at any instant, of what
	// the queue is entitled to: from "0%" to "100%" with at most two decimals;
	// "100%" if not stated.
	//
	// +optional
	InstantaneousShare Percentage `json:"instantaneousShare,omitempty"`

	// How far ahead reservations are cancelled when the queue has become too small
	// for them, the last accepted first: from 0s to 2160h in hours, minutes and
	// seconds; 1h if not stated.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) <= duration('2160h')",message="must be a duration from 0s to 2160h in hours, minutes and seconds, such as 1h"
	EnforcementWindow string `json:"enforcementWindow,omitempty"`

	// What becomes of pods that still run when their reservation ends: they run on
	// in the queue "default" below this one, without a guarantee, or, with false,
	// they are evicted. True if not stated.
	//
	// +optional
	MoveOnExpiry *bool `json:"moveOnExpiry,omitempty"`
}
