package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/metrics"
)

// If the answer does not tell what became of a bind, the pod does: if a bound pod counted as unbound, other
// pods would be released into its room in the queue.
func TestALostBindAnswerIsReadFromThePod(t *testing.T) {
	binding := schema.GroupResource{Resource: "pods/binding"}
	for name, c := range map[string]struct {
		answer error
		node   string // of the pod afterwards
		bound  bool
	}{
		"bound":                                   {nil, "n", true},
		"etcd died after it had written":          {apierrors.NewConflict(binding, "p", errors.New("rpc error: code = Unavailable")), "n", true},
		"etcd died before":                        {apierrors.NewConflict(binding, "p", errors.New("rpc error: code = Unavailable")), "", false},
		"somebody else bound it":                  {apierrors.NewConflict(binding, "p", errors.New("already assigned")), "other", false},
		"the connection broke after the write":    {errors.New("connection reset by peer"), "n", true},
		"the server timed out and had written":    {apierrors.NewTimeoutError("slow", 1), "n", true},
		"refused, whatever the pod says":          {apierrors.NewForbidden(binding, "p", errors.New("no")), "n", false},
		"this process does not lead, nothing was": {errNotLeading, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(&v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u"}, Spec: v1.PodSpec{NodeName: c.node},
			})
			client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, c.answer })
			l := ledger.New(ledger.Options{})
			s := &Scheduler{Ledger: l, metrics: metrics.New(l, metrics.Options{})}
			b := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u"}, Target: v1.ObjectReference{Name: "n"}}
			err := placingClient{client, s}.CoreV1().Pods("default").Bind(context.Background(), b, metav1.CreateOptions{})
			if c.bound != (err == nil) || err != nil && err.Error() != c.answer.Error() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What a pod is charged as goes with its binding, so that it needs no second write and holds from the moment at which the pod has a node.
func TestABindingCarriesWhatThePodIsChargedAs(t *testing.T) {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u", Labels: map[string]string{
			"fairway.dev/queue": "a", "fairway.dev/application": "etl", "fairway.dev/role": "driver",
		}, Annotations: map[string]string{"fairway.dev/user": "ada"}},
		Spec: v1.PodSpec{SchedulerName: "fairway"},
	}
	client := fake.NewClientset(pod)
	var sent *v1.Binding
	client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		sent = a.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		return true, nil, nil
	})
	queue := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue", "metadata": map[string]any{"name": "root.a"},
	}}
	l := feed.Rebuild(&objects.Set{Pods: []*v1.Pod{pod}, Queues: []*unstructured.Unstructured{queue}}, []string{"fairway"}, time.Unix(1000, 0), ledger.Options{})
	s := &Scheduler{Ledger: l, metrics: metrics.New(l, metrics.Options{})}
	b := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default", UID: "u"}, Target: v1.ObjectReference{Name: "n"}}
	if err := (placingClient{client, s}).CoreV1().Pods("default").Bind(context.Background(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"fairway.dev/placed-queue": "root.a", "fairway.dev/placed-application": "app/etl",
		"fairway.dev/placed-role": "driver", "fairway.dev/placed-user": "ada"}
	if diff := cmp.Diff(want, sent.Annotations); diff != "" {
		t.Error(diff)
	}
	if len(b.Annotations) > 0 {
		t.Error("the binding of the caller has changed")
	}
}
