package feed

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func byAda(p *v1.Pod) {
	p.Annotations = map[string]string{"fairway.dev/user": "ada", "fairway.dev/groups": "ads", "fairway.dev/queue": "root.ads"}
}

// Where access is checked, a pod comes with its submitter as long as it has no node.
func TestAPodComesWithItsSubmitterWhereAccessIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		checked bool
		node    string
		want    access.Subject
	}{
		"checked":     {true, "", access.Subject{User: "ada", Groups: "ads"}},
		"bound":       {true, "n", access.Subject{}},
		"not checked": {false, "", access.Subject{}},
	} {
		f := openFeed()
		f.Access = c.checked
		f.ObservePod(pod("p", byAda, func(p *v1.Pod) { p.Spec.NodeName = c.node }))
		if s, _ := f.Ledger.PodState("p"); s.Submitter != c.want {
			t.Errorf("%s: got %+v, want %+v", name, s.Submitter, c.want)
		}
	}
}

// A picture asks nobody: it takes over what the scheduler has told a pod, as long as that is about the queue and the user that the pod names now.
func TestAPictureShowsWhatTheSchedulerFoundOutAboutAccess(t *testing.T) {
	told := func(text string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Status.Conditions = []v1.PodCondition{{Type: "fairway.dev/Queued", Status: v1.ConditionTrue, Reason: "SubmitForbidden", Message: text}}
		}
	}
	text := reason.Reason{Code: reason.SubmitForbidden, Queue: "root.ads", Details: reason.Submitter{User: "ada"}}.Text()
	for name, c := range map[string]struct {
		edits []func(*v1.Pod)
		want  reason.Code
	}{
		"told":                  {[]func(*v1.Pod){byAda, told(text)}, reason.SubmitForbidden},
		"not told":              {[]func(*v1.Pod){byAda}, reason.QueueNotFound},
		"told of another queue": {[]func(*v1.Pod){byAda, told(text), func(p *v1.Pod) { p.Annotations["fairway.dev/queue"] = "root.b" }}, reason.QueueNotFound},
		"told of another user":  {[]func(*v1.Pod){byAda, told(text), func(p *v1.Pod) { p.Annotations["fairway.dev/user"] = "bob" }}, reason.QueueNotFound},
	} {
		s := &objects.Set{Pods: []*v1.Pod{pod("p", append(c.edits, func(p *v1.Pod) { p.Spec.SchedulerName = "fairway" })...)}}
		l := Rebuild(s, []string{"fairway"}, time.Unix(1000, 0), ledger.Options{})
		if c.want == reason.SubmitForbidden {
			s.Queues = append(s.Queues, queueOf("root.ads", "uid", "1"))
			l = Rebuild(s, []string{"fairway"}, time.Unix(1000, 0), ledger.Options{})
		}
		if got, _ := l.PodState("p"); got.BlockedBy.Code != c.want {
			t.Errorf("%s: blocked by %q, want %q", name, got.BlockedBy.Code, c.want)
		}
	}
}

// The same holds for a queue in which only the placement policy puts the pod, also if it does not exist yet. Another policy makes the answer one about another
// queue.
func TestAPictureShowsWhatTheSchedulerFoundOutAboutPlacedPods(t *testing.T) {
	policy := func(rule string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "PlacementPolicy", "metadata": map[string]any{"name": "default"},
			"spec": map[string]any{"rules": []any{map[string]any{"type": rule}}},
		}}
	}
	p := pod("p", func(p *v1.Pod) {
		p.Spec.SchedulerName = "fairway"
		p.Annotations = map[string]string{"fairway.dev/user": "ada", "fairway.dev/groups": "ads"}
		text := reason.Reason{Code: reason.SubmitForbidden, Queue: "root.ada", Details: reason.Submitter{User: "ada"}}.Text()
		p.Status.Conditions = []v1.PodCondition{{Type: "fairway.dev/Queued", Status: v1.ConditionTrue, Reason: "SubmitForbidden", Message: text}}
	})
	for _, c := range []struct {
		rule, queue string
		want        reason.Code
	}{
		{"User", "root.ada", reason.SubmitForbidden},
		{"User", "root.ads", reason.SubmitForbidden}, // root.ada is to be created
		{"PrimaryGroup", "root.ads", ""},
		{"PrimaryGroup", "root.ada", reason.CreatingQueue},
	} {
		s := &objects.Set{Pods: []*v1.Pod{p}, PlacementPolicy: policy(c.rule), Queues: []*unstructured.Unstructured{queueOf(c.queue, "uid", "1")}}
		l := Rebuild(s, []string{"fairway"}, time.Unix(1000, 0), ledger.Options{})
		if got, _ := l.PodState("p"); got.BlockedBy.Code != c.want {
			t.Errorf("%s, with %s: blocked by %q, want %q", c.rule, c.queue, got.BlockedBy.Code, c.want)
		}
	}
}
