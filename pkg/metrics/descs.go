package metrics

import "k8s.io/component-base/metrics"

// units ends the help of metrics that are amounts of resources.
const units = " cpu in cores, memory and other storage in bytes, everything else in pieces."

func desc(name, help string, labels ...string) *metrics.Desc {
	return metrics.NewDesc("fairway_"+name, help, labels, nil, metrics.ALPHA, "")
}

// The metrics that are constant during a scrape. Names end as Prometheus requires: in the unit if there is
// one, in total if they only grow.
var (
	leading = desc("leading", "1 while this process leads: it releases, binds and writes. Only a leader shows the queues.")

	steadyFairShare = desc("queue_steady_fair_share", "What the queue is entitled to while every queue asks for its share:"+units, "queue", "resource")
	fairShare       = desc("queue_fair_share", "What the queue is entitled to now, among the queues with an application that may run:"+units, "queue", "resource")
	allocated       = desc("queue_allocated", "What the charged pods of the queue and everything below it ask for:"+units, "queue", "resource")
	demand          = desc("queue_demand", "What the queue and everything below it would use if there were room for every pod that no rule holds, within max:"+units,
		"queue", "resource")
	guaranteed = desc("queue_guaranteed", "What the queue is guaranteed, for the resources of which it is guaranteed some:"+units, "queue", "resource")
	maximum    = desc("queue_max", "What the queue and everything below it may use at most, for the resources that are limited:"+units, "queue", "resource")

	capacity    = desc("queue_capacity_ratio", "The part of the cluster that a queue is entitled to which shares by capacity: the product of capacities down the tree.", "queue")
	maxCapacity = desc("queue_max_capacity_ratio", "The part of the cluster that a queue may use by maxCapacity, its own and those above it, of queues that share by capacity.", "queue")
	priority    = desc("queue_priority", "Default: the priority of applications and pods of the queue that state none. Most: no priority counts for more, in any queue.", "queue", "kind")

	applications    = desc("queue_applications", "Applications in the queue and everything below it: pending (no pod holds anything: Accepted), starting, running or completing.", "queue", "state")
	pods            = desc("queue_pods", "Pods in the queue and everything below it: pending (not bound) or running.", "queue", "state")
	startingTimeout = desc("queue_starting_timeout_seconds",
		"How long an application may be starting in a queue with policy StateAware, stated or learnt.", "queue")
	queueStopped = desc("queue_stopped", "1 for a queue that takes no new applications: Draining while applications go on in it or below it, then Stopped.", "queue", "state")
	problems     = desc("queue_problems",
		"Queues of which the reason keeps something from being in force as written: the queue itself, and those below it that have no series of their own.",
		"queue", "reason")

	queues      = desc("queues", "Queues there are, with those that are declared and not in force.")
	queuesShown = desc("queues_shown", "Queues that have series of their own; see metricsMaxQueues in the arguments of plugin Fairway.")

	waitingPods = desc("waiting_pods", "Pods of this scheduler that are neither released to kube-scheduler nor parked there, by what they wait for.", "reason")
	heldNodes   = desc("held_nodes", "Nodes held for a pod group, or for large pods, by which of both.", "for")
	backfills   = desc("backfills_total", "Pods bound to a node that is held for larger pods, since they end before one of those could start there.")
	windowPods  = desc("window_pods", "Pods that are released and not yet bound.")

	releases       = desc("releases_total", "Decisions of the dispatcher: pods let through to kube-scheduler, one that is let through again counted again.")
	dispatchRounds = desc("dispatch_rounds_total", "Rounds of the dispatcher: looks at whether something may be released.")
	attempts       = desc("attempts_total", "Attempts of kube-scheduler to find a node for a pod.")
	binds          = desc("binds_total", "Pods bound to a node.")
	sweeperRepairs = desc("sweeper_repairs_total", "Released pods that kube-scheduler lost and that were put right. It should stay at 0.")
	inspections    = desc("ledger_check_rounds_total", "Times that all accounts of the ledger have been compared with the pods they are of.")
	wrong          = desc("ledger_violations_total", "Violations found in the ledger, one that is found in every round counted in every round. It should stay at 0.")
	reviews        = desc("access_reviews_total", "Questions to the API server whether a user may submit to a queue, by what it answered.", "result")
	lockWaits      = desc("ledger_lock_waits_total", "Times that somebody had to wait for the lock of the ledger.")
	lockSeconds    = desc("ledger_lock_wait_seconds_total", "Seconds that all who had to wait for the lock of the ledger have waited.")
)

func descs() []*metrics.Desc {
	return append(append(preemptionDescs(), reservationDescs()...), []*metrics.Desc{
		leading, steadyFairShare, fairShare, allocated, demand, guaranteed, maximum, capacity, maxCapacity, priority, applications, startingTimeout, pods, queueStopped, problems, queues, queuesShown,
		waitingPods, heldNodes, backfills, windowPods, releases, dispatchRounds, attempts, binds, sweeperRepairs, inspections, wrong, reviews, lockWaits, lockSeconds,
	}...)
}
