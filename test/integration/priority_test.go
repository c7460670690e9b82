package integration

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Pods of higher priority take the room of others of their own leaf queue, one after the other, and of nobody else: the pods of root.b have the
// lowest priority of all.
func TestPriorityEvictsInsideALeafQueueAlone(t *testing.T) {
	w := newWorld(t, 2, "3", "8Gi")
	for name, value := range map[string]int32{"high": 1000, "low": -1000} {
		w.must(w.client.Create(w.ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}))
	}
	w.queue("root.a")
	w.queue("root.b")
	w.scheduler(ledger.Options{})
	of := func(name, queue, class string) *v1.Pod {
		p := pod(name, queue, "1", "1Gi")
		p.Spec.PriorityClassName = class
		return p
	}
	for i := range 3 {
		w.create(of(fmt.Sprintf("a-%d", i), "a", ""), of(fmt.Sprintf("b-%d", i), "b", "low"))
	}
	w.untilBound(6)
	for i := range 4 {
		w.create(of(fmt.Sprintf("high-%d", i), "a", "high"))
	}
	w.until("three pods of high priority run in the places of those of root.a", func() (bool, string) {
		n := map[string]int{}
		for name, p := range w.pods() {
			if p.Spec.NodeName != "" {
				n[name[:1]]++
			}
		}
		return n["h"] == 3 && n["a"] == 0 && n["b"] == 3, fmt.Sprint(n)
	})
	for _, e := range w.eventsOf("a-0") {
		if e.Reason == "Preempted" {
			return
		}
	}
	t.Errorf("no event says why a-0 is gone: %v", w.eventsOf("a-0"))
}
