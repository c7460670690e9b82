// Package localcluster runs a real Kubernetes control plane on loopback, for the demo, the integration tests and the benchmarks.
//
// In: Options (where its files go, where the binaries are, whether nodes are simulated). Out: a Cluster, that is a kubeconfig,
// a REST configuration, other identities to test access control with, simulated nodes, the means to kill and restart each component, what
// furnishes it (nodes, the CRDs of a folder), and a way to run other programs beside it that end with us (Child).
//
// What is real: etcd, kube-apiserver and kube-controller-manager are the upstream programs, with certificates, RBAC and every default
// admission plugin. What is not: nodes and pods are simulated by KWOK, so no container ever runs.
//
// It must not know anything of Fairway: no CRD of its own, no queues, no scheduler. It must not touch anything outside its directory and the
// loopback interface, and must leave no process behind, however its caller ends.
package localcluster
