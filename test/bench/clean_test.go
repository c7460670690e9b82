package main

import (
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

func testWorld(t *testing.T) *world {
	t.Helper()
	w, err := startWorld(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	root, err := sourceTree()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.furnish(t.Context(), root, 0); err != nil {
		t.Fatal(err)
	}
	return w
}

func finalizers(all string) []byte { return []byte(`{"metadata":{"finalizers":[` + all + `]}}`) }

func TestEveryRunFindsACleanWorld(t *testing.T) {
	w, ctx := testWorld(t), t.Context()
	queues, pods := w.meta.Resource(queueResource), w.meta.Resource(podResource).Namespace(namespace)
	four := contestant{name: "fairway-4", queues: 4}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	// What a Fairway leaves that was killed: Queues with its finalizer, of which some are deleted already, and pods that it did not bind.
	ok(w.createQueues(ctx, four))
	for _, name := range []string{"root.q-00", "root.q-01", "root.q-02"} {
		_, err := queues.Patch(ctx, name, types.MergePatchType, finalizers(`"`+v1alpha1.QueueFinalizer+`"`), metav1.PatchOptions{})
		ok(err)
	}
	for _, name := range []string{"root.q-01", "root.q-02"} {
		ok(queues.Delete(ctx, name, metav1.DeleteOptions{}))
	}
	if q, err := queues.Get(ctx, "root.q-01", metav1.GetOptions{}); err != nil || q.DeletionTimestamp == nil {
		t.Fatalf("the finalizer does not hold the deleted Queue: %v", err)
	}
	ok(w.createPods(ctx, four, 2, 5))

	ok(w.clean(ctx))
	ok(w.createQueues(ctx, four)) // none is there already
	list, err := queues.List(ctx, metav1.ListOptions{})
	ok(err)
	if len(list.Items) != 4 {
		t.Errorf("%d Queues, want 4", len(list.Items))
	}
	for i := range list.Items {
		if q := &list.Items[i]; q.DeletionTimestamp != nil || len(q.Finalizers) > 0 {
			t.Errorf("%s will vanish: deleted %v, finalizers %v", q.Name, q.DeletionTimestamp, q.Finalizers)
		}
	}
	left, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(left.Items), err)
	}

	// What cannot be deleted is said, at the beginning of a run as at its end.
	ok(w.createPods(ctx, four, 2, 3))
	_, err = pods.Patch(ctx, podName(1), types.MergePatchType, finalizers(`"example.com/held"`), metav1.PatchOptions{})
	ok(err)
	for range 2 {
		err := w.clean(ctx)
		if err == nil || !strings.Contains(err.Error(), "the world is not clean: 1 pods are left after all were deleted, such as pod-00001, finalizers [example.com/held]") {
			t.Errorf("got %v", err)
		}
	}
}
