package identity

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/test/people"
)

// stage is a namespace in which ann has a waiting pod and a running one, and eve may do everything that an administrator of a namespace may do,
// and with pods even more than that.
type stage struct {
	*testing.T
	w                    *people.World
	home                 string
	ann, eve, scheduler  *people.User
	waiting, running     *corev1.Pod
	asWaiting, asRunning string // their annotations and labels, as they were at first
}

func newStage(t *testing.T) *stage {
	t.Helper()
	w := world(t, perController)
	s := &stage{T: t, w: w, home: w.Namespace(t, "forging")}
	s.ann, s.eve = w.Person(t, "ann", "analysts"), w.Person(t, "eve", "evil")
	s.scheduler = w.Account(t, "fairway-system", "fairway-scheduler")
	w.Edit(t, s.home, s.ann)
	everything := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	w.Allow(t, s.eve, s.home, everything)
	w.Allow(t, s.scheduler, "", rbacv1.PolicyRule{Verbs: []string{"create", "patch"}, APIGroups: []string{""}, Resources: []string{"pods/binding", "pods/status"}})
	s.waiting, s.running = podFor(s.home, "waiting"), podFor(s.home, "running")
	for _, pod := range []*corev1.Pod{s.waiting, s.running} {
		pod.Labels = map[string]string{"fairway.dev/application": "etl", "fairway.dev/role": "driver"}
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		must(t, s.ann.Client.Create(t.Context(), pod))
	}
	must(t, s.bind(s.scheduler, "running", map[string]string{"fairway.dev/placed-queue": "root.ads"}, nil))
	s.running = s.read("running")
	if got := s.running.Annotations["fairway.dev/placed-queue"]; got != "root.ads" {
		t.Fatalf("the scheduler's binding leaves %q", got)
	}
	s.asWaiting, s.asRunning = marks(s.read("waiting")), marks(s.running)
	return s
}

func marks(pod *corev1.Pod) string {
	text, _ := json.Marshal([]any{pod.Annotations, pod.Labels, pod.Status.NominatedNodeName, pod.Status.Conditions})
	return string(text)
}

func (s *stage) read(name string) *corev1.Pod {
	s.Helper()
	pod := &corev1.Pod{}
	must(s.T, s.w.Admin.Client.Get(s.Context(), client.ObjectKey{Namespace: s.home, Name: name}, pod))
	return pod
}

func (s *stage) bind(as *people.User, name string, annotations, labels map[string]string) error {
	return as.Kube.CoreV1().Pods(s.home).Bind(s.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: name, Annotations: annotations, Labels: labels},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
	}, metav1.CreateOptions{})
}

// patch sends a merge patch to a pod or one of its subresources.
func (s *stage) patch(as *people.User, name, patch string, subresource ...string) error {
	_, err := as.Kube.CoreV1().Pods(s.home).Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	return err
}

func (s *stage) refused(err error, because string) {
	s.Helper()
	if err == nil || !strings.Contains(err.Error(), because) {
		s.Errorf("want a refusal that says %q, got %v", because, err)
	}
}

// unchanged: whatever was tried, both pods show what they showed.
func (s *stage) unchanged() {
	s.Helper()
	if now := marks(s.read("waiting")); now != s.asWaiting {
		s.Errorf("the waiting pod shows\n%s\nwas\n%s", now, s.asWaiting)
	}
	if now := marks(s.read("running")); now != s.asRunning {
		s.Errorf("the running pod shows\n%s\nwas\n%s", now, s.asRunning)
	}
}

const (
	stampStays  = "stay as they are"
	placedStays = "annotations fairway.dev/placed-... of a pod are written by the scheduler only"
	fixedLabels = "stay as they are once the pod has a node"
	nominated   = "status.nominatedNodeName of a pod is written by its scheduler only"
	announced   = "a preemption is announced by the scheduler only"
	withdrawn   = "the announcement of a preemption is taken back by the scheduler only"
	binding     = "cannot be set by a binding"
	notTheirs   = "are for pods that Deployments and Jobs make"
	notStamped  = "of a new pod are those of its creator"
)

// What is written on a pod stays: by patches of every kind, on the pod and on each of its subresources, by people and by controllers.
func TestMarksOfPodsCannotBeChanged(t *testing.T) {
	s := newStage(t)
	annotation := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, value) }
	label := func(key, value string) string { return fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, value) }
	controller := s.w.Account(t, "kube-system", "job-controller")
	s.w.Allow(t, controller, s.home, rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"pods", "pods/status"}})
	type forgery struct{ pod, patch, because string }
	tries := []forgery{
		{"waiting", annotation("fairway.dev/user", `"eve"`), stampStays},
		{"waiting", annotation("fairway.dev/user", "null"), stampStays},
		{"running", annotation("fairway.dev/user", `"eve"`), stampStays},
		{"waiting", annotation("fairway.dev/groups", `"evil"`), stampStays},
		{"running", annotation("fairway.dev/groups", "null"), stampStays},
		{"waiting", annotation("fairway.dev/placed-queue", `"root.ads"`), placedStays},
		{"running", annotation("fairway.dev/placed-queue", `"root.evil"`), placedStays},
		{"running", annotation("fairway.dev/placed-queue", "null"), placedStays},
		{"running", annotation("fairway.dev/placed-application", `"app/other"`), placedStays},
		{"running", annotation("fairway.dev/placed-role", `"executor"`), placedStays},
		{"running", annotation("fairway.dev/placed-user", `"eve"`), placedStays},
		{"waiting", annotation("fairway.dev/placed-later", `"x"`), placedStays},
		{"running", label("fairway.dev/application", `"other"`), fixedLabels},
		{"running", label("fairway.dev/queue", `"root.evil"`), fixedLabels},
		{"running", annotation("fairway.dev/queue", `"root.evil"`), fixedLabels},
		{"running", label("fairway.dev/role", `"executor"`), fixedLabels},
		{"running", label("fairway.dev/role", "null"), fixedLabels},
		{"running", label("fairway.dev/application-size", `"1"`), fixedLabels},
		{"running", annotation("fairway.dev/application-size", `"1"`), fixedLabels},
		{"running", `{"metadata":{"labels":{"app":"other","component":"JobManager"}}}`, fixedLabels},
	}
	for _, key := range []string{"fairway.dev/queue", "yunikorn.apache.org/queue", "yunikorn.apache.org/app-id"} {
		tries = append(tries, forgery{"running", annotation(key, `"x"`), fixedLabels})
	}
	for _, key := range []string{
		"fairway.dev/queue", "queue", "yunikorn.apache.org/queue", "yunikorn.apache.org/app-id", "applicationId",
		"sparkoperator.k8s.io/app-name", "sparkoperator.k8s.io/connect-name", "spark.operator/spark-app-name", "spark.operator/spark-cluster-name",
		"spark-app-selector", "spark-role", "ray.io/cluster", "ray.io/node-type", "training.kubeflow.org/job-name", "training.kubeflow.org/job-role",
		"training.kubeflow.org/replica-type", "scheduling.x-k8s.io/pod-group", "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/coordinator",
		"batch.kubernetes.io/job-name", "pod-template-hash",
	} {
		tries = append(tries, forgery{"running", label(key, `"x"`), fixedLabels})
	}
	for _, tc := range tries {
		for name, as := range map[string]*people.User{"eve": s.eve, "ann": s.ann, "a controller": controller} {
			for _, subresource := range [][]string{nil, {"status"}} {
				if as == s.ann && subresource != nil {
					continue // edit does not include it
				}
				t.Run(fmt.Sprint(name, subresource, " ", tc.pod, tc.patch), func(t *testing.T) {
					s.refused(s.patch(as, tc.pod, tc.patch, subresource...), tc.because)
				})
			}
		}
	}
	s.unchanged()
	// Before it runs, its owner may still correct what it is; what the scheduler does not read may change later, too.
	for _, patch := range []string{label("fairway.dev/role", `"executor"`), label("fairway.dev/queue", `"root.ads"`), label("spark-role", `"driver"`)} {
		must(t, s.patch(s.ann, "waiting", patch))
	}
	for _, patch := range []string{label("app", `"quarantine"`), label("component", `"web"`), label("ray.io/serve", `"true"`), annotation("queue", `"x"`)} {
		must(t, s.patch(s.ann, "running", patch))
	}
}

// The same by the other ways to write a pod.
func TestMarksOfPodsCannotBeChangedOtherwise(t *testing.T) {
	s := newStage(t)
	t.Run("JSON patch", func(t *testing.T) {
		_, err := s.eve.Kube.CoreV1().Pods(s.home).Patch(t.Context(), "waiting", types.JSONPatchType,
			[]byte(`[{"op":"replace","path":"/metadata/annotations/fairway.dev~1user","value":"eve"}]`), metav1.PatchOptions{})
		s.refused(err, stampStays)
	})
	t.Run("server-side apply", func(t *testing.T) {
		_, err := s.eve.Kube.CoreV1().Pods(s.home).Patch(t.Context(), "waiting", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"waiting","annotations":{"fairway.dev/user":"eve"}}}`),
			metav1.PatchOptions{FieldManager: "eve", Force: ptr.To(true)})
		s.refused(err, stampStays)
	})
	t.Run("update", func(t *testing.T) {
		pod := s.read("running")
		pod.Annotations = map[string]string{"fairway.dev/placed-queue": "root.evil"}
		s.refused(s.eve.Client.Update(t.Context(), pod), stampStays)
	})
	t.Run("update of the status", func(t *testing.T) {
		pod := s.read("running")
		pod.Annotations["fairway.dev/placed-queue"] = "root.evil"
		s.refused(s.eve.Client.Status().Update(t.Context(), pod), placedStays)
	})
	// The API server itself drops from these two everything but the containers. The policies need that, and should see it if it ends.
	t.Run("ephemeral containers", func(t *testing.T) {
		pod := s.read("running")
		pod.Annotations["fairway.dev/user"] = "eve"
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "debug", Image: "none", TerminationMessagePolicy: "File", ImagePullPolicy: "Always"}}}
		_, err := s.eve.Kube.CoreV1().Pods(s.home).UpdateEphemeralContainers(t.Context(), "running", pod, metav1.UpdateOptions{})
		must(t, err)
		if s.unchanged(); len(s.read("running").Spec.EphemeralContainers) != 1 {
			t.Error("the container is not there")
		}
	})
	t.Run("resize", func(t *testing.T) {
		pod := s.read("running")
		pod.Annotations["fairway.dev/user"] = "eve"
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
		_, err := s.eve.Kube.CoreV1().Pods(s.home).UpdateResize(t.Context(), "running", pod, metav1.UpdateOptions{})
		must(t, err)
		if s.unchanged(); s.read("running").Spec.Containers[0].Resources.Requests.Cpu().String() != "2" {
			t.Error("the pod is not resized")
		}
	})
	s.unchanged()
}

// Nobody but the scheduler nominates a node or announces a preemption; others that end the pod for a reason of their own may say so in that condition.
func TestNominationsAndAnnouncementsAreTheSchedulers(t *testing.T) {
	s := newStage(t)
	now := time.Now().UTC().Format(time.RFC3339) // without it the disruption controller thinks that nothing comes of it
	announcement := func(status, message string) string {
		return fmt.Sprintf(`{"status":{"conditions":[{"type":"DisruptionTarget","status":%q,"reason":"PreemptionByScheduler","message":%q,"lastTransitionTime":%q}]}}`,
			status, message, now)
	}
	ours := announcement("True", "Preempted by queue root.ads: it is below its fair share")
	apply := func(as *people.User, patch string) error {
		_, err := as.Kube.CoreV1().Pods(s.home).Patch(t.Context(), "running", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		return err
	}
	s.refused(s.patch(s.eve, "waiting", `{"status":{"nominatedNodeName":"node"}}`, "status"), nominated)
	s.refused(apply(s.eve, ours), announced)
	s.unchanged()
	must(t, s.patch(s.scheduler, "waiting", `{"status":{"nominatedNodeName":"node"}}`, "status"))
	s.refused(s.patch(s.eve, "waiting", `{"status":{"nominatedNodeName":null}}`, "status"), nominated)
	must(t, apply(s.scheduler, ours))
	s.refused(apply(s.eve, announcement("True", "Preempted by queue root.evil")), announced)
	s.refused(apply(s.eve, announcement("False", "no longer")), withdrawn)
	s.refused(s.patch(s.eve, "running", `{"status":{"conditions":null}}`, "status"), withdrawn)

	kubelet := s.w.Person(t, "system:node:node", "system:nodes")
	s.w.Allow(t, kubelet, s.home, rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"pods/status"}})
	s.refused(apply(kubelet, announcement("True", "Preempted by queue root.evil")), announced)
	must(t, apply(kubelet, announcement("True", "The node was low on resource: memory")))
	must(t, apply(s.scheduler, ours))
	other := s.w.Person(t, "system:kube-scheduler")
	s.w.Allow(t, other, s.home, rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"pods/status"}})
	must(t, apply(other, announcement("True", "default-scheduler: preempting to accommodate a higher priority pod")))

	// A nomination of a pod that has a node means nothing any more, and a kubelet takes it back.
	s.refused(s.patch(kubelet, "waiting", `{"status":{"nominatedNodeName":null}}`, "status"), nominated)
	must(t, s.bind(s.scheduler, "waiting", map[string]string{"fairway.dev/placed-queue": "root.ads"}, nil))
	if got := s.read("waiting").Status.NominatedNodeName; got != "node" {
		t.Fatalf("the bound pod is nominated for %q", got)
	}
	s.refused(s.patch(kubelet, "waiting", `{"status":{"nominatedNodeName":"other"}}`, "status"), nominated)
	must(t, s.patch(kubelet, "waiting", `{"status":{"nominatedNodeName":null}}`, "status"))
	s.refused(s.patch(kubelet, "waiting", `{"status":{"nominatedNodeName":"node"}}`, "status"), nominated)
	must(t, apply(s.eve, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`))
}

// A binding's annotations and labels land on the pod, so only the scheduler's count.
func TestBindingsSayNothingForOthers(t *testing.T) {
	s := newStage(t)
	for _, annotations := range []map[string]string{
		{"fairway.dev/placed-queue": "root.ads"}, {"fairway.dev/user": "eve"}, {"fairway.dev/groups": "evil"},
		{"yunikorn.apache.org/queue": "root.ads"}, {"yunikorn.apache.org/app-id": "etl"},
	} {
		s.refused(s.bind(s.eve, "waiting", annotations, nil), binding)
		s.refused(s.eve.Kube.CoreV1().RESTClient().Post().Namespace(s.home).Resource("bindings").Body(&corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: "waiting", Annotations: annotations},
			Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
		}).Do(t.Context()).Error(), binding)
	}
	for _, key := range []string{"fairway.dev/role", "queue", "applicationId", "yunikorn.apache.org/queue", "spark-role", "spark-app-selector",
		"ray.io/node-type", "component", "batch.kubernetes.io/job-name", "scheduling.x-k8s.io/pod-group"} {
		s.refused(s.bind(s.eve, "waiting", nil, map[string]string{key: "x"}), binding)
	}
	impostor := s.w.Account(t, s.home, "fairway-scheduler")
	s.w.Allow(t, impostor, s.home, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods/binding"}})
	s.refused(s.bind(impostor, "waiting", map[string]string{"fairway.dev/placed-queue": "root.ads"}, nil), binding)
	s.unchanged()
	must(t, s.bind(s.eve, "waiting", map[string]string{"mine": "x"}, nil)) // other schedulers bind, too
}

// A pod that is created as if it had been scheduled has been placed nowhere, and is its creator's.
func TestPodsCreatedWithANode(t *testing.T) {
	s := newStage(t)
	pod := podFor(s.home, "bound")
	pod.Spec.NodeName = "node"
	pod.Annotations = map[string]string{"fairway.dev/user": "ann"}
	pod.Status = corev1.PodStatus{NominatedNodeName: "node", Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: "True", Message: "Preempted by queue x"}}}
	for _, key := range []string{"fairway.dev/placed-queue", "fairway.dev/placed-later"} {
		placed := pod.DeepCopy()
		placed.Annotations[key] = "root.ads"
		s.refused(s.eve.Client.Create(t.Context(), placed), placedStays)
	}
	must(t, s.eve.Client.Create(t.Context(), pod))
	got := s.read("bound")
	if stampOf(got.Annotations) != of(s.eve) {
		t.Errorf("annotations: %v", got.Annotations)
	}
	if got.Status.NominatedNodeName != "" || strings.Contains(marks(got), "Preempted by queue") { // the API server sees to that, not a policy
		t.Errorf("status: %v", got.Status)
	}
	s.refused(s.patch(s.eve, "bound", `{"metadata":{"annotations":{"fairway.dev/placed-queue":"root.ads"}}}`), placedStays)
	// A scheduler that starts charges it where its label says, so that stays.
	s.refused(s.patch(s.eve, "bound", `{"metadata":{"labels":{"fairway.dev/queue":"root.ads"}}}`), fixedLabels)
	s.refused(s.patch(s.eve, "bound", `{"metadata":{"labels":{"queue":"root.ads"}}}`), fixedLabels)
}

// What a pod creates with its own token and controls says which pod that was, and nothing else does.
func TestPodsSayWhichPodCreatedThem(t *testing.T) {
	s := newStage(t)
	const key = "fairway.dev/creator-pod"
	creator := s.read("waiting")
	inside := s.w.Inside(t, creator)
	s.w.Edit(t, s.home, inside)
	made := func(owner *corev1.Pod, controls bool) *corev1.Pod {
		pod := podFor(s.home, "")
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner.Name, UID: owner.UID, Controller: ptr.To(controls)}}
		return pod
	}
	for name, tc := range map[string]struct {
		as   *people.User
		pod  *corev1.Pod
		want string
	}{
		"its own":            {inside, made(creator, true), string(creator.UID)},
		"not controlled":     {inside, made(creator, false), ""},
		"another pod's":      {inside, made(s.running, true), ""},
		"nobody's":           {inside, podFor(s.home, ""), ""},
		"a person's":         {s.ann, made(creator, true), ""},
		"the same account's": {s.w.Account(t, s.home, "default"), made(creator, true), ""},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, tc.as.Client.Create(t.Context(), tc.pod))
			if got := tc.pod.Annotations[key]; got != tc.want || stampOf(tc.pod.Annotations) != of(tc.as) {
				t.Errorf("annotations: %v", tc.pod.Annotations)
			}
			forged := made(creator, true)
			forged.Annotations = map[string]string{key: string(creator.UID)}
			if err := tc.as.Client.Create(t.Context(), forged); tc.as == inside {
				must(t, err)
			} else {
				s.refused(err, "fairway.dev/creator-pod of a pod is written by the API server only")
			}
		})
	}
	s.refused(s.patch(s.eve, "waiting", fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, creator.UID)), stampStays)
	s.unchanged()
}

// Only the pair of a trusted account and a kind whose templates are guarded carries the stamp of a template.
func TestOnlyTrustedPairsCarryTheStampOfATemplate(t *testing.T) {
	s := newStage(t)
	const replicaSet, job = "apps/v1 ReplicaSet", "batch/v1 Job"
	inKube, inHome := s.w.Account(t, "kube-system", "replicaset-controller"), s.w.Account(t, s.home, "replicaset-controller")
	other := s.w.Account(t, "kube-system", "deployment-controller")
	for _, u := range []*people.User{inKube, inHome, other} {
		s.w.Allow(t, u, s.home, rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{""}, Resources: []string{"pods"}})
		s.w.Allow(t, u, s.home, rbacv1.PolicyRule{Verbs: []string{"update"}, APIGroups: []string{"apps", "batch", ""},
			Resources: []string{"replicasets/finalizers", "jobs/finalizers", "configmaps/finalizers"}})
	}
	for _, tc := range []struct {
		name  string
		as    *people.User
		owner string
		only  bool // it does not control the pod
		bare  bool // the pod has no stamp
		// A template from before the policies may still have it.
		placed  bool
		label   string // on the pod
		refused string
		want    stamp
	}{
		{name: "its controller", as: inKube, owner: replicaSet, want: of(s.ann)},
		{name: "another kind of owner", as: inKube, owner: job, want: of(inKube)},
		{name: "an unguarded kind of owner", as: inKube, owner: "v1 ConfigMap", want: of(inKube)},
		{name: "a kind of the same name in another group", as: inKube, owner: "evil.example/v1 ReplicaSet", want: of(inKube)},
		{name: "with a queue", as: inKube, owner: replicaSet, placed: true, refused: placedStays},
		{name: "no owner", as: inKube, want: of(inKube)},
		{name: "an owner that does not control it", as: inKube, owner: replicaSet, only: true, want: of(inKube)},
		{name: "a template without a stamp", as: inKube, owner: replicaSet, bare: true},
		{name: "what a Deployment makes", as: inKube, owner: replicaSet, label: "pod-template-hash", want: of(s.ann)},
		{name: "what a Deployment without a stamp makes", as: inKube, owner: replicaSet, label: "pod-template-hash", bare: true},
		{name: "what looks like a Deployment's, without an owner", as: inKube, label: "pod-template-hash", refused: notTheirs},
		{name: "what looks like a Deployment's, of a person", as: s.eve, owner: replicaSet, label: "pod-template-hash", refused: notTheirs},
		{name: "what looks like a Job's, of a person", as: s.eve, owner: job, label: "batch.kubernetes.io/controller-uid", refused: notTheirs},
		{name: "what looks like a Job's, without a stamp", as: s.eve, owner: job, label: "batch.kubernetes.io/controller-uid", bare: true, refused: notTheirs},
		{name: "what looks like a Job's, as its creator", as: s.ann, label: "batch.kubernetes.io/controller-uid", refused: notTheirs},
		{name: "what looks like a Deployment's, as its creator", as: s.ann, owner: replicaSet, label: "pod-template-hash", refused: notTheirs},
		{name: "a controller of another kind", as: other, owner: replicaSet, want: of(other)},
		{name: "a controller of the same name in another namespace", as: inHome, owner: replicaSet, want: of(inHome)},
		{name: "a person", as: s.eve, owner: replicaSet, want: of(s.eve)},
		{name: "an administrator", as: s.w.Admin, owner: replicaSet, want: of(s.w.Admin)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := podFor(s.home, "")
			if !tc.bare {
				pod.Annotations = map[string]string{"fairway.dev/user": of(s.ann).user, "fairway.dev/groups": of(s.ann).groups}
			}
			if version, kind, ok := strings.Cut(tc.owner, " "); ok {
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "x", UID: "x", Controller: ptr.To(!tc.only)}}
			}
			if tc.label != "" {
				pod.Labels = map[string]string{tc.label: "x"}
			}
			if tc.placed {
				pod.Annotations["fairway.dev/placed-queue"] = "root.ads"
			}
			err := tc.as.Client.Create(t.Context(), pod, client.DryRunAll)
			if tc.refused != "" {
				s.refused(err, tc.refused)
				return
			}
			must(t, err)
			if got := stampOf(pod.Annotations); got != tc.want {
				t.Errorf("stamped %v, want %v", got, tc.want)
			}
		})
	}
}

// To act for another user takes the right to; the pod is then the other user's.
func TestImpersonation(t *testing.T) {
	s := newStage(t)
	asAnn := s.eve.As(t, "ann", "analysts")
	if err := asAnn.Client.Create(t.Context(), podFor(s.home, "")); !apierrors.IsForbidden(err) {
		t.Errorf("eve acts as ann: %v", err)
	}
	revoke := s.w.Allow(t, s.eve, "", rbacv1.PolicyRule{Verbs: []string{"impersonate"}, APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{"ann"}})
	if err := asAnn.Client.Create(t.Context(), podFor(s.home, "")); !apierrors.IsForbidden(err) {
		t.Errorf("eve acts as a member of ann's groups: %v", err)
	}
	pod := podFor(s.home, "")
	must(t, s.eve.As(t, "ann").Client.Create(t.Context(), pod))
	if got := stampOf(pod.Annotations); got != (stamp{"ann", "system:authenticated"}) {
		t.Errorf("stamped %v", got)
	}
	revoke()
	if err := s.eve.As(t, "ann").Client.Create(t.Context(), podFor(s.home, "")); !apierrors.IsForbidden(err) {
		t.Errorf("eve acts as ann without the right: %v", err)
	}
}

// A StatefulSet makes pods from its ControllerRevisions, so nobody writes one with another's name in it.
func TestRevisionsAreNotForged(t *testing.T) {
	s := newStage(t)
	const refusal = "is written by its controller only"
	write := func(name, data string) error {
		return s.eve.Client.Create(t.Context(), &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.home, Name: name}, Revision: 1, Data: runtime.RawExtension{Raw: []byte(data)}})
	}
	for i, data := range []string{
		`{"spec":{"template":{"metadata":{"annotations":{"fairway.dev/user":"ann"}}}}}`,
		`{"spec":{"template":{"metadata":{"annotations":{"fairway.dev/groups":"analysts"}}}}}`,
		`{"spec":{"template":{"metadata":{"Annotations":{"fairway.dev/user":"ann"}}}}}`,
		`{"spec":{"template":{"Metadata":{"annotations":{"fairway.dev/user":"ann"}}}}}`,
		`{"Spec":{"template":{"metadata":{"annotations":{"fairway.dev/user":"ann"}}}}}`,
		`{"spec":{"Template":{"metadata":{"annotations":{"fairway.dev/user":"ann"}}}}}`,
	} {
		s.refused(write(fmt.Sprint("forged-", i), data), refusal)
	}
	// Without a stamp the pods would count for their service account, and not for the author of the template.
	for i, spec := range []string{
		`{"schedulerName":"fairway"}`, `{}`, `{"schedulerName":""}`, `{"schedulerName":null}`, `{"SchedulerName":"fairway"}`,
		`{"schedulerName":"other","SchedulerName":"fairway"}`, `{"schedulerName":"other","ſchedulerName":"fairway"}`,
	} {
		s.refused(write(fmt.Sprint("bare-", i), `{"spec":{"template":{"$patch":"replace","spec":`+spec+`}}}`), refusal)
	}
	must(t, write("own", `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"a":"b"}},"spec":{"schedulerName":"other","containers":[]}}}}`))

	k := workloads[2]
	must(t, s.ann.Client.Create(t.Context(), k.of(t, s.home, "set")))
	podsOf(t, s.w, s.home, "set", 1)
	list := &appsv1.ControllerRevisionList{}
	must(t, s.w.Admin.Client.List(t.Context(), list, client.InNamespace(s.home), client.MatchingLabels{"workload": "set"}))
	if len(list.Items) != 1 {
		t.Fatalf("%d revisions", len(list.Items))
	}
	s.refused(s.eve.Client.Patch(t.Context(), &list.Items[0], client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))), refusal)
}
