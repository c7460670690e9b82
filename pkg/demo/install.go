package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// install creates the CRDs of the source tree, and the queues of a YAML file.
func install(ctx context.Context, client dynamic.Interface, root string, queues []byte) error {
	if err := localcluster.InstallCRDs(ctx, client, filepath.Join(root, "manifests", "crds")); err != nil {
		return err
	}
	objects, err := decode(queues)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if _, err := client.Resource(v1alpha1.QueueResource).Create(ctx, object, metav1.CreateOptions{}); err != nil {
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
