package convert

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// Owner is an object that controls pods, with what it says about their number. Of its metadata it keeps only the
// identity and the creation time: there may be as many Jobs as pods.
type Owner struct {
	metav1.ObjectMeta `json:"metadata"`

	Kind string    `json:"kind"`
	Spec OwnerSpec `json:"spec"`
}

// OwnerSpec holds the fields of all kinds of owners; each has its own.
type OwnerSpec struct {
	Parallelism *int32 `json:"parallelism,omitempty"`
	Completions *int32 `json:"completions,omitempty"`
	Replicas    *int32 `json:"replicas,omitempty"`
}

// Kinds of owners that say how many pods they have.
const (
	KindJob                   = "Job"
	KindReplicaSet            = "ReplicaSet"
	KindStatefulSet           = "StatefulSet"
	KindReplicationController = "ReplicationController"
)

// OwnerOf takes what is needed from an object, or returns nil for other kinds. A Deployment says nothing that its
// ReplicaSet does not say, and owns no pod.
func OwnerOf(object any) *Owner {
	switch o := object.(type) {
	case *Owner:
		return o
	case *batchv1.Job:
		return NewOwner(KindJob, &o.ObjectMeta, OwnerSpec{Parallelism: o.Spec.Parallelism, Completions: o.Spec.Completions})
	case *appsv1.ReplicaSet:
		return NewOwner(KindReplicaSet, &o.ObjectMeta, OwnerSpec{Replicas: o.Spec.Replicas})
	case *appsv1.StatefulSet:
		return NewOwner(KindStatefulSet, &o.ObjectMeta, OwnerSpec{Replicas: o.Spec.Replicas})
	case *corev1.ReplicationController:
		return NewOwner(KindReplicationController, &o.ObjectMeta, OwnerSpec{Replicas: o.Spec.Replicas})
	}
	return nil
}

// NewOwner returns an owner of the kind that keeps nothing else of the metadata alive.
func NewOwner(kind string, m *metav1.ObjectMeta, spec OwnerSpec) *Owner {
	return &Owner{Kind: kind, Spec: spec, ObjectMeta: metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, CreationTimestamp: m.CreationTimestamp,
	}}
}

// OnePod reports whether the owner says that it has one pod, however often that is tried. An owner of 0 pods says
// nothing: it is about to be scaled, and its first pod may be seen before its new size.
//
// A Job of several completions has several pods, also if it runs them one after the other. Whether a Job is suspended makes no difference.
func (o *Owner) OnePod() bool {
	if o.Kind != KindJob {
		return orOne(o.Spec.Replicas) == 1
	}
	if o.Spec.Completions != nil {
		return *o.Spec.Completions == 1 // Kubernetes runs at most as many at a time as are still to complete
	}
	return orOne(o.Spec.Parallelism) == 1
}

// orOne fills in the default that an API server would have written.
func orOne(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// Single reports whether the application of a pod is known to be that pod only: the pod says so, or is an application by
// itself, or its application is its owner and the owner says so. app and role are those of the pod (see ApplicationOf).
// onePod returns what the owner of that UID says (see Owner.OnePod), false for an unknown one.
//
// The pods of a framework may be pods of one-pod Jobs as well, so a Job counts only if the application is that Job. A
// pod with a role has other pods beside it, or will have.
func Single(pod *corev1.Pod, app string, role application.Role, onePod func(types.UID) bool) bool {
	if labelOrAnnotation(pod, v1alpha1.KeyApplicationSize) == "1" {
		return true
	}
	_, kind, name, ok := application.Split(app)
	if !ok || role != application.None {
		return false
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return kind == "pod"
	}
	switch is := ownerKind(owner); kind {
	case "job": // by its label, which anybody may write on pods of anything
		return is == "job.batch" && owner.Name == name && onePod(owner.UID)
	case "deployment.apps":
		return is == "replicaset.apps" && onePod(owner.UID)
	case "replicaset.apps", "statefulset.apps", "replicationcontroller.core":
		return is == kind && onePod(owner.UID)
	}
	return false
}
