package integration

import (
	"fmt"
	"maps"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Half of 40 cores is divided by capacity, half by weight. While all want more than there is, each queue has exactly its share: 12 and 8 of the one half, 4
// and 16 of the other. When the half with weights is idle, the capacities divide all, 24 and 16. Alone, the second stops at its maxCapacity.
// users.shareFactor lets one user have more than a capacity. An edit of maxCapacity and one of users.shareFactor let more run at once; capacities that sum
// to no 100 change nothing, and say so, until the other sibling is edited too.
func TestCapacitiesAndWeightsSideBySide(t *testing.T) {
	w := newWorld(t, 10, "4", "64Gi")
	w.queue("root max.cpu=0") // until all pods are there
	w.queue("root.hadoop")
	w.queue("root.hadoop.prod capacity=60% users.shareFactor=3")
	w.queue("root.hadoop.dev capacity=40% maxCapacity=50% users.shareFactor=3")
	w.queue("root.spark")
	w.queue("root.spark.a weight=1")
	w.queue("root.spark.b weight=4")
	s, stop := w.scheduler(ledger.Options{})
	var all []*v1.Pod
	for queue, n := range map[string]int{"root.hadoop.prod": 30, "root.hadoop.dev": 26, "root.spark.a": 10, "root.spark.b": 20} {
		for i := range n {
			all = append(all, pod(fmt.Sprintf("%s-%d", queue[len("root."):], i), queue, "1", "1Gi"))
		}
	}
	w.create(all...)
	w.until("all pods are seen", func() (bool, string) {
		n := w.getQueue("root").Status.Pods
		return n.Pending == 86, fmt.Sprint(n)
	})
	w.patch("root", `{"max":null}`)
	w.untilAllocates(map[string]int{"root.hadoop.prod": 12, "root.hadoop.dev": 8, "root.spark.a": 4, "root.spark.b": 16})
	w.shows("root.hadoop.prod", "CAPACITY=60%, OF-CLUSTER=30%, FAIR-SHARE=12c 192Gi, ALLOCATED=12c 12Gi, READY=True")
	w.shows("root.hadoop.dev", "CAPACITY=40%, OF-CLUSTER=20%, FAIR-SHARE=8c 128Gi, ALLOCATED=8c 8Gi, READY=True")
	w.shows("root.spark.b", "CAPACITY=, OF-CLUSTER=, WEIGHT=4, FAIR-SHARE=16c 256Gi, ALLOCATED=16c 16Gi, READY=True")
	w.agree()

	w.endQueue("root.spark.a")
	w.endQueue("root.spark.b")
	w.untilAllocates(map[string]int{"root.hadoop.prod": 24, "root.hadoop.dev": 16})
	w.shows("root.hadoop.prod", "FAIR-SHARE=12c 192Gi, ALLOCATED=24c 24Gi") // of the steady half
	w.endQueue("root.hadoop.prod")
	w.untilAllocates(map[string]int{"root.hadoop.dev": 20})
	w.until("a pod of dev says what stops it", func() (bool, string) {
		said := ""
		for _, p := range w.pods() {
			if c := queuedCondition(p); p.Spec.NodeName == "" && c != nil {
				said = c.Reason + ": " + c.Message
			}
		}
		return said == "MaxResources: queue root.hadoop.dev may use at most 20 cpu, with a maxCapacity of 50%: it uses 20 cpu and this pod asks for 1 cpu; "+
			"the pod waits for another 1 cpu below that max, or for a higher max or maxCapacity", said
	})
	w.patch("root.hadoop.dev", `{"maxCapacity":"100%"}`)
	w.untilAllocates(map[string]int{"root.hadoop.dev": 24}) // three times its 20% of 40
	w.patch("root.hadoop.dev", `{"users":{"shareFactor":4}}`)
	w.untilAllocates(map[string]int{"root.hadoop.dev": 26}) // all that there are
	w.patch("root.hadoop.prod", `{"capacity":"40%"}`)
	w.shows("root.hadoop.prod", "CAPACITY=60%, OF-CLUSTER=30%, READY=False, REASON=CapacitySumInvalid")
	w.shows("root.hadoop.dev", "CAPACITY=40%, OF-CLUSTER=20%, READY=False, REASON=CapacitySumInvalid")
	w.patch("root.hadoop.dev", `{"capacity":"60%"}`)
	w.shows("root.hadoop.prod", "CAPACITY=40%, OF-CLUSTER=20%, READY=True")
	w.shows("root.hadoop.dev", "CAPACITY=60%, OF-CLUSTER=30%, ALLOCATED=26c 26Gi, READY=True")
	w.sound(s, stop)
}

// untilAllocates waits until exactly so many pods are bound in each of these queues, and none in others.
func (w *world) untilAllocates(want map[string]int) {
	w.t.Helper()
	w.until(fmt.Sprintf("the queues have %v", want), func() (bool, string) {
		is := w.bound()
		delete(is, "all")
		return maps.Equal(is, want), fmt.Sprint(is)
	})
}

// endQueue deletes the pods of a queue, whether they run or wait.
func (w *world) endQueue(queue string) {
	w.t.Helper()
	var names []string
	for name, p := range w.pods() {
		if p.Labels["fairway.dev/queue"] == queue {
			names = append(names, name)
		}
	}
	w.endPods(names...)
}
