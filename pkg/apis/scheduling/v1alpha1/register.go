package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every Fairway object.
const GroupName = "scheduling.fairway.dev"

var (
	// GroupVersion is the group and version of the types in this package.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

	// QueueResource is the resource of Queues.
	QueueResource = GroupVersion.WithResource("queues")

	// PlacementPolicyResource is the resource of PlacementPolicies.
	PlacementPolicyResource = GroupVersion.WithResource("placementpolicies")

	// ReservationResource is the resource of Reservations.
	ReservationResource = GroupVersion.WithResource("reservations")

	// SchemeBuilder collects the functions that make a scheme know these types.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme makes a scheme know these types.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Resource qualifies a plural name with this group, as error messages of the API machinery want it.
func Resource(plural string) schema.GroupResource {
	return GroupVersion.WithResource(plural).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Queue{}, &QueueList{}, &PlacementPolicy{}, &PlacementPolicyList{},
		&Reservation{}, &ReservationList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
