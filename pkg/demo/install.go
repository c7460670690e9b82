package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"

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

// What manifests/rbac calls the scheduler's account.
const (
	schedulerNamespace = "fairway-system"
	schedulerAccount   = "system:serviceaccount:" + schedulerNamespace + ":" + schedulerName
)

// grant creates the scheduler's account and roles as the manifests have them, and returns when they are in force.
func grant(ctx context.Context, objects dynamic.Interface, reviews authorizationv1client.SubjectAccessReviewInterface, root string) error {
	files, err := filepath.Glob(filepath.Join(root, "manifests", "rbac", "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range append([]string{filepath.Join(root, "manifests", "scheduler", "namespace.yaml")}, files...) {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		decoded, err := decode(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, object := range decoded {
			kind, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind()) // right for these kinds
			if _, err := objects.Resource(kind).Namespace(object.GetNamespace()).Create(ctx, object, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
	}
	asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: schedulerAccount, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "watch", Resource: "nodes"},
	}}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, grantLimit, true, func(ctx context.Context) (bool, error) {
		review, err := reviews.Create(ctx, asked, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, err
	})
}

// grantLimit is how long the API server may take to learn of roles; it takes milliseconds.
const grantLimit = 30 * time.Second

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
