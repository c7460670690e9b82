package convert

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func n(i int32) *int32 { return &i }

func TestWhatOwnersSay(t *testing.T) {
	job := func(parallelism, completions *int32) *batchv1.Job {
		return &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: parallelism, Completions: completions}}
	}
	suspended, indexed := job(n(1), n(1)), job(n(1), n(4))
	yes, mode := true, batchv1.IndexedCompletion
	suspended.Spec.Suspend, indexed.Spec.CompletionMode = &yes, &mode
	for name, tc := range map[string]struct {
		owner any
		want  bool
	}{
		"a Job that says nothing":                       {job(nil, nil), true},
		"a Job of one pod, as it is stored":             {job(n(1), n(1)), true},
		"a Job of one completion":                       {job(nil, n(1)), true},
		"one completion, with room for five":            {job(n(5), n(1)), true},
		"one completion, paused":                        {job(n(0), n(1)), true},
		"a suspended Job":                               {suspended, true},
		"one worker at a queue of work":                 {job(n(1), nil), true},
		"workers at a queue of work":                    {job(n(3), nil), false},
		"workers, paused":                               {job(n(0), nil), false},
		"several completions, one after the other":      {job(n(1), n(5)), false},
		"several completions, one at a time by default": {job(nil, n(5)), false},
		"an indexed Job":                                {indexed, false},
		"nothing to complete":                           {job(n(1), n(0)), false},
		"a ReplicaSet of one":                           {&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: n(1)}}, true},
		"a ReplicaSet that says nothing":                {&appsv1.ReplicaSet{}, true},
		"a ReplicaSet of two":                           {&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: n(2)}}, false},
		"a ReplicaSet of none":                          {&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: n(0)}}, false},
		"a StatefulSet of one":                          {&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: n(1)}}, true},
		"a StatefulSet that says nothing":               {&appsv1.StatefulSet{}, true},
		"a StatefulSet of three":                        {&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: n(3)}}, false},
		"a ReplicationController of one":                {&corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Replicas: n(1)}}, true},
		"a ReplicationController that says nothing":     {&corev1.ReplicationController{}, true},
		"a ReplicationController of two":                {&corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Replicas: n(2)}}, false},
	} {
		if got := OwnerOf(tc.owner).OnePod(); got != tc.want {
			t.Errorf("%s: one pod is %v", name, got)
		}
	}
	for _, none := range []any{&appsv1.Deployment{}, &appsv1.DaemonSet{}, &batchv1.CronJob{}, &corev1.Pod{}, nil} {
		if o := OwnerOf(none); o != nil {
			t.Errorf("%T is an owner: %v", none, o)
		}
	}
}

func TestAnOwnerKeepsWhatIdentifiesIt(t *testing.T) {
	created := metav1.Unix(100, 0)
	o := OwnerOf(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "j", UID: "u", ResourceVersion: "7", CreationTimestamp: created,
		Labels: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{}},
	}})
	if o.Kind != KindJob || o.Namespace != "ns" || o.Name != "j" || o.UID != "u" || o.ResourceVersion != "7" || o.CreationTimestamp != created {
		t.Errorf("got %+v", o)
	}
	if o.Labels != nil || o.ManagedFields != nil {
		t.Error("it keeps more")
	}
	if OwnerOf(o) != o {
		t.Error("taken out again, it is another")
	}
}

func TestSingle(t *testing.T) {
	controlledBy := func(apiVersion, kind, name, uid string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			ownedBy(apiVersion, kind, name, true)(pod)
			pod.OwnerReferences[len(pod.OwnerReferences)-1].UID = types.UID(uid)
		}
	}
	annotated := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Annotations = map[string]string{"fairway.dev/application-size": value} }
	}
	sized := func(value string) func(*corev1.Pod) { return labelled("fairway.dev/application-size", value) }
	job := func(uid string) func(*corev1.Pod) { return controlledBy("batch/v1", "Job", "j", uid) }
	replicas := func(uid string) func(*corev1.Pod) { return controlledBy("apps/v1", "ReplicaSet", "web-7f", uid) }
	jobLabel := labelled("batch.kubernetes.io/job-name", "j")
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a pod by itself":                                        {makePod(), true},
		"with an owner that does not control it":                 {makePod(ownedBy("v1", "ConfigMap", "c", false)), true},
		"a driver by itself":                                     {makePod(labelled("fairway.dev/role", "driver")), false},
		"an executor by itself":                                  {makePod(labelled("fairway.dev/role", "executor")), false},
		"a driver that says so":                                  {makePod(labelled("fairway.dev/role", "driver"), sized("1")), true},
		"our application":                                        {makePod(labelled("fairway.dev/application", "etl")), false},
		"our application that says so":                           {makePod(labelled("fairway.dev/application", "etl"), sized("1")), true},
		"that says so by an annotation":                          {makePod(labelled("fairway.dev/application", "etl"), annotated("1")), true},
		"the label beats the annotation":                         {makePod(labelled("fairway.dev/application", "etl"), annotated("1"), sized("2")), false},
		"a larger size":                                          {makePod(labelled("fairway.dev/application", "etl"), sized("12")), false},
		"a larger size leaves it to the owner":                   {makePod(jobLabel, job("one"), sized("2")), true},
		"nonsense":                                               {makePod(labelled("fairway.dev/application", "etl"), annotated(" 1")), false},
		"more nonsense":                                          {makePod(labelled("fairway.dev/application", "etl"), sized("01")), false},
		"a Job of one pod":                                       {makePod(jobLabel, job("one")), true},
		"a Job of one pod, not labelled":                         {makePod(job("one")), true},
		"a Job of several":                                       {makePod(jobLabel, job("several")), false},
		"a Job of several that says otherwise":                   {makePod(jobLabel, job("several"), sized("1")), true},
		"a Job that is replaced by a new one with the same name": {makePod(jobLabel, job("before")), false},
		"a driver of a Job of one pod":                           {makePod(jobLabel, job("one"), labelled("fairway.dev/role", "driver")), false},
		"an orphan of a Job":                                     {makePod(jobLabel), false},
		"the label of a Job on a ReplicaSet's":                   {makePod(jobLabel, replicas("one")), false},
		"the label of another Job":                               {makePod(jobLabel, controlledBy("batch/v1", "Job", "other", "one")), false},
		"a Job of another group":                                 {makePod(controlledBy("batch.example.com/v1", "Job", "j", "one")), false},
		"labelled, a Job of another group":                       {makePod(jobLabel, controlledBy("batch.example.com/v1", "Job", "j", "one")), false},
		"a later version of Jobs":                                {makePod(controlledBy("batch/v2", "Job", "j", "one")), true},
		"a ReplicaSet of one":                                    {makePod(replicas("one")), true},
		"a ReplicaSet of several":                                {makePod(replicas("several")), false},
		"a Deployment of one":                                    {makePod(labelled("pod-template-hash", "7f"), replicas("one")), true},
		"a Deployment of several":                                {makePod(labelled("pod-template-hash", "7f"), replicas("several")), false},
		"a Deployment that itself controls the pod":              {makePod(controlledBy("apps/v1", "Deployment", "web", "one")), false},
		"a StatefulSet of one":                                   {makePod(controlledBy("apps/v1", "StatefulSet", "db", "one")), true},
		"a ReplicationController of one":                         {makePod(controlledBy("v1", "ReplicationController", "rc", "one")), true},
		"a DaemonSet":                                            {makePod(controlledBy("apps/v1", "DaemonSet", "d", "one")), false},
		"a Rollout":                                              {makePod(controlledBy("argoproj.io/v1alpha1", "ReplicaSet", "r", "one")), false},
		"a Spark driver that a Job of one pod runs":              {makePod(labelled("spark-app-selector", "s1", "spark-role", "driver"), jobLabel, job("one")), false},
		"an executor whose driver owns it":                       {makePod(labelled("spark-app-selector", "s1", "spark-role", "executor"), controlledBy("v1", "Pod", "s1-driver", "one")), false},
		"a pod whose role Spark does not say":                    {makePod(labelled("spark-app-selector", "s1"), jobLabel, job("one")), false},
		"a Ray worker that a Job of one pod runs":                {makePod(labelled("ray.io/cluster", "r", "ray.io/node-type", "worker"), jobLabel, job("one")), false},
		"a pod of a pod group, by a Job of one pod":              {makePod(labelled("scheduling.x-k8s.io/pod-group", "g"), jobLabel, job("one")), false},
		"a pod of a JobSet, by a Job of one pod":                 {makePod(labelled("jobset.sigs.k8s.io/jobset-name", "s"), jobLabel, job("one")), false},
		"a worker in training, by a Job of one pod":              {makePod(labelled("training.kubeflow.org/job-name", "t"), jobLabel, job("one")), false},
		"a YuniKorn application, by a Job of one pod":            {makePod(labelled("applicationId", "a"), jobLabel, job("one")), false},
	} {
		app, role := ApplicationOf(tc.pod)
		if got := Single(tc.pod, app, role, func(uid types.UID) bool { return uid == "one" }); got != tc.want {
			t.Errorf("%s: single is %v", name, got)
		}
	}
}
