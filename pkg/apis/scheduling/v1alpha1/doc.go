// Package v1alpha1 holds the wire types of the group scheduling.fairway.dev: what users write and what the API server stores.
//
// Input and output are YAML and JSON as the custom resource definition generated from these types accepts it. The markers on the fields are
// part of the types: everything that one object shows by itself (names, ranges, syntax) is refused by the API server, with a message that
// names the field and what is allowed. What depends on other objects is a condition instead (see conditions.go).
//
// This package imports apimachinery and core/v1 only. It holds no rule of the scheduler, no conversion (pkg/kube/convert does that) and no
// field that nothing reads: a field arrives together with its behaviour.
//
// +kubebuilder:object:generate=true
// +groupName=scheduling.fairway.dev
package v1alpha1
