// Package localcluster runs a real Kubernetes control plane on loopback, for the demo, the integration tests
// and the benchmarks.
//
// Input is Options (where its files go, where the binaries are, whether nodes are simulated). Output is a
// Cluster: a kubeconfig, a REST configuration, other identities to test access control with, the means to kill
// and restart each component, what fills it (nodes, the CRDs of a folder), and a wait until admission policies
// are in force. Child runs other programs beside it that end with us.
//
// etcd, kube-apiserver and kube-controller-manager are the upstream programs, with certificates, RBAC and
// every default admission plugin. KWOK simulates nodes and pods, so no container ever runs.
//
// The package must not know anything of Fairway: no CRD of its own, no queues, no scheduler. It must not touch
// anything outside its directory and the loopback interface, and must leave no process behind, however its
// caller ends.
package localcluster
