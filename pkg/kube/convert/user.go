package convert

import (
	"cmp"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/access"
)

// defaultServiceAccount is the service account of a pod that names none.
const defaultServiceAccount = "default"

// User returns the user a pod counts for: the one for whom it was bound (see SetPlaced), else the one that the annotation fairway.dev/user
// names, else the pod's service account under the name that the API server knows it by ("system:serviceaccount:<namespace>:<name>"), which
// is also what RBAC and audit logs say.
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
	return runsAs(pod)
}

// runsAs returns the service account of a pod, under the name by which the API server knows it.
func runsAs(pod *corev1.Pod) string {
	return serviceaccount.MakeUsername(pod.Namespace, cmp.Or(pod.Spec.ServiceAccountName, defaultServiceAccount))
}

// Creator is what a pod says of those that it creates: they are sent by its account, and count for its user, with the user's groups.
type Creator struct{ Account, User, groups string }

// CreatorOf returns what a pod says of those that it creates.
func CreatorOf(pod *corev1.Pod) Creator {
	return Creator{runsAs(pod), User(pod), access.JoinGroups(Groups(pod))}
}

// UserBehind returns the user a pod counts for, where known returns what is known of a pod that creates others; false for any other. Without
// it that is User. The API server has seen that the creator sent the pod and controls it (annotation fairway.dev/creator-pod); the owner
// reference and the account that it has written as the user must still agree with that.
func UserBehind(pod *corev1.Pod, known func(types.UID) (Creator, bool)) string {
	if c, ok := creatorOf(pod, known); ok {
		return c.User
	}
	return User(pod)
}

// GroupsBehind returns the groups of the user that UserBehind returns, as Groups does.
func GroupsBehind(pod *corev1.Pod, known func(types.UID) (Creator, bool)) []string {
	if c, ok := creatorOf(pod, known); ok {
		return access.SplitGroups(c.groups)
	}
	return Groups(pod)
}

// creatorOf returns the creator for whose user a pod counts; false if it counts for its own.
func creatorOf(pod *corev1.Pod, known func(types.UID) (Creator, bool)) (Creator, bool) {
	uid := types.UID(pod.Annotations[v1alpha1.KeyCreatorPod])
	owner := metav1.GetControllerOfNoCopy(pod)
	if uid == "" || placedFor(pod) != "" || owner == nil || owner.UID != uid || owner.Kind != "Pod" || owner.APIVersion != "v1" {
		return Creator{}, false
	}
	c, ok := known(uid)
	return c, ok && c.Account == User(pod)
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

// Groups returns the groups of the user of a pod (see User), in the order in which the annotation fairway.dev/groups has them. A pod whose user is its
// service account has the groups of service accounts.
func Groups(pod *corev1.Pod) []string {
	if pod.Annotations[v1alpha1.KeyUser] == "" {
		return append(serviceaccount.MakeGroupNames(pod.Namespace), user.AllAuthenticated)
	}
	return access.SplitGroups(pod.Annotations[v1alpha1.KeyGroups])
}
