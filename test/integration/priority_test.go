package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
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

// Under a maxPriority of 5 a pod of priority 1000 evicts those that count for less, and not those of 10 or 1000, which count as 5. FIFO serves the
// application of the highest priority as it counts: what it states for itself, of 5 or less, and of two that count alike the older one.
func TestMaxPriorityBoundsOrderAndEviction(t *testing.T) {
	w := newWorld(t, 2, "3", "8Gi")
	for name, value := range map[string]int32{"high": 1000, "ten": 10, "low": -1000} {
		w.must(w.client.Create(w.ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}))
	}
	w.queue("root maxPriority=5")
	w.queue("root.a policy=FIFO defaultPriority=2")
	w.scheduler(ledger.Options{})
	of := func(name, class, asks string) *v1.Pod {
		p := pod(name, "a", "1", "1Gi")
		p.Spec.PriorityClassName = class
		if asks != "" {
			p.Labels[v1alpha1.KeyApplicationPriority] = asks
		}
		return p
	}
	for i := range 3 {
		w.create(of(fmt.Sprintf("ten-%d", i), "ten", ""), of(fmt.Sprintf("low-%d", i), "low", ""))
	}
	w.untilBound(6)
	w.create(of("high-0", "high", ""), of("high-1", "high", ""), of("high-2", "high", ""), of("high-3", "high", ""))
	end := func(name string) {
		w.must(w.client.Delete(w.ctx, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}))
	}
	bound := func() (n map[string]int, names string) {
		n = map[string]int{}
		var all []string
		for name, p := range w.pods() {
			if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
				kind, _, _ := strings.Cut(name, "-")
				n[kind]++
				all = append(all, name)
			}
		}
		return n, fmt.Sprint(slices.Sorted(slices.Values(all)))
	}
	w.until("three pods of high priority run in the places of the low ones, and those of ten stay", func() (bool, string) {
		n, names := bound()
		return n["high"] == 3 && n["ten"] == 3 && n["low"] == 0, names
	})
	w.create(of("plain", "", ""), of("asks-3", "", "3"), of("asks-4", "", "4"))
	end("ten-0")
	w.until("the last pod of high priority runs", func() (bool, string) {
		n, names := bound()
		return n["high"] == 4, names
	})
	end("ten-1")
	w.until("then the one that asks for the most", func() (bool, string) {
		n, names := bound()
		return n["high"] == 4 && n["asks"] == 1 && n["plain"] == 0 && strings.Contains(names, "asks-4"), names
	})
	w.create(of("odd", "", "first"))
	told := `"first" in fairway.dev/application-priority has no effect: it must be a whole number from -2147483648 to 2147483647`
	w.until("what is no priority is told", func() (bool, string) {
		c, events := queuedCondition(w.pods()["odd"]), fmt.Sprint(w.eventsOf("odd"))
		return c != nil && c.Status == v1.ConditionFalse && c.Reason == "ApplicationPriorityInvalid" && c.Message == told && strings.Contains(events, told), fmt.Sprint(c, events)
	})
}
