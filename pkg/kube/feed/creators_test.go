package feed

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func annotated(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, "fairway.dev/"+key, value) }
}

// The executors that a driver creates with its own token count for the user of the driver, whichever is seen first, until they are bound, and
// then for whom they were bound for.
func TestExecutorsCountForTheUserOfTheirDriver(t *testing.T) {
	const account = "system:serviceaccount:ns:spark"
	driver := func(change ...func(*v1.Pod)) *v1.Pod {
		return pod("driver", append([]func(*v1.Pod){annotated("user", "ada"), func(p *v1.Pod) {
			p.Labels["fairway.dev/role"], p.Spec.ServiceAccountName = "driver", "spark"
		}}, change...)...)
	}
	executor := func(change ...func(*v1.Pod)) *v1.Pod {
		return pod("executor", append([]func(*v1.Pod){
			annotated("user", account), annotated("creator-pod", "driver"), controlledBy("v1", "Pod", "driver", "driver"),
		}, change...)...)
	}
	bound := func(p *v1.Pod) { p.Spec.NodeName = "n" }
	for name, c := range map[string]struct {
		driver, executor *v1.Pod
		want             string
	}{
		"created by its driver":              {driver(), executor(), "ada"},
		"the driver runs":                    {driver(bound, annotated("placed-application", "app/x"), annotated("placed-role", "driver"), annotated("placed-user", "bob")), executor(), "bob"},
		"it runs, and does not say more":     {driver(), executor(bound), "ada"},
		"it was bound for somebody else":     {driver(), executor(bound, annotated("placed-user", "bob")), "bob"},
		"another sent it":                    {driver(), executor(annotated("creator-pod", "")), account},
		"a pod that is not its owner":        {driver(), executor(controlledBy("v1", "Pod", "other", "other")), account},
		"an owner of another kind":           {driver(), executor(controlledBy("apps/v1", "ReplicaSet", "driver", "driver")), account},
		"in the name of another account":     {driver(), executor(annotated("user", "system:serviceaccount:ns:default")), "system:serviceaccount:ns:default"},
		"in the name of a person":            {driver(), executor(annotated("user", "eve")), "eve"},
		"its creator is no driver":           {driver(func(p *v1.Pod) { delete(p.Labels, "fairway.dev/role") }), executor(), account},
		"its creator is another scheduler's": {driver(func(p *v1.Pod) { p.Spec.SchedulerName = "" }), executor(), account},
		"its creator has ended":              {driver(func(p *v1.Pod) { p.Status.Phase = v1.PodFailed }), executor(), account},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(how string, l *ledger.Ledger) {
				if s, _ := l.PodState("executor"); s.User != c.want {
					t.Errorf("%s: counts for %s, want %s", how, s.User, c.want)
				}
			}
			pods := []*v1.Pod{c.driver, c.executor}
			for _, how := range []string{"the driver first", "the executor first"} {
				check("rebuilt, "+how, Rebuild(&objects.Set{Pods: pods}, ours, now, ledger.Options{}))
				f := openFeed()
				f.Ours = func(name string) bool { return name == "fairway" }
				var again []types.UID
				f.Created = func(by types.UID) { again = append(again, by) }
				for _, p := range pods {
					f.ObservePod(p)
				}
				if slices.Contains(again, "driver") {
					f.ObservePod(c.executor)
				}
				check("live, "+how, f.Ledger)
				slices.Reverse(pods)
			}
		})
	}
	f := openFeed()
	gone := 0
	f.Created = func(types.UID) { gone++ }
	f.ObservePod(driver())
	f.ObservePod(driver())
	f.ForgetPod(driver())
	f.ForgetPod(driver())
	if f.ObservePod(executor()); gone != 2 {
		t.Errorf("pods are to be observed again %d times, want once with the driver and once without", gone)
	}
	if s, _ := f.Ledger.PodState("executor"); s.User != account {
		t.Errorf("without its driver it counts for %s", s.User)
	}
}

// The placement policy puts executors by the user and the groups of their driver, and so in the queue of the driver, bound or not.
func TestExecutorsArePlacedAsTheirDriver(t *testing.T) {
	driver := pod("driver", annotated("user", "ada"), annotated("groups", "dev,ops%2C1"), func(p *v1.Pod) {
		p.Labels["fairway.dev/role"], p.Spec.ServiceAccountName, p.Spec.NodeName = "driver", "spark", "n"
	})
	executor := pod("executor", annotated("user", "system:serviceaccount:ns:spark"), annotated("groups", "system:serviceaccounts,system:authenticated"),
		annotated("creator-pod", "driver"), controlledBy("v1", "Pod", "driver", "driver"))
	for name, c := range map[string]struct {
		executor *v1.Pod
		want     []string
	}{
		"by its driver": {executor, []string{"dev", "ops,1"}},
		"by another":    {pod("executor", annotated("user", "eve"), annotated("groups", "web")), []string{"web"}},
	} {
		l := Rebuild(&objects.Set{Pods: []*v1.Pod{c.executor, driver}}, ours, now, ledger.Options{})
		if s, _ := l.PodState("executor"); !slices.Equal(s.Groups, c.want) {
			t.Errorf("%s: groups %q, want %q", name, s.Groups, c.want)
		}
	}
}
