package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Queue is one node in the tree of queues that share the cluster. Its name is its path: "root.analytics.adhoc" is a child of
// "root.analytics". Pods run in leaves; the other queues divide what they get among their children.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=queues,singular=queue,scope=Cluster,shortName=fq,categories=fairway
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Weight",type=string,JSONPath=`.spec.weight`,description="Share of the parent in proportion to the weights of the siblings"
// +kubebuilder:printcolumn:name="Fair-Share",type=string,JSONPath=`.status.summary.fairShare`,description="What the queue should have now: cpu cores and memory"
// +kubebuilder:printcolumn:name="Allocated",type=string,JSONPath=`.status.summary.allocated`,description="What the pods of the queue and of the queues below it hold"
// +kubebuilder:printcolumn:name="Pending",type=integer,JSONPath=`.status.pods.pending`,description="Pods that wait"
// +kubebuilder:printcolumn:name="State",type=string,priority=1,JSONPath=`.status.state`,description="Running, Draining or Stopped"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the queue is in force"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the queue is ready or not"
// +kubebuilder:printcolumn:name="Capacity",type=string,priority=1,JSONPath=`.status.capacity`,description="The part of the parent that the queue is entitled to, if it shares by capacity"
// +kubebuilder:printcolumn:name="Of-Cluster",type=string,priority=1,JSONPath=`.status.absoluteCapacity`,description="The capacity as a part of the cluster"
// +kubebuilder:printcolumn:name="Steady-Share",type=string,priority=1,JSONPath=`.status.summary.steadyFairShare`,description="What the queue would have if every queue had work"
// +kubebuilder:printcolumn:name="Demand",type=string,priority=1,JSONPath=`.status.summary.demand`,description="Allocated plus what the waiting pods ask for"
// +kubebuilder:printcolumn:name="Running",type=integer,priority=1,JSONPath=`.status.pods.running`,description="Pods that hold resources"
// +kubebuilder:printcolumn:name="Starting",type=integer,priority=1,JSONPath=`.status.applications.starting`,description="Applications that are starting, in queues with policy StateAware"
// +kubebuilder:printcolumn:name="Starved",type=date,priority=1,JSONPath=`.status.belowFairShareSince`,description="For how long the queue has been below its fair share"
// +kubebuilder:printcolumn:name="Policy",type=string,priority=1,JSONPath=`.status.policy`,description="The policy in force"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^root([.]|$)')",message="metadata.name: a queue's name is its path and starts at the root: \"root\", or \"root.\" followed by the names of the queues down to this one, such as root.analytics.adhoc"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.matches('[^.]{64}')",message="metadata.name: each name between two dots has at most 63 characters"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.matches('^([^.]*[.]){12}')",message="metadata.name: queues nest at most 12 levels deep, root included"
// +kubebuilder:validation:XValidation:rule="self.metadata.name != 'root' || !has(self.spec) || !(has(self.spec.capacity) || has(self.spec.maxCapacity))",fieldPath=".spec.capacity",message="the queue root has the whole cluster: capacity and maxCapacity are for the queues below it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'root' || !has(self.spec) || !has(self.spec.users) || !has(self.spec.users.maxRunningApplications)",fieldPath=".spec.users.maxRunningApplications",message="holds over all queues, so it can be stated in the queue root only"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'root' || !has(self.spec) || !has(self.spec.maxPriority)",fieldPath=".spec.maxPriority",message="holds over all queues, so it can be stated in the queue root only"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'root' || !has(self.spec) || !has(self.spec.resourceCalculator)",fieldPath=".spec.resourceCalculator",message="holds over all queues, so it can be stated in the queue root only"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'root' || !has(self.spec) || !has(self.spec.preemption) || !(has(self.spec.preemption.observeOnly) || has(self.spec.preemption.utilizationThreshold) || has(self.spec.preemption.interval) || has(self.spec.preemption.maxWaitBeforeKill) || has(self.spec.preemption.totalPerRound) || has(self.spec.preemption.maxIgnoredOverCapacity) || has(self.spec.preemption.naturalTerminationFactor))",fieldPath=".spec.preemption",message="observeOnly, utilizationThreshold, interval, maxWaitBeforeKill, totalPerRound, maxIgnoredOverCapacity and naturalTerminationFactor hold over all queues, so they can be stated in the queue root only"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name == 'root' && has(self.spec) && (has(self.spec.maxDriverShare) || has(self.spec.defaultPriority) || has(self.spec.users) && (has(self.spec.users.minSharePercent) || has(self.spec.users.shareFactor) || has(self.spec.users.weights)))) || oldSelf.hasValue() && (oldSelf.value().metadata.name == 'root' && has(oldSelf.value().spec) && (has(oldSelf.value().spec.maxDriverShare) || has(oldSelf.value().spec.defaultPriority) || has(oldSelf.value().spec.users) && (has(oldSelf.value().spec.users.minSharePercent) || has(oldSelf.value().spec.users.shareFactor) || has(oldSelf.value().spec.users.weights))))",optionalOldSelf=true,fieldPath=".spec",message="the queue root takes no pods: maxDriverShare, defaultPriority, users.minSharePercent, users.shareFactor and users.weights are for queues without children"
// +kubebuilder:validation:XValidation:rule="!(self.metadata.name == 'root' && has(self.spec) && has(self.spec.guaranteed)) || oldSelf.hasValue() && has(oldSelf.value().spec) && has(oldSelf.value().spec.guaranteed)",optionalOldSelf=true,fieldPath=".spec.guaranteed",message="the queue root has the whole cluster: guaranteed is for the queues below it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^root[.]([^.]+[.]){0,9}[^.]+$') || !has(self.spec) || !has(self.spec.reservable) || !self.spec.reservable",fieldPath=".spec.reservable",message="is for queues below root, at most 11 levels deep, root included: the pods of the queue go to queues below it"
type Queue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the queue is entitled to. An empty spec is a queue of weight 1 without
	// guarantee or limit.
	//
	// +optional
	// +kubebuilder:default={}
	Spec QueueSpec `json:"spec,omitempty"`

	// What the queue gets, has and asks for, as the scheduler last saw it.
	//
	// +optional
	Status QueueStatus `json:"status,omitempty"`
}

// QueueSpec is what an administrator decides about a queue.
//
// +kubebuilder:validation:XValidation:rule="!has(self.capacity) || !has(self.weight) || !isQuantity(string(self.weight)) || quantity(string(self.weight)).compareTo(quantity('1')) == 0",fieldPath=".capacity",message="a queue shares by capacity or by weight: remove weight to state capacity"
// +kubebuilder:validation:XValidation:rule="!has(self.capacity) || !has(self.guaranteed)",fieldPath=".capacity",message="the capacity of a queue is its guarantee: remove guaranteed to state capacity"
// +kubebuilder:validation:XValidation:rule="!has(self.maxCapacity) || has(self.capacity)",fieldPath=".maxCapacity",message="maxCapacity is for queues that state capacity: state max, which takes percentages of the cluster"
//
// A rule with optionalOldSelf holds only for what is new: a Queue that broke it before there was the rule can still be changed.
// The tree reports it: see pkg/core/queue/fields.go.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.maxStarting) && !(has(self.policy) && self.policy == 'StateAware')) || oldSelf.hasValue() && (has(oldSelf.value().maxStarting) && !(has(oldSelf.value().policy) && oldSelf.value().policy == 'StateAware'))",optionalOldSelf=true,fieldPath=".maxStarting",message="is for policy StateAware: set policy to StateAware, or remove it"
// +kubebuilder:validation:XValidation:rule="!(has(self.startingTimeout) && !(has(self.policy) && self.policy == 'StateAware')) || oldSelf.hasValue() && (has(oldSelf.value().startingTimeout) && !(has(oldSelf.value().policy) && oldSelf.value().policy == 'StateAware'))",optionalOldSelf=true,fieldPath=".startingTimeout",message="is for policy StateAware: set policy to StateAware, or remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.strict) || !self.strict || has(self.policy) && self.policy == 'FIFO'",fieldPath=".strict",message="is for policy FIFO: set policy to FIFO, or remove it"
// +kubebuilder:validation:XValidation:rule="!(has(self.fairResource) && !(has(self.policy) && self.policy == 'Fair')) || oldSelf.hasValue() && (has(oldSelf.value().fairResource) && !(has(oldSelf.value().policy) && oldSelf.value().policy == 'Fair'))",optionalOldSelf=true,fieldPath=".fairResource",message="is for policy Fair: set policy to Fair, or remove it"
// +kubebuilder:validation:XValidation:rule="!(has(self.children) && (has(self.maxDriverShare) || has(self.defaultPriority) || has(self.users) && (has(self.users.minSharePercent) || has(self.users.shareFactor) || has(self.users.weights)))) || oldSelf.hasValue() && (has(oldSelf.value().children) && (has(oldSelf.value().maxDriverShare) || has(oldSelf.value().defaultPriority) || has(oldSelf.value().users) && (has(oldSelf.value().users.minSharePercent) || has(oldSelf.value().users.shareFactor) || has(oldSelf.value().users.weights))))",optionalOldSelf=true,fieldPath=".children",message="makes this a queue for child queues, and maxDriverShare, defaultPriority, users.minSharePercent, users.shareFactor and users.weights are for queues without children"
// +kubebuilder:validation:XValidation:rule="!has(self.reservations) || has(self.reservable) && self.reservable",fieldPath=".reservations",message="is for queues that state reservable: true"
// +kubebuilder:validation:XValidation:rule="!has(self.children) || !has(self.reservable) || !self.reservable",fieldPath=".children",message="a reservable queue is for pods: remove children"
type QueueSpec struct {
	// The queue's share of its parent, in proportion to the weights of its
	// siblings: between 0 and 1000000 in steps of 0.001, such as 2, "0.25" or 250m
	// (a fraction needs the quotes). A queue of weight 0 gets its guarantee and
	// what no sibling with a weight wants.
	//
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]+([.][0-9]{1,3})?$|^[0-9]+(m|k|M)?$')",message="must be a number from 0 to 1000000 with at most three decimals, such as 2, \"0.25\" or 250m"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('1M')) <= 0",message="must be at most 1000000"
	Weight *resource.Quantity `json:"weight,omitempty"`

	// The part of its parent that the queue is entitled to, whatever its siblings
	// do: a percentage from "0%" to "100%" with at most two decimals, such as
	// "12.5%". It is of the parent's steady fair share, and takes the place of
	// weight and guaranteed. The children of a queue state it all or none, and
	// theirs sum to 100%, to 0.05 points (to 0% below a queue of capacity 0%). If
	// they do not, condition Ready of all of them says so, and what was in force
	// before stays so. What others leave, the queue may use up to maxCapacity.
	//
	// +optional
	Capacity Percentage `json:"capacity,omitempty"`

	// The part of its parent's maximum that the queue and all queues below it may
	// hold, for a queue that states capacity; "100%" if not stated. It is a limit
	// like max, and the smaller of both counts. Taken down the tree, it must not
	// be less than capacity.
	//
	// +optional
	MaxCapacity Percentage `json:"maxCapacity,omitempty"`

	// What the queue gets, per resource, before anything is divided by weight. It
	// is not set apart: others use it while the queue does not ask for it.
	// Amounts, such as cpu: "8" or memory: 64Gi, or percentages of the cluster,
	// such as "12.5%", which follow it as it grows and shrinks; a resource that is
	// not named has no guarantee.
	//
	// +optional
	Guaranteed Amounts `json:"guaranteed,omitempty"`

	// The most that the queue and all queues below it may hold, per resource; no
	// pod starts that would exceed it. Amounts, such as cpu: "100" or memory: 1Ti,
	// or percentages of the cluster, such as "50%", which follow it as it grows
	// and shrinks; a resource that is not named is not limited.
	//
	// +optional
	Max Amounts `json:"max,omitempty"`

	// The largest single pod that the queue takes, per resource; a larger one
	// waits and says so. Amounts or percentages of the cluster, as in max. For a
	// resource that is not named, the nearest queue above that names it decides. A
	// queue may state less than the queues above it, but not more: then the amount
	// above stays in force, and condition FieldsIgnored says so.
	//
	// +optional
	MaxPodResources Amounts `json:"maxPodResources,omitempty"`

	// The most applications that may run at a time in the queue and all queues
	// below it; further ones wait, and the one submitted first follows when one
	// ends. Not stated, any number may.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MaxRunningApplications *int32 `json:"maxRunningApplications,omitempty"`

	// The most applications in the queue and all queues below it, those that run
	// and those that wait. Further ones are refused: their pods say so, and the
	// one submitted first is taken in when one ends. If it is not stated, a queue
	// with a capacity and without children takes its part of the number of the
	// queue root, which is 10000 if root states none: with 40% of the cluster,
	// 4000. Other queues take any number. Where users.minSharePercent or
	// users.shareFactor give one user less than the whole queue, a user may have
	// that part of the number.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MaxApplications *int32 `json:"maxApplications,omitempty"`

	// The part of the queue's fair share that the drivers of its applications may
	// use, so that room is left for what they drive: between 0 and 1 in steps of
	// 0.001, such as "0.3". For queues without children; if not stated 0.5, or 0.1
	// of a capacity; "1" is no limit. In a queue where nothing runs, one
	// application may always start. Where the queue limits its users, the drivers
	// of one user may use a part of that, and its first may start.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^(0([.][0-9]{1,3})?|1([.]0{1,3})?|[.][0-9]{1,3}|[0-9]{1,3}m|1000m)$')",message="must be a number from 0 to 1 with at most three decimals, such as \"0.3\" or 300m"
	MaxDriverShare *resource.Quantity `json:"maxDriverShare,omitempty"`

	// What holds for each user.
	//
	// +optional
	Users *QueueUsers `json:"users,omitempty"`

	// How the queue divides what it gets among its children, or among the
	// applications in it if it is a leaf. If not stated it is
	// DominantResourceFairness, but Fair below a queue whose policy is Fair. FIFO
	// and StateAware are for leaves: both serve applications by priority, then in
	// order of submission, and StateAware lets only a few of them start at a time,
	// so that drivers leave room for what they drive.
	//
	// +optional
	Policy QueuePolicy `json:"policy,omitempty"`

	// For policy Fair: the resource that it looks at; memory if not stated. Below
	// a queue whose policy is Fair, it is that queue's.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue() && self != 'pods'",message="must be the name of a resource, such as cpu, memory or example.com/gpu"
	FairResource string `json:"fairResource,omitempty"`

	// Which resources count where queues and applications are compared, in all
	// queues: for shares, order, preemption, maxCapacity, maxDriverShare and the
	// limits of users. With Dominant all of them do: each side is judged by the
	// one of which it uses the largest part. With Memory, as with YARN's
	// DefaultResourceCalculator, memory alone does, and of a guarantee its memory;
	// max and maxPodResources limit all that they name. Dominant if not stated.
	// For the queue root.
	//
	// +optional
	ResourceCalculator ResourceCalculator `json:"resourceCalculator,omitempty"`

	// For policy FIFO: while the pod whose turn it is waits for room, no other pod
	// of the queue starts, however small. Otherwise those that find room pass it,
	// and after a while a node is held for it. A pod that fits no node stops the
	// queue until it is deleted.
	//
	// +optional
	Strict *bool `json:"strict,omitempty"`

	// For policy StateAware: the most applications that may be starting at a time,
	// from 1 to 1000; 1 if not stated. An application is starting from the moment
	// its first pod holds something until a pod has a node that is not its driver
	// (until its second pod has one, where no driver is known). Further ones wait,
	// and the next goes when one has got on, has ended, or has been starting for
	// startingTimeout.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 1000",message="must be a number of applications from 1 to 1000"
	MaxStarting *int32 `json:"maxStarting,omitempty"`

	// For policy StateAware: how long an application counts as starting at most,
	// so that one without progress delays others no longer than that: from 1s to
	// 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m; 5m if not
	// stated. Or the word adaptive: three times what nearly all of the last starts
	// in the queue took, between 5s and 5m, and 1m until there was one.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == 'adaptive' || self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,5}s)?$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, or the word adaptive"
	StartingTimeout string `json:"startingTimeout,omitempty"`

	// The priority of pods that state none, and of their applications: a whole
	// number from -2147483648 to 1000000000, as in a PriorityClass; 0 if not
	// stated. For queues without children. If it is more than maxPriority of the
	// queue root, that counts.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:XValidation:rule="self >= -2147483648 && self <= 1000000000",message="must be a priority from -2147483648 to 1000000000"
	DefaultPriority *int32 `json:"defaultPriority,omitempty"`

	// The highest priority that counts, over all queues; higher ones count as this
	// one. A whole number from -2147483648 to 1000000000, as in a PriorityClass.
	// For the queue root. Not stated, priorities of PriorityClasses count as they
	// are, and label fairway.dev/application-priority can only lower a priority.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:XValidation:rule="self >= -2147483648 && self <= 1000000000",message="must be a priority from -2147483648 to 1000000000"
	MaxPriority *int32 `json:"maxPriority,omitempty"`

	// When the queue gets back what it is entitled to at the cost of pods that run
	// in other queues, and whether its own pods may be preempted for others.
	//
	// +optional
	Preemption *QueuePreemption `json:"preemption,omitempty"`

	// Whether the queue and all queues below it take new applications. Stopped,
	// they take none, and the applications that were submitted before go on until
	// they end; then the queue has been drained. If not stated, the queue follows
	// the one above it. Running below a stopped queue does not start the queue,
	// and condition FieldsIgnored says so.
	//
	// +optional
	// +kubebuilder:validation:Enum=Running;Stopped
	State QueueState `json:"state,omitempty"`

	// What holds for the queues that placement creates directly below this one. A
	// queue that states it, be it empty, is for child queues: it takes no pods,
	// also while it has no children.
	//
	// +optional
	Children *QueueChildren `json:"children,omitempty"`

	// Whether capacity of the queue can be reserved for a time, with Reservations.
	// For a queue without children, below root. Its pods are then placed in a
	// queue "default" below it, and those of a reservation in a queue of its own
	// beside that one, while it is active; the scheduler creates these queues,
	// with the policy, strict, users, maxDriverShare, maxStarting, startingTimeout
	// and defaultPriority of this one. It can be stated while pods run in the
	// queue: new pods then wait until these have ended.
	//
	// +optional
	Reservable *bool `json:"reservable,omitempty"`

	// How much of the queue may be reserved, and what becomes of pods that outlive
	// their reservation. For a queue that is reservable.
	//
	// +optional
	Reservations *QueueReservations `json:"reservations,omitempty"`
}

// QueueUsers is what holds for each user. The user of a pod is named by its annotation fairway.dev/user; without one it is the pod's
// service account.
//
// +kubebuilder:validation:XValidation:rule="!has(self.weights) || self.weights.all(w, !isQuantity(string(w.weight)) || quantity(string(w.weight)).asApproximateFloat() * double(has(self.minSharePercent) ? self.minSharePercent : 100) <= 100.0)",fieldPath=".weights",message="each weight must be from 0 to 100/minSharePercent, where minSharePercent is 100 if not stated"
type QueueUsers struct {
	// The most applications of one user that may run at a time, over all queues;
	// further ones wait. For the queue root.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	MaxRunningApplications *int32 `json:"maxRunningApplications,omitempty"`

	// The part of the queue that each user may have however many ask, in percent
	// from 1 to 100; 100 if not stated. For 25, one user may use all of the queue,
	// two users a half each, three a third, four or more a quarter. It is a part
	// of the queue's capacity, or of its fair share if it shares by weight; once
	// that is used, of what the queue uses. A queue that shares by weight limits
	// its users only if it states minSharePercent or shareFactor. For queues
	// without children.
	//
	// +optional
	// +kubebuilder:validation:Format=""
	// +kubebuilder:validation:XValidation:rule="self >= 1 && self <= 100",message="must be a percentage from 1 to 100"
	MinSharePercent *int32 `json:"minSharePercent,omitempty"`

	// The most that one user may use of the queue, as a multiple of the queue's
	// capacity or fair share: above 0 up to 1000000 in steps of 0.001, such as
	// "0.5" or 4; 1 if not stated. With 1, a single user never uses more than the
	// queue's capacity, however idle the cluster is.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]+([.][0-9]{1,3})?$|^[0-9]+(m|k|M)?$')",message="must be a number above 0 up to 1000000 with at most three decimals, such as \"0.5\" or 4"
	// +kubebuilder:validation:XValidation:rule="!isQuantity(string(self)) || quantity(string(self)).isGreaterThan(quantity('0')) && quantity(string(self)).compareTo(quantity('1M')) <= 0",message="must be above 0 and at most 1000000"
	ShareFactor *resource.Quantity `json:"shareFactor,omitempty"`

	// Users whose limit is multiplied by a weight other than 1.
	//
	// +optional
	// +listType=map
	// +listMapKey=user
	// +kubebuilder:validation:MaxItems=100
	Weights []UserWeight `json:"weights,omitempty"`
}

// UserWeight is the weight of one user.
type UserWeight struct {
	// The user, as in the annotation fairway.dev/user.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	User string `json:"user"`

	// From 0 to 100/minSharePercent in steps of 0.001, such as 2 or "0.5". A user
	// of weight 0 may have one pod at a time.
	//
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[0-9]+([.][0-9]{1,3})?$|^[0-9]+m?$')",message="must be a number from 0 to 100/minSharePercent with at most three decimals, such as 2 or \"0.5\""
	Weight resource.Quantity `json:"weight"`
}

// QueuePolicy is a way to order queues or applications that ask for resources.
//
// +kubebuilder:validation:Enum=DominantResourceFairness;Fair;FIFO;StateAware
type QueuePolicy string

const (
	// PolicyDominantResourceFairness compares, over all resources, the one that each side uses the largest part of. It is the default.
	PolicyDominantResourceFairness QueuePolicy = "DominantResourceFairness"

	// PolicyFair compares one resource only, memory unless fairResource says otherwise. Below it, nothing compares all resources.
	PolicyFair QueuePolicy = "Fair"

	// PolicyFIFO serves applications by priority, then by the time of their submission. It is for leaves only.
	PolicyFIFO QueuePolicy = "FIFO"

	// PolicyStateAware is FIFO where few applications may be starting at a time (see maxStarting), so that a queue full of drivers leaves room
	// for what they drive. It is for leaves only.
	PolicyStateAware QueuePolicy = "StateAware"
)

// ResourceCalculator says which resources count where queues and applications are compared.
//
// +kubebuilder:validation:Enum=Dominant;Memory
type ResourceCalculator string

const (
	// CalculatorDominant counts all resources. It is the default.
	CalculatorDominant ResourceCalculator = "Dominant"

	// CalculatorMemory counts memory alone.
	CalculatorMemory ResourceCalculator = "Memory"
)

// QueueState is whether a queue takes new applications.
type QueueState string

const (
	// QueueRunning means that the queue takes applications.
	QueueRunning QueueState = "Running"

	// QueueDraining means that the queue takes no new ones, and has applications that go on. Only a status says so.
	QueueDraining QueueState = "Draining"

	// QueueStopped means that the queue takes no new ones; in a status, that no application goes on either.
	QueueStopped QueueState = "Stopped"
)

// StartingTimeoutAdaptive is the startingTimeout that is learnt from the last starts.
const StartingTimeoutAdaptive = "adaptive"

// QueueList is a list of queues.
//
// +kubebuilder:object:root=true
type QueueList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Queue `json:"items"`
}
