package localcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// settleLimit is how long the API server may take to learn of admission policies; it takes a second or two.
const settleLimit = time.Minute

// marker is a pair of policies that show by a ConfigMap of their name whether they are in force.
const marker = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: NAME}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE], resourceNames: [NAME]}
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/data", value: {"mutated": "yes"}}]'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE], resourceNames: [NAME]}
  validations:
  - {expression: '!has(object.data)', message: mutated and validated}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny]}
`

// PoliciesSettle returns when admission policies that were written before are in force. The API server learns of them by watches and takes
// them up together, once a second: when two that were written last act, those before them do.
func (c *Cluster) PoliciesSettle(ctx context.Context) (err error) {
	client, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	name := fmt.Sprintf("marker-%d", time.Now().UnixNano())
	objects, err := markers(name)
	if err != nil {
		return err
	}
	defer func() {
		for _, object := range objects {
			if failed := client.Resource(resourceOf(object)).Delete(ctx, object.GetName(), metav1.DeleteOptions{}); !apierrors.IsNotFound(failed) {
				err = errors.Join(err, failed)
			}
		}
	}()
	for _, object := range objects {
		if _, err := client.Resource(resourceOf(object)).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create %s %s: %w", object.GetKind(), name, err)
		}
	}
	probe := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}}}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, settleLimit, true, func(ctx context.Context) (bool, error) {
		_, last = client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(metav1.NamespaceDefault).
			Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(last) && strings.Contains(last.Error(), "mutated and validated"), nil
	})
	if err != nil {
		return fmt.Errorf("the policies written last do not act: %w", errors.Join(err, last))
	}
	return nil
}

// markers are the objects of a marker with this name.
func markers(name string) (objects []*unstructured.Unstructured, err error) {
	for text := range strings.SplitSeq(strings.ReplaceAll(marker, "NAME", name), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// resourceOf guesses the resource of an object from its kind, which is right for policies and their bindings.
func resourceOf(object *unstructured.Unstructured) schema.GroupVersionResource {
	kind, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	return kind
}
