package localcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// crdResource is the resource of CRDs.
var crdResource = apiextensions.SchemeGroupVersion.WithResource("customresourcedefinitions")

// servedLimit is how long a new CRD may take until its objects can be read and written.
const servedLimit = 30 * time.Second

// InstallCRDs creates the CRDs in the YAML files of a folder, one per file, and returns when their objects can
// be read and written.
func InstallCRDs(ctx context.Context, client dynamic.Interface, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no CRDs in %s", folder)
	}
	var kinds []schema.GroupVersionResource
	for _, file := range files {
		crd, kind, err := readCRD(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if _, err := client.Resource(crdResource).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("install %s: %w", file, err)
		}
		kinds = append(kinds, kind)
	}
	for _, kind := range kinds {
		if err := awaitServed(ctx, client, kind); err != nil {
			return fmt.Errorf("wait until %s are served: %w", kind.GroupResource(), err)
		}
	}
	return nil
}

func readCRD(file string) (*unstructured.Unstructured, schema.GroupVersionResource, error) {
	var none schema.GroupVersionResource
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, none, err
	}
	crd, typed := &unstructured.Unstructured{}, apiextensions.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, &crd.Object); err != nil {
		return nil, none, err
	}
	if err := yaml.Unmarshal(text, &typed); err != nil {
		return nil, none, err
	}
	if len(typed.Spec.Versions) == 0 {
		return nil, none, fmt.Errorf("%s has no version", typed.Name)
	}
	s := typed.Spec
	return crd, schema.GroupVersionResource{Group: s.Group, Version: s.Versions[0].Name, Resource: s.Names.Plural}, nil
}

// awaitServed requests the objects and does not rely on the condition Established: kube-apiserver sets it a
// moment before every request finds the resource.
func awaitServed(ctx context.Context, client dynamic.Interface, kind schema.GroupVersionResource) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedLimit, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(kind).List(ctx, metav1.ListOptions{Limit: 1})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}
