package access

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/test/people"
)

// rootWith is the queue root as the API server hands it to the policy.
func rootWith(stopped ...string) *unstructured.Unstructured {
	status := map[string]any{}
	if len(stopped) > 0 {
		names := make([]any, len(stopped))
		for i, name := range stopped {
			names[i] = name
		}
		status["stoppedQueues"] = names
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "root"}, "status": status}}
}

// What begins an application in a stopped queue is refused, with the queue that is stopped; what may belong to one that goes on is not.
func TestWhatAStoppedQueueRefuses(t *testing.T) {
	e := compile(t, policy(t, "stopped.yaml", "fairway-stopped-queues"))
	pod := func(change ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{}, Annotations: map[string]string{}}, Spec: corev1.PodSpec{SchedulerName: "fairway"}}
		for _, c := range change {
			c(p)
		}
		return p
	}
	label := func(key, value string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Labels[key] = value } }
	annotation := func(key, value string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Annotations[key] = value } }
	in := func(queue string) func(*corev1.Pod) { return label("fairway.dev/queue", queue) }
	controlled := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", Controller: ptr.To(true)}}
	}
	refused := func(queue, by string) string {
		return "queue " + queue + " takes no new applications, because " + by + " is stopped; submit again when " + by + " is Running again, or to another queue"
	}
	many := make([]string, v1alpha1.MaxStoppedShown)
	for i := range many {
		many[i] = fmt.Sprintf("root.%03d.%s", i, strings.Repeat("x.", 120)+"y") // no longer than a name may be
	}
	for name, c := range map[string]struct {
		root        *unstructured.Unstructured
		pod, former *corev1.Pod
		want        string
	}{
		"nothing is stopped":                {rootWith(), pod(in("root.a")), nil, ""},
		"its queue":                         {rootWith("root.a"), pod(in("root.a")), nil, refused("root.a", "root.a")},
		"its queue, in short":               {rootWith("root.a"), pod(in("a")), nil, refused("root.a", "root.a")},
		"a queue above":                     {rootWith("root.a", "root.b"), pod(in("root.b.c.d")), nil, refused("root.b.c.d", "root.b")},
		"another queue":                     {rootWith("root.b"), pod(in("root.a")), nil, ""},
		"one that begins like it":           {rootWith("root.a"), pod(in("root.ab")), nil, ""},
		"one below it":                      {rootWith("root.a.b"), pod(in("root.a")), nil, ""},
		"by an annotation":                  {rootWith("root.a"), pod(annotation("fairway.dev/queue", "root.a")), nil, refused("root.a", "root.a")},
		"by a label of YuniKorn":            {rootWith("root.a"), pod(label("queue", "root.a")), nil, refused("root.a", "root.a")},
		"no queue":                          {rootWith("root.a"), pod(), nil, ""},
		"no queue, and root is stopped":     {rootWith("root"), pod(), nil, refused("root", "root")},
		"for another scheduler":             {rootWith("root.a"), pod(in("root.a"), func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }), nil, ""},
		"made by a controller":              {rootWith("root.a"), pod(in("root.a"), controlled), nil, ""},
		"of a named application":            {rootWith("root.a"), pod(in("root.a"), label("fairway.dev/application", "x")), nil, ""},
		"an executor of Spark":              {rootWith("root.a"), pod(in("root.a"), label("spark-app-selector", "x"), label("spark-role", "executor")), nil, ""},
		"a driver of Spark":                 {rootWith("root.a"), pod(in("root.a"), label("spark-app-selector", "x"), label("spark-role", "driver")), nil, refused("root.a", "root.a")},
		"with a node":                       {rootWith("root.a"), pod(in("root.a"), func(p *corev1.Pod) { p.Spec.NodeName = "n" }), nil, refused("root.a", "root.a")},
		"a change of something else":        {rootWith("root.a"), pod(in("root.a"), label("x", "y")), pod(in("root.a")), ""},
		"a change that names a stopped one": {rootWith("root.a"), pod(in("root.a")), pod(in("root.b")), refused("root.a", "root.a")},
		"as many as the status holds":       {rootWith(append(many[1:], "root.a")...), pod(in("root.a.b")), nil, refused("root.a.b", "root.a")},
	} {
		t.Run(name, func(t *testing.T) {
			e.params = c.root
			if allowed, asked, message := e.judge(t, c.pod, c.former); allowed != (c.want == "") || message != c.want && !allowed || len(asked) > 0 {
				t.Errorf("allowed %v after %v: %q, want %q", allowed, asked, message, c.want)
			}
		})
	}
}

// A queue is stopped on a real control plane: the API server refuses new pods and templates with a message, a pod of the application that runs starts,
// what admission does not judge waits with a reason, and it goes on when the queue is started.
func TestAStoppedQueueRefusesAndHolds(t *testing.T) {
	s := closed(t)
	ctx, carol := t.Context(), s.users["carol"]
	s.schedule(t, 0)
	of := func(application string, p *corev1.Pod) *corev1.Pod {
		p.Labels[v1alpha1.KeyApplication] = application
		return p
	}
	runs := of("runs", s.pod("root.web"))
	must(t, carol.Client.Create(ctx, runs))
	s.untilFate(t, runs, "", "runs")

	state := func(text string) {
		t.Helper()
		q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "root.web"}}
		must(t, s.Admin.Client.Patch(ctx, q, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"state":`+text+`}}`))))
	}
	state(`"Stopped"`)
	defer state("null")
	since := ""
	people.Until(t, "root.web is draining", func() error {
		q := &v1alpha1.Queue{}
		must(t, s.Admin.Client.Get(ctx, client.ObjectKey{Name: "root.web"}, q))
		if q.Status.State != v1alpha1.QueueDraining || q.Status.StoppedSince == nil {
			return fmt.Errorf("it is %s", q.Status.State)
		}
		since = q.Status.StoppedSince.UTC().Format(time.RFC3339)
		return nil
	})
	refused := "queue root.web takes no new applications, because root.web is stopped; submit again when root.web is Running again, or to another queue"
	templates := []client.Object{s.pod("root.web"), s.parse(t, `{apiVersion: batch/v1, kind: Job, metadata: {}, spec: {template: {metadata: {labels: {fairway.dev/queue: QUEUE}},
		spec: {schedulerName: fairway, restartPolicy: Never, containers: [{name: c, image: none}]}}}}`, "root.web")}
	for _, o := range templates {
		people.Until(t, "a new one is refused", func() error {
			if err := carol.Client.Create(ctx, o.DeepCopyObject().(client.Object), client.DryRunAll); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refused) {
				return fmt.Errorf("%T: %w", o, err)
			}
			return nil
		})
	}
	more, late := of("runs", s.pod("root.web")), of("late", s.pod("root.web"))
	must(t, carol.Client.Create(ctx, more))
	must(t, carol.Client.Create(ctx, late))
	s.untilFate(t, more, "", "runs")
	s.untilFate(t, late, "QueueStopped", "queue root.web takes no new applications since "+since+", because root.web is stopped; this one follows when root.web is Running again")
	state(`"Running"`)
	s.untilFate(t, late, "", "runs")
	people.Until(t, "a new one is taken", func() error { return carol.Client.Create(ctx, s.pod("root.web"), client.DryRunAll) })
	for _, p := range []*corev1.Pod{runs, more, late} {
		must(t, s.Admin.Client.Delete(context.WithoutCancel(ctx), p, client.GracePeriodSeconds(0)))
	}
}

// untilFate waits until the pod runs, or is blocked for this reason.
func (s *team) untilFate(t *testing.T, p *corev1.Pod, wantReason, wantMessage string) {
	t.Helper()
	people.Until(t, "pod "+p.Name+": "+wantMessage, func() error {
		is := &corev1.Pod{}
		must(t, s.Admin.Client.Get(t.Context(), client.ObjectKeyFromObject(p), is))
		reason, message, err := fate(is)
		if err == nil && (reason != wantReason || message != wantMessage) {
			err = fmt.Errorf("%s: %s", reason, message)
		}
		return err
	})
}
