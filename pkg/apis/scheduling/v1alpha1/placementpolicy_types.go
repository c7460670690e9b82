package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PlacementPolicyName is the name of the only PlacementPolicy that there may be.
const PlacementPolicyName = "default"

// PlacementPolicy says in which queue a pod goes, by rules over the queue it asks for, its user and the user's groups. There is one, named
// "default". Without it a pod goes to the queue it asks for, and to root.default if it asks for none.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=placementpolicies,singular=placementpolicy,scope=Cluster,shortName=fpp
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the policy is in force as it is written"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is or is not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="What is wrong with it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default'",message="metadata.name: there is one PlacementPolicy for the cluster, and its name is default"
type PlacementPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// How pods are placed. An empty spec is the same as no policy.
	//
	// +optional
	// +kubebuilder:default={}
	Spec PlacementPolicySpec `json:"spec,omitempty"`

	// Whether the policy is in force, as the scheduler last saw it.
	//
	// +optional
	Status PlacementPolicyStatus `json:"status,omitempty"`
}

// PlacementPolicySpec is what an administrator decides about placement.
type PlacementPolicySpec struct {
	// The rules, in the order in which they are asked. The first that gives a
	// queue decides. The last must be one that always gives a queue or rejects,
	// and none before it may be; else the policy is not in force, and condition
	// Ready says why. Without rules, the fields below stand for a list.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Rules []PlacementRule `json:"rules,omitempty"`

	// What the rule Mapping looks through: entries u:USER:QUEUE and g:GROUP:QUEUE,
	// such as u:ann:root.adhoc, of which the first that fits decides. USER may be
	// %user, which is everybody. A level of QUEUE may be %user, %primary_group or
	// %secondary_group. If there are no rules, mappings are asked after the queue
	// that the pod asks for.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=512
	Mappings []string `json:"mappings,omitempty"`

	// Whether mappings also hold for pods that ask for a queue. If there are
	// rules, their order still counts: a rule before Mapping may decide first.
	//
	// +optional
	Override bool `json:"override,omitempty"`

	// Without rules: whether the queue of a pod that asks for none has the name of
	// its user; otherwise it is root.default. True if only allowUndeclaredQueues
	// is stated.
	//
	// +optional
	UserAsDefaultQueue *bool `json:"userAsDefaultQueue,omitempty"`

	// Without rules: whether queues are created that pods ask for and nobody has
	// declared; otherwise such pods go on to the next rule. True if only
	// userAsDefaultQueue is stated. If neither is, such pods wait for the queue.
	//
	// +optional
	AllowUndeclaredQueues *bool `json:"allowUndeclaredQueues,omitempty"`

	// How long a queue that placement created stays while it has neither pods nor
	// children: from 1s to 8760h in hours, minutes and seconds, such as 90s; if it
	// is not stated, 10m. A queue whose spec somebody has changed stays.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('8760h')",message="must be a duration from 1s to 8760h in hours, minutes and seconds, such as 90s, 10m or 24h"
	RemoveEmptyAfter string `json:"removeEmptyAfter,omitempty"`
}

// PlacementRule is a rule of the policy.
type PlacementRule struct {
	PlacementRuleFields `json:",inline"`

	// For NestedUserQueue: the rule that gives the queue in which the user's queue
	// is. It may be any but NestedUserQueue, Mapping and Reject.
	//
	// +optional
	Nested *PlacementRuleFields `json:"nested,omitempty"`
}

// PlacementRuleFields are what all rules have, nested ones too.
type PlacementRuleFields struct {
	// Which rule: Specified (the queue that the pod asks for), User, PrimaryGroup,
	// SecondaryGroupExistingQueue (the queue with the name of the user, of the
	// first group, of the first other group that has one), NestedUserQueue (the
	// user's queue in the queue that another rule gives), Mapping (the first of
	// mappings that fits), Default (one queue for all), Reject (none).
	//
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type"`

	// Whether the rule may give a queue that nobody has declared, which is then
	// created; otherwise the next rule is asked. If not stated: true, but false
	// for Mapping.
	//
	// +optional
	Create *bool `json:"create,omitempty"`

	// For Default: the queue; root.default if not stated.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Queue string `json:"queue,omitempty"`

	// For User, PrimaryGroup and SecondaryGroupExistingQueue: the queue in which
	// theirs are; root if not stated.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Parent string `json:"parent,omitempty"`
}

// PlacementPolicyStatus is written only by the scheduler that leads.
type PlacementPolicyStatus struct {
	// The generation of the spec that this status answers to.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready is True while the policy is in force as it is written. Otherwise its
	// message says what is wrong with it, and what is in force instead.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The policy in force: the spec, or the last one that could be used.
	//
	// +optional
	InForce *PlacementPolicySpec `json:"inForce,omitempty"`
}

// PlacementPolicyList is a list of placement policies.
//
// +kubebuilder:object:root=true
type PlacementPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PlacementPolicy `json:"items"`
}
