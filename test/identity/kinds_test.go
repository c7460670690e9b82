package identity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/test/people"
)

// workload is a kind that makes pods.
type workload struct {
	kind string
	text string // NAME and TEMPLATE are filled in
	at   []string
}

const (
	// The node of these tests has no kubelet.
	podTemplate = `{metadata: {labels: {workload: NAME}}, spec: {schedulerName: fairway, restartPolicy: POLICY, tolerations: [{operator: Exists}], containers: [{name: c, image: none}]}}`
	selector    = `{matchLabels: {workload: NAME}}`
)

var template = []string{"spec", "template"}

var workloads = []workload{
	{"Deployment", "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1, selector: " + selector + ", template: " + podTemplate + "}", template},
	{"ReplicaSet", "apiVersion: apps/v1\nkind: ReplicaSet\nspec: {replicas: 1, selector: " + selector + ", template: " + podTemplate + "}", template},
	{"StatefulSet", "apiVersion: apps/v1\nkind: StatefulSet\nspec: {replicas: 1, podManagementPolicy: Parallel, serviceName: s, selector: " + selector + ", template: " + podTemplate + "}", template},
	{"DaemonSet", "apiVersion: apps/v1\nkind: DaemonSet\nspec: {selector: " + selector + ", template: " + podTemplate + "}", template},
	{"ReplicationController", "apiVersion: v1\nkind: ReplicationController\nspec: {replicas: 1, template: " + podTemplate + "}", template},
	{"Job", "apiVersion: batch/v1\nkind: Job\nspec: {completions: 2, parallelism: 1, template: " + podTemplate + "}", template},
	{"CronJob", "apiVersion: batch/v1\nkind: CronJob\nspec: {schedule: '* * * * *', jobTemplate: {spec: {template: " + podTemplate + "}}}", []string{"spec", "jobTemplate", "spec", "template"}},
}

// of makes an object of the kind, as its author wrote it.
func (k workload) of(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	policy := "Always"
	if k.kind == "Job" || k.kind == "CronJob" {
		policy = "Never"
	}
	u := parse(t, namespace, strings.NewReplacer("NAME", name, "POLICY", policy).Replace(k.text))
	u.SetName(name)
	return u
}

func (k workload) stamp(t *testing.T, u *unstructured.Unstructured) stamp {
	t.Helper()
	annotations, _, err := unstructured.NestedStringMap(u.Object, slices.Concat(k.at, []string{"metadata", "annotations"})...)
	must(t, err)
	return stampOf(annotations)
}

// set changes a field of the pod template.
func (k workload) set(t *testing.T, u *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	must(t, unstructured.SetNestedField(u.Object, value, slices.Concat(k.at, path)...))
}

func fetch(t *testing.T, w *people.World, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(u.GroupVersionKind())
	must(t, w.Admin.Client.Get(t.Context(), client.ObjectKeyFromObject(u), found))
	return found
}

// A pod that a controller makes carries the name of the person who wrote its template, whichever kind that is and however the controller manager runs. What
// the template said of users before counts for nothing.
func TestPodsCarryThePersonBehindTheirController(t *testing.T) {
	for _, how := range []mode{perController, oneAccount} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			w := world(t, how)
			home := w.Namespace(t, "kinds")
			ann := w.Person(t, "ann", "analysts", "a,b", "100%")
			w.Edit(t, home, ann)
			for _, k := range workloads {
				t.Run(k.kind, func(t *testing.T) {
					t.Parallel()
					name := strings.ToLower(k.kind)
					made := k.of(t, home, name)
					k.set(t, made, "eve", "metadata", "annotations", "fairway.dev/user")
					k.set(t, made, "root.others", "metadata", "annotations", "fairway.dev/placed-queue")
					must(t, ann.Client.Create(t.Context(), made))
					if got := k.stamp(t, made); got != of(ann) {
						t.Errorf("the template is stamped %v, want %v", got, of(ann))
					}
					if text := fmt.Sprint(made.Object["spec"]); strings.Contains(text, "root.others") {
						t.Errorf("the template is placed: %s", text)
					}
					for _, pod := range podsOf(t, w, home, name, 1) {
						if got := stampOf(pod.Annotations); got != of(ann) {
							t.Errorf("pod %s is stamped %v, want %v", pod.Name, got, of(ann))
						}
						if placed := pod.Annotations["fairway.dev/placed-queue"]; placed != "" {
							t.Errorf("pod %s is placed in %s", pod.Name, placed)
						}
					}
				})
			}
		})
	}
}

// What people and machines create themselves carries their own names.
func TestPodsCarryTheirCreator(t *testing.T) {
	w := world(t, perController)
	home := w.Namespace(t, "direct")
	ann, robot := w.Person(t, "ann", "analysts"), w.Account(t, home, "robot")
	w.Edit(t, home, ann, robot)
	for _, u := range []*people.User{ann, robot, w.Admin} {
		pod := podFor(home, "")
		pod.Annotations = map[string]string{"fairway.dev/user": "eve", "fairway.dev/groups": "system:masters", "mine": "stays"}
		must(t, u.Client.Create(t.Context(), pod))
		if got := stampOf(pod.Annotations); got != of(u) {
			t.Errorf("stamped %v, want %v", got, of(u))
		}
		if pod.Annotations["mine"] != "stays" {
			t.Errorf("annotations: %v", pod.Annotations)
		}
	}
	// The API server accepts a list that names something twice, and so do the policies; nothing of it is lost.
	twice := podFor(home, "")
	twice.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)"}, {Name: "A", Value: "2"}}
	twice.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 80, Name: "x"}}
	wrote := twice.Spec.Containers[0].DeepCopy()
	must(t, ann.Client.Create(t.Context(), twice))
	if now := twice.Spec.Containers[0]; stampOf(twice.Annotations) != of(ann) || !slices.Equal(now.Env, wrote.Env) || len(now.Ports) != 2 || now.Ports[1].Name != "x" {
		t.Errorf("%v %v %v", twice.Annotations, now.Env, now.Ports)
	}
	other := podFor(home, "")
	other.Spec.SchedulerName = ""
	must(t, ann.Client.Create(t.Context(), other))
	if got := stampOf(other.Annotations); got != (stamp{}) {
		t.Errorf("a pod of another scheduler is stamped %v", got)
	}
}

func podFor(namespace, name string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = namespace, name
	if name == "" {
		pod.GenerateName = "pod-"
	}
	pod.Spec = corev1.PodSpec{SchedulerName: "fairway", Containers: []corev1.Container{{Name: "c", Image: "none"}}}
	return pod
}

// Nothing but a change of the template by a person changes a stamp, and where none changes nothing rolls: not when somebody else scales the
// workload, labels it or writes it again from a file, nor when its controllers restart.
func TestOnlyAChangedTemplateIsStampedAgain(t *testing.T) {
	for _, how := range []mode{perController, oneAccount} {
		t.Run(string(how), func(t *testing.T) {
			w := world(t, how)
			home := w.Namespace(t, "changes")
			ann, bob := w.Person(t, "ann", "analysts"), w.Person(t, "bob", "builders")
			w.Edit(t, home, ann, bob)
			var made []*unstructured.Unstructured
			for _, k := range workloads {
				u := k.of(t, home, strings.ToLower(k.kind))
				if k.kind == "CronJob" {
					must(t, unstructured.SetNestedField(u.Object, "0 0 1 1 *", "spec", "schedule"))
				}
				must(t, ann.Client.Create(t.Context(), u))
				if k.kind != "CronJob" {
					podsOf(t, w, home, u.GetName(), 1)
				}
				made = append(made, u)
			}
			for i, k := range workloads {
				keepsItsStamp(t, w, k, made[i], bob, of(ann))
			}
			sets, revisions := count(t, w, home, "apps/v1", "ReplicaSetList"), count(t, w, home, "apps/v1", "ControllerRevisionList")
			must(t, w.Cluster.Restart("kube-controller-manager"))
			wait()
			for i, k := range workloads {
				if got := k.stamp(t, fetch(t, w, made[i])); got != of(ann) {
					t.Errorf("%s after a restart of its controller: stamped %v", k.kind, got)
				}
			}
			if now := count(t, w, home, "apps/v1", "ReplicaSetList"); now != sets || sets != 2 {
				t.Errorf("%d ReplicaSets, then %d: a Deployment rolled", sets, now)
			}
			if now := count(t, w, home, "apps/v1", "ControllerRevisionList"); now != revisions || revisions != 2 {
				t.Errorf("%d ControllerRevisions, then %d: a StatefulSet or DaemonSet rolled", revisions, now)
			}
			for i, k := range workloads {
				isStampedAgain(t, w, k, made[i], bob, of(ann))
			}
		})
	}
}

// keepsItsStamp does what changes no template, as another user.
func keepsItsStamp(t *testing.T, w *people.World, k workload, made *unstructured.Unstructured, bob *people.User, want stamp) {
	t.Helper()
	ctx := t.Context()
	patch := func(text string) {
		t.Helper()
		if err := bob.Client.Patch(ctx, fetch(t, w, made), client.RawPatch(types.MergePatchType, []byte(text))); err != nil {
			t.Errorf("%s: %s: %v", k.kind, text, err)
		}
	}
	patch(`{"metadata":{"labels":{"team":"builders"}}}`)
	switch k.kind {
	case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController":
		patch(`{"spec":{"replicas":2}}`)
	case "Job":
		patch(`{"spec":{"parallelism":2}}`)
	case "CronJob":
		patch(`{"spec":{"suspend":true}}`)
	}
	if k.kind != "Job" { // of a Job the server fills in labels of the template, so it cannot be written again
		people.Until(t, k.kind+" is written again", func() error { // its controller writes, too
			again := k.of(t, made.GetNamespace(), made.GetName())
			now := fetch(t, w, made)
			again.SetResourceVersion(now.GetResourceVersion())
			for _, field := range []string{"replicas", "schedule"} {
				if v, ok, _ := unstructured.NestedFieldNoCopy(now.Object, "spec", field); ok {
					must(t, unstructured.SetNestedField(again.Object, v, "spec", field))
				}
			}
			return bob.Client.Update(ctx, again)
		})
	}
	if got := k.stamp(t, fetch(t, w, made)); got != want {
		t.Errorf("%s: bob's changes that are none of the template leave the stamp %v", k.kind, got)
	}
	if k.kind == "CronJob" || k.kind == "DaemonSet" {
		return
	}
	for _, pod := range podsOf(t, w, made.GetNamespace(), made.GetName(), 2) {
		if got := stampOf(pod.Annotations); got != want {
			t.Errorf("%s: pod %s after scaling by bob is stamped %v", k.kind, pod.Name, got)
		}
	}
}

// isStampedAgain changes the template, as another user.
func isStampedAgain(t *testing.T, w *people.World, k workload, made *unstructured.Unstructured, bob *people.User, before stamp) {
	t.Helper()
	ctx := t.Context()
	text := `{"metadata":{"annotations":{"note":"x","fairway.dev/user":"eve"}}}`
	for _, step := range slices.Backward(k.at) {
		text = `{"` + step + `":` + text + `}`
	}
	err := bob.Client.Patch(ctx, fetch(t, w, made), client.RawPatch(types.MergePatchType, []byte(text)))
	if k.kind == "Job" {
		if err == nil || !strings.Contains(err.Error(), "field is immutable") {
			t.Errorf("a Job's template is changed: %v", err)
		}
		if got := k.stamp(t, fetch(t, w, made)); got != before {
			t.Errorf("a Job's template is stamped %v", got)
		}
		return
	}
	must(t, err)
	if got := k.stamp(t, fetch(t, w, made)); got != of(bob) {
		t.Errorf("%s: bob changed the template, and it is stamped %v", k.kind, got)
	}
	switch k.kind {
	case "StatefulSet", "CronJob": // the one replaces pods only while they run, the other makes none now
		return
	case "ReplicaSet", "ReplicationController", "DaemonSet": // replace pods that end
		pod := podsOf(t, w, made.GetNamespace(), made.GetName(), 1)[0]
		must(t, client.IgnoreNotFound(w.Admin.Client.Delete(ctx, &pod, client.GracePeriodSeconds(0))))
	}
	people.Until(t, "a pod of the new template of the "+k.kind, func() error {
		rolled := false
		for _, pod := range podsOf(t, w, made.GetNamespace(), made.GetName(), 1) {
			want := before
			if pod.Annotations["note"] == "x" {
				rolled, want = true, of(bob)
			}
			if got := stampOf(pod.Annotations); got != want {
				t.Errorf("%s: pod %s with note %q is stamped %v", k.kind, pod.Name, pod.Annotations["note"], got)
			}
		}
		if !rolled {
			return errNotYet
		}
		return nil
	})
}

func count(t *testing.T, w *people.World, namespace, version, kind string) int {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(version)
	list.SetKind(kind)
	must(t, w.Admin.Client.List(t.Context(), list, client.InNamespace(namespace)))
	return len(list.Items)
}

// A suspended Job's template may still change, and then it is the one who changes it that submits it.
func TestTheTemplateOfASuspendedJob(t *testing.T) {
	w := world(t, perController)
	home := w.Namespace(t, "suspended")
	ann, bob := w.Person(t, "ann", "analysts"), w.Person(t, "bob", "builders")
	w.Edit(t, home, ann, bob)
	k := workloads[slices.IndexFunc(workloads, func(k workload) bool { return k.kind == "Job" })]
	job := k.of(t, home, "later")
	must(t, unstructured.SetNestedField(job.Object, true, "spec", "suspend"))
	must(t, ann.Client.Create(t.Context(), job))
	must(t, bob.Client.Patch(t.Context(), job, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"metadata":{"labels":{"fairway.dev/queue":"root.bobs"}}}}}`))))
	if got := k.stamp(t, fetch(t, w, job)); got != of(bob) {
		t.Errorf("stamped %v", got)
	}
	must(t, ann.Client.Patch(t.Context(), job, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))))
	for _, pod := range podsOf(t, w, home, "later", 1) {
		if got := stampOf(pod.Annotations); got != of(bob) {
			t.Errorf("ann starts the Job, and its pod is stamped %v", got)
		}
	}
}
