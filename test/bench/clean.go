package main

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// clean removes what the runs before have left: all pods and all Queues, those included that Fairway makes itself. The error says what is
// still there: a run in a world that is not clean would measure something else.
//
// No contestant runs when it is called. Fairway takes its finalizer off deleted Queues while it runs, so a Fairway that was killed leaves
// Queues that are deleted and still there. They would vanish when the next Fairway starts, and their pods would wait forever.
func (w *world) clean(ctx context.Context) error {
	if err := w.deletePods(ctx); err != nil {
		return err
	}
	queues := w.meta.Resource(queueResource)
	return deleteAll(ctx, "queues", queues, func(ctx context.Context, name string) error {
		release := []byte(`{"metadata":{"finalizers":null}}`)
		if _, err := queues.Patch(ctx, name, types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
			return err
		}
		return queues.Delete(ctx, name, metav1.DeleteOptions{}) // not found if it only waited for the finalizer
	})
}

// deletePods deletes all pods, and makes sure that none are left.
func (w *world) deletePods(ctx context.Context) error {
	pods := w.meta.Resource(podResource).Namespace(namespace)
	return deleteAll(ctx, "pods", pods, func(ctx context.Context, name string) error {
		return pods.Delete(ctx, name, *metav1.NewDeleteOptions(0)) // there is no kubelet to end a grace period
	})
}

// deleteAll calls remove for every object. One that is gone meanwhile is no error, one that is left is.
func deleteAll(ctx context.Context, what string, objects metadata.ResourceInterface, remove func(context.Context, string) error) error {
	all, err := objects.List(ctx, metav1.ListOptions{})
	if err != nil || len(all.Items) == 0 {
		return err
	}
	err = inParallel(ctx, writers, len(all.Items), func(ctx context.Context, i int) error {
		if err := remove(ctx, all.Items[i].Name); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", what, err)
	}
	left, err := objects.List(ctx, metav1.ListOptions{})
	if err != nil || len(left.Items) == 0 {
		return err
	}
	first := left.Items[0].ObjectMeta
	return fmt.Errorf("the world is not clean: %d %s are left after all were deleted, such as %s, finalizers [%s]",
		len(left.Items), what, first.Name, strings.Join(first.Finalizers, " "))
}
