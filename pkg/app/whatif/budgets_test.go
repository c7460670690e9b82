package whatif

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func klogOf(t *testing.T) klog.Logger { return klog.FromContext(t.Context()) }

func runs(name, app string) *st.PodWrapper {
	return pod(name, "a", 0).Label("app", app).Phase(v1.PodRunning).Condition(v1.PodReady, v1.ConditionTrue, "")
}

// covering says how many more pods each of the budgets of a pod lets go.
func covering(a *Answers, uid string) string {
	var allowed []int
	for _, b := range a.Budgets(uid) {
		allowed = append(allowed, a.Allowed(b))
	}
	return fmt.Sprint(allowed)
}

func TestBudgetsCoverPodsAsTheEvictionAPIAppliesThem(t *testing.T) {
	counted := guard("counted", "counted", 2)
	counted.Status.DisruptedPods = map[string]metav1.Time{"counted-2": {}}
	stale := guard("stale", "stale", 3)
	stale.Generation, stale.Status.ObservedGeneration = 2, 1
	policy := policyv1.AlwaysAllow
	lenient := guard("lenient", "lenient", 0)
	lenient.Spec.UnhealthyPodEvictionPolicy = &policy
	healthy := guard("healthy", "healthy", 0)
	healthy.Status.CurrentHealthy, healthy.Status.DesiredHealthy = 2, 2
	strict := guard("strict", "strict", 0)
	strict.Status.CurrentHealthy, strict.Status.DesiredHealthy = 1, 2
	foreign := guard("foreign", "free", 0)
	foreign.Namespace = "elsewhere"
	none := guard("none", "free", 0)
	none.Spec.Selector = nil
	unready := func(name, app string) *st.PodWrapper { return pod(name, "a", 0).Label("app", app).Phase(v1.PodRunning) }
	c := newCluster(t, nodes(node("a")), pods(
		runs("free-1", "free"), runs("one-1", "one"), runs("two-1", "two"), runs("counted-1", "counted"), runs("counted-2", "counted"), runs("stale-1", "stale"),
		runs("lenient-1", "lenient"), unready("lenient-2", "lenient"), runs("healthy-1", "healthy"), unready("healthy-2", "healthy"), unready("strict-1", "strict"),
		pod("pending-1", "a", 0).Label("app", "one").Phase(v1.PodPending), runs("ends-1", "one").Terminating()),
		guard("one", "one", 1), guard("two", "two", 5), guard("three", "two", 5), counted, stale, lenient, healthy, strict, foreign, none)
	a := c.look()
	for uid, want := range map[string]string{
		"free-1": "[]", "one-1": "[1]", "counted-1": "[2]", "counted-2": "[]", "stale-1": "[0]", "lenient-1": "[0]", "lenient-2": "[]",
		"two-1":     "[0]", // more than one budget: the API refuses
		"healthy-1": "[0]", "healthy-2": "[]", "strict-1": "[0]", "pending-1": "[]", "ends-1": "[]", "deleted-1": "[]",
	} {
		if got := covering(a, uid); got != want {
			t.Errorf("the budgets of %s allow %s, want %s", uid, got, want)
		}
	}
}

func TestVictimsOfEarlierPlansWillNeedTheirBudgets(t *testing.T) {
	counted := guard("two", "two", 2)
	counted.Status.DisruptedPods = map[string]metav1.Time{"two-2": {}}
	c := newCluster(t, nodes(node("a")), pods(runs("one-1", "one"), runs("one-2", "one"), runs("one-3", "one").Terminating(), runs("two-1", "two"), runs("two-2", "two")),
		guard("one", "one", 2), counted)
	c.world.Gone = []string{"one-1", "one-3", "two-2"}
	a := c.look()
	if got := covering(a, "one-2") + covering(a, "two-1"); got != "[1][2]" {
		t.Errorf("the budgets allow %s, want [1][2]", got)
	}
}
