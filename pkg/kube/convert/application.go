package convert

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// ApplicationOf returns the application a pod belongs to (see application.Name) and the pod's role in it.
//
// Our own labels come first. Where they are missing, the pod is recognised by what users already have, in the order of the list below; else
// its application is its controlling owner, and a pod without one is an application by itself. The role may be given by our label alone,
// on top of any of these.
func ApplicationOf(pod *corev1.Pod) (name string, role application.Role) {
	kind, id, role := recognise(pod)
	if stated, ok := application.ParseRole(pod.Labels[v1alpha1.KeyRole]); ok {
		role = stated
	}
	return application.Name(pod.Namespace, kind, id), role
}

// recogniser is one way to tell an application by labels.
type recogniser struct {
	kind string // part of the application's name; never holds a slash, nor a dot (those are kinds of owners)
	id   func(pod *corev1.Pod) string
	role func(pod *corev1.Pod) application.Role // nil: no roles
}

// recognisers in order. What a person wrote on purpose comes before what a controller stamps on every pod it makes: pods of two Jobs that
// share a YuniKorn application or a pod group are one application. A framework that knows drivers comes before one that does not, and the
// larger before the smaller: a JobSet's pods are pods of its Jobs too.
var recognisers = []recogniser{
	{kind: "app", id: label(v1alpha1.KeyApplication)},
	{kind: "spark", id: label("spark-app-selector"), role: roleBy("spark-role", map[string]application.Role{
		"driver": application.Driver, "executor": application.Executor,
	})},
	{kind: "ray", id: label("ray.io/cluster"), role: roleBy("ray.io/node-type", map[string]application.Role{
		"head": application.Driver, "worker": application.Executor,
	})},
	{kind: "flink", id: flinkCluster, role: roleBy("component", flinkRoles)},
	{kind: "training", id: label("training.kubeflow.org/job-name"), role: trainingRole},
	{kind: "yunikorn", id: yunikornApplicationOf},
	{kind: "podgroup", id: label("scheduling.x-k8s.io/pod-group")},
	{kind: "jobset", id: label("jobset.sigs.k8s.io/jobset-name")},
	{kind: "job", id: label("batch.kubernetes.io/job-name")},
}

func recognise(pod *corev1.Pod) (kind, id string, role application.Role) {
	for _, r := range recognisers {
		id := r.id(pod)
		if id == "" {
			continue
		}
		if r.role != nil {
			role = r.role(pod)
		}
		return r.kind, id, role
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return ownerKind(owner), owner.Name, application.None
	}
	return "pod", pod.Name, application.None
}

// ownerKind is "replicaset.apps": with the group, since kinds such as Job exist in several, but without the version, which may change under
// a living object.
func ownerKind(owner *metav1.OwnerReference) string {
	group, _, found := strings.Cut(owner.APIVersion, "/")
	if !found {
		group = "core"
	}
	return strings.ToLower(owner.Kind) + "." + group
}

func label(key string) func(*corev1.Pod) string {
	return func(pod *corev1.Pod) string { return pod.Labels[key] }
}

func roleBy(key string, roles map[string]application.Role) func(*corev1.Pod) application.Role {
	return func(pod *corev1.Pod) application.Role { return roles[strings.ToLower(pod.Labels[key])] }
}

var flinkRoles = map[string]application.Role{"jobmanager": application.Driver, "taskmanager": application.Executor}

// flinkCluster reads Flink's labels app and component. Both are words that anybody may use, so a component that Flink knows is asked for.
func flinkCluster(pod *corev1.Pod) string {
	if flinkRoles[strings.ToLower(pod.Labels["component"])] == application.None {
		return ""
	}
	return pod.Labels["app"]
}

// trainingRoles of the Kubeflow training operators. Who launches the others, or hosts their rendezvous, is the driver: without it the rest
// stands still, so it must come first and go last.
var trainingRoles = map[string]application.Role{
	"launcher": application.Driver, "master": application.Driver, "chief": application.Driver, "scheduler": application.Driver,
	"worker": application.Executor, "ps": application.Executor, "server": application.Executor, "evaluator": application.Executor,
}

// trainingRole reads the role an operator states (job-role) before the name of the group of replicas (replica-type).
func trainingRole(pod *corev1.Pod) application.Role {
	if role := trainingRoles[strings.ToLower(pod.Labels["training.kubeflow.org/job-role"])]; role != application.None {
		return role
	}
	return trainingRoles[strings.ToLower(pod.Labels["training.kubeflow.org/replica-type"])]
}
