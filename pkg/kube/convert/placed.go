package convert

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// SetPlaced writes on a Binding what its pod is charged as: queue, application, role and user. The API server copies it to the pod, where
// ApplicationOf and User read it back. All four are always written, so that nothing that was on the pod before is taken for ours.
func SetPlaced(binding *corev1.Binding, p *ledger.PodState) {
	set := func(key, value string) { metav1.SetMetaDataAnnotation(&binding.ObjectMeta, key, value) }
	set(v1alpha1.KeyPlacedQueue, string(p.Leaf))
	_, kind, name, _ := application.Split(p.Application)
	set(v1alpha1.KeyPlacedApplication, kind+"/"+name)
	set(v1alpha1.KeyPlacedRole, p.Role.String())
	set(v1alpha1.KeyPlacedUser, p.User)
}

// placedIn returns the application and the role with which a pod was bound; false if it does not say. The namespace is that of the pod: no
// annotation makes it a pod of another namespace's application. An unbound pod was not placed, whatever it says.
func placedIn(pod *corev1.Pod) (name string, role application.Role, ok bool) {
	if pod.Spec.NodeName == "" {
		return "", application.None, false
	}
	name = pod.Namespace + "/" + pod.Annotations[v1alpha1.KeyPlacedApplication]
	if _, _, _, ok = application.Split(name); !ok {
		return "", application.None, false
	}
	role, _ = application.ParseRole(pod.Annotations[v1alpha1.KeyPlacedRole])
	return name, role, true
}

// placedFor returns the user for whom a pod was bound, "" if it does not say.
func placedFor(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		return ""
	}
	return pod.Annotations[v1alpha1.KeyPlacedUser]
}
