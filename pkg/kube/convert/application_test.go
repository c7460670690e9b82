package convert

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// labelled gives a pod labels from key, value pairs.
func labelled(pairs ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for i := 0; i < len(pairs); i += 2 {
			pod.Labels[pairs[i]] = pairs[i+1]
		}
	}
}

func ownedBy(apiVersion, kind, name string, controller bool) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{
			APIVersion: apiVersion, Kind: kind, Name: name, Controller: &controller,
		})
	}
}

// submits makes a pod one that submits a RayJob of a name, with the addresses it is given.
func submits(job string, addresses ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		c := container("submitter", nil)
		c.Env = []corev1.EnvVar{{Name: "RAY_JOB_SUBMISSION_ID", Value: job + "-8d4vt"}}
		for _, a := range addresses {
			c.Env = append(c.Env, corev1.EnvVar{Name: "RAY_DASHBOARD_ADDRESS", Value: a})
		}
		pod.Spec.Containers = []corev1.Container{c}
		if job != "" {
			pod.Labels["batch.kubernetes.io/job-name"] = job
		}
	}
}

// without takes a variable from the containers of a pod.
func without(env string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			c := &pod.Spec.Containers[i]
			c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == env })
		}
	}
}

// hostname gives a pod the name that others reach it by.
func hostname(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Hostname = name }
}

func TestApplicationOf(t *testing.T) {
	const none, driver, executor = application.None, application.Driver, application.Executor
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
		role application.Role
	}{
		"a pod by itself":                        {makePod(), "ns/pod/pod", none},
		"our labels":                             {makePod(labelled("fairway.dev/application", "etl", "fairway.dev/role", "driver")), "ns/app/etl", driver},
		"our role on a pod by itself":            {makePod(labelled("fairway.dev/role", "executor")), "ns/pod/pod", executor},
		"our role beats a recognised one":        {makePod(labelled("spark-app-selector", "s1", "spark-role", "executor", "fairway.dev/role", "driver")), "ns/spark/s1", driver},
		"a role that is none leaves the other":   {makePod(labelled("spark-app-selector", "s1", "spark-role", "executor", "fairway.dev/role", "boss")), "ns/spark/s1", executor},
		"our application beats a recognised one": {makePod(labelled("fairway.dev/application", "etl", "spark-app-selector", "s1")), "ns/app/etl", none},
		"our application leaves the role":        {makePod(labelled("fairway.dev/application", "etl", "spark-app-selector", "s1", "spark-role", "driver")), "ns/app/etl", driver},
		"our role beats it there too":            {makePod(labelled("fairway.dev/application", "etl", "spark-app-selector", "s1", "spark-role", "driver", "fairway.dev/role", "executor")), "ns/app/etl", executor},
		"Spark driver":                           {makePod(labelled("spark-app-selector", "s1", "spark-role", "driver")), "ns/spark/s1", driver},
		"Spark executor, owned by its driver": {makePod(labelled("spark-app-selector", "s1", "spark-role", "executor"),
			ownedBy("v1", "Pod", "s1-driver", true)), "ns/spark/s1", executor},
		"Ray head":           {makePod(labelled("ray.io/cluster", "r", "ray.io/node-type", "head")), "ns/ray/r", driver},
		"Ray worker":         {makePod(labelled("ray.io/cluster", "r", "ray.io/node-type", "worker")), "ns/ray/r", executor},
		"Flink job manager":  {makePod(labelled("app", "f", "component", "jobmanager")), "ns/flink/f", driver},
		"Flink task manager": {makePod(labelled("app", "f", "component", "taskmanager")), "ns/flink/f", executor},
		"app and component of others": {makePod(labelled("app", "shop", "component", "web"), ownedBy("apps/v1", "ReplicaSet", "shop-1", true)),
			"ns/replicaset.apps/shop-1", none},
		"Kubeflow master":                       {makePod(labelled("training.kubeflow.org/job-name", "t", "training.kubeflow.org/replica-type", "master")), "ns/training/t", driver},
		"Kubeflow worker":                       {makePod(labelled("training.kubeflow.org/job-name", "t", "training.kubeflow.org/replica-type", "Worker")), "ns/training/t", executor},
		"MPI launcher":                          {makePod(labelled("training.kubeflow.org/job-name", "t", "training.kubeflow.org/job-role", "launcher")), "ns/training/t", driver},
		"a worker that is master":               {makePod(labelled("training.kubeflow.org/job-name", "t", "training.kubeflow.org/replica-type", "worker", "training.kubeflow.org/job-role", "master")), "ns/training/t", driver},
		"YuniKorn, new":                         {makePod(labelled("yunikorn.apache.org/app-id", "y1", "applicationId", "y2")), "ns/yunikorn/y1", none},
		"YuniKorn, old, on a job":               {makePod(labelled("applicationId", "y2", "batch.kubernetes.io/job-name", "j")), "ns/yunikorn/y2", none},
		"YuniKorn, annotation":                  {makePod(func(pod *corev1.Pod) { pod.Annotations["yunikorn.apache.org/app-id"] = "y3" }), "ns/yunikorn/y3", none},
		"pod group over two jobs":               {makePod(labelled("scheduling.x-k8s.io/pod-group", "g", "batch.kubernetes.io/job-name", "j")), "ns/podgroup/g", none},
		"a JobSet before its jobs":              {makePod(labelled("jobset.sigs.k8s.io/jobset-name", "js", "batch.kubernetes.io/job-name", "js-0")), "ns/jobset/js", none},
		"a batch job":                           {makePod(labelled("batch.kubernetes.io/job-name", "j"), ownedBy("batch/v1", "Job", "j", true)), "ns/job/j", none},
		"a controlling owner":                   {makePod(ownedBy("v1", "ConfigMap", "c", false), ownedBy("apps/v1", "StatefulSet", "db", true)), "ns/statefulset.apps/db", none},
		"an owner of the core":                  {makePod(ownedBy("v1", "ReplicationController", "rc", true)), "ns/replicationcontroller.core/rc", none},
		"an owner not in control":               {makePod(ownedBy("apps/v1", "StatefulSet", "db", false)), "ns/pod/pod", none},
		"a batch job that labels nothing":       {makePod(ownedBy("batch/v1", "Job", "j", true)), "ns/job/j", none},
		"a batch job, its old label only":       {makePod(labelled("job-name", "j"), ownedBy("batch/v1", "Job", "j", true)), "ns/job/j", none},
		"a job-name of somebody else's":         {makePod(labelled("job-name", "j")), "ns/pod/pod", none},
		"a Deployment":                          {makePod(labelled("pod-template-hash", "1a2b"), ownedBy("apps/v1", "ReplicaSet", "web-1a2b", true)), "ns/deployment.apps/web", none},
		"a hash that is not the name's":         {makePod(labelled("pod-template-hash", "1a2b"), ownedBy("apps/v1", "ReplicaSet", "web-3c4d", true)), "ns/replicaset.apps/web-3c4d", none},
		"a hash and nothing else":               {makePod(labelled("pod-template-hash", "1a2b"), ownedBy("apps/v1", "ReplicaSet", "-1a2b", true)), "ns/replicaset.apps/-1a2b", none},
		"a hash under another owner":            {makePod(labelled("pod-template-hash", "1a2b"), ownedBy("apps/v1", "StatefulSet", "web-1a2b", true)), "ns/statefulset.apps/web-1a2b", none},
		"a ReplicaSet of another group":         {makePod(labelled("pod-template-hash", "1a2b"), ownedBy("example.com/v1", "ReplicaSet", "web-1a2b", true)), "ns/replicaset.example.com/web-1a2b", none},
		"a RayJob's submitter":                  {makePod(submits("r", "r-5zj2k-head-svc.ns.svc.cluster.local:8265")), "ns/ray/r-5zj2k", none},
		"a submitter its Job owns":              {makePod(submits("", "r-head-svc.ns.svc:8265"), ownedBy("batch/v1", "Job", "r", true)), "ns/ray/r", none},
		"a submitter that names its RayJob":     {makePod(submits("r", "r-head-svc.ns.svc:8265"), labelled("ray.io/originated-from-crd", "RayJob")), "ns/ray/r", none},
		"a submitter told twice":                {makePod(submits("r", "q-head-svc.ns.svc:8265", "r-head-svc.ns.svc:8265")), "ns/ray/r", none},
		"a submitter to another service":        {makePod(submits("r", "dashboard.ns.svc.cluster.local:8265")), "ns/job/r", none},
		"a submitter to a service without name": {makePod(submits("r", "-head-svc.ns.svc.cluster.local:8265")), "ns/job/r", none},
		"a submitter to nowhere":                {makePod(submits("r")), "ns/job/r", none},
		"a submitter of nothing":                {makePod(submits("r", "r-head-svc.ns.svc:8265"), without("RAY_JOB_SUBMISSION_ID")), "ns/job/r", none},
		"a submitter without containers":        {makePod(labelled("ray.io/originated-from-crd", "RayJob")), "ns/pod/pod", none},
		"a submitter that no Job runs":          {makePod(submits("", "r-head-svc.ns.svc:8265")), "ns/pod/pod", none},
		"a submitter to a name that was cut": {makePod(submits("nightly-recommendation-retrain", "y-recommendation-retrain-raycluster-x7k2p-head-svc.ns.svc:8265")),
			"ns/ray/nightly-recommendation-retrain-raycluster-x7k2p", none},
		"a name cut before a dash": {makePod(submits("nightly-recommendation-training", "rrecommendation-training-raycluster-x7k2p-head-svc.ns.svc:8265")),
			"ns/ray/nightly-recommendation-training-raycluster-x7k2p", none},
		"a name that starts with a digit": {makePod(submits("2nd", "rnd-raycluster-x7k2p-head-svc.ns.svc:8265")), "ns/ray/2nd-raycluster-x7k2p", none},
		"a cluster of another's name":     {makePod(submits("adhoc", "raycluster-x7k2p-head-svc.ns.svc:8265")), "ns/ray/raycluster-x7k2p", none},
		"a JobSet's coordinator": {makePod(labelled("jobset.sigs.k8s.io/jobset-name", "js", "jobset.sigs.k8s.io/coordinator", "js-leader-0-1.js"),
			hostname("js-leader-0-1")), "ns/jobset/js", driver},
		"a pod beside the coordinator": {makePod(labelled("jobset.sigs.k8s.io/jobset-name", "js", "jobset.sigs.k8s.io/coordinator", "js-leader-0-1.js"),
			hostname("js-leader-0-10")), "ns/jobset/js", executor},
		"a pod without a hostname beside the coordinator": {makePod(labelled("jobset.sigs.k8s.io/jobset-name", "js", "jobset.sigs.k8s.io/coordinator", "js-leader-0-1.js")),
			"ns/jobset/js", executor},
		"a coordinator in a pod group": {makePod(labelled("scheduling.x-k8s.io/pod-group", "g", "jobset.sigs.k8s.io/jobset-name", "js",
			"jobset.sigs.k8s.io/coordinator", "js-leader-0-0.js"), hostname("js-leader-0-0")), "ns/podgroup/g", driver},
		"a SparkApplication before Spark's id": {makePod(labelled("sparkoperator.k8s.io/app-name", "pi", "spark-app-selector", "s1", "spark-role", "driver")), "ns/sparkapplication/pi", driver},
		"jobs of different groups differ":      {makePod(ownedBy("batch.volcano.sh/v1alpha1", "Job", "j", true)), "ns/job.batch.volcano.sh/j", none},
	} {
		t.Run(name, func(t *testing.T) {
			got, role := ApplicationOf(tc.pod)
			if got != tc.want || role != tc.role {
				t.Errorf("got %s as %v, want %s as %v", got, role, tc.want, tc.role)
			}
			if _, _, _, ok := application.Split(got); !ok {
				t.Errorf("%s cannot be taken apart", got)
			}
		})
	}
}

// A name must not be readable as another application of the same namespace.
func TestApplicationKindsAreDistinct(t *testing.T) {
	seen := map[string]bool{"pod": true}
	for _, r := range recognisers {
		if seen[r.kind] {
			t.Errorf("kind %s is used twice", r.kind)
		}
		seen[r.kind] = true
		for _, c := range r.kind {
			if c == '/' || c == '.' {
				t.Errorf("kind %s holds %q, which belongs to names and owners", r.kind, c)
			}
		}
	}
}
