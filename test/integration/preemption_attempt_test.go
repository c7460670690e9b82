package integration

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// An hour is between two rounds of preemption, so all but the first are requested by attempts. 4 nodes have room for 4 pods each.
func TestTheAttemptOfAStarvedQueueStartsTheRound(t *testing.T) {
	k := takingWorld(t, 4, "")
	k.root("interval", "1h")
	k.scene("at-once", (*taking).startsTheRound)
	k.scene("answer", (*taking).answersWithTheNomination)
}

// startsTheRound: the first queue has the first round. The second is starved later, and looks at its open claim plan nothing, until a
// pod of its own fits no node. Fifty more attempts are no fifty rounds.
func (k *taking) startsTheRound() {
	k.queues("hog", "first"+claims, "second"+claims)
	k.fill("hog", 0, 16)
	k.running("hog", 16)
	k.fill("first", 0, 2)
	k.running("first", 2)
	k.paid()
	k.fill("second", 0, 1)
	k.until("the claim is open, and no round is made for three seconds", func() (bool, string) {
		for _, q := range k.runs.s.Ledger.Snapshot().Queues {
			if string(q.Path) == k.leaf("second") && q.Starvation.Claiming {
				open := time.Since(time.Unix(0, q.Starvation.FairShareDue))
				return open > 3*time.Second, fmt.Sprintf("it is open for %s", open)
			}
		}
		return false, "it is not open"
	})
	if n := k.announced(); n != 2 {
		k.t.Fatalf("%d pods are announced, want the 2 of the first round", n)
	}

	made := plans(k.t)
	tried := time.Now()
	k.fill("second", 1, 1, withSize("500m", "4Gi")) // unlike the pod before, which kube-scheduler would not try again
	k.until("victims are announced", func() (bool, string) {
		n := k.announced()
		return n == 4, fmt.Sprintf("%d are", n)
	})
	k.t.Logf("a pod is created, fits no node, and its queue's victims are announced within %s; the interval is an hour", time.Since(tried).Round(time.Millisecond))
	k.running("second", 2)
	k.paid()
	for i := range 50 {
		k.fill("second", 2+i, 1, withSize(fmt.Sprintf("%dm", 2001+i), "4Gi")) // more than what is owed
	}
	k.until("all of them have been tried", func() (bool, string) {
		n := 0
		for _, p := range k.mine() {
			n += btoi(p.Labels[v1alpha1.KeyQueue] == k.leaf("second") && unschedulable(p))
		}
		return n == 50, fmt.Sprintf("%d have", n)
	})
	if n := plans(k.t) - made; n < 1 || n > 5 {
		k.t.Errorf("%d rounds were made for 51 attempts", n)
	}
	k.evictedAre(map[string]int{"hog-": 4})
}

// answersWithTheNomination: the two pods of a claim have one port, which is taken on two nodes by pods that stay. So each gets room on
// one of the others. Then cores of the third node become free, where the pods fit by amounts alone: they are tried, and fail. They keep
// their nominations.
func (k *taking) answersWithTheNomination() {
	const port = 9000
	k.root("maxWaitBeforeKill", "6s")
	k.root("interval", "1s")
	onNode := func(name string) func(*v1.Pod) { return withSelector(v1.LabelHostname, name) }
	k.queues("stays preemption.preemptible=false", "hog", "starved"+claims)
	k.fill("stays", 0, 1, onNode("node-2"), withPort(port))
	k.fill("stays", 1, 1, onNode("node-3"), withPort(port))
	k.fill("hog", 0, 3, onNode("node-2"))
	k.fill("hog", 3, 11)
	k.running("hog", 14)
	k.running("stays", 2)
	l := k.runs.s.Ledger
	stale := l.PreemptionCounts().Stale
	waiting := k.fill("starved", 0, 2, withPort(port))
	where, tickets := map[string]string{}, map[string]uint64{}
	k.until("both are nominated", func() (bool, string) {
		for name, p := range k.mine() {
			if n := p.Status.NominatedNodeName; n != "" {
				where[name], tickets[name] = n, l.Ticket(ledger.UID(p.UID))
			}
		}
		return len(where) == 2, fmt.Sprint(where)
	})
	for _, name := range []string{"hog-0", "hog-1"} {
		k.must(k.client.Delete(k.ctx, k.mine()[k.name+"-"+name]))
	}
	tried := ""
	k.until("one of them is tried on the free cores", func() (bool, string) {
		for _, p := range waiting {
			if l.Ticket(ledger.UID(p.UID)) > tickets[p.Name] {
				tried = p.Name
			}
		}
		return tried != "", "none is"
	})
	if all := k.evicted(); len(all) > 0 {
		k.t.Fatalf("%v are evicted already: nothing is shown", all)
	}
	k.running("starved", 2)
	for _, p := range k.of(func(p *v1.Pod) bool { return where[p.Name] != "" }) {
		if n := p.Status.NominatedNodeName; n != "" && n != where[p.Name] {
			k.t.Errorf("%s was nominated to %s, and then to %s", p.Name, where[p.Name], n)
		}
		if n := p.Spec.NodeName; n != "" && n != where[p.Name] {
			k.t.Errorf("%s runs on %s and was nominated to %s", p.Name, n, where[p.Name])
		}
	}
	k.t.Logf("%s was tried on other room, and kept %s", tried, where[tried])
	k.paid()
	if n := l.PreemptionCounts().Stale - stale; n != 0 {
		k.t.Errorf("%d nominations were in vain", n)
	}
	k.evictedAre(map[string]int{"hog-": 2})
}

// unschedulable: an attempt has shown that the pod fits no node.
func unschedulable(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable
	})
}

// plans counts the rounds of preemption that this process has made.
func plans(t *testing.T) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^fairway_preemption_plan_duration_seconds_count (\d+)$`).FindStringSubmatch(scrapePage(t))
	if found == nil {
		t.Fatal("the metrics do not count plans")
	}
	return number(t, "-"+found[1])
}
