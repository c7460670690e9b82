package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GroupVersion and Kind may be stated in the arguments, as in those of upstream's plugins; they need not be.
const (
	GroupVersion = "config.fairway.dev/v1alpha1"
	Kind         = "FairwayArgs"
)

// FairwayArgs are the arguments of plugin Fairway. All profiles share one ledger, so all that state arguments must state the same.
type FairwayArgs struct {
	metav1.TypeMeta `json:",inline"`

	// PodConditionWritesPerSecond bounds the writes of pod conditions over the whole scheduler. From 1 to 1000; default 20.
	PodConditionWritesPerSecond *int32 `json:"podConditionWritesPerSecond,omitempty"`

	// ShowUnschedulable: pods that wait for room within their limits say PodScheduled=False with reason Unschedulable, which is what
	// cluster autoscalers act on. Default true.
	ShowUnschedulable *bool `json:"showUnschedulable,omitempty"`

	// UnschedulableAfterSeconds is how long a pod waits for room before it says so. From 0 to 3600; default 5.
	UnschedulableAfterSeconds *int32 `json:"unschedulableAfterSeconds,omitempty"`

	// MetricsMaxQueues bounds the queues that get metric series of their own: of a tree with more, the upper levels that fit as a
	// whole. What lies below them is counted in their nearest shown ancestor. 0: no queue gets any. From 0 to 100000; default 1000.
	MetricsMaxQueues *int32 `json:"metricsMaxQueues,omitempty"`

	// LedgerChecksPerSecond is how often a part of the scheduler's accounts is compared with the pods they are of. Each check takes about a
	// millisecond. A violation is logged, counted and shown as an event, and stops preemption. 0: there are no checks. From 0 to 100; default 5.
	LedgerChecksPerSecond *int32 `json:"ledgerChecksPerSecond,omitempty"`

	// CheckAccess: a pod starts only if its user was granted the verb submit or administer on its queue or a queue above it. Without any
	// such grant in the cluster, no pod starts. Default false.
	CheckAccess *bool `json:"checkAccess,omitempty"`

	// NodeLocalityDelay is for how many missed opportunities to start elsewhere a pod waits for the nodes that it names in the annotation
	// fairway.dev/preferred-nodes; at most as many as there are nodes. -1 and 0: it does not wait. Up to 100000; default 40.
	NodeLocalityDelay *int32 `json:"nodeLocalityDelay,omitempty"`

	// RackLocalityDelay is for how many more it then waits for the racks that it names in fairway.dev/preferred-rack. -1 and 0: it does not
	// wait. Up to 100000; default -1.
	RackLocalityDelay *int32 `json:"rackLocalityDelay,omitempty"`

	// RackTopologyKey is the label of nodes that names their rack. Default topology.kubernetes.io/rack, which no cluster sets by itself.
	RackTopologyKey *string `json:"rackTopologyKey,omitempty"`

	// LargePodPatienceSeconds is how long a pod waits for room, while smaller pods whose turn comes later start, until a node is held for it. 0: none
	// is. From 0 to 3600; default 15, as for pod groups.
	LargePodPatienceSeconds *int32 `json:"largePodPatienceSeconds,omitempty"`
}
