package identity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/inprocess"
	"github.com/fairway-scheduler/fairway/test/people"
)

// The scheduler, as its service account and with the roles that are installed, writes what the policies keep others from writing: it binds pods to
// queues, announces a preemption, evicts and nominates. So it does where only few may end the pods of others.
func TestTheSchedulerPassesThePolicies(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	ctx := t.Context()
	w, err := people.Start(context.Background(), localcluster.Options{AccountPerController: true, KWOK: true})
	must(t, err)
	t.Cleanup(func() { must(t, w.Stop()) })
	must(t, w.Cluster.AddNodes(ctx, "node", 1, corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("100"),
	}))
	_, err = w.Kubectl(ctx, "apply", "-k", manifests)
	must(t, err)
	_, err = w.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd/queues.scheduling.fairway.dev")
	must(t, err)
	for _, folder := range []string{"identity", "access", "access/deletions"} {
		install(t, w, folder)
	}
	w.Apply(t, `{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root}, spec: {preemption: {interval: 1s, maxWaitBeforeKill: 2s}}}
---
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.a}}
---
{apiVersion: scheduling.fairway.dev/v1alpha1, kind: Queue, metadata: {name: root.b}, spec: {preemption: {fairShareThreshold: "0.5", fairShareTimeout: 2s}}}
`)
	home := w.Namespace(t, "home")
	ann, bob := w.Person(t, "ann"), w.Person(t, "bob")
	w.Edit(t, home, ann, bob)
	schedule(t, w)

	executorsCountForTheirDriver(t, w, home, ann, bob)
	seen := watchPods(t, w, home)
	must(t, ann.Client.Create(ctx, deployment(home, "root.a", 8)))
	people.Until(t, "ann's pods run", func() error { return placed(t, w, home, "root.a", 8, of(ann)) })
	must(t, bob.Client.Create(ctx, deployment(home, "root.b", 4)))
	people.Until(t, "bob has his share", func() error { return placed(t, w, home, "root.b", 4, of(bob)) })
	if now := seen(); !now.announced || !now.nominated {
		t.Errorf("pods showed %+v", now)
	}
}

// executorsCountForTheirDriver: what a driver creates with its token is bound for who created the driver, who then may end it. bob may not.
func executorsCountForTheirDriver(t *testing.T, w *people.World, home string, ann, bob *people.User) {
	t.Helper()
	pod := func(role string) *corev1.Pod {
		p := podFor(home, role)
		p.Labels = map[string]string{v1alpha1.KeyQueue: "root.a", v1alpha1.KeyApplication: "etl", v1alpha1.KeyRole: role}
		return p
	}
	bound := func(p *corev1.Pod, carries, boundFor string) {
		people.Until(t, p.Name+" runs", func() error {
			must(t, w.Admin.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p))
			if p.Spec.NodeName == "" {
				return errors.New("it waits")
			}
			return nil
		})
		if a := p.Annotations; a[v1alpha1.KeyUser] != carries || a[v1alpha1.KeyPlacedUser] != boundFor || a[v1alpha1.KeyPlacedRole] != p.Name {
			t.Errorf("%s was bound with %v", p.Name, a)
		}
	}
	driver := pod(v1alpha1.RoleDriver)
	must(t, ann.Client.Create(t.Context(), driver))
	bound(driver, ann.Name, ann.Name)
	inside := w.Inside(t, driver)
	w.Edit(t, home, inside)
	executor := pod(v1alpha1.RoleExecutor)
	executor.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: driver.Name, UID: driver.UID, Controller: ptr.To(true)}}
	must(t, inside.Client.Create(t.Context(), executor))
	bound(executor, inside.Name, ann.Name)
	if err := bob.Client.Delete(t.Context(), executor, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "user bob may not end pods of "+inside.Name+" in queue root.a") {
		t.Errorf("bob deletes an executor of ann's driver: %v", err)
	}
	must(t, ann.Client.Delete(t.Context(), executor, client.DryRunAll))
}

// schedule runs the scheduler in this process, with the installed configuration, until the test ends.
func schedule(t *testing.T, w *people.World) {
	t.Helper()
	file := &corev1.ConfigMap{}
	text, err := os.ReadFile(filepath.Join(manifests, "scheduler", "configuration.yaml"))
	must(t, err)
	must(t, yaml.Unmarshal(text, file))
	inprocess.Start(t, file.Data["config.yaml"], w.Account(t, "fairway-system", "fairway-scheduler").Kubeconfig(t), app.Options{})
}

func deployment(namespace, queue string, replicas int32) *appsv1.Deployment {
	pod := podFor("", "")
	labels := map[string]string{"workload": queue, v1alpha1.KeyQueue: queue}
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: strings.ReplaceAll(queue, ".", "-")},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod.Spec},
		},
	}
}

// placed is nil once so many pods of the queue have nodes, each in the name of who wrote the template.
func placed(t *testing.T, w *people.World, namespace, queue string, n int, want stamp) error {
	t.Helper()
	list := &corev1.PodList{}
	must(t, w.Admin.Client.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"workload": queue}))
	for _, pod := range list.Items {
		if got := stampOf(pod.Annotations); got != want {
			t.Errorf("pod %s is stamped %v", pod.Name, got)
		}
		if pod.Spec.NodeName != "" && pod.Annotations[v1alpha1.KeyPlacedQueue] == queue {
			n--
			application := "deployment.apps/" + strings.ReplaceAll(queue, ".", "-")
			a := pod.Annotations
			if a[v1alpha1.KeyPlacedUser] != want.user || a[v1alpha1.KeyPlacedApplication] != application || a[v1alpha1.KeyPlacedRole] != v1alpha1.RoleNone {
				t.Errorf("pod %s was bound as %v", pod.Name, a)
			}
		}
	}
	if n > 0 {
		return errors.New("not all are placed: " + fmt.Sprint(n))
	}
	return nil
}

type shown struct{ announced, nominated bool }

// watchPods notes what pods show of preemption, until its result is asked for.
func watchPods(t *testing.T, w *people.World, namespace string) func() shown {
	t.Helper()
	var seen shown
	watched, err := w.Admin.Kube.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watched.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			seen.nominated = seen.nominated || pod.Status.NominatedNodeName != ""
			for _, c := range pod.Status.Conditions {
				seen.announced = seen.announced || c.Type == corev1.DisruptionTarget && strings.HasPrefix(c.Message, v1alpha1.PreemptionMessage)
			}
		}
	}()
	return func() shown {
		watched.Stop()
		<-done
		return seen
	}
}
