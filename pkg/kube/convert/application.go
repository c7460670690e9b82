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
// its application is its controlling owner (a Deployment rather than one of its ReplicaSets), and a pod without one is an application by
// itself. The role may be given by our label alone, on top of any of these.
//
// Only the pod is read, never its owners: they would have to be watched, of every kind there is, and an application must not change while
// its owners come and go.
//
// Before all that comes what the scheduler wrote with the binding (see SetPlaced): labels of a running pod move no charge.
func ApplicationOf(pod *corev1.Pod) (name string, role application.Role) {
	if name, role, ok := placedIn(pod); ok {
		return name, role
	}
	kind, id, role := recognise(pod)
	if stated, ok := application.ParseRole(pod.Labels[v1alpha1.KeyRole]); ok {
		role = stated
	}
	return application.Name(pod.Namespace, kind, id), role
}

// recogniser is one way to recognise an application by labels.
type recogniser struct {
	kind string // part of the application's name; never holds a slash, nor a dot (those are kinds of owners)
	id   func(pod *corev1.Pod) string
	role func(pod *corev1.Pod) application.Role // nil: no roles
}

// recognisers in order. What a person wrote on purpose comes before what a controller puts on every pod: pods of two
// Jobs that share a YuniKorn application or a pod group are one application. A framework that knows drivers comes before
// one that does not, and the larger before the smaller: the pods of a JobSet are pods of its Jobs too. A
// SparkApplication that is tried again is one application, although Spark chooses a new spark-app-selector for each try
// (otherwise a limit on applications would count two while pods of the last try end).
var recognisers = []recogniser{
	{kind: "app", id: label(v1alpha1.KeyApplication)},
	{kind: "sparkapplication", id: label("sparkoperator.k8s.io/app-name"), role: roleBy("spark-role", sparkRoles)},
	{kind: "sparkconnect", id: label("sparkoperator.k8s.io/connect-name"), role: roleBy("spark-role", sparkRoles)},
	{kind: "apache-sparkapplication", id: label("spark.operator/spark-app-name"), role: roleBy("spark-role", sparkRoles)},
	{kind: "apache-sparkcluster", id: label("spark.operator/spark-cluster-name"), role: roleBy("spark-role", sparkRoles)},
	{kind: "spark", id: label("spark-app-selector"), role: roleBy("spark-role", sparkRoles)},
	{kind: "ray", id: rayCluster, role: roleBy("ray.io/node-type", map[string]application.Role{
		"head": application.Driver, "worker": application.Executor,
	})},
	{kind: "flink", id: flinkCluster, role: roleBy("component", flinkRoles)},
	{kind: "training", id: label("training.kubeflow.org/job-name"), role: trainingRole},
	{kind: "yunikorn", id: yunikornApplicationOf},
	{kind: "podgroup", id: label("scheduling.x-k8s.io/pod-group")},
	{kind: "jobset", id: label("jobset.sigs.k8s.io/jobset-name"), role: jobSetRole},
	{kind: "job", id: jobOf},
}

// recognise takes the application from the first recogniser that knows the pod, and the role from the first one that
// knows roles: a driver stays a driver when a label puts its pod into a larger application.
func recognise(pod *corev1.Pod) (kind, id string, role application.Role) {
	for _, r := range recognisers {
		found := r.id(pod)
		if found == "" {
			continue
		}
		if id == "" {
			kind, id = r.kind, found
		}
		if r.role != nil {
			return kind, id, r.role(pod)
		}
	}
	if id != "" {
		return kind, id, application.None
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return "pod", pod.Name, application.None
	}
	if name := deploymentOf(pod, owner); name != "" {
		return "deployment.apps", name, application.None
	}
	return ownerKind(owner), owner.Name, application.None
}

// deploymentOf returns the Deployment of a pod that a ReplicaSet owns, or "". The two ReplicaSets of a rolling update
// must be one application. Otherwise, with a limit on running applications, the new one would wait for a slot that the
// old one gives back only after the new one runs. The pod does not name its Deployment, but the Deployment names its
// ReplicaSets by its own name and the hash that labels the pods.
func deploymentOf(pod *corev1.Pod, owner *metav1.OwnerReference) string {
	hash := pod.Labels["pod-template-hash"]
	if hash == "" || ownerKind(owner) != "replicaset.apps" {
		return ""
	}
	name, found := strings.CutSuffix(owner.Name, "-"+hash)
	if !found {
		return ""
	}
	return name
}

// ownerKind returns for example "replicaset.apps": with the group, since kinds such as Job exist in several, but without
// the version, which may change while the object exists.
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

// sparkRoles of Spark itself (driver, executor), of the server of a SparkConnect, which asks for executors as a driver does, and of a
// standalone cluster, whose master its workers register with.
var sparkRoles = map[string]application.Role{
	"driver": application.Driver, "connect-server": application.Driver, "master": application.Driver,
	"executor": application.Executor, "worker": application.Executor,
}

// rayCluster returns the RayCluster that a pod is part of or submits a RayJob to.
func rayCluster(pod *corev1.Pod) string {
	if cluster := pod.Labels["ray.io/cluster"]; cluster != "" {
		return cluster
	}
	return rayJobCluster(pod)
}

// rayJobCluster returns the RayCluster that a pod submits a RayJob to, "" if it submits none.
//
// The labels do not join the two. The pods of the cluster carry only its name, which ends in random characters. The
// submitter is a pod of a Job that is named after the RayJob. KubeRay labels it only from version 1.7 on, and not with
// the cluster's name. But every version since 1.1 tells the first container what to submit and where: to the address of
// the cluster's head service, "<cluster>-head-svc.<namespace>...". If a RayCluster names its head service otherwise, the
// submitter is a Job of its own. The pods of the cluster cannot be named after the RayJob instead, because only the head
// shows that a RayJob made it.
func rayJobCluster(pod *corev1.Pod) string {
	job := jobOf(pod)
	if job == "" || len(pod.Spec.Containers) == 0 {
		return ""
	}
	var id, address string
	for _, env := range pod.Spec.Containers[0].Env { // of two of a name the container sees the last
		switch env.Name {
		case "RAY_JOB_SUBMISSION_ID":
			id = env.Value
		case "RAY_DASHBOARD_ADDRESS":
			address = env.Value
		}
	}
	service, _, _ := strings.Cut(address, ".")
	cluster, found := strings.CutSuffix(service, headService)
	if id == "" || !found || cluster == "" {
		return ""
	}
	return uncutCluster(job, cluster)
}

const headService = "-head-svc"

// uncutCluster returns the name of a RayCluster, given the start of its head service's name. KubeRay before 1.4 keeps
// only the last 50 characters of that name, and makes the first one a letter. It names the cluster that it makes for a
// RayJob after the RayJob, and so the Job that submits to it.
func uncutCluster(job, cluster string) string {
	made := job + "-raycluster-" + cluster[max(0, len(cluster)-5):]
	if len(cluster) == min(len(made), 50-len(headService)) && strings.HasSuffix(made, cluster[1:]) {
		return made
	}
	return cluster
}

// jobSetRole knows roles where the JobSet names a coordinator. All pods of the set then carry the address of that one
// pod, which starts with its hostname.
func jobSetRole(pod *corev1.Pod) application.Role {
	coordinator, _, _ := strings.Cut(pod.Labels["jobset.sigs.k8s.io/coordinator"], ".")
	switch coordinator {
	case "":
		return application.None
	case pod.Spec.Hostname:
		return application.Driver
	default:
		return application.Executor
	}
}

// jobOf returns the batch Job of a pod, by label, or by owner where the Job selects its pods itself (spec.manualSelector) and they are not
// labelled. The label comes first: it stays when a pod is orphaned. The old label job-name is not read: the Job controller
// also owns the pod or writes the new label, and anybody else may use the old name.
func jobOf(pod *corev1.Pod) string {
	if name := pod.Labels["batch.kubernetes.io/job-name"]; name != "" {
		return name
	}
	if owner := metav1.GetControllerOf(pod); owner != nil && ownerKind(owner) == "job.batch" {
		return owner.Name
	}
	return ""
}

var flinkRoles = map[string]application.Role{"jobmanager": application.Driver, "taskmanager": application.Executor}

// flinkCluster reads Flink's labels app and component. Other software uses these label names too, so the component must
// be one that Flink knows.
func flinkCluster(pod *corev1.Pod) string {
	if flinkRoles[strings.ToLower(pod.Labels["component"])] == application.None {
		return ""
	}
	return pod.Labels["app"]
}

// trainingRoles are those of the Kubeflow training operators. The pod that launches the others, or hosts their
// rendezvous, is the driver: the rest cannot work without it, so it must come first and go last.
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
