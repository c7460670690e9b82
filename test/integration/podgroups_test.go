package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	intree "k8s.io/api/scheduling/v1alpha2"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// podGroup declares a pod group, with fields of its spec as kubectl takes them.
func (w *world) podGroup(name, spec string) {
	w.t.Helper()
	w.apply(`{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: ` + name + `, namespace: default}, spec: {` + spec + `}}`)
}

func (w *world) apply(object string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "object.yaml")
	w.must(os.WriteFile(file, []byte(object), 0o600))
	w.kubectl("apply", "-f", file)
}

// member makes, without creating it, a pod of a pod group.
func member(name, queue, group string, edits ...func(*v1.Pod)) *v1.Pod {
	p := pod(name, queue, "1", "1Gi")
	p.Labels["scheduling.x-k8s.io/pod-group"] = group
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// groupSays waits for the columns that kubectl prints of a pod group: phase, minMember, running, succeeded, failed.
func (w *world) groupSays(name, want string) {
	w.t.Helper()
	w.until("pod group "+name+" says "+want, func() (bool, string) {
		fields := strings.Fields(w.kubectl("get", "podgroups.scheduling.x-k8s.io", name, "--no-headers"))
		return len(fields) == 7 && strings.Join(fields[1:6], " ") == want, strings.Join(fields, " ")
	})
}

func gangOf(s *app.Scheduler, key string) *ledger.PodGroupState {
	for _, g := range s.Ledger.PodGroups() {
		if g.Key == key {
			return &g
		}
	}
	return nil
}

func (w *world) untilGang(s *app.Scheduler, key string, is func(ledger.PodGroupState) bool) {
	w.t.Helper()
	w.until("the ledger knows "+key, func() (bool, string) {
		g := gangOf(s, key)
		return g != nil && is(*g), fmt.Sprintf("%+v", g)
	})
}

// A cluster need not have the definition of PodGroups: everything else goes on, and it may come at any time.
func TestPodGroupsAreFollowedAsSoonAsTheyAreServed(t *testing.T) {
	w := newWorld(t, 1, "8", "16Gi")
	c, err := apiextensionsclient.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	crds := c.ApiextensionsV1().CustomResourceDefinitions()
	w.must(crds.Delete(w.ctx, "podgroups.scheduling.x-k8s.io", metav1.DeleteOptions{}))
	w.until("the definition is gone", func() (bool, string) {
		_, err := crds.Get(w.ctx, "podgroups.scheduling.x-k8s.io", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})

	s, _ := w.scheduler(ledger.Options{})
	w.queue("root.a")
	w.create(pod("alone", "root.a", "1", "1Gi"), member("m0", "root.a", "g"), member("m1", "root.a", "g"))
	w.until("a pod without a group is bound", func() (bool, string) { return w.pods()["alone"].Spec.NodeName != "", "waits" })
	w.untilHeld("m0", "PodGroupNotFound", "default/g")

	w.installCRD(podGroupCRD)
	w.podGroup("g", "minMember: 2, scheduleTimeoutSeconds: 30")
	w.untilGang(s, "default/g", func(g ledger.PodGroupState) bool { return g.MinMember == 2 && g.Timeout == 30e9 })
	w.untilBound(3)
	w.groupSays("g", "Running 2 2 0 0")

	// The definition takes the groups with it, and comes back while the scheduler runs.
	w.must(crds.Delete(w.ctx, "podgroups.scheduling.x-k8s.io", metav1.DeleteOptions{}))
	w.until("the ledger forgets the group", func() (bool, string) { return gangOf(s, "default/g") == nil, "it is there" })
	w.until("the definition is gone", func() (bool, string) {
		_, err := crds.Get(w.ctx, "podgroups.scheduling.x-k8s.io", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	w.installCRD(podGroupCRD)
	w.podGroup("h", "minMember: 3")
	w.untilGang(s, "default/h", func(g ledger.PodGroupState) bool { return g.MinMember == 3 })
}

func TestPodGroupsSayHowFarTheyAre(t *testing.T) {
	w := newWorld(t, 2, "8", "16Gi")
	_, stop := w.scheduler(ledger.Options{})
	w.queue("root.a")
	w.podGroup("bad", "minMember: 2, minResources: {cpu: -1}") // the schema lets it in
	w.podGroup("stays", "minMember: 3, minResources: {cpu: 3}")
	w.podGroup("ends", "minMember: 2")
	w.podGroup("empty", "minMember: 2")
	for i := range 3 {
		w.create(member(fmt.Sprint("stays-", i), "root.a", "stays"))
	}
	for i := range 2 {
		w.create(member(fmt.Sprint("ends-", i), "root.a", "ends", func(p *v1.Pod) {
			p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: "2"}
		}))
	}
	w.groupSays("stays", "Running 3 3 0 0")
	w.groupSays("ends", "Finished 2 0 2 0")
	if out := w.kubectl("get", "podgroups.scheduling.x-k8s.io", "empty", "-o", "jsonpath={.status}"); out != "" {
		t.Errorf("a group that no pod names says %s", out)
	}

	// Its status survives a restart, and the next leader goes on from it.
	stop()
	s, stop := w.scheduler(ledger.Options{})
	w.untilGang(s, "default/stays", func(g ledger.PodGroupState) bool { return g.Whole && g.Bound == 3 })
	w.must(w.kube.CoreV1().Pods("default").Delete(w.ctx, "stays-0", metav1.DeleteOptions{}))
	w.groupSays("stays", "Scheduling 3 2 0 0")
	w.create(member("stays-3", "root.a", "stays"))
	w.groupSays("stays", "Running 3 3 0 0")

	// Without a pod a group starts again, and one that came to its end keeps saying so.
	stop()
	w.must(w.kube.CoreV1().Pods("default").DeleteCollection(w.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.until("all pods are gone", func() (bool, string) {
		list, err := w.kube.CoreV1().Pods("default").List(w.ctx, metav1.ListOptions{})
		w.must(err)
		return len(list.Items) == 0, fmt.Sprint(len(list.Items))
	})
	w.scheduler(ledger.Options{})
	w.groupSays("stays", "Pending 3 0 0 0")
	w.groupSays("ends", "Finished 2 0 0 0")
}

// A Job makes a pod in the place of one that failed when the others may have ended long ago: nobody is left for it to start together with.
func TestAReplacementStartsAloneWhenAllHaveEnded(t *testing.T) {
	w := newWorld(t, 1, "8", "16Gi")
	_, stop := w.scheduler(ledger.Options{})
	w.queue("root.a")
	w.podGroup("g", "minMember: 2")
	fail := func(name string) {
		p := w.pods()[name]
		p.Status.Phase = v1.PodFailed
		_, err := w.kube.CoreV1().Pods("default").UpdateStatus(w.ctx, p, metav1.UpdateOptions{})
		w.must(err)
	}
	w.create(member("m0", "root.a", "g"), member("m1", "root.a", "g"))
	w.groupSays("g", "Running 2 2 0 0")
	fail("m0")
	fail("m1")
	w.groupSays("g", "Failed 2 0 0 2")
	w.create(member("m2", "root.a", "g"))
	w.groupSays("g", "Failed 2 1 0 2")
	fail("m2")
	w.groupSays("g", "Failed 2 0 0 3")

	// A scheduler that starts again knows it from what the group says.
	stop()
	w.scheduler(ledger.Options{})
	w.create(member("m3", "root.a", "g"))
	w.groupSays("g", "Failed 2 1 0 3")

	// When all are gone the next ones start together again.
	w.must(w.kube.CoreV1().Pods("default").DeleteCollection(w.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.groupSays("g", "Failed 2 0 0 0")
	w.create(member("m4", "root.a", "g"))
	w.untilHeld("m4", "GangIncomplete", "default/g")
	w.groupSays("g", "Pending 2 0 0 0")
}

// The pod groups of Kubernetes itself, where the API server has them. kube-scheduler's own way to schedule them stays off.
func TestPodGroupsOfKubernetesItselfAreTakenIn(t *testing.T) {
	w := newWorld(t, 1, "8", "16Gi", "--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha2=true")
	s, _ := w.scheduler(ledger.Options{})
	w.queue("root.a")
	groups := w.kube.SchedulingV1alpha2().PodGroups("default")
	declare := func(name string, policy intree.PodGroupSchedulingPolicy) {
		_, err := groups.Create(w.ctx, &intree.PodGroup{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: intree.PodGroupSpec{SchedulingPolicy: policy},
		}, metav1.CreateOptions{})
		w.must(err)
	}
	declare("g", intree.PodGroupSchedulingPolicy{Gang: &intree.GangSchedulingPolicy{MinCount: 2}})
	declare("b", intree.PodGroupSchedulingPolicy{Basic: &intree.BasicSchedulingPolicy{}})
	w.podGroup("g", "minMember: 5") // another of the same name
	w.untilGang(s, "default/g (scheduling.k8s.io)", func(g ledger.PodGroupState) bool { return g.MinMember == 2 })
	w.untilGang(s, "default/b (scheduling.k8s.io)", func(g ledger.PodGroupState) bool { return g.MinMember == 1 })
	w.untilGang(s, "default/g", func(g ledger.PodGroupState) bool { return g.MinMember == 5 })

	for group, names := range map[string][]string{"g": {"g0", "g1"}, "b": {"b0"}} {
		for _, name := range names {
			p := pod(name, "root.a", "1", "1Gi")
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: ptr.To(group)}
			w.create(p)
		}
	}
	w.untilBound(3)
	for name, want := range map[string]string{"g0": "default/g (scheduling.k8s.io)", "b0": "default/b (scheduling.k8s.io)"} {
		if is, ok := s.Ledger.PodState(ledger.UID(w.pods()[name].UID)); !ok || is.PodGroup != want {
			t.Errorf("pod %s is of group %q, want %q", name, is.PodGroup, want)
		}
	}
}
