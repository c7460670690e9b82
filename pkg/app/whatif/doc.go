// Package whatif answers with kube-scheduler's own filters whether a pod would fit on a node were other pods gone: what planning asks where
// arithmetic does not know (taints, affinity, ports, spread, volumes).
//
// In: the profiles of the scheduler, its cache, and a World with the pods that are gone or on their way in it. Out: answers, as
// preemption.Feasibility. It has framework instances and a picture of the cluster of its own, so that planning runs beside the scheduling loop
// and disturbs no cycle. It binds nothing, writes nothing, and asks the rules of Fairway nothing: those stand in the plan. Extenders are not
// asked either, since each question would be a request: they have their say when the pod is tried.
package whatif
