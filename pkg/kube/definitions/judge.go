package definitions

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
)

// builtin are Kubernetes' own kinds, by kind and apiVersion.
var builtin = map[string]func() any{
	key(corev1.SchemeGroupVersion, "Node"):                  func() any { return &corev1.Node{} },
	key(corev1.SchemeGroupVersion, "Pod"):                   func() any { return &corev1.Pod{} },
	key(corev1.SchemeGroupVersion, "ReplicationController"): func() any { return &corev1.ReplicationController{} },
	key(resourcev1.SchemeGroupVersion, "DeviceClass"):       func() any { return &resourcev1.DeviceClass{} },
	key(batchv1.SchemeGroupVersion, "Job"):                  func() any { return &batchv1.Job{} },
	key(appsv1.SchemeGroupVersion, "ReplicaSet"):            func() any { return &appsv1.ReplicaSet{} },
	key(appsv1.SchemeGroupVersion, "StatefulSet"):           func() any { return &appsv1.StatefulSet{} },
	key(schedulingv1alpha2.SchemeGroupVersion, "PodGroup"):  func() any { return &schedulingv1alpha2.PodGroup{} },
	key(schedulingv1.SchemeGroupVersion, "PriorityClass"):   func() any { return &schedulingv1.PriorityClass{} },
	key(policyv1.SchemeGroupVersion, "PodDisruptionBudget"): func() any { return &policyv1.PodDisruptionBudget{} },
	key(rbacv1.SchemeGroupVersion, "ClusterRole"):           func() any { return &rbacv1.ClusterRole{} },
	key(rbacv1.SchemeGroupVersion, "ClusterRoleBinding"):    func() any { return &rbacv1.ClusterRoleBinding{} },
	key(rbacv1.SchemeGroupVersion, "Role"):                  func() any { return &rbacv1.Role{} },
	key(rbacv1.SchemeGroupVersion, "RoleBinding"):           func() any { return &rbacv1.RoleBinding{} },
}

func key(group schema.GroupVersion, kind string) string { return kind + " " + group.String() }

// Judge is the judge of files: objects of shipped kinds are held against their definition. Those of Kubernetes' own kinds may have no unknown
// and no double fields, if a person wrote them: what has a uid has passed an API server, which may be newer than we are.
func Judge(kind, apiVersion string, raw []byte) ([]objects.Fault, error) {
	name := kind + " " + apiVersion
	if shipped[name] == nil {
		return strict(builtin[name], raw), nil
	}
	object := map[string]any{}
	doubles, err := json.UnmarshalStrict(raw, &object, json.DisallowDuplicateFields)
	if err != nil {
		return []objects.Fault{{Message: err.Error()}}, nil
	}
	faults, err := check(kind, apiVersion, object)
	return append(faultsOf(doubles), faults...), err
}

func strict(kind func() any, raw []byte) []objects.Fault {
	var head struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	if kind == nil || json.UnmarshalCaseSensitivePreserveInts(raw, &head) == nil && head.Metadata.UID != "" {
		return nil
	}
	wrong, err := json.UnmarshalStrict(raw, kind())
	if err != nil {
		return []objects.Fault{{Message: err.Error()}}
	}
	return faultsOf(wrong)
}

// faultsOf takes the field out of errors such as: unknown field "spec.x".
func faultsOf(wrong []error) []objects.Fault {
	var faults []objects.Fault
	for _, err := range wrong {
		what, name, _ := strings.Cut(err.Error(), ` field "`)
		message := "there is no such field"
		if what == "duplicate" {
			message = "is stated twice"
		}
		faults = append(faults, objects.Fault{Field: strings.TrimSuffix(name, `"`), Message: message})
	}
	return faults
}
