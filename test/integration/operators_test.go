package integration

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// jobSet is a JobSet with a coordinator: one leader, which runs for some seconds, and workers.
func jobSet(name, queue string, workers int, leaderSeconds, workerSeconds string) string {
	return fmt.Sprintf(`
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: %s}
spec:
  coordinator: {replicatedJob: leader}
  replicatedJobs:
  - {name: leader, template: {spec: {completions: 1, parallelism: 1, template: %s}}}
  - {name: worker, template: {spec: {completions: %d, parallelism: %d, template: %s}}}
`, name, never(template(queue, "main", "1", leaderSeconds)), workers, workers, never(template(queue, "main", "1", workerSeconds)))
}

// A StateAware queue lets one JobSet start at a time, and each starts with its driver, which is its coordinator. Another driver keeps the gate
// closed until all pods are there, since JobSet makes those of a set in any order.
func TestOperatorsJobSetsPassTheGateOneByOne(t *testing.T) {
	o := operatedWorld(t, "jobset", jobSets)
	o.queue("root.sets policy=StateAware startingTimeout=1h")
	first := pod("first", "root.sets", "1", "1Gi")
	first.Labels[v1alpha1.KeyRole] = "driver"
	o.create(first)
	o.untilBound(1)
	want := map[string]map[string]int{"default/pod/first": {"driver": 1}}
	for i := range 6 {
		name := fmt.Sprintf("set-%d", i)
		o.make(jobSet(name, "root.sets", 3, "3", "2"))
		want["default/jobset/"+name] = map[string]int{"driver": 1, "executor": 3}
	}
	o.until("24 pods wait for the first", func() (bool, string) {
		return len(o.pods()) == 25 && o.bound()["all"] == 1, fmt.Sprint(o.places())
	})
	began := time.Now()
	o.must(o.client.Delete(o.ctx, first))
	o.untilAll("jobset.x-k8s.io/v1alpha2", "JobSet", "is complete", func(set map[string]any) bool { return condition(set, "Completed") })
	t.Logf("6 JobSets of 4 pods are complete after %s; %d pods ran at a time", time.Since(began).Round(time.Millisecond), o.most("root.sets", anyPart))
	o.rolesAre("root.sets", want)
	progress := map[string]int{}
	parts := map[ledger.UID]part{}
	o.bindings("root.sets", func(running []*v1.Pod) {
		last := partOf(running[len(running)-1])
		parts[ledger.UID(running[len(running)-1].UID)] = last
		progress[last.application]++
		for _, p := range running {
			if is := partOf(p).application; is != last.application && progress[last.application] == 1 && progress[is] < 2 {
				t.Errorf("%s started while %s was starting", last.application, is)
			}
		}
	})
	started := map[string]bool{} // pods of one application may be bound in another order than they are released
	for _, e := range o.s.Ledger.Journal(0) {
		if is := parts[e.UID]; e.State == ledger.Released && !started[is.application] {
			started[is.application] = true
			if is.role != application.Driver {
				t.Errorf("%s did not start with its driver, but with %s", is.application, e.Name)
			}
		}
	}
	if len(started) != len(want) {
		t.Errorf("the journal tells of the starts of %v", started)
	}
}

// A quarter of 8 cpu is for drivers: two leaders run at a time.
func TestOperatorsJobSetsKeepToTheDriverShare(t *testing.T) {
	o := operatedWorld(t, "jobset", jobSets)
	o.queue("root.sets max.cpu=8 maxDriverShare=0.25")
	began := time.Now()
	want := map[string]map[string]int{}
	for i := range 6 {
		name := fmt.Sprintf("set-%d", i)
		o.make(jobSet(name, "root.sets", 2, "2", "1"))
		want["default/jobset/"+name] = map[string]int{"driver": 1, "executor": 2}
	}
	o.untilAll("jobset.x-k8s.io/v1alpha2", "JobSet", "is complete", func(set map[string]any) bool { return condition(set, "Completed") })
	drivers := o.most("root.sets", func(is part) bool { return is.role == application.Driver })
	t.Logf("6 JobSets of 3 pods are complete after %s; %d drivers ran at a time", time.Since(began).Round(time.Millisecond), drivers)
	o.rolesAre("root.sets", want)
	if drivers != 2 {
		t.Errorf("%d drivers ran at a time, and the share is two", drivers)
	}
}

// The Training operator makes a pod group for each job. In a queue with room for one of them the jobs run one after the other, each whole.
func TestOperatorsTrainingJobsRunAsGangs(t *testing.T) {
	o := operatedWorld(t, "training", trainingJobs)
	o.queue("root.train max.cpu=8")
	began := time.Now()
	want := map[string]map[string]int{}
	for i := range 4 {
		name := fmt.Sprintf("bert-%d", i)
		pod := template("root.train", "pytorch", "2", "2")
		o.make(fmt.Sprintf(`
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: %s}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: Never, template: %s}
    Worker: {replicas: 2, restartPolicy: Never, template: %s}
`, name, pod, pod))
		want["default/training/"+name] = map[string]int{"driver": 1, "executor": 2}
	}
	o.untilAll("kubeflow.org/v1", "PyTorchJob", "has succeeded", func(job map[string]any) bool { return condition(job, "Succeeded") })
	t.Logf("4 PyTorchJobs of 3 pods have succeeded after %s", time.Since(began).Round(time.Millisecond))
	o.rolesAre("root.train", want)
	bound := map[string]int{}
	o.bindings("root.train", func(running []*v1.Pod) {
		last := partOf(running[len(running)-1]).application
		bound[last]++
		for name, n := range bound {
			if name != last && n < 3 {
				t.Errorf("a pod of %s got a node when %s had %d of 3 pods", last, name, n)
			}
		}
	})
}

// rayCluster is the spec of a RayCluster: a head and workers, of one cpu each.
func rayCluster(queue string, workers int) string {
	return fmt.Sprintf(`{rayVersion: 2.46.0, headGroupSpec: {rayStartParams: {}, template: %s}, workerGroupSpecs: [{groupName: small, replicas: %d, `+
		`minReplicas: %d, maxReplicas: %d, rayStartParams: {}, template: %s}]}`,
		template(queue, "ray-head", "1", ""), workers, workers, workers, template(queue, "ray-worker", "1", ""))
}

func TestOperatorsRayClusterRuns(t *testing.T) {
	o := operatedWorld(t, "kuberay", rays)
	o.queue("root.ray")
	began := time.Now()
	o.make("{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: shared}, spec: " + rayCluster("root.ray", 3) + "}")
	o.untilAll("ray.io/v1", "RayCluster", "is ready", func(cluster map[string]any) bool { return field(cluster, "status", "state") == "ready" })
	t.Logf("a RayCluster of 4 pods is ready after %s", time.Since(began).Round(time.Millisecond))
	o.rolesAre("root.ray", map[string]map[string]int{"default/ray/shared": {"driver": 1, "executor": 3}})
	o.kubectl("delete", "raycluster", "shared")
	o.untilBound(0)
}

// With --batch-scheduler=scheduler-plugins KubeRay makes a pod group for a RayCluster that asks for it. Each cluster starts whole: in a queue with room
// for one and a half, the second waits until the first is gone. Its pods have the scheduler name that newer versions write into all of them, for which
// the installed configuration has a profile.
func TestOperatorsRayClustersStartWhole(t *testing.T) {
	if !*operators {
		t.Skip("for make test-operators")
	}
	o := operatedWorldOf(t, "kuberay", installedProfiles(t, "operators/kuberay"), func(o *operated) { raysWith(o, "--batch-scheduler=scheduler-plugins") })
	o.queue("root.ray max.cpu=5")
	began := time.Now()
	const others = "scheduler-plugins-scheduler"
	for i, name := range []string{"first", "second"} {
		spec := rayCluster("root.ray", 2)
		if i == 1 {
			spec = strings.ReplaceAll(spec, "schedulerName: fairway", "schedulerName: "+others)
		}
		o.make("{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: " + name + ", labels: {ray.io/gang-scheduling-enabled: 'true'}}, spec: " + spec + "}")
		o.until("all pods of "+name+" exist", func() (bool, string) { return len(o.pods()) == 3*(i+1), fmt.Sprint(o.places()) })
		if i == 0 {
			o.untilBound(3)
		}
	}
	o.until("the pods of the second wait for space below the max", func() (bool, string) {
		waiting := 0
		for _, p := range o.pods() {
			q := queuedCondition(p)
			waiting += btoi(p.Spec.NodeName == "" && p.Labels["scheduling.x-k8s.io/pod-group"] == "second" && q != nil && q.Reason == "MaxResources")
		}
		return waiting == 3, fmt.Sprint(o.places())
	})
	for name, p := range o.pods() {
		if want := map[bool]string{true: "fairway", false: others}[strings.HasPrefix(name, "first")]; p.Spec.SchedulerName != want {
			t.Errorf("pod %s is for scheduler %s, want %s", name, p.Spec.SchedulerName, want)
		}
	}
	o.kubectl("delete", "raycluster", "first")
	o.until("the second runs", func() (bool, string) {
		cluster := o.kubectl("get", "raycluster", "second", "-o", "jsonpath={.status.state}")
		return cluster == "ready", cluster + fmt.Sprint(o.places())
	})
	t.Logf("2 RayClusters of 3 pods ran one after the other, each whole, after %s", time.Since(began).Round(time.Millisecond))
	o.rolesAre("root.ray", map[string]map[string]int{"default/ray/first": {"driver": 1, "executor": 2}, "default/ray/second": {"driver": 1, "executor": 2}})
}

// The pod that submits a RayJob and the cluster it submits to are one application, though KubeRay before 1.7 does not label that pod: with one
// application at a time, they would otherwise wait for each other for ever.
func TestOperatorsRayJobsRunOneAtATime(t *testing.T) {
	o := operatedWorld(t, "kuberay", rays)
	o.queue("root.ray maxRunningApplications=1")
	began := time.Now()
	const jobs = 3
	for i := range jobs {
		o.make(fmt.Sprintf(`
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: train-%d}
spec:
  entrypoint: python train.py
  shutdownAfterJobFinishes: true
  submitterPodTemplate: %s
  rayClusterSpec: %s
`, i, never(template("root.ray", "submitter", "500m", "1")), rayCluster("root.ray", 2)))
	}
	o.untilAll("ray.io/v1", "RayJob", "is complete", func(job map[string]any) bool {
		return field(job, "status", "jobDeploymentStatus") == "Complete" && field(job, "status", "jobStatus") == "SUCCEEDED"
	})
	t.Logf("%d RayJobs of 4 pods are complete after %s", jobs, time.Since(began).Round(time.Millisecond))
	is := o.roles("root.ray")
	for name, roles := range is {
		if want := (map[string]int{"driver": 1, "executor": 2, "none": 1}); !maps.Equal(roles, want) {
			t.Errorf("%s is %v, want %v", name, roles, want)
		}
	}
	if at := o.mostApplications("root.ray"); len(is) != jobs || at != 1 {
		t.Errorf("%d applications, %d at a time, want %d, one at a time: %v", len(is), at, jobs, is)
	}
}

func anyPart(part) bool { return true }

// rolesAre fails the test if other pods than these got a node in a queue, by application and role.
func (o *operated) rolesAre(queue string, want map[string]map[string]int) {
	o.t.Helper()
	is := o.roles(queue)
	if !maps.EqualFunc(is, want, func(a, b map[string]int) bool { return maps.Equal(a, b) }) {
		o.t.Errorf("the pods that got a node in %s are %v, want %v", queue, is, want)
	}
}
