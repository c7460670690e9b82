// Package whatif uses kube-scheduler's own filters to answer whether a pod would fit on a node if other pods
// were gone. Planning asks it about what arithmetic does not know (taints, affinity, ports, spread, volumes).
//
// Input is the profiles of the scheduler, its cache, and a World with the pods that are gone or about to come.
// Output is answers, as preemption.Feasibility. The package has its own framework instances and its own
// picture of the cluster, so that planning runs beside the scheduling loop and disturbs no cycle. It binds
// nothing, writes nothing, and does not apply Fairway's rules, which the plan already does. It does not ask
// extenders, because each question would be a request: they decide when the pod is tried.
package whatif
