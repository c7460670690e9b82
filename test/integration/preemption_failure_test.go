package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// What stands in the way of an eviction, and restarts in every phase of it, on one control plane: 4 nodes with room for 4 pods each.
func TestPreemptionGetsThroughFailuresAndRestarts(t *testing.T) {
	k := takingWorld(t, 4, "")
	k.scene("budget", (*taking).budgetsAreRespected)
	k.scene("late-budget", (*taking).budgetAfterTheAnnouncement)
	k.scene("refused", (*taking).evictionsFailForAWhile)
	k.scene("restart-clock", (*taking).restartBeforeItIsDue)
	k.scene("restart-planned", (*taking).restartWhenPlanned)
	k.scene("restart-announced", (*taking).restartWhenAnnounced)
	k.scene("restart-half", (*taking).restartHalfWay)
}

// The halves of a cluster of 16 cpu are owed to hog, which has all of it, and to starved.
const half = 8

// halves fills the cluster with hog's pods, and has starved ask for its half.
func (k *taking) halves(timeout string, edits ...func(*v1.Pod)) {
	k.t.Helper()
	k.queues("hog", "starved preemption.fairShareTimeout="+timeout)
	k.fill("hog", 0, 2*half, edits...)
	k.running("hog", 2*half)
	k.fill("starved", 0, half+2)
}

// halved waits until both have their halves, and looks at what that took: half of the pods, each of them once.
func (k *taking) halved() {
	k.t.Helper()
	k.running("starved", half)
	k.running("hog", half)
	k.paid()
	k.evictedAre(map[string]int{"hog-": half})
}

// forbid has the API server refuse requests of one kind for pods of which a CEL expression does not hold, and returns when it does. try is such a request,
// without consequences. The second result takes the refusal back.
func (k *taking) forbid(subresource string, operation admission.OperationType, allowed string, try func() error) (allow func()) {
	k.t.Helper()
	name := "forbidden." + k.name + ".example.com"
	policy := &admission.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admission.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{
				RuleWithOperations: admission.RuleWithOperations{
					Operations: []admission.OperationType{operation},
					Rule:       admission.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/" + subresource}},
				},
			}}},
			Validations: []admission.Validation{{Expression: allowed, Message: name}},
		},
	}
	binding := &admission.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admission.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admission.ValidationAction{admission.Deny},
		},
	}
	k.must(k.client.Create(k.ctx, policy))
	k.must(k.client.Create(k.ctx, binding))
	remove := func() {
		k.must(client.IgnoreNotFound(k.client.Delete(k.ctx, binding)))
		k.must(client.IgnoreNotFound(k.client.Delete(k.ctx, policy)))
	}
	k.t.Cleanup(remove)
	k.until("the API server refuses "+subresource, func() (bool, string) {
		err := try()
		return err != nil && strings.Contains(err.Error(), name), fmt.Sprint(err)
	})
	return func() {
		k.t.Helper()
		remove()
		k.until("the API server takes "+subresource+" again", func() (bool, string) {
			err := try()
			return err == nil, fmt.Sprint(err)
		})
	}
}

// tryEviction asks whether a pod could be evicted, without evicting it.
func (k *taking) tryEviction(name string) error {
	return k.kube.PolicyV1().Evictions("default").Evict(k.ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: name, Namespace: "default"},
		DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
	})
}

// forbidEvictions of pods for whose object an expression does not hold. A pod that nobody schedules stands for those.
func (k *taking) forbidEvictions(allowed, example string) (allow func()) {
	k.t.Helper()
	p := pod(k.name+"-"+example, "", "1", "4Gi")
	p.Spec.SchedulerName = "nobody"
	k.create(p)
	return k.forbid("eviction", admission.Create, allowed, func() error { return k.tryEviction(p.Name) })
}

// budget declares how many pods with a label must stay, and returns when it is in force for pods that run.
func (k *taking) budget(name, label string, stay int, inForce func(*policyv1.PodDisruptionBudget) bool) *policyv1.PodDisruptionBudget {
	k.t.Helper()
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: k.name + "-" + name, Namespace: "default"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(int32(stay))), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}},
		},
	}
	k.must(k.client.Create(k.ctx, b))
	k.t.Cleanup(func() { k.must(client.IgnoreNotFound(k.client.Delete(k.ctx, b))) })
	k.until("the budget is counted", func() (bool, string) {
		k.must(k.client.Get(k.ctx, client.ObjectKeyFromObject(b), b))
		return b.Status.ObservedGeneration == b.Generation && inForce(b), fmt.Sprintf("%+v", b.Status)
	})
	return b
}

// budgetsAreRespected: of 16 pods, 8 are owed. 9 are covered by a budget that lets 1 go: it and the 7 others go.
func (k *taking) budgetsAreRespected() {
	k.queues("hog", "starved"+claims)
	k.fill("hog", 0, 7)
	k.running("hog", 7)
	k.fill("hog", 7, 9, labelled("covered", "true")) // the newest
	k.running("hog", 16)
	k.budget("most", "covered", 8, func(b *policyv1.PodDisruptionBudget) bool { return b.Status.DisruptionsAllowed == 1 })
	k.fill("starved", 0, half+2)
	k.halved()
	covered := slices.DeleteFunc(k.evicted(), func(name string) bool { return number(k.t, name) < 7 })
	if len(covered) != 1 {
		k.t.Errorf("%v were evicted, of which the budget lets one go", covered)
	}
	if n := k.runs.s.Ledger.PreemptionCounts().Refused; n != 0 {
		k.t.Errorf("%d evictions were tried that a budget refused", n)
	}
}

// budgetAfterTheAnnouncement: two pods were announced when a budget appears that lets none of the older ones go, and those are refused for as long as it
// stands. Nothing wedges: a pod that needs no eviction gets its node. Once it is gone, they go; or, in the long run, others are found.
func (k *taking) budgetAfterTheAnnouncement() {
	k.root("maxWaitBeforeKill", "3s")
	k.queues("hog", "other", "starved"+claims)
	k.fill("hog", 0, 15)
	k.running("hog", 15)
	k.fill("starved", 0, 2)
	k.until("a victim is announced", func() (bool, string) { return k.announced() > 0, fmt.Sprint(k.runs.s.Ledger.Victims()) })
	var victim *v1.Pod
	for _, f := range k.fates() {
		victim = k.mine()[f.name]
	}
	change(&failing{world: k.world}, victim, func(p *v1.Pod) { p.Labels["late"] = "true" })
	b := k.budget("late", "late", 1, func(b *policyv1.PodDisruptionBudget) bool { return b.Status.CurrentHealthy == 1 })
	before := k.runs.s.Ledger.PreemptionCounts()
	k.until("the budget refuses the eviction twice", func() (bool, string) {
		now := k.runs.s.Ledger.PreemptionCounts()
		return now.Refused >= before.Refused+2, fmt.Sprintf("%+v", now)
	})
	if page := scrapePage(k.t); strings.Contains(page, "fairway_preemption_eviction_failures_total{cause=\"refused\"} 0\n") {
		k.t.Error("the metrics do not count what the budget refused")
	}
	if *long {
		k.running("starved", 2)
		if slices.Contains(k.evicted(), victim.Name) {
			k.t.Error("the pod was evicted that the budget covers")
		}
		k.evictedAre(map[string]int{"hog-": 1})
		return
	}
	k.must(k.client.Delete(k.ctx, b))
	k.running("starved", 2)
	k.paid()
	k.evictedAre(map[string]int{"hog-": 1})
	if now := k.mine()[victim.Name]; now != nil {
		k.t.Error("another pod was evicted than the one that was announced")
	}
}

// evictionsFailForAWhile: they are tried again and counted, others are scheduled meanwhile, and in the end exactly those went that were announced.
func (k *taking) evictionsFailForAWhile() {
	k.queues("hog", "small", "starved"+claims)
	k.fill("hog", 0, 14)
	k.running("hog", 14)
	allow := k.forbidEvictions("false", "example")
	before := k.runs.s.Ledger.PreemptionCounts()
	k.fill("starved", 0, 4) // 2 are free
	k.until("each eviction failed twice", func() (bool, string) {
		vs := k.runs.s.Ledger.Victims()
		return len(vs) == 2 && vs[0].Attempts >= 2 && vs[1].Attempts >= 2, fmt.Sprint(vs)
	})
	if c := k.runs.s.Ledger.PreemptionCounts(); c.Failed < before.Failed+4 || c.Evicted != before.Evicted || c.Refused != before.Refused {
		k.t.Errorf("the counts are %+v, before they were %+v", c, before)
	}
	if page := scrapePage(k.t); strings.Contains(page, "fairway_preemption_eviction_failures_total{cause=\"error\"} 0\n") {
		k.t.Error("the metrics do not count the failures")
	}
	k.fill("small", 0, 1, withSize("0", "0")) // finds a place on a full node
	k.running("small", 1)
	k.running("starved", 2)
	allow()
	k.running("starved", 4)
	k.paid()
	k.evictedAre(map[string]int{"hog-": 2})
	if n := k.announced(); n != 2 {
		k.t.Errorf("%d pods were announced, 2 evicted", n)
	}
}

// restartBeforeItIsDue: the clock that began before the restart runs on, and nobody waits for a timeout again.
func (k *taking) restartBeforeItIsDue() {
	const timeout = 4 * time.Second
	k.halves(timeout.String())
	queue := k.leaf("starved")
	since := k.below(queue, timeout).UnixNano()
	k.runs.stop()
	k.runs.start()
	var clock ledger.Starvation
	k.until("the new process knows since when the queue is below", func() (bool, string) {
		for _, q := range k.runs.s.Ledger.Snapshot().Queues {
			if string(q.Path) == queue {
				clock = q.Starvation
			}
		}
		return clock.BelowFairShareSince != 0, "it does not"
	})
	// The status is rounded up to the second, and a clock does not begin in the future.
	if is := clock.BelowFairShareSince; is > since || is <= since-int64(time.Second) || clock.FairShareDue != is+int64(timeout) {
		k.t.Errorf("after the restart the queue is below since %d and that is due at %d, before it was below since %d", is, clock.FairShareDue, since)
	}
	k.halved()
	for _, f := range k.fates() {
		if due := time.Unix(0, clock.FairShareDue).Truncate(time.Second); f.told.Before(due) {
			k.t.Errorf("pod %s was announced at %s, and that is due at %s", f.name, f.told, due)
		}
	}
	k.served(queue)
}

// restartWhenPlanned: nobody was told yet.
func (k *taking) restartWhenPlanned() {
	example := pod(k.name+"-example", "", "1", "4Gi")
	example.Spec.SchedulerName = "nobody"
	k.create(example)
	try := []byte(`{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}}`)
	allow := k.forbid("status", admission.Update, "!has(object.status.conditions) || !object.status.conditions.exists(c, c.type == 'DisruptionTarget')", func() error {
		_, err := k.kube.CoreV1().Pods("default").Patch(k.ctx, example.Name, types.StrategicMergePatchType, try, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
		return err
	})
	k.halves("1s")
	k.untilVictims(preemption.Chosen, half)
	k.runs.stop()
	allow()
	k.runs.start()
	k.halved()
}

// untilVictims waits until so many pods are to go, all of which have come so far.
func (k *taking) untilVictims(phase preemption.VictimPhase, n int) {
	k.t.Helper()
	k.until(fmt.Sprintf("%d victims are in phase %d", n, phase), func() (bool, string) {
		vs := k.runs.s.Ledger.Victims()
		return len(vs) == n && !slices.ContainsFunc(vs, func(v ledger.Victim) bool { return v.Phase != phase }), fmt.Sprint(vs)
	})
}

// restartWhenAnnounced: all who are to go say so. The new process makes the plan again, and takes the same.
func (k *taking) restartWhenAnnounced() {
	allow := k.forbidEvictions("false", "example")
	k.halves("1s")
	k.untilVictims(preemption.Announced, half)
	k.runs.stop()
	allow()
	k.runs.start()
	k.halved()
	if n := k.announced(); n != half {
		k.t.Errorf("%d pods were announced, %d evicted", n, half)
	}
}

// restartHalfWay: some have gone, some take their time to stop, and some were not evicted yet.
func (k *taking) restartHalfWay() {
	// By the last digit of their names, half of the pods may be evicted now.
	allow := k.forbidEvictions("object.metadata.name.matches('[02468]$')", "example-1")
	k.queues("hog", "starved"+claims)
	for i := range 2 * half {
		if i%4 == 0 {
			k.fill("hog", i, 1, stopping(3, 10))
		} else {
			k.fill("hog", i, 1)
		}
	}
	k.running("hog", 2*half)
	k.fill("starved", 0, half+2)
	k.until("all are announced, and those evicted that may be", func() (bool, string) {
		vs := k.runs.s.Ledger.Victims()
		stuck := 0
		for _, v := range vs {
			stuck += btoi(v.Phase == preemption.Announced && v.Attempts > 0)
		}
		gone := len(k.evicted())
		return gone > 0 && stuck > 0 && gone+stuck == half && k.announced() == half, fmt.Sprintf("%d are evicted, %d refused: %v", gone, stuck, vs)
	})
	k.runs.stop()
	allow()
	k.runs.start()
	k.halved()
	if n := k.announced(); n != half {
		k.t.Errorf("%d pods were announced, %d evicted", n, half)
	}
}
