package demo

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

func TestRunSecondsAreStaggered(t *testing.T) {
	seen := map[string]bool{}
	for i := range 61 {
		text := runSeconds(i, false)
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || seconds < 4 || seconds > 10 {
			t.Errorf("%d: %q", i, text)
		}
		seen[text] = true
	}
	if len(seen) != 61 {
		t.Errorf("%d different run times of 61 pods", len(seen))
	}
	if long, err := strconv.ParseFloat(runSeconds(1, true), 64); err != nil || long < 30 {
		t.Errorf("the handful runs %v seconds, %v", long, err)
	}
}

func TestSubmittedPods(t *testing.T) {
	client := fake.NewClientset()
	l := newWorkload(client)
	for _, s := range []submission{
		{queue: sometimesBusy, pods: fewPods, few: true}, {queue: sometimesBusy, pods: 40}, {queue: busy, pods: 20}, {queue: busy, pods: 20},
	} {
		names, err := l.submit(t.Context(), s)
		if err != nil || len(names) != s.pods {
			t.Fatalf("%+v: %d names, %v", s, len(names), err)
		}
	}
	list, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	applications := map[string]int{}
	w := world{bound: map[string]resource.List{}, waiting: map[string]int{}, running: map[string]int{}}
	for i := range list.Items {
		pod := &list.Items[i]
		name, _ := convert.ApplicationOf(pod)
		applications[name[strings.LastIndex(name, "/")+1:]]++
		w.count(pod)
		if pod.Annotations[localcluster.RunSecondsAnnotation] == "" || !convert.PodRequest(pod).Equal(podSize(1)) {
			t.Errorf("pod %s: %v, requests %s", pod.Name, pod.Annotations, convert.PodRequest(pod))
		}
	}
	if w.waiting[busy] != 40 || w.waiting[sometimesBusy] != 50 {
		t.Errorf("waiting: %v", w.waiting)
	}
	// The few pods are 5 applications of 2. The rest begins new applications: 15, 15 and 10. busy goes on
	// where it was: 15, 15 and 10.
	if len(applications) != 5+3+3 || applications["sometimes-busy-5"] != 2 || applications["sometimes-busy-6"] != 15 || applications["busy-3"] != 10 {
		t.Errorf("applications: %v", applications)
	}
}

func TestPodsThatCouldNotBeSubmitted(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		if strings.HasSuffix(pod.Name, "-1") {
			return false, nil, nil
		}
		return true, nil, errors.New("refused")
	})
	names, err := newWorkload(client).submit(t.Context(), submission{queue: busy, pods: 10})
	if len(names) != 1 || err == nil || !strings.Contains(err.Error(), "and 6 more") {
		t.Errorf("names %q, error %v", names, err)
	}
}

func TestObservedPods(t *testing.T) {
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := (&position{}).next(submission{queue: busy})
		change(p)
		return p
	}
	w := world{bound: map[string]resource.List{}, waiting: map[string]int{}, running: map[string]int{}}
	for _, p := range []*corev1.Pod{
		pod(func(*corev1.Pod) {}),
		pod(func(p *corev1.Pod) { p.Spec.NodeName = "node-1" }),
		pod(func(p *corev1.Pod) { p.Spec.NodeName = "node-1"; p.Status.Phase = corev1.PodRunning }),
		pod(func(p *corev1.Pod) { p.Spec.NodeName = "node-1"; p.Status.Phase = corev1.PodSucceeded }),
		pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		pod(func(p *corev1.Pod) { p.Labels["fairway.dev/queue"] = "No Queue" }),
		pod(func(p *corev1.Pod) {
			p.Spec.NodeName = "node-1"
			p.Annotations["fairway.dev/placed-queue"] = sometimesBusy
		}),
	} {
		w.count(p)
	}
	if w.waiting[busy] != 1 || w.running[busy] != 2 || !w.bound[busy].Equal(podSize(2)) || w.running[sometimesBusy] != 1 {
		t.Errorf("got %+v", w)
	}
}

func TestTheDemosQueues(t *testing.T) {
	objects, err := decode(queuesYAML)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]string{}
	for _, object := range objects {
		q, err := row(object)
		if err != nil {
			t.Fatal(err)
		}
		weights[q.Name] = resource.Decimal(q.Weight)
	}
	if len(weights) != 3 || weights[busy] != "1" || weights[sometimesBusy] != "3" || weights["root.default"] != "0" {
		t.Errorf("got %v", weights)
	}
}
