package people

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
func (w *World) PoliciesSettle(ctx context.Context) error {
	name := fmt.Sprintf("marker-%d", time.Now().UnixNano())
	text := strings.ReplaceAll(marker, "NAME", name)
	if _, err := kubectl(ctx, w.Cluster.Kubeconfig(), text, "apply", "-f", "-"); err != nil {
		return err
	}
	err := Await(ctx, func() error {
		err := w.Admin.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}, client.DryRunAll)
		if apierrors.IsInvalid(err) && strings.Contains(err.Error(), "mutated and validated") {
			return nil
		}
		return errors.Join(errors.New("the policies written last do not act"), err)
	})
	if err != nil {
		return err
	}
	_, err = kubectl(ctx, w.Cluster.Kubeconfig(), text, "delete", "-f", "-")
	return err
}
