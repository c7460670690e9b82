package access

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/people"
)

const (
	template = `{metadata: {labels: {work: x, fairway.dev/queue: QUEUE}}, spec: {schedulerName: fairway, restartPolicy: POLICY, containers: [{name: c, image: none}]}}`
	selector = `{matchLabels: {work: x}}`
)

// ways are how a user can submit to a queue.
var ways = map[string]func(t *testing.T, s *team, queue string) client.Object{
	"a pod": func(_ *testing.T, s *team, queue string) client.Object { return s.pod(queue) },
	"a pod by annotation": func(_ *testing.T, s *team, queue string) client.Object {
		p := s.pod("")
		p.Annotations = map[string]string{v1alpha1.KeyQueue: strings.TrimPrefix(queue, "root.")}
		return p
	},
	"a pod of YuniKorn's": func(_ *testing.T, s *team, queue string) client.Object {
		p := s.pod("")
		p.Labels = map[string]string{"queue": queue, "applicationId": "app"}
		return p
	},
	"a pod with a node": func(_ *testing.T, s *team, queue string) client.Object {
		p := s.pod(queue)
		p.Spec.NodeName = "node-0"
		return p
	},
	"Deployment":            made("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 0, selector: " + selector + ", template: " + template + "}"),
	"ReplicaSet":            made("apiVersion: apps/v1\nkind: ReplicaSet\nspec: {replicas: 0, selector: " + selector + ", template: " + template + "}"),
	"StatefulSet":           made("apiVersion: apps/v1\nkind: StatefulSet\nspec: {replicas: 0, serviceName: s, selector: " + selector + ", template: " + template + "}"),
	"DaemonSet":             made("apiVersion: apps/v1\nkind: DaemonSet\nspec: {selector: " + selector + ", template: " + template + "}"),
	"ReplicationController": made("apiVersion: v1\nkind: ReplicationController\nspec: {replicas: 0, selector: {work: x}, template: " + template + "}"),
	"Job":                   made("apiVersion: batch/v1\nkind: Job\nspec: {parallelism: 0, template: " + template + "}"),
	"CronJob":               made("apiVersion: batch/v1\nkind: CronJob\nspec: {suspend: true, schedule: '0 0 1 1 *', jobTemplate: {spec: {template: " + template + "}}}"),
}

func made(text string) func(*testing.T, *team, string) client.Object {
	policy := "Always"
	if strings.Contains(text, "batch/v1") {
		policy = "Never"
	}
	return func(t *testing.T, s *team, queue string) client.Object {
		return s.parse(t, strings.ReplaceAll(text, "POLICY", policy), queue)
	}
}

// Each user, each queue, each way: accepted or refused, and who is refused is told who, where and what is missing.
func TestASubmissionIsAcceptedOrRefused(t *testing.T) {
	s := closed(t)
	cases := 0
	for way, make := range ways {
		for _, name := range s.names() {
			for i, queue := range leaves {
				u, want := s.users[name], maySubmit[name][i] == 'y'
				err := u.Client.Create(t.Context(), make(t, s, queue))
				cases++
				switch {
				case want && err != nil:
					t.Errorf("%s to %s as %s: %v", name, queue, way, err)
				case !want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal(u.Name, queue))):
					t.Errorf("%s to %s as %s: %v, want %q", name, queue, way, err, refusal(u.Name, queue))
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}

// What names no queue, or none that can be, and no node is the scheduler's to judge; what is not for Fairway is nobody's.
func TestWhatAdmissionLeavesToOthers(t *testing.T) {
	s := closed(t)
	dan := s.users["dan"].Client
	must(t, dan.Create(t.Context(), s.pod("")))
	must(t, dan.Create(t.Context(), s.pod("Not_A_Path")))
	other := s.pod("root.web")
	other.Spec.SchedulerName = "default-scheduler"
	must(t, dan.Create(t.Context(), other))
	if err := dan.Create(t.Context(), s.pod("root")); !apierrors.IsForbidden(err) { // it takes no pods, but it is a queue
		t.Errorf("to root: %v", err)
	}
}

// The scheduler cannot hold a pod with a node, so admission judges it where the scheduler will count it: without a queue in root.default, with a name that
// is no queue's in root. So are templates, also when they get their node later.
func TestAPodWithANodeIsJudgedWhereItWillCount(t *testing.T) {
	s := closed(t)
	onNode := func(t *testing.T, kind, queue string) client.Object {
		if kind == "Pod" {
			p := s.pod(queue)
			p.Spec.NodeName = "node-0"
			return p
		}
		o, _ := ways[kind](t, s, queue).(*unstructured.Unstructured)
		must(t, unstructured.SetNestedField(o.Object, "node-0", "spec", "template", "spec", "nodeName"))
		if queue == "" {
			unstructured.RemoveNestedField(o.Object, "spec", "template", "metadata", "labels", v1alpha1.KeyQueue)
		}
		return o
	}
	for asked, counts := range map[string]string{"": "root.default", "Not_A_Path": "root"} {
		for _, kind := range []string{"Pod", "Deployment", "Job"} {
			for _, name := range s.names() {
				u := s.users[name]
				err := u.Client.Create(t.Context(), onNode(t, kind, asked))
				if want := name == "erin"; want && err != nil || !want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal(u.Name, counts))) {
					t.Errorf("%s with a node and queue %q as %s: %v", name, asked, kind, err)
				}
			}
		}
	}
	d, _ := onNode(t, "Deployment", "").(*unstructured.Unstructured)
	unstructured.RemoveNestedField(d.Object, "spec", "template", "spec", "nodeName")
	dan := s.users["dan"].Client
	must(t, dan.Create(t.Context(), d)) // the scheduler judges its pods
	err := dan.Patch(t.Context(), d, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"nodeName":"node-0"}}}}`)))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal("dan", "root.default")) {
		t.Errorf("a template gets a node: %v", err)
	}
}

// The policy passes over new pods of Deployments and Jobs by labels. Nobody else's pass by them, and no templates.
func TestLabelsOfControllersLetNothingElsePass(t *testing.T) {
	s := closed(t)
	dan := s.users["dan"]
	for _, key := range []string{"pod-template-hash", "batch.kubernetes.io/controller-uid"} {
		for what, stamp := range map[string]map[string]string{
			"no stamp": nil, "the right stamp": {v1alpha1.KeyUser: "dan", v1alpha1.KeyGroups: "staff,system:authenticated"},
		} {
			p := s.pod("root.web")
			p.Labels[key], p.Annotations = "x", stamp
			if err := dan.Client.Create(t.Context(), p); err == nil || !strings.Contains(err.Error(), "are for pods that Deployments and Jobs make") {
				t.Errorf("a pod with %s and %s: %v", key, what, err)
			}
		}
		for _, kind := range []string{"ReplicaSet", "Job"} {
			o := ways[kind](t, s, "root.web")
			o.SetLabels(map[string]string{key: "x"})
			if err := dan.Client.Create(t.Context(), o); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal("dan", "root.web")) {
				t.Errorf("a %s with %s: %v", kind, key, err)
			}
		}
	}
}

// deep is a queue at the lowest level that there can be.
var deep = "root" + strings.Repeat(".abcdefgh-"+strings.Repeat("x", 12), 10) + ".l"

// The most that one check can cost is a denial at twelve levels. It must be an answer, and not the end of a budget.
func TestADenialAtFullDepthIsAnAnswer(t *testing.T) {
	s := closed(t)
	if levels := strings.Count(deep, ".") + 1; levels != 12 || len(deep) > 253 {
		t.Fatalf("%d levels, %d characters", levels, len(deep))
	}
	submit := func() error {
		p := s.pod("")
		p.Annotations = map[string]string{v1alpha1.KeyQueue: deep}
		return s.users["dan"].Client.Create(t.Context(), p)
	}
	if err := submit(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal("dan", deep)) {
		t.Errorf("a pod: %v", err)
	}
	err := s.users["dan"].Client.Create(t.Context(), s.parse(t, strings.ReplaceAll(
		"apiVersion: batch/v1\nkind: Job\nspec: {template: "+strings.ReplaceAll(template, "labels: {work: x, fairway.dev/queue: QUEUE}", "annotations: {fairway.dev/queue: QUEUE}")+"}", "POLICY", "Never"), deep))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal("dan", deep)) {
		t.Errorf("a Job: %v", err)
	}
	revoke := s.Allow(t, s.users["dan"], "", right("administer", deep)) // the last of all questions
	must(t, submit())
	revoke()

	defer s.Give(t, s.users["dan"], "fairway-queue-editor")()
	dan, q := s.users["dan"].Client, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: deep}}
	refused := func(verb string, err error) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "user dan may not "+verb+" queue "+deep) {
			t.Errorf("%s a Queue: %v", verb, err)
		}
	}
	refused("create", dan.Create(t.Context(), q.DeepCopy()))
	must(t, s.Admin.Client.Create(t.Context(), q))
	refused("change", dan.Patch(t.Context(), q.DeepCopy(), heavier))
	refused("delete", dan.Delete(t.Context(), q.DeepCopy()))
	must(t, s.Admin.Client.Delete(t.Context(), q))
}

// heavier changes a Queue.
var heavier = client.RawPatch(types.MergePatchType, []byte(`{"spec":{"weight":"2"}}`))

// A pod that waits, and a template, move to another queue only by somebody who may submit there. What changes no queue is not judged.
func TestAChangeOfQueueIsASubmission(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	ada, carol := s.users["ada"].Client, s.users["carol"].Client
	p := s.pod("root.ads.adhoc")
	must(t, ada.Create(ctx, p))
	to := func(queue string) client.Patch {
		return client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"fairway.dev/queue":"`+queue+`"}}}`))
	}
	wantRefusal := func(what string, err error, user, queue string) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal(user, queue)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantRefusal("ada moves her pod", ada.Patch(ctx, p.DeepCopy(), to("root.web")), "ada", "root.web")
	wantRefusal("carol moves ada's pod", carol.Patch(ctx, p.DeepCopy(), to("root.ads.etl.day")), "carol", "root.ads.etl.day")
	must(t, carol.Patch(ctx, p.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`))))
	must(t, ada.Patch(ctx, p.DeepCopy(), to("root.ads.etl.day")))
	defer s.Allow(t, s.users["ada"], s.home, rbacv1.PolicyRule{Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"pods/status"}})()
	wantRefusal("ada moves her pod through its status", s.users["ada"].Client.Status().Patch(ctx, p.DeepCopy(), to("root.web")), "ada", "root.web")

	d, _ := ways["Deployment"](t, s, "root.ads.adhoc").(*unstructured.Unstructured)
	must(t, ada.Create(ctx, d))
	template := func(change string) client.Patch {
		return client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":`+change+`}}`))
	}
	move := template(`{"metadata":{"labels":{"fairway.dev/queue":"root.web"}}}`)
	wantRefusal("ada moves her Deployment", ada.Patch(ctx, d.DeepCopy(), move), "ada", "root.web")
	// It runs in the name of carol from then on, so she needs the right.
	image := template(`{"spec":{"terminationGracePeriodSeconds":7}}`)
	wantRefusal("carol changes ada's Deployment", carol.Patch(ctx, d.DeepCopy(), image), "carol", "root.ads.adhoc")
	must(t, carol.Patch(ctx, d.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`))))
	must(t, carol.Patch(ctx, d.DeepCopy(), move)) // she may submit to root.web
}

// A Queue is written by those who administer the parent, or a queue above it, and may write Queues at all.
func TestQueuesAreWrittenByThoseWhoAdministerTheParent(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	for _, name := range s.names() {
		defer s.Give(t, s.users[name], "fairway-queue-editor")()
	}
	may := map[string][]string{ // the queues that a user may create, change and delete
		"bob":  {"root.ads.etl.new"},
		"erin": {"root.ads.etl.new", "root.ads.new", "root.new"},
	}
	for _, name := range s.names() {
		for _, queue := range []string{"root.ads.etl.new", "root.ads.new", "root.new"} {
			u := s.users[name]
			want := strings.Contains(" "+strings.Join(may[name], " ")+" ", " "+queue+" ")
			judge := func(verb string, err error) {
				t.Helper()
				parent := queue[:strings.LastIndex(queue, ".")]
				text := "user " + u.Name + " may not " + verb + " queue " + queue + ": this takes the verb administer on queues.scheduling.fairway.dev, for " + parent
				if want && err != nil || !want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text)) {
					t.Errorf("%s %ss %s: %v", name, verb, queue, err)
				}
			}
			q := func() *v1alpha1.Queue { return &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: queue}} }
			judge("create", u.Client.Create(ctx, q()))
			must(t, client.IgnoreAlreadyExists(s.Admin.Client.Create(ctx, q())))
			judge("change", u.Client.Patch(ctx, q(), heavier))
			judge("delete", u.Client.Delete(ctx, q()))
			must(t, client.IgnoreNotFound(s.Admin.Client.Delete(ctx, q())))
		}
	}
	// Not the queue at the top of the own part: its limits are for the part.
	if err := s.users["bob"].Client.Patch(ctx, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.ads.etl"}}, heavier); !apierrors.IsForbidden(err) {
		t.Errorf("bob changes his own limits: %v", err)
	}
	defer s.Allow(t, s.users["bob"], "", rbacv1.PolicyRule{Verbs: []string{"deletecollection"}, APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"queues"}})()
	if err := s.users["bob"].Client.DeleteAllOf(ctx, &v1alpha1.Queue{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "user bob may not delete queue") {
		t.Errorf("bob deletes all queues: %v", err)
	}
	left := &v1alpha1.QueueList{}
	must(t, s.Admin.Client.List(ctx, left))
	for _, queue := range []string{"root.ads", "root.web", "root.default"} {
		if !strings.Contains(" "+strings.Join(namesOf(left), " ")+" ", " "+queue+" ") {
			t.Errorf("%s is gone", queue)
		}
	}
	for _, queue := range queues { // the part that is bob's may be
		must(t, client.IgnoreAlreadyExists(s.Admin.Client.Create(ctx, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: queue}})))
	}
}

func namesOf(l *v1alpha1.QueueList) (names []string) {
	for i := range l.Items {
		names = append(names, l.Items[i].Name)
	}
	return names
}

// Optional: pods of others are ended by those who administer their queue. An eviction takes administer on root.
func TestPodsOfOthersAreEndedByThoseWhoAdministerTheQueue(t *testing.T) {
	s := closed(t)
	ctx := t.Context()
	s.install(t, "access/deletions")
	defer func() {
		_, err := s.Kubectl(ctx, "delete", "-k", manifests+"/access/deletions")
		must(t, err)
		must(t, s.PoliciesSettle(ctx))
	}()
	must(t, s.PoliciesSettle(ctx))
	pods := func() client.Object {
		p := s.pod("root.ads.etl.day")
		must(t, s.users["ada"].Client.Create(ctx, p))
		return p
	}
	for name, want := range map[string]bool{"ada": true, "bob": true, "carol": false, "robot": false, "dan": false, "erin": true} {
		p, u := pods(), s.users[name]
		err := u.Client.Delete(ctx, p, client.GracePeriodSeconds(0))
		text := "user " + u.Name + " may not end pods of ada in queue root.ads.etl.day"
		if want && err != nil || !want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text)) {
			t.Errorf("%s deletes ada's pod: %v", name, err)
		}
		p = pods()
		err = u.Client.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{})
		if want := name == "erin"; want != (err == nil) || err != nil && !strings.Contains(err.Error(), "user "+u.Name+" may not evict pods") {
			t.Errorf("%s evicts ada's pod: %v", name, err)
		}
	}
	// Many at once are judged one by one.
	p := s.pod("root.ads.etl.day")
	p.Labels["many"] = "x"
	must(t, s.users["ada"].Client.Create(ctx, p))
	end := func(name string) error {
		return s.users[name].Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.home), client.MatchingLabels{"many": "x"}, client.GracePeriodSeconds(0))
	}
	if err := end("carol"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "user carol may not end pods of ada in queue root.ads.etl.day") {
		t.Errorf("carol deletes ada's pods: %v", err)
	}
	must(t, s.count(t, client.MatchingLabels{"many": "x"}, 1))
	must(t, end("ada"))
	must(t, s.count(t, client.MatchingLabels{"many": "x"}, 0))
	// At twelve levels a refusal is an answer, too.
	p = s.pod("")
	p.Annotations = map[string]string{v1alpha1.KeyQueue: deep}
	must(t, s.users["erin"].Client.Create(ctx, p))
	if err := s.users["bob"].Client.Delete(ctx, p); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "user bob may not end pods of erin in queue "+deep) {
		t.Errorf("bob deletes erin's pod: %v", err)
	}
	// A pod ends by a change, too: the garbage collector deletes it with an owner that does not exist, its time is over, or its containers are replaced.
	for _, name := range []string{"ada", "bob", "dan"} {
		for what, change := range map[string]string{
			"an owner":   `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"2222"}]}}`,
			"a deadline": `{"spec":{"activeDeadlineSeconds":1}}`,
			"an image":   `{"spec":{"containers":[{"name":"c","image":"other"}]}}`,
			"a label":    `{"metadata":{"labels":{"x":"y"}}}`,
		} {
			u := s.users[name]
			err := u.Client.Patch(ctx, pods(), client.RawPatch(types.StrategicMergePatchType, []byte(change)), client.DryRunAll)
			text := "user " + u.Name + " may not change owners, deadline or images of pods of ada in queue root.ads.etl.day"
			if want := name != "dan" || what == "a label"; want && err != nil || !want && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text)) {
				t.Errorf("%s gives ada's pod %s: %v", name, what, err)
			}
		}
	}
	// Those who end pods for Kubernetes go on.
	j, _ := ways["Job"](t, s, "root.ads.adhoc").(*unstructured.Unstructured)
	must(t, unstructured.SetNestedField(j.Object, int64(1), "spec", "parallelism"))
	must(t, s.users["ada"].Client.Create(ctx, j))
	mine := client.MatchingLabels{"job-name": j.GetName()}
	people.Until(t, "the Job has its pod", func() error { return s.count(t, mine, 1) })
	must(t, s.users["ada"].Client.Delete(ctx, j, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	people.Until(t, "its pod is gone", func() error { return s.count(t, mine, 0) })
}

// The binding that is installed opens the tree to everybody, and its deletion closes it.
func TestTheInstalledBindingOpensTheTree(t *testing.T) {
	s := world(t)
	s.install(t, "access")
	must(t, s.PoliciesSettle(t.Context()))
	for _, name := range s.names() {
		u := s.users[name]
		people.Until(t, name+" may submit", func() error { return u.Client.Create(t.Context(), s.pod("root.web"), client.DryRunAll) })
	}
	closed(t)
	if err := s.users["dan"].Client.Create(t.Context(), s.pod("root.web")); !apierrors.IsForbidden(err) {
		t.Errorf("after the binding is deleted: %v", err)
	}
}

// count compares the number of pods with a label.
func (s *team) count(t *testing.T, labels client.MatchingLabels, want int) error {
	pods := &corev1.PodList{}
	if err := s.Admin.Client.List(t.Context(), pods, client.InNamespace(s.home), labels); err != nil {
		return err
	}
	if len(pods.Items) != want {
		return fmt.Errorf("%d pods", len(pods.Items))
	}
	return nil
}
