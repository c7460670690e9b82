package convert

import (
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
)

// defaultServiceAccount is the service account of a pod that names none.
const defaultServiceAccount = "default"

// User returns the user a pod counts for: the one for whom it was bound (see SetPlaced), else the one that the annotation fairway.dev/user
// names, else the pod's service account under the name that the API server knows it by ("system:serviceaccount:<namespace>:<name>"), which is also what RBAC and audit logs say.
//
// It is never empty. A pod that names no service account runs as "default" of its namespace, so all such pods of a
// namespace count for one user.
func User(pod *corev1.Pod) string {
	if user := placedFor(pod); user != "" {
		return user
	}
	if user := pod.Annotations[v1alpha1.KeyUser]; user != "" {
		return user
	}
	account := pod.Spec.ServiceAccountName
	if account == "" {
		account = defaultServiceAccount
	}
	return serviceaccount.MakeUsername(pod.Namespace, account)
}

// Submitter returns the user whose right to submit counts for a pod (see User), with the groups. A pod with a user and no list of groups was
// not stamped by our admission policy. Its user has the group of all who are authenticated, as every user has whom an API server knows by name.
func Submitter(pod *corev1.Pod) access.Subject {
	name := User(pod)
	var groups []string
	stamped, ok := pod.Annotations[v1alpha1.KeyGroups]
	switch {
	case pod.Annotations[v1alpha1.KeyUser] == "":
		groups = append(serviceaccount.MakeGroupNames(pod.Namespace), user.AllAuthenticated)
	case ok:
		groups = access.SplitGroups(stamped)
	case name != user.Anonymous:
		groups = []string{user.AllAuthenticated}
	}
	return unique.Make(access.NewSubject(name, groups)).Value() // one copy for all pods of the user
}
