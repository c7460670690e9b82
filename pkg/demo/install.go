package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

var (
	crdResource   = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	queueResource = v1alpha1.GroupVersion.WithResource("queues")
)

// install creates the CRDs of the source tree, and the queues once the CRDs serve.
func install(ctx context.Context, client dynamic.Interface, root string, queues []byte) error {
	files, err := filepath.Glob(filepath.Join(root, "manifests", "crds", "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no CRDs in %s", filepath.Join(root, "manifests", "crds"))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := create(ctx, client, crdResource, data); err != nil {
			return fmt.Errorf("install %s: %w", file, err)
		}
	}
	if err := established(ctx, client, len(files)); err != nil {
		return err
	}
	return create(ctx, client, queueResource, queues)
}

// create creates all objects of a YAML file. A resource that is not served yet is tried again: kube-apiserver says that a CRD is
// established a moment before every request finds it.
func create(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, file []byte) error {
	objects, err := decode(file)
	if err != nil {
		return err
	}
	for _, object := range objects {
		var last error
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, serveLimit, true, func(ctx context.Context) (bool, error) {
			_, last = client.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
			if apierrors.IsNotFound(last) {
				return false, nil
			}
			return last == nil, last
		})
		if err != nil {
			if last != nil {
				err = last // what the server said, rather than that time is up
			}
			return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// decode reads the documents of a YAML file; those without content are skipped.
func decode(file []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(file), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

const serveLimit = 30 * time.Second

// established waits until that many CRDs serve.
func established(ctx context.Context, client dynamic.Interface, want int) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, serveLimit, true, func(ctx context.Context) (bool, error) {
		list, err := client.Resource(crdResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		serving := 0
		for i := range list.Items {
			// At first the conditions are null, which is an error here, and none yet.
			conditions, _, _ := unstructured.NestedSlice(list.Items[i].Object, "status", "conditions")
			if slices.ContainsFunc(conditions, isEstablished) {
				serving++
			}
		}
		return serving >= want, nil
	})
}

func isEstablished(condition any) bool {
	c, ok := condition.(map[string]any)
	return ok && c["type"] == "Established" && c["status"] == "True"
}
