package v1alpha1

import corev1 "k8s.io/api/core/v1"

// SchedulerName is what a pod writes into spec.schedulerName to be scheduled by Fairway.
const SchedulerName = "fairway"

// Keys of labels and annotations on pods. All of them are optional.
const (
	// KeyQueue names the queue a pod asks for: "root.analytics.adhoc", or without the leading "root.". It is a label, or an annotation
	// where the path is longer than the 63 characters of a label value. Without it the pod asks for root.default.
	KeyQueue = "fairway.dev/queue"

	// KeyPlacedQueue is the annotation with the queue a pod *is* in. The scheduler writes it once; from then on the request is ignored.
	KeyPlacedQueue = "fairway.dev/placed-queue"

	// KeyPlacedApplication, KeyPlacedRole and KeyPlacedUser are annotations with the application, role and user that a pod counts for.
	// The scheduler writes them together with the queue; from then on the pod's labels and KeyUser are ignored. An application is named
	// within its namespace, as "<kind>/<name>". A pod without a role has the role RoleNone.
	KeyPlacedApplication = "fairway.dev/placed-application"
	KeyPlacedRole        = "fairway.dev/placed-role"
	KeyPlacedUser        = "fairway.dev/placed-user"

	// KeyApplication is the label that gathers pods into one application, within their namespace. Without it Fairway recognises what
	// Spark, Ray, Flink, Kubeflow, JobSet, batch jobs, pod groups and YuniKorn write, and falls back to the pod's controlling owner.
	KeyApplication = "fairway.dev/application"

	// KeyRole is the label with a pod's role in its application: RoleDriver or RoleExecutor.
	KeyRole = "fairway.dev/role"

	// KeyApplicationSize is the label or annotation that says how many pods the application has. "1" says that it is this pod only, so that
	// in a StateAware queue it neither waits for others to start nor makes others wait. Other values say nothing.
	KeyApplicationSize = "fairway.dev/application-size"

	// KeyApplicationPriority is the label or annotation with the priority that the pod asks for its application: a whole number, of which up
	// to maxPriority of the queue root counts. Other values say nothing. It counts on the oldest driver of an application or, without one,
	// on its oldest pod, where it comes before the priority of the pod.
	KeyApplicationPriority = "fairway.dev/application-priority"

	// KeyUser is the annotation with the user that a pod counts for. Without it that is the pod's service account.
	KeyUser = "fairway.dev/user"

	// KeyGroups is the annotation with the groups of that user, joined by commas. In each group, % is written %25 and a comma %2C.
	KeyGroups = "fairway.dev/groups"

	// KeyPreferredNodes is the annotation with the names of the nodes where the pod would rather run, joined by commas, and KeyPreferredRack the
	// one with the racks. The pod waits for them for some opportunities to start elsewhere.
	KeyPreferredNodes = "fairway.dev/preferred-nodes"
	KeyPreferredRack  = "fairway.dev/preferred-rack"

	// KeyExpectedDuration is the annotation that says for how long the pod will probably run, such as 90s or 2h30m.
	KeyExpectedDuration = "fairway.dev/expected-duration"

	// KeyCreatorPod is the annotation with the UID of the pod that created this pod and controls it, as a driver of Spark does its executors.
	KeyCreatorPod = "fairway.dev/creator-pod"

	// KeyReservation is the label with the name of the Reservation, of the pod's namespace, in whose queue the pod runs.
	KeyReservation = "fairway.dev/reservation"
)

// Keys on Queues that the scheduler created.
const (
	// KeyCreatedBy is the label of a Queue that a rule of the placement policy created for a pod (CreatedByPlacement), or that was created for
	// a reservation (CreatedByReservation). Such a Queue is removed when it is empty. Without the label the Queue is like any other, and stays.
	KeyCreatedBy = "fairway.dev/created-by"

	// CreatedByPlacement and CreatedByReservation are the values of KeyCreatedBy.
	CreatedByPlacement   = "placement"
	CreatedByReservation = "reservation"

	// KeyCreatedFor is the annotation with the user or group whose name such a Queue bears, exactly as the API server knows it, or with
	// namespace and name of the Reservation. Names that look alike as the name of a queue are told apart by it.
	KeyCreatedFor = "fairway.dev/created-for"
)

// Values of KeyRole and KeyPlacedRole.
const (
	// RoleDriver marks the pod that starts its application and asks for the others (YARN's application master).
	RoleDriver = "driver"

	// RoleExecutor marks a pod that does the application's work.
	RoleExecutor = "executor"

	// RoleNone is a value of KeyPlacedRole only.
	RoleNone = "none"
)

// PodConditionQueued is True on a pod that one of Fairway's rules holds back; reason and message say which and what would lift it. It is a
// condition of its own because cluster autoscalers take PodScheduled=False with reason Unschedulable for a lack of nodes.
const PodConditionQueued corev1.PodConditionType = "fairway.dev/Queued"

// PreemptionMessage begins the message of the condition DisruptionTarget on a pod that Fairway is about to evict so that another queue
// gets what it is entitled to; the path of that queue follows. By it a scheduler that takes over tells its own announcements from those of
// others, which have the same type and reason (PreemptionByScheduler), so it must not change.
const PreemptionMessage = "Preempted by queue "

// Reasons of events about preemption, on the pod that is to go.
const (
	// EventPreempting: the pod will be evicted shortly.
	EventPreempting = "Preempting"
	// EventPreemptionWithdrawn: it stays after all.
	EventPreemptionWithdrawn = "PreemptionWithdrawn"
	// EventPreempted: the API server has agreed to evict it.
	EventPreempted = "Preempted"
)

// EventBackfilled is the reason of the event on a pod that uses room on a node that is held for larger pods, since it ends in time.
const EventBackfilled = "Backfilled"

// EventReservationEnded is the reason of the event on a pod that outlives its reservation: it moves, or is evicted.
const EventReservationEnded = "ReservationEnded"

// Reasons of events about starvation, on the Queue. It begins with the reason of the condition Starved (BelowFairShare, BelowGuaranteed).
const (
	// EventFairShareRestored: the queue has its fair share again, or all that it asks for.
	EventFairShareRestored = "FairShareRestored"
	// EventGuaranteeRestored: the same for its guarantee.
	EventGuaranteeRestored = "GuaranteeRestored"
)

// QueueFinalizer is what the scheduler puts on every Queue: a deleted Queue stays until no pod is charged to it or below
// it and no Queue is below it. If no scheduler runs any more, an administrator must take it off.
const QueueFinalizer = "scheduling.fairway.dev/queue"

// RootQueue is the name of the queue that holds all others; DefaultQueue is where pods go that name none.
const (
	RootQueue    = "root"
	DefaultQueue = "root.default"
)
