package convert

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// bindAs makes of a pod what the API server makes of it with the scheduler's binding.
func bindAs(pod *corev1.Pod) {
	p := ledger.PodState{Leaf: "root.a"}
	p.Application, p.Role = ApplicationOf(pod)
	p.User = User(pod)
	binding := &corev1.Binding{}
	SetPlaced(binding, &p)
	maps.Copy(pod.Annotations, binding.Annotations)
	pod.Spec.NodeName = "node"
}

func TestABindingSaysWhatThePodIsChargedAs(t *testing.T) {
	for name, tc := range map[string]struct {
		pod                     *corev1.Pod
		application, role, user string
	}{
		"our labels":    {makePod(labelled("fairway.dev/application", "etl", "fairway.dev/role", "driver")), "app/etl", "driver", "system:serviceaccount:ns:default"},
		"a framework's": {makePod(labelled("spark-app-selector", "spark-1", "spark-role", "executor")), "spark/spark-1", "executor", "system:serviceaccount:ns:default"},
		"an owner":      {makePod(ownedBy("apps/v1", "StatefulSet", "web", true)), "statefulset.apps/web", "none", "system:serviceaccount:ns:default"},
		"a stamp":       {makePod(func(p *corev1.Pod) { p.Annotations["fairway.dev/user"] = "ada" }), "pod/pod", "none", "ada"},
		"slashes, blanks": {makePod(labelled("fairway.dev/application", "a/b"), func(p *corev1.Pod) { p.Annotations["fairway.dev/user"] = " a, b/c " }),
			"app/a/b", "none", " a, b/c "},
		"whatever the pod said before": {makePod(func(p *corev1.Pod) {
			p.Annotations["fairway.dev/placed-application"] = "app/other"
			p.Annotations["fairway.dev/placed-role"] = "driver"
			p.Annotations["fairway.dev/placed-user"] = "eve"
		}), "pod/pod", "none", "system:serviceaccount:ns:default"},
	} {
		t.Run(name, func(t *testing.T) {
			bindAs(tc.pod)
			for key, want := range map[string]string{
				"queue": "root.a", "application": tc.application, "role": tc.role, "user": tc.user,
			} {
				if got := tc.pod.Annotations["fairway.dev/placed-"+key]; got != want {
					t.Errorf("%s %q, want %q", key, got, want)
				}
			}
		})
	}
}

// A pod is bound as what it was recognised by, and stays that whatever its labels and annotations say later.
func TestNothingOnABoundPodChangesWhatItCountsAs(t *testing.T) {
	keys := []string{"fairway.dev/application", "fairway.dev/role", "sparkoperator.k8s.io/app-name", "spark-app-selector", "spark-role",
		"ray.io/cluster", "ray.io/node-type", "app", "component", "training.kubeflow.org/job-name", "training.kubeflow.org/job-role",
		"yunikorn.apache.org/app-id", "applicationId", "scheduling.x-k8s.io/pod-group", "jobset.sigs.k8s.io/jobset-name",
		"batch.kubernetes.io/job-name", "pod-template-hash"}
	rapid.Check(t, func(t *rapid.T) {
		relabel := func(pod *corev1.Pod) {
			pod.Labels = rapid.MapOf(rapid.SampledFrom(keys), rapid.SampledFrom([]string{"x", "driver", "executor", "head", "jobmanager"})).Draw(t, "labels")
			for _, key := range []string{"fairway.dev/user", "yunikorn.apache.org/app-id"} {
				pod.Annotations[key] = rapid.SampledFrom([]string{"", "ada", "eve"}).Draw(t, key)
			}
		}
		pod := makePod(relabel)
		if rapid.Bool().Draw(t, "owned") {
			ownedBy("apps/v1", "ReplicaSet", "web-x", true)(pod)
		}
		name, role := ApplicationOf(pod)
		user := User(pod)
		bindAs(pod)
		relabel(pod)
		pod.OwnerReferences = nil
		if n, r := ApplicationOf(pod); n != name || r != role {
			t.Errorf("was %s of %s, is %s of %s", role, name, r, n)
		}
		if u := User(pod); u != user {
			t.Errorf("was %s's, is %s's", user, u)
		}
	})
}

func TestWhatIsNoPlacementIsNotRead(t *testing.T) {
	says := func(application string, bound bool) *corev1.Pod {
		return makePod(labelled("fairway.dev/application", "etl", "fairway.dev/role", "executor"), func(p *corev1.Pod) {
			p.Annotations["fairway.dev/user"] = "ada"
			p.Annotations["fairway.dev/placed-application"] = application
			p.Annotations["fairway.dev/placed-role"] = "driver"
			if p.Annotations["fairway.dev/placed-user"] = "eve"; application == "" {
				p.Annotations["fairway.dev/placed-user"] = ""
			}
			if bound {
				p.Spec.NodeName = "node"
			}
		})
	}
	for name, tc := range map[string]struct {
		pod               *corev1.Pod
		application, user string
		role              application.Role
	}{
		"placed":                   {says("app/other", true), "ns/app/other", "eve", application.Driver},
		"has no node":              {says("app/other", false), "ns/app/etl", "ada", application.Executor},
		"nothing":                  {says("", true), "ns/app/etl", "ada", application.Executor},
		"no kind":                  {says("/other", true), "ns/app/etl", "eve", application.Executor},
		"no name":                  {says("app/", true), "ns/app/etl", "eve", application.Executor},
		"a name alone":             {says("other", true), "ns/app/etl", "eve", application.Executor},
		"another namespace's name": {says("other/app/etl", true), "ns/other/app/etl", "eve", application.Driver},
	} {
		t.Run(name, func(t *testing.T) {
			app, role := ApplicationOf(tc.pod)
			if user := User(tc.pod); app != tc.application || role != tc.role || user != tc.user {
				t.Errorf("%s of %s, for %s", role, app, user)
			}
		})
	}
}
