package writing

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// ApplyStatus makes a status that of an object, and returns the object. It states the version for which the status was computed: a new object with the same
// name must not inherit that of its predecessor. The client is that of the object's namespace.
func ApplyStatus(
	ctx context.Context, client dynamic.ResourceInterface, kind schema.GroupVersionKind, of *unstructured.Unstructured, status map[string]any,
) (*unstructured.Unstructured, error) {
	body := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	body.SetGroupVersionKind(kind)
	body.SetNamespace(of.GetNamespace())
	body.SetName(of.GetName())
	body.SetResourceVersion(of.GetResourceVersion())
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return client.ApplyStatus(ctx, of.GetName(), body, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
}
