package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// install creates the CRDs of the source tree, and the objects of a YAML file.
func install(ctx context.Context, client dynamic.Interface, root string, text []byte) error {
	if err := localcluster.InstallCRDs(ctx, client, filepath.Join(root, "manifests", "crds")); err != nil {
		return err
	}
	return create(ctx, client, text)
}

// create creates the objects of a YAML file, in their order.
func create(ctx context.Context, client dynamic.Interface, text []byte) error {
	objects, err := decode(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if _, err := resourceOf(client, object).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// resourceOf is where objects of this kind are, in the namespace of the object.
func resourceOf(client dynamic.Interface, object *unstructured.Unstructured) dynamic.ResourceInterface {
	kind, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind()) // right for the kinds of this package
	if object.GetNamespace() == "" {
		return client.Resource(kind)
	}
	return client.Resource(kind).Namespace(object.GetNamespace())
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
		if err := create(ctx, objects, text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return awaitRight(ctx, reviews, true, authorizationv1.SubjectAccessReviewSpec{
		User: schedulerAccount, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "watch", Resource: "nodes"},
	})
}

// awaitRight returns when the API server allows this, or no longer does.
func awaitRight(
	ctx context.Context, reviews authorizationv1client.SubjectAccessReviewInterface, want bool, asked authorizationv1.SubjectAccessReviewSpec,
) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, grantLimit, true, func(ctx context.Context) (bool, error) {
		review, err := reviews.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: asked}, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed == want, err
	})
}

// writeConfiguration writes the configuration that manifests/scheduler installs, for this kubeconfig and with checkAccess, into the directory of the
// cluster, and returns its path.
func (d *demo) writeConfiguration(kubeconfig string) (string, error) {
	text, err := os.ReadFile(filepath.Join(d.root, "manifests", "scheduler", "configuration.yaml"))
	if err != nil {
		return "", err
	}
	configuration, err := configure(text, kubeconfig)
	if err != nil {
		return "", err
	}
	path := filepath.Join(d.dir(), "scheduler.yaml")
	return path, os.WriteFile(path, []byte(configuration), 0o600)
}

// configure takes the configuration out of its ConfigMap, and changes what differs here: there is one scheduler, it is no pod, and it checks access.
func configure(manifest []byte, kubeconfig string) (string, error) {
	objects, err := decode(manifest)
	if err != nil || len(objects) != 1 {
		return "", fmt.Errorf("the scheduler's configuration is %d objects: %w", len(objects), err)
	}
	text, _, err := unstructured.NestedString(objects[0].Object, "data", "config.yaml")
	if err != nil {
		return "", err
	}
	for _, change := range [][2]string{
		{"clientConnection:", "clientConnection:\n  kubeconfig: " + kubeconfig}, {"leaderElect: true", "leaderElect: false"}, {"checkAccess: false", "checkAccess: true"},
	} {
		if strings.Count(text, change[0]) != 1 {
			return "", fmt.Errorf("the scheduler's configuration does not say %q once", change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return text, nil
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
