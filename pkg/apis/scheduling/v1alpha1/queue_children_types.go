package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// QueueChildren is what the queues that placement creates below a queue begin with. Queues that somebody declares are not touched by it, nor
// are queues that exist already.
type QueueChildren struct {
	// The max of each of them (YARN's maxChildResources): amounts, or percentages
	// of the cluster, as in max.
	//
	// +optional
	Max Amounts `json:"max,omitempty"`

	// How many queues that placement created there may be below this one, at all
	// levels. If the root does not state it, 10000; others are then bounded only
	// by the queues above them.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	MaxCreated *int32 `json:"maxCreated,omitempty"`

	// Other fields that each of them begins with.
	//
	// +optional
	Template *QueueTemplate `json:"template,omitempty"`
}

// QueueTemplate has those fields of a queue that make sense for many queues alike.
type QueueTemplate struct {
	// As in the queue itself.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]+([.][0-9]{1,3})?$|^[0-9]+(m|k|M)?$')",message="must be a number from 0 to 1000000 with at most three decimals, such as 2, \"0.25\" or 250m"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1M')) <= 0",message="must be at most 1000000"
	Weight *resource.Quantity `json:"weight,omitempty"`

	// As in the queue itself.
	//
	// +optional
	Policy QueuePolicy `json:"policy,omitempty"`

	// As in the queue itself.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MaxRunningApplications *int32 `json:"maxRunningApplications,omitempty"`

	// As in the queue itself.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$')",message="must be a number from 0 to 1 with at most three decimals, such as \"0.3\" or 300m"
	MaxDriverShare *resource.Quantity `json:"maxDriverShare,omitempty"`

	// As in the queue itself.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:XValidation:rule="self >= -2147483648 && self <= 1000000000",message="must be a priority from -2147483648 to 1000000000"
	DefaultPriority *int32 `json:"defaultPriority,omitempty"`
}
