package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Three nodes of 2 cpu and a delay of 2 opportunities, one story: pods go to the node that they prefer although all others are free; when it is full, one
// goes elsewhere at once if nobody else wants the room, and waits for two opportunities if others do.
func TestPodsWaitForPreferredNodesWhileOthersTakeTheRoom(t *testing.T) {
	const home = "node-1"
	w := newWorld(t, 3, "2", "8Gi")
	for _, name := range []string{"root.first", "root.data", "root.stream"} {
		w.queue(name)
	}
	s, _ := w.run(w.options(`profiles:
- schedulerName: fairway
  plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}
  pluginConfig: [{name: Fairway, args: {nodeLocalityDelay: 2}}]
`), ledger.Options{})
	prefers := func(name, queue string) *v1.Pod {
		p := pod(name, queue, "1", "1Gi")
		p.Annotations = map[string]string{v1alpha1.KeyPreferredNodes: home}
		return p
	}

	// They also ask to be spread over nodes, which is a wish too. The annotation comes first.
	near := []string{"near-0", "near-1"}
	for _, name := range near {
		p := prefers(name, "root.first")
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.KeyQueue: "root.first"}},
		}}
		w.create(p)
	}
	w.untilBound(2)
	for _, name := range near {
		if node := w.pods()[name].Spec.NodeName; node != home {
			t.Errorf("%s runs on %s although %s is free", name, node, home)
		}
	}

	w.create(prefers("alone", "root.first"))
	w.untilBound(3)
	if c := queuedCondition(w.pods()["alone"]); c != nil {
		t.Errorf("alone was told to wait for room that nobody else wants: %v", *c)
	}

	// Now the cluster is full. Queue root.data uses nothing, so its pod is first in order.
	w.create(pod("s-0", "root.stream", "1", "1Gi"), pod("s-1", "root.stream", "1", "1Gi"), pod("s-2", "root.stream", "1", "1Gi"))
	w.untilBound(6)
	w.create(prefers("waits", "root.data"))
	for i := range 6 {
		w.create(pod(fmt.Sprintf("s-%d", 3+i), "root.stream", "1", "1Gi"))
	}
	w.roomGoesTo("s-", w.streamed()[0])
	w.untilTold("waits", "WaitingForPreferredNodes", "waits for its preferred nodes node-1: its application has missed 1 of 2 opportunities "+
		"to start elsewhere; then it takes any node, and earlier if no other pod wants the room")
	if why := w.fairway("", "why", "waits", "--kubeconfig", w.cluster.Kubeconfig()); !strings.Contains(why, "has missed 1 of 2 opportunities") {
		t.Errorf("kubectl fairway why says %s", why)
	}
	w.roomGoesTo("s-", w.streamed()[0])
	w.untilAccepted("waits") // it waits for room anywhere
	w.roomGoesTo("waits", w.streamed()[0])
	if node := w.pods()["waits"].Spec.NodeName; node == home {
		t.Errorf("waits runs on %s, which is full", node)
	}

	// To wait was right: the next room on its node is this pod's, although others have waited for longer.
	w.create(prefers("lucky", "root.data"))
	w.roomGoesTo("s-", w.streamed()[0])
	w.untilTold("lucky", "WaitingForPreferredNodes", "has missed 1 of 2 opportunities")
	w.roomGoesTo("lucky", "near-0")
	if node := w.pods()["lucky"].Spec.NodeName; node != home {
		t.Errorf("lucky runs on %s, and room was made on %s", node, home)
	}
	w.untilAccepted("lucky")
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}

// roomGoesTo deletes a pod and waits until one runs in its place; its name must begin like this.
func (w *world) roomGoesTo(prefix, of string) {
	w.t.Helper()
	before := w.running()
	w.must(w.client.Delete(w.ctx, w.pods()[of], client.GracePeriodSeconds(0)))
	w.until("the room of "+of+" is used again", func() (bool, string) {
		now := w.running()
		return len(now) == len(before) && !slices.Contains(now, of), fmt.Sprint(now)
	})
	for _, name := range w.running() {
		if !slices.Contains(before, name) && !strings.HasPrefix(name, prefix) {
			w.t.Fatalf("the room of %s went to %s, want %s", of, name, prefix)
		}
	}
}

// running names the pods with a node, in order.
func (w *world) running() (names []string) {
	all := w.pods()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Spec.NodeName != "" {
			names = append(names, name)
		}
	}
	return names
}

// streamed names the pods of the stream that run, in order: none is on the node that others prefer.
func (w *world) streamed() []string {
	return slices.DeleteFunc(w.running(), func(name string) bool { return !strings.HasPrefix(name, "s-") })
}
