package convert

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// defaultServiceAccount is whom the API server makes a pod run as that names nobody.
const defaultServiceAccount = "default"

// User returns the user a pod counts for: the one that the annotation fairway.dev/user names, else the pod's service account under the name
// that the API server knows it by ("system:serviceaccount:<namespace>:<name>"), which is also what RBAC and audit logs say.
//
// Never empty. A pod that names no service account runs as its namespace's "default", so pods nobody signed count for one user per namespace.
func User(pod *corev1.Pod) string {
	if user := pod.Annotations[v1alpha1.KeyUser]; user != "" {
		return user
	}
	account := pod.Spec.ServiceAccountName
	if account == "" {
		account = defaultServiceAccount
	}
	return serviceaccount.MakeUsername(pod.Namespace, account)
}
