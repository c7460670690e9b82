package convert

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
)

// defaultServiceAccount is the service account of a pod that names none.
const defaultServiceAccount = "default"

// User returns the user a pod counts for: the one that the annotation fairway.dev/user names, else the pod's service account under the name
// that the API server knows it by ("system:serviceaccount:<namespace>:<name>"), which is also what RBAC and audit logs say.
//
// It is never empty. A pod that names no service account runs as "default" of its namespace, so all such pods of a
// namespace count for one user.
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
