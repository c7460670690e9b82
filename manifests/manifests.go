// Package manifests has the definitions of the API as they are installed, for programs that need to know which fields there are.
package manifests

import _ "embed"

// Queues is the CustomResourceDefinition of Queue.
//
//go:embed crds/scheduling.fairway.dev_queues.yaml
var Queues []byte

// PlacementPolicies is the CustomResourceDefinition of PlacementPolicy.
//
//go:embed crds/scheduling.fairway.dev_placementpolicies.yaml
var PlacementPolicies []byte

// Reservations is the CustomResourceDefinition of Reservation.
//
//go:embed crds/scheduling.fairway.dev_reservations.yaml
var Reservations []byte

// PodGroups is the CustomResourceDefinition of the pod groups of scheduler-plugins.
//
//go:embed crds/scheduling.x-k8s.io_podgroups.yaml
var PodGroups []byte
