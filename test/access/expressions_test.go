package access

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
)

// policy reads a policy from a file.
func policy(t *testing.T, file, name string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifests, "access", file))
	must(t, err)
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		p := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		must(t, yaml.Unmarshal([]byte(document), p))
		if p.Name == name && p.Kind == "ValidatingAdmissionPolicy" {
			return p
		}
	}
	t.Fatalf("%s has no policy %s", file, name)
	return nil
}

// expressions is a policy that is compiled as an API server does.
type expressions struct {
	conditions, validations, messages cel.ConditionEvaluator
	user                              string         // who sends the request; ada if empty
	groups                            []string       // of the user, beside system:authenticated
	params                            runtime.Object // of a policy that has a paramKind
}

func compile(t *testing.T, p *admissionregistrationv1.ValidatingAdmissionPolicy) expressions {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	must(t, err)
	options := cel.OptionalVariableDeclarations{HasAuthorizer: true, HasParams: p.Spec.ParamKind != nil}
	for _, v := range p.Spec.Variables {
		if r := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.StoredExpressions); r.Error != nil {
			t.Fatalf("%s: %v", v.Name, r.Error)
		}
	}
	var conditions, validations, messages []cel.ExpressionAccessor
	for _, c := range p.Spec.MatchConditions {
		conditions = append(conditions, &validating.ValidationCondition{Expression: c.Expression})
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression})
		messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression})
	}
	return expressions{
		conditions: cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())).
			CompileCondition(conditions, options, environment.StoredExpressions), // which see no variables
		validations: compiler.CompileCondition(validations, options, environment.StoredExpressions),
		messages:    compiler.CompileCondition(messages, cel.OptionalVariableDeclarations{HasParams: options.HasParams}, environment.StoredExpressions),
	}
}

// judge evaluates the policy for a pod that ada creates, who was granted nothing, or changes if it was former before. asked are the grants that it
// asked about, message is what a refusal says.
func (e expressions) judge(t require, pod, former *corev1.Pod) (allowed bool, asked []access.Grant, message string) {
	name := "ada"
	if e.user != "" {
		name = e.user
	}
	sender := &user.DefaultInfo{Name: name, Groups: append([]string{"system:authenticated"}, e.groups...)}
	kind, resource := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	attributes := admission.NewAttributesRecord(pod, nil, kind, "ns", pod.Name, resource, "", admission.Create, nil, false, sender)
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedObject: pod, VersionedKind: kind}
	if former != nil {
		attributes = admission.NewAttributesRecord(pod, former, kind, "ns", pod.Name, resource, "", admission.Update, nil, false, sender)
		versioned = &admission.VersionedAttributes{Attributes: attributes, VersionedObject: pod, VersionedOldObject: former, VersionedKind: kind}
	}
	request := cel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	nobody := authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetAPIGroup() != "scheduling.fairway.dev" || a.GetResource() != "queues" || a.GetUser().GetName() != name {
			t.Fatalf("asks about %+v", a)
		}
		asked = append(asked, access.Grant{Queue: queue.Path(a.GetName()), Verb: access.Verb(a.GetVerb())})
		return authorizer.DecisionNoOpinion, "", nil
	})
	evaluate := func(of cel.ConditionEvaluator, with cel.OptionalVariableBindings, budget int64) (any, int64) {
		results, left, err := of.ForInput(context.Background(), versioned, request, with, nil, budget)
		if err != nil || len(results) != 1 || results[0].Error != nil {
			t.Fatalf("%v: %+v %v", pod, results, err)
		}
		return results[0].EvalResult.Value(), left
	}
	matches, _ := evaluate(e.conditions, cel.OptionalVariableBindings{Authorizer: nobody, VersionedParams: e.params}, celconfig.RuntimeCELCostBudgetMatchConditions)
	if matches == false {
		return true, asked, ""
	}
	verdict, left := evaluate(e.validations, cel.OptionalVariableBindings{Authorizer: nobody, VersionedParams: e.params}, celconfig.RuntimeCELCostBudget)
	said, _ := evaluate(e.messages, cel.OptionalVariableBindings{VersionedParams: e.params}, left)
	allowed, _ = verdict.(bool)
	message, _ = said.(string)
	return allowed, asked, message
}

type require interface{ Fatalf(string, ...any) }

// The policy reads the same queue from a pod as the scheduler does, whatever the pod says; asks about the same grants as the scheduler; refuses in the same
// words; and stays within the budget of an API server. A pod with a node counts in root.default without a queue, and in root with one that cannot be.
func TestThePolicyReadsPodsAsTheSchedulerDoes(t *testing.T) {
	e := compile(t, policy(t, "submissions.yaml", "fairway-submissions"))
	value := rapid.OneOf(
		rapid.SampledFrom([]string{"", "root", "root.a", "a", "a.b.c", "Root.A", "root.", ".a", "root..a", "-a", "a-", "a b", "rootless", "root.a-1.b"}),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("a.", rapid.IntRange(0, 13).Draw(t, "levels")) + strings.Repeat("x", rapid.SampledFrom([]int{1, 60, 240}).Draw(t, "long"))
		}))
	keys := []string{"fairway.dev/queue", "yunikorn.apache.org/queue", "queue", "yunikorn.apache.org/app-id", "applicationId", "other"}
	named := rapid.MapOfN(rapid.SampledFrom(keys), value, 0, 4)
	judged := 0
	rapid.Check(t, func(t *rapid.T) {
		pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{
			Name: "p", Labels: named.Draw(t, "labels"), Annotations: named.Draw(t, "annotations"),
		}, Spec: corev1.PodSpec{SchedulerName: "fairway", NodeName: rapid.SampledFrom([]string{"", "", "node"}).Draw(t, "node")}}
		pod.Annotations["fairway.dev/user"] = "ada"
		allowed, asked, message := e.judge(t, pod, nil)
		wanted := convert.QueueRequest(pod)
		path, err := queue.ParseRequest(wanted)
		if pod.Spec.NodeName != "" {
			if err != nil {
				path = queue.Root
			}
		} else if wanted == "" || err != nil {
			if !allowed || len(asked) > 2 { // perhaps about root, which is asked about before the queue is read
				t.Fatalf("%q is the scheduler's to judge, and the policy says %v after %v", wanted, allowed, asked)
			}
			return
		}
		judged++
		var want []access.Grant
		for _, level := range append(path.Ancestors(), path) {
			want = append(want, access.Grant{Queue: level, Verb: access.Submit}, access.Grant{Queue: level, Verb: access.Administer})
		}
		if diff := cmp.Diff(want, asked); diff != "" || allowed {
			t.Fatalf("%q: allowed %v, asks (-want +got)\n%s", wanted, allowed, diff)
		}
		if text := refusal("ada", string(path)); message != text {
			t.Fatalf("%q: %q, want %q", wanted, message, text)
		}
	})
	if judged < 3 {
		t.Errorf("only %d pods named a queue", judged)
	}
}

// Of what somebody writes, only what is new in their name or names another queue is judged. Everything else costs one look, without a question.
func TestWhatAPolicyOfSubmissionsPassesOver(t *testing.T) {
	e := compile(t, policy(t, "submissions.yaml", "fairway-submissions"))
	pod := func(change ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{
			Name: "p", Labels: map[string]string{"fairway.dev/queue": "root.a"}, Annotations: map[string]string{"fairway.dev/user": "ada"},
		}, Spec: corev1.PodSpec{SchedulerName: "fairway"}}
		for _, c := range change {
			c(p)
		}
		return p
	}
	label := func(key, value string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Labels[key] = value } }
	annotate := func(key, value string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Annotations[key] = value } }
	of := func(user string) func(*corev1.Pod) { return annotate("fairway.dev/user", user) }
	bare := func(p *corev1.Pod) { p.Labels, p.Annotations = nil, map[string]string{"fairway.dev/user": "ada"} }
	onNode := func(p *corev1.Pod) { p.Spec.NodeName = "node" }
	mirror := annotate(corev1.MirrorPodAnnotationKey, "x")
	for name, tc := range map[string]struct {
		pod, former *corev1.Pod
		judged      bool
		groups      []string
	}{
		"a new pod":                                       {pod(), nil, true, nil},
		"of another scheduler":                            {pod(func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }), nil, false, nil},
		"of a template of somebody else":                  {pod(of("bob")), nil, false, nil},
		"of a template without a stamp":                   {pod(of("")), nil, false, nil},
		"without a queue":                                 {pod(bare), nil, false, nil},
		"its status changes":                              {pod(func(p *corev1.Pod) { p.Status.Phase = "Running" }), pod(), false, nil},
		"another label changes":                           {pod(label("other", "x")), pod(), false, nil},
		"its queue changes":                               {pod(label("fairway.dev/queue", "root.b")), pod(), true, nil},
		"the queue of somebody else's":                    {pod(of("bob"), label("fairway.dev/queue", "root.b")), pod(of("bob")), true, nil},
		"its queue goes":                                  {pod(bare), pod(), false, nil},
		"it gets a queue":                                 {pod(), pod(bare), true, nil},
		"an annotation names another queue":               {pod(annotate("yunikorn.apache.org/queue", "root.b")), pod(), true, nil},
		"what makes a label the name of a queue":          {pod(label("applicationId", "x")), pod(), true, nil},
		"it gets the name of who changes it":              {pod(), pod(of("")), true, nil},
		"without a queue, with a node":                    {pod(bare, onNode), nil, true, nil},
		"made of an object of somebody else's, on a node": {pod(bare, onNode, of("bob")), nil, true, nil},
		"its template gets a node":                        {pod(bare, onNode), pod(bare), true, nil},
		"its queue goes, on a node":                       {pod(bare, onNode), pod(onNode), true, nil},
		"its status changes, on a node":                   {pod(bare, onNode, func(p *corev1.Pod) { p.Status.Phase = "Running" }), pod(bare, onNode), false, nil},
		"what a kubelet shows of a file":                  {pod(onNode, mirror), nil, false, []string{"system:nodes"}},
		"what somebody else shows as such":                {pod(onNode, mirror), nil, true, nil},
		"another pod of a kubelet":                        {pod(bare, onNode), nil, true, []string{"system:nodes"}},
	} {
		t.Run(name, func(t *testing.T) {
			e.groups = tc.groups
			allowed, asked, _ := e.judge(t, tc.pod, tc.former)
			if allowed == tc.judged || (len(asked) > 0) != tc.judged {
				t.Errorf("allowed %v, asks %v", allowed, asked)
			}
		})
	}
}

// What controllers of Kubernetes make of a template was judged with the template, also with a node.
func TestPodsOfControllersAreNotJudgedAgain(t *testing.T) {
	e := compile(t, policy(t, "submissions.yaml", "fairway-submissions"))
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{
		Name: "p", Labels: map[string]string{"fairway.dev/queue": "root.a"}, Annotations: map[string]string{"fairway.dev/user": "bob"},
	}, Spec: corev1.PodSpec{SchedulerName: "fairway", NodeName: "node"}}
	for sender, judged := range map[string]bool{
		"system:serviceaccount:kube-system:statefulset-controller": false,
		"system:kube-controller-manager":                           false,
		"system:serviceaccount:ray:kuberay-operator":               true,
		"system:serviceaccount:kube-systems:operator":              true,
	} {
		e.user = sender
		if allowed, asked, _ := e.judge(t, p, nil); allowed == judged || (len(asked) > 0) != judged {
			t.Errorf("%s: allowed %v, asks %v", sender, allowed, asked)
		}
	}
}

// The policies go through the levels of a path in the same way. Submissions ask about root in a condition.
func TestAllPoliciesHaveTheSameLevels(t *testing.T) {
	levels := func(file, name string) (found []string) {
		for _, v := range policy(t, file, name).Spec.Variables {
			if v.Name == "queues" || v.Name == "names" || strings.HasPrefix(v.Name, "queue") && v.Name != "queue" {
				found = append(found, v.Name+": "+v.Expression)
			}
			if strings.HasPrefix(v.Name, "at") && v.Name != "at1" {
				found = append(found, v.Name)
			}
		}
		return found
	}
	want := levels("submissions.yaml", "fairway-submissions")
	if !slices.Contains(want, "at12") {
		t.Fatalf("levels: %q", want)
	}
	for file, name := range map[string]string{"queues.yaml": "fairway-queues", "deletions/deletions.yaml": "fairway-deletions"} {
		if diff := cmp.Diff(want, levels(file, name)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
