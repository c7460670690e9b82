package crd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubecluster "github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// As the user viewer, who may do nothing until a binding says otherwise.
func readAs(ctx context.Context, user string) (*objects.Set, error) {
	f := kubecluster.NewFlags()
	path := cluster.Kubeconfig()
	f.KubeConfig = &path
	if user != "" {
		f.Impersonate = &user
	}
	return kubecluster.Read(ctx, f)
}

func mayRead(ctx context.Context, t *testing.T, user, role string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
	remove(t, binding)
	if err := typed.Create(ctx, binding); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, o client.Object) {
	t.Helper()
	t.Cleanup(func() {
		if err := typed.Delete(context.Background(), o, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}

// The role for people who use the command line suffices for all that it reads; the role that comes with view does not, and the error says
// what is missing.
func TestViewersMayReadAPicture(t *testing.T) {
	ctx := needCluster(t)
	_, err := readAs(ctx, "nobody")
	if err == nil || !strings.Contains(err.Error(), "it takes list on queues.scheduling.fairway.dev, nodes and pods of all namespaces; see manifests/rbac/cluster-viewer.yaml") {
		t.Errorf("without a role: %v", err)
	}
	mayRead(ctx, t, "viewer", "fairway-cluster-viewer")
	waitErr := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err = readAs(ctx, "viewer")
		return err == nil, nil
	})
	if waitErr != nil {
		t.Fatalf("with the role: %v", err)
	}
}

// It suffices for the console, too, which watches and lists events. Without a role there is none.
func TestViewersMayWatchAPicture(t *testing.T) {
	ctx := needCluster(t)
	watchAs := func(user string) (*kubecluster.Watcher, error) {
		f := kubecluster.NewFlags()
		path := cluster.Kubeconfig()
		f.KubeConfig, f.Impersonate = &path, &user
		return kubecluster.Watch(ctx, f)
	}
	if _, err := watchAs("nobody"); err == nil || !strings.Contains(err.Error(), "it takes list and watch on queues") {
		t.Errorf("without a role: %v", err)
	}
	mayRead(ctx, t, "watcher", "fairway-cluster-viewer")
	var w *kubecluster.Watcher
	var err error
	if wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		w, err = watchAs("watcher")
		return err == nil, nil
	}) != nil {
		t.Fatalf("with the role: %v", err)
	}
	if _, err := create(ctx, t, object(t, "root.watched", `{weight: "2"}`)); err != nil {
		t.Fatal(err)
	}
	for seen := false; !seen; {
		select {
		case <-ctx.Done():
			t.Fatal("a new Queue is not seen")
		case <-w.Changed():
		}
		set, err := w.Set()
		if err != nil {
			t.Fatal(err)
		}
		seen = slices.ContainsFunc(set.Queues, func(q *unstructured.Unstructured) bool { return q.GetName() == "root.watched" })
	}
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "said", Namespace: "default"}, Reason: "Starved", Message: "of root.watched", Type: "Warning",
		InvolvedObject: corev1.ObjectReference{Kind: "Queue", Name: "root.watched"}, LastTimestamp: metav1.Now(),
	}
	remove(t, event)
	if err := typed.Create(ctx, event); err != nil {
		t.Fatal(err)
	}
	if said, err := w.Events(ctx, "Queue", "", "root.watched"); err != nil || len(said) != 1 || said[0].Message != "of root.watched" {
		t.Errorf("%v, %+v", err, said)
	}
	if said, err := w.Events(ctx, "Queue", "", "root.other"); err != nil || len(said) != 0 {
		t.Errorf("of another queue: %v, %+v", err, said)
	}
	if said, err := w.Evicted(ctx); err != nil || len(said) != 0 {
		t.Errorf("evicted: %v, %+v", err, said)
	}
}

// What kubectl prints of a cluster is what the cluster answers.
func TestADumpHoldsWhatTheClusterHolds(t *testing.T) {
	ctx := needCluster(t)
	if _, err := create(ctx, t, object(t, "root.dumped", `{weight: "2", max: {cpu: "10"}}`)); err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "dumped"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "dumped", Namespace: "default", Annotations: map[string]string{"text": "- a\nitems:\n---\n\"b"}},
		Spec: corev1.PodSpec{SchedulerName: "fairway", Containers: []corev1.Container{{
			Name: "c", Image: "example.com/c:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
		}}},
	}
	group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": int64(3), "minResources": map[string]any{"cpu": "3"}}}}
	group.SetGroupVersionKind(schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"})
	group.SetNamespace("default")
	group.SetName("dumped")
	for _, o := range []client.Object{node, pod, group} {
		remove(t, o)
		if err := typed.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range []string{"yaml", "json"} {
		live, text := atOnce(ctx, t, format)
		dumped, err := objects.Read("kubectl", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(live.Queues) == 0 || len(live.Nodes) == 0 || len(live.Pods) == 0 || len(live.PodGroups) == 0 {
			t.Fatal("there is nothing to compare")
		}
		same(t, live.Queues, dumped.Queues, func(q *unstructured.Unstructured) string { return q.GetName() })
		same(t, live.PodGroups, dumped.PodGroups, convert.GangKey)
		same(t, live.Nodes, dumped.Nodes, func(n *corev1.Node) string { return n.Name })
		same(t, live.Pods, dumped.Pods, func(p *corev1.Pod) string { return p.Namespace + "/" + p.Name })
	}
}

// atOnce returns what the cluster answers and what kubectl prints while nothing happens: controllers taint new nodes.
func atOnce(ctx context.Context, t *testing.T, format string) (live *objects.Set, text string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		before, err := readAs(ctx, "")
		if err != nil {
			return false, err
		}
		if text, err = kubectl(ctx, "get", "queues,placementpolicies,nodes,pods,deviceclasses,podgroups.scheduling.x-k8s.io", "--all-namespaces", "-o", format); err != nil {
			return false, fmt.Errorf("%w\n%s", err, text)
		}
		live, err = readAs(ctx, "")
		return gocmp.Equal(before, live, cmpopts.IgnoreUnexported(objects.Set{})), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return live, text
}

func same[T any](t *testing.T, live, dumped []T, name func(T) string) {
	t.Helper()
	byName := func(a, b T) int { return cmp.Compare(name(a), name(b)) }
	slices.SortFunc(live, byName)
	slices.SortFunc(dumped, byName)
	if diff := gocmp.Diff(live, dumped); diff != "" {
		t.Errorf("live and dumped: %s", diff)
	}
}

// The role that is added to edit lets its users make pod groups, and not write their status. (No controller that adds it runs here.)
func TestEditorsMakePodGroups(t *testing.T) {
	ctx := needCluster(t)
	const role = "fairway-podgroup-editor"
	is := &rbacv1.ClusterRole{}
	if err := typed.Get(ctx, client.ObjectKey{Name: role}, is); err != nil || is.Labels["rbac.authorization.k8s.io/aggregate-to-edit"] != "true" {
		t.Fatalf("it is not added to edit: %v, %v", is.Labels, err)
	}
	mayRead(ctx, t, "editor", role)
	as := cluster.RESTConfig()
	as.Impersonate = rest.ImpersonationConfig{UserName: "editor"}
	editor, err := client.New(as, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	group := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": int64(2)}}}
	group.SetAPIVersion("scheduling.x-k8s.io/v1alpha1")
	group.SetKind("PodGroup")
	group.SetNamespace("default")
	group.SetName("edited")
	waitErr := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err = editor.Create(ctx, group.DeepCopy())
		return !apierrors.IsForbidden(err), nil // the API server sees the binding a moment later
	})
	if err != nil || waitErr != nil {
		t.Fatalf("an editor makes no pod group: %v", err)
	}
	remove(t, group)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`))
	if err := editor.Status().Patch(ctx, group.DeepCopy(), patch); !apierrors.IsForbidden(err) {
		t.Errorf("an editor writes the status of a pod group: %v", err)
	}
}
