package reason_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const gi = 1 << 30

func TestSentences(t *testing.T) {
	for name, c := range map[string]struct {
		reason reason.Reason
		want   string
	}{
		"a name that is none": {
			reason.Reason{Code: reason.QueueNameInvalid, Queue: "root.Busy", Details: reason.Invalid{Why: "a name has lower case letters"}},
			`"root.Busy" is not the name of a queue: a name has lower case letters`,
		},
		"a queue that is not there": {
			reason.Reason{Code: reason.QueueNotFound, Queue: "root.busy"},
			"queue root.busy does not exist; create it, or name another one in fairway.dev/queue",
		},
		"a parent, with a child to name": {
			reason.Reason{Code: reason.QueueNotLeaf, Queue: "root.a", Details: reason.Child{Path: "root.a.b"}},
			"queue root.a has child queues and takes no pods itself; name a queue below it, for example root.a.b",
		},
		"a parent": {
			reason.Reason{Code: reason.QueueNotLeaf, Queue: "root.a"},
			"queue root.a is for child queues and takes no pods itself; name a queue below it",
		},
		"what is no priority": {
			reason.Reason{Code: reason.ApplicationPriorityInvalid, Details: reason.Invalid{Why: "very \"high\""}},
			`"very \"high\"" in fairway.dev/application-priority has no effect: it must be a whole number from -2147483648 to 2147483647`,
		},
		"a queue that is being created": {
			reason.Reason{Code: reason.CreatingQueue, Queue: "root.ann"},
			"queue root.ann is being created for this pod, as the placement policy says",
		},
		"the root": {
			reason.Reason{Code: reason.QueueNotLeaf, Queue: "root"},
			"queue root holds all queues and takes no pods itself; name a queue below it",
		},
		"a queue below a blocked one": {
			reason.Reason{Code: reason.QueueNotReady, Queue: "root.a.b.c", Details: reason.Cause{Queue: "root.a.b"}},
			"queue root.a.b.c is not in force yet, because queue root.a.b is not; it follows once root.a.b is",
		},
		"a blocked queue, in other words": {
			reason.Reason{Code: reason.QueueNotReady, Queue: "root.a.b", Details: reason.Cause{Problem: "its parent root.a does not exist"}},
			"queue root.a.b is not in force yet: its parent root.a does not exist",
		},
		"a blocked queue, in the words its owner reads": {
			reason.Reason{Code: reason.QueueNotReady, Queue: "root.a.b", Details: reason.Cause{Problem: "queue root.a.b is not in force: pods are in root.a"}},
			"queue root.a.b is not in force: pods are in root.a",
		},
		"a queue on its way out": {
			reason.Reason{Code: reason.QueueDeleted, Queue: "root.a"},
			"queue root.a is deleted and takes no more pods; name another one in fairway.dev/queue",
		},
		"a user without access": {
			reason.Reason{Code: reason.SubmitForbidden, Queue: "root.ads.etl", Details: reason.Submitter{User: "ada"}},
			"user ada may not submit to queue root.ads.etl: " +
				"this takes the verb submit or administer on queues.scheduling.fairway.dev, for root.ads.etl or a queue above it",
		},
		"a user of whom nothing is known yet": {
			reason.Reason{Code: reason.SubmitUnchecked, Queue: "root.a", Details: reason.Submitter{User: "ada"}},
			"it is not known yet whether user ada may submit to queue root.a; the API server is asked again until it answers",
		},
		"a queue that drains": {
			reason.Reason{Code: reason.Deleting, Queue: "root.a", Details: reason.Leftovers{Pods: 3, Children: 2}},
			"queue root.a is deleted: 3 pods still run and 2 child queues exist; it goes when none is left",
		},
		"a queue with one pod left": {
			reason.Reason{Code: reason.Deleting, Queue: "root.a", Details: reason.Leftovers{Pods: 1}},
			"queue root.a is deleted: 1 pod still runs; it goes when none is left",
		},
		"a queue with one child left": {
			reason.Reason{Code: reason.Deleting, Queue: "root.a", Details: reason.Leftovers{Children: 1}},
			"queue root.a is deleted: 1 child queue exists; it goes when none is left",
		},
		"a queue that goes": {
			reason.Reason{Code: reason.Deleting, Queue: "root.a"},
			"queue root.a is deleted, and nothing keeps it any more",
		},
		"max, in cpu": {
			reason.Reason{Code: reason.MaxResources, Queue: "root.busy", Resource: resource.CPU, Limit: 50_000, Used: 49_000, Asked: 4_000},
			"queue root.busy may use at most 50 cpu: it uses 49 cpu and this pod asks for 4 cpu; " +
				"the pod waits for another 3 cpu below that max, or for a higher max",
		},
		"max, and the pod alone is larger": {
			reason.Reason{Code: reason.MaxResources, Queue: "root.busy", Resource: resource.Memory, Limit: 4 * gi, Asked: 5 * gi},
			"queue root.busy may use at most 4Gi memory, and this pod alone asks for 5Gi memory; raise max or ask for less",
		},
		"max, of a resource the pod does not ask for": {
			reason.Reason{Code: reason.MaxResources, Queue: "root", Resource: resource.Memory, Limit: 10 * gi, Used: 12 * gi},
			"queue root may use at most 10Gi memory: it uses 12Gi memory and this pod asks for 0 memory; " +
				"the pod waits for another 2Gi memory below that max, or for a higher max",
		},
		"no node fits": {
			reason.Reason{Code: reason.Parked, Details: reason.Answer{Text: "0/3 nodes are available"}},
			"no node fits this pod: 0/3 nodes are available; it is tried again when a node gains room",
		},
		"an error": {
			reason.Reason{Code: reason.BackOff},
			"the last attempt to schedule this pod failed; it is tried again shortly",
		},
		"no room": {
			reason.Reason{Code: reason.WaitingForRoom, Resource: resource.CPU, Asked: 4000, Details: reason.Room{Free: 1500, Nodes: 9, Usable: 3, Full: 1}},
			"no node has 4 cpu free for this pod, the closest one has 1500m cpu; 3 of 9 nodes may be used by it",
		},
		"no node to use": {
			reason.Reason{Code: reason.WaitingForRoom, Details: reason.Room{Nodes: 9}},
			"no node has room for this pod: it may use none of the 9 nodes: see its node selector, affinity and tolerations",
		},
		"full nodes": {
			reason.Reason{Code: reason.WaitingForRoom, Details: reason.Room{Nodes: 9, Usable: 3, Full: 3}},
			"no node has room for this pod: every node that it may use runs as many pods as it takes",
		},
		"another plugin": {
			reason.Reason{Code: reason.SchedulingGate, Details: reason.Gate{Plugin: "SchedulingGates"}},
			"held by SchedulingGates; it goes on when that plugin lets it pass",
		},
		"preferred nodes": {
			reason.Reason{Code: reason.WaitingForPreferredNodes, Details: reason.Preferred{Nodes: "n1,n2,n3", Missed: 7, Of: 40}},
			"waits for its preferred nodes n1, n2, n3: its application has missed 7 of 40 opportunities to start elsewhere; " +
				"then it takes any node, and earlier if no other pod wants the room",
		},
		"preferred nodes, then racks": {
			reason.Reason{Code: reason.WaitingForPreferredNodes,
				Details: reason.Preferred{Nodes: "n1,n2,n3,n4,n5", Racks: "r1,r2", Missed: 7, Of: 40}},
			"waits for its preferred nodes n1, n2, n3 and 2 others: its application has missed 7 of 40 opportunities to start elsewhere; " +
				"then it takes any node of its preferred racks r1, r2, and earlier if no other pod wants the room",
		},
		"preferred racks": {
			reason.Reason{Code: reason.WaitingForPreferredNodes, Details: reason.Preferred{Racks: "r1,r2", Missed: 43, Of: 50}},
			"waits for its preferred racks r1, r2: its application has missed 43 of 50 opportunities to start elsewhere; " +
				"then it takes any node, and earlier if no other pod wants the room",
		},
		"its turn": {
			reason.Reason{Code: reason.WaitingTurn, Queue: "root.a"},
			"waits for its turn in queue root.a",
		},
		"no parent": {
			reason.Reason{Code: reason.ParentMissing, Queue: "root.a.b", Details: reason.Parent{Path: "root.a"}},
			"queue root.a.b is not in force: its parent root.a does not exist; create Queue root.a",
		},
		"a parent with pods": {
			reason.Reason{Code: reason.ParentHasPods, Queue: "root.a.b", Details: reason.Parent{Path: "root.a"}},
			"queue root.a.b is not in force: pods are in its parent root.a itself, " +
				"so root.a stays a queue without children until they are gone",
		},
		"as many applications as a queue takes": {
			reason.Reason{Code: reason.MaxApplications, Queue: "root.a", Details: reason.Applications{Most: 1, Running: 1}},
			"queue root.a takes at most 1 application and has 1, running and waiting; this one is refused until one ends, or for a higher maxApplications",
		},
		"as many as its part of the cluster's": {
			reason.Reason{Code: reason.MaxApplications, Queue: "root.a", Details: reason.Applications{Most: 4000, Running: 4001, Cluster: 10000}},
			"queue root.a takes at most 4000 applications, its part of the 10000 of root, and has 4001, running and waiting; " +
				"this one is refused until one ends, or for a higher maxApplications",
		},
		"as many as it takes of a user": {
			reason.Reason{Code: reason.UserMaxApplications, Queue: "root.a", Details: reason.Applications{User: "ann", Most: 2, Running: 2}},
			"user ann may have at most 2 applications in queue root.a and has 2, running and waiting; this one is refused until one of them ends, " +
				"or for a higher maxApplications, users.minSharePercent or users.shareFactor",
		},
		"FIFO on a parent": {
			reason.Reason{Code: reason.PolicyNotAllowed, Queue: "root.a", Details: reason.Policies{Stated: "FIFO", InForce: "Fair"}},
			"queue root.a has child queues, and policy FIFO is only for queues without; Fair is in force until policy is changed",
		},
		"no rule gives a queue": {
			reason.Reason{Code: reason.PlacementRejected, Details: reason.Invalid{Why: "none of its rules gives a queue"}},
			"the placement policy rejects the pod: none of its rules gives a queue",
		},
		"a queue below a leaf": {
			reason.Reason{Code: reason.PlacementRejected, Queue: "root.a.b", Details: reason.Parent{Path: "root.a"}},
			"queue root.a.b cannot be created, because root.a above it is a leaf; create it, or name another one in fairway.dev/queue",
		},
		"too much guaranteed": {
			reason.Reason{Code: reason.Overcommitted, Queue: "root.a", Resource: resource.Memory, Details: reason.Guarantees{Guaranteed: 100 * gi, Children: 120 * gi}},
			"the children of queue root.a are guaranteed 120Gi memory together, but root.a itself only 100Gi memory; " +
				"raise its guaranteed or lower theirs",
		},
		"more guaranteed than the share": {
			reason.Reason{Code: reason.Overcommitted, Queue: "root.a", Resource: resource.CPU, Details: reason.Divided{Share: 10_000, Children: 11_000}},
			"the children of queue root.a are guaranteed 11 cpu together, but the steady share of root.a is only 10 cpu; " +
				"lower their guarantees, or raise its guaranteed or weight",
		},
		"more guaranteed than there is": {
			reason.Reason{Code: reason.Overcommitted, Queue: "root", Resource: "nvidia.com/gpu", Details: reason.Divided{Share: 4, Children: 6}},
			"the children of queue root are guaranteed 6 nvidia.com/gpu together, but the cluster has only 4 nvidia.com/gpu; " +
				"lower their guarantees, or add nodes",
		},
		"larger pods than above": {
			reason.Reason{Code: reason.MaxPodResourcesRaised, Queue: "root.a.b", Resource: resource.CPU, Limit: 8000, Asked: 16000, Details: reason.Parent{Path: "root.a"}},
			"queue root.a.b states maxPodResources of 16 cpu, but root.a above it takes pods of at most 8 cpu; " +
				"that is in force until one of the two is changed",
		},
		"running below a stopped queue": {
			reason.Reason{Code: reason.RunningBelowStopped, Queue: "root.a.b", Details: reason.Stop{By: "root.a"}},
			"queue root.a.b states Running, but root.a above it is stopped, so root.a.b is stopped, too; set state of root.a to Running, or take state out of root.a.b",
		},
		"running below several": {
			reason.Reason{Code: reason.RunningBelowStopped, Queue: "root.a.b", Details: reason.Stop{By: "root root.a"}},
			"queue root.a.b states Running, but root and root.a above it are stopped, so root.a.b is stopped, too; " +
				"set state of root and root.a to Running, or take state out of root.a.b",
		},
		"stopped": {
			reason.Reason{Code: reason.QueueStopped, Queue: "root.a", Details: reason.Stop{By: "root.a", Since: 1_714_564_800e9}},
			"queue root.a takes no new applications since 2024-05-01T12:00:00Z, because root.a is stopped; this one follows when root.a is Running again",
		},
		"stopped by several": {
			reason.Reason{Code: reason.QueueStopped, Queue: "root.a.b", Details: reason.Stop{By: "root root.a root.a.b", Since: 1_714_564_800e9}},
			"queue root.a.b takes no new applications since 2024-05-01T12:00:00Z, because root, root.a and root.a.b are stopped; " +
				"this one follows when all of these are Running again",
		},
		"some with a capacity": {
			reason.Reason{Code: reason.CapacityMissing, Queue: "root.b", Details: reason.Capacities{
				Parent: "root", Stated: "root.a 60%, root.b weight 1", InForce: "root.a 50%, root.b 50%"}},
			"the children of queue root state a capacity or share by weight, all of them: root.a 60%, root.b weight 1; " +
				"until that is mended these are in force: root.a 50%, root.b 50%",
		},
		"capacities that do not sum to the whole": {
			reason.Reason{Code: reason.CapacitySumInvalid, Queue: "root.a", Details: reason.Capacities{
				Parent: "root", Sum: 110_500, Whole: 100_000, Stated: "root.a 60.5%, root.b 50%", InForce: "root.a 50%, root.b 50%"}},
			"the capacities of the children of queue root must sum to 100%, not to 110.5%: root.a 60.5%, root.b 50%; " +
				"until that is mended these are in force: root.a 50%, root.b 50%",
		},
		"a capacity below none": {
			reason.Reason{Code: reason.CapacitySumInvalid, Queue: "root.a", Details: reason.Capacities{
				Parent: "root.a", Sum: 100_000, Stated: "root.a.x 100%", InForce: "root.a.x 0%"}},
			"the capacities of the children of queue root.a must sum to 0%, not to 100%: root.a.x 100% (the capacity of root.a is 0%); " +
				"until that is mended these are in force: root.a.x 0%",
		},
		"a maximum below the capacity": {
			reason.Reason{Code: reason.MaxCapacityTooLow, Queue: "root.a", Details: reason.Capacities{
				Parent: "root.a", Child: "root.a.x", Capacity: 30_000_000, Max: 29_995_000, InForce: "root.a.x 50%, root.a.y 50%"}},
			"queue root.a.x has a capacity of 30% of the cluster, but by maxCapacity it may use only 29.995%; raise maxCapacity or lower " +
				"capacity, of it or of queues above; until that is mended these are in force: root.a.x 50%, root.a.y 50%",
		},
		"at a max in percent of the parent": {
			reason.Reason{Code: reason.MaxResources, Queue: "root.a", Resource: resource.CPU, Limit: 10_000, Used: 8000, Asked: 4000,
				Details: reason.MaxCapacity{Percent: 12_500}},
			"queue root.a may use at most 10 cpu, with a maxCapacity of 12.5%: it uses 8 cpu and this pod asks for 4 cpu; " +
				"the pod waits for another 2 cpu below that max, or for a higher max or maxCapacity",
		},
		"above a lowered max": {
			reason.Reason{Code: reason.OverLimit, Queue: "root.a", Resource: resource.CPU, Limit: 10_000, Used: 10_500},
			"queue root.a uses 10500m cpu, above its max of 10 cpu; nothing is stopped, and nothing more is released until its usage fits",
		},
		"starved, and due": {
			reason.Reason{Code: reason.BelowFairShare, Queue: "root.a", Resource: resource.CPU, Used: 80_000, Asked: 900_000,
				Details: reason.Shortfall{Entitled: 600_000, Since: 1_700_000_000e9, Until: 1_700_000_060e9}},
			"queue root.a is below its fair share: it has 80 cpu, should have 600 cpu and asks for 900 cpu, since 2023-11-14T22:13:20Z; " +
				"pods of other queues are preempted for it from 2023-11-14T22:14:20Z on",
		},
		"starved, and all surplus is ignored": {
			reason.Reason{Code: reason.BelowFairShare, Queue: "root.a", Resource: resource.CPU, Used: 80_000, Asked: 900_000,
				Details: reason.Shortfall{Entitled: 600_000, Since: 1_700_000_000e9, Until: 1_700_000_130e9, Declined: 1_700_000_070e9}},
			"queue root.a is below its fair share: it has 80 cpu, should have 600 cpu and asks for 900 cpu, since 2023-11-14T22:13:20Z; " +
				"its claim ended at 2023-11-14T22:14:30Z, as queues that have more than their fair share have so little more that it is ignored " +
				"(preemption.maxIgnoredOverCapacity in Queue root); it opens again at 2023-11-14T22:15:30Z",
		},
		"starved, without a timeout": {
			reason.Reason{Code: reason.BelowFairShare, Queue: "root.a", Resource: resource.Memory, Used: gi, Asked: 8 * gi,
				Details: reason.Shortfall{Entitled: 4 * gi, Since: 1_700_000_000e9}},
			"queue root.a is below its fair share: it has 1Gi memory, should have 4Gi memory and asks for 8Gi memory, since 2023-11-14T22:13:20Z; " +
				"nothing is preempted for it, as no fairShareTimeout is in force",
		},
		"above the threshold, and still owed": {
			reason.Reason{Code: reason.BelowFairShare, Queue: "root.a", Resource: resource.CPU, Used: 400_000, Asked: 900_000,
				Details: reason.Shortfall{Entitled: 600_000}},
			"queue root.a is below its fair share: it has 400 cpu, should have 600 cpu and asks for 900 cpu; pods of other queues are preempted for it until it is not",
		},
		"below its guarantee": {
			reason.Reason{Code: reason.BelowGuaranteed, Queue: "root.a", Resource: resource.CPU, Asked: 20_000,
				Details: reason.Shortfall{Entitled: 10_000, Since: 1_700_000_000e9}},
			"queue root.a is below its guarantee: it has 0 cpu, should have 10 cpu and asks for 20 cpu, since 2023-11-14T22:13:20Z; " +
				"nothing is preempted for it, as no guaranteedTimeout is in force",
		},
		"guaranteed more than it may have": {
			reason.Reason{Code: reason.SpecInvalid, Queue: "root.a", Resource: resource.CPU, Limit: 10_000, Details: reason.Guarantees{Guaranteed: 20_000}},
			"queue root.a is guaranteed 20 cpu but may use at most 10 cpu; its max counts as 20 cpu until one of the two is changed",
		},
		"a queue that cannot be read": {
			reason.Reason{Code: reason.SpecInvalid, Queue: "root.a", Details: reason.Invalid{Why: `max: "ten" is no quantity`}},
			`queue root.a cannot be used as written: max: "ten" is no quantity; until that is mended its last good state stays in force, if it ever had one`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.reason.Text(); got != c.want {
				t.Errorf("got:  %s\nwant: %s", got, c.want)
			}
		})
	}
}

func TestTheEndOfAStarvation(t *testing.T) {
	fair := reason.Reason{Code: reason.BelowFairShare, Queue: "root.a", Resource: resource.CPU, Used: 600_000, Asked: 900_000,
		Details: reason.Shortfall{Entitled: 600_000, Since: 1, Until: 2}}
	for r, want := range map[reason.Reason]string{
		fair: "queue root.a is no longer below its fair share: it has 600 cpu, should have 600 cpu and asks for 900 cpu",
		{Code: reason.BelowGuaranteed, Queue: "root.a"}: "queue root.a is no longer below its guarantee",
	} {
		if got := r.RestoredText(); got != want {
			t.Errorf("got:  %s\nwant: %s", got, want)
		}
	}
}

func TestEveryCodeHasItsOwnSentence(t *testing.T) {
	wellFormed := regexp.MustCompile(`^[A-Z][A-Za-z]+$`) // what a condition's reason may be
	seen := map[string]reason.Code{}
	for _, code := range reason.Codes() {
		if !wellFormed.MatchString(string(code)) {
			t.Errorf("%q cannot be the reason of a condition", code)
		}
		r := reason.Reason{Code: code, Queue: "root.a", PodGroup: "ns/g", Resource: resource.CPU}
		if kinds := readsOf[code].kinds; len(kinds) > 0 {
			r.Details = filled(kinds[0])
		}
		text := r.Text()
		if other, ok := seen[text]; ok {
			t.Errorf("%s and %s say the same: %s", code, other, text)
		}
		seen[text] = code
		if strings.HasPrefix(text, string(code)) {
			t.Errorf("%s has no sentence", code)
		}
		if strings.HasSuffix(text, ".") || strings.Contains(text, "  ") {
			t.Errorf("%s: %q should end without a full stop and have single blanks", code, text)
		}
	}
}

func TestSentencesWithoutDetailsStaySentences(t *testing.T) {
	for _, code := range []reason.Code{
		reason.QueueNameInvalid, reason.QueueNotLeaf, reason.QueueNotReady, reason.Parked, reason.BackOff,
		reason.SchedulingGate, reason.WaitingTurn, reason.SpecInvalid,
	} {
		text := reason.Reason{Code: code, Queue: "root.a"}.Text()
		for _, leftover := range []string{": ;", ", ;", "because queue  is", "example ;"} {
			if strings.Contains(text, leftover) {
				t.Errorf("%s: %q", code, text)
			}
		}
	}
}

func TestReasonsCompare(t *testing.T) {
	a := reason.Reason{Code: reason.MaxResources, Queue: "root.a", Resource: resource.CPU, Limit: 1, Used: 2, Asked: 3}
	b := a
	if a != b {
		t.Error("two equal reasons differ")
	}
	b.Used++
	if a == b {
		t.Error("two different reasons are equal")
	}
}

func TestAnUnknownCodeStillSaysSomething(t *testing.T) {
	if got := (reason.Reason{Code: "Other"}).Text(); got != "Other" {
		t.Errorf("got %q", got)
	}
}
