package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Why a group waits is told within two seconds, in the condition and in an event of each of its pods. Of three groups one has to be told in time: beside
// other tests, a busy machine may keep the others waiting.
func TestWhyAGroupWaitsIsToldWithinTwoSeconds(t *testing.T) {
	const most = 2 * time.Second
	w := newWorld(t, 1, "4", "32Gi")
	w.queue("root.a")
	w.scheduler(ledger.Options{})
	var took []time.Duration
	for i := range 3 {
		group := fmt.Sprint("part-", i)
		w.must(w.client.Create(w.ctx, podGroupObject(group, 3, nil)))
		began := time.Now()
		w.create(member(group+"-a", "root.a", group), member(group+"-b", "root.a", group))
		var last time.Time
		for _, name := range []string{group + "-a", group + "-b"} {
			w.untilTold(name, "GangIncomplete", "pod group default/"+group+" starts with 3 pods at once, and 2 exist")
			last = time.Now()
			said := queuedCondition(w.pods()[name]).Message
			if !slices.ContainsFunc(w.eventsOf(name), func(e v1.Event) bool { return e.Message == said }) {
				t.Errorf("no event of %s says: %s", name, said)
			}
		}
		took = append(took, last.Sub(began))
	}
	t.Logf("told after %v", took)
	if slices.Min(took) > most {
		t.Errorf("told after %v, want %s", took, most)
	}
}

// Nodes that are held for a group are in the status of its queue, so kubectl fairway knows them, live and from a file. Two nodes of 4 cpu have 1 free each,
// and the group needs 4 on one node: half of the cluster, which root.b is owed. The first small pod takes what is free on the other node.
func TestHeldNodesAreInTheStatusOfTheirQueue(t *testing.T) {
	w := newWorld(t, 2, "4", "32Gi")
	w.queue("root.a")
	w.queue("root.b")
	s, _ := w.scheduler(ledger.Options{})
	w.create(pod("busy-1", "root.a", "3", "1Gi"), pod("busy-2", "root.a", "3", "1Gi"))
	w.untilBound(2)
	w.must(w.client.Create(w.ctx, podGroupObject("ring", 2, nil)))
	w.create(member("ring-a", "root.b", "ring", withCPU("2")), member("ring-b", "root.b", "ring", withCPU("2")))
	var node string
	w.until("the status names the held node", func() (bool, string) {
		holds := w.getQueue("root.b").Status.Holds
		if len(holds) != 1 || len(holds[0].Nodes) != 1 {
			return false, fmt.Sprint(holds)
		}
		h := holds[0]
		node = h.Nodes[0]
		is := h.For.Kind == "PodGroup" && h.For.Namespace == "default" && h.For.Name == "ring" && h.Until.After(time.Now()) && h.WaitingSince.Time.Before(time.Now())
		return is, fmt.Sprintf("%+v", h)
	})
	if a := w.getQueue("root.a").Status.Holds; len(a) > 0 {
		t.Errorf("root.a shows %+v", a)
	}
	open, held := s.Ledger.NodesOpenTo("nobody")
	if !held || len(open) != 1 || open[0] == node {
		t.Errorf("%v are open, and the status names %s", open, node)
	}
	w.create(pod("small-1", "root.a", "1", "1Gi"))
	w.untilBound(3)
	w.create(pod("small-2", "root.a", "1", "1Gi"))
	sentence := "1 node with room is held for pod group default/ring until "
	w.until("kubectl fairway why small-2 says so", func() (bool, string) {
		live := w.fairway("", "why", "small-2", "-n", "default", "--kubeconfig", w.cluster.Kubeconfig())
		offline := w.fairway(w.dump("yaml"), "why", "small-2", "-n", "default", "-f", "-")
		unbroken := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		return strings.Contains(unbroken(live), sentence) && strings.Contains(unbroken(offline), sentence), live + "\noffline:\n" + offline
	})
	busy := "busy-1"
	if w.pods()["busy-2"].Spec.NodeName == node {
		busy = "busy-2"
	}
	w.must(w.client.Delete(w.ctx, w.pods()[busy], client.GracePeriodSeconds(0)))
	w.untilBound(4) // with the group, which takes the node
	w.until("the status names no node", func() (bool, string) {
		holds := w.getQueue("root.b").Status.Holds
		return len(holds) == 0, fmt.Sprint(holds)
	})
}
