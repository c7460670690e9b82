package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

// A leaf is deleted under its pods: it takes no more, what runs keeps its account through a restart of the scheduler, the Queue goes with
// the last pod, and one replaced by a new one with the same name is a queue like any other.
func TestADeletedQueueDrainsAndGoes(t *testing.T) {
	w := newWorld(t, 2, "8", "8Gi")
	w.queue("root.leaf max.cpu=4")
	w.queue("root.other")
	s, stop := w.scheduler(ledger.Options{})
	w.untilHeldBack("root", "root.default", "root.leaf", "root.other")
	w.create(pod("a", "leaf", "1", "1Gi"), pod("b", "leaf", "1", "1Gi"), pod("c", "leaf", "1", "1Gi"))
	w.untilBound(3)
	first := w.getQueue("root.leaf")

	w.must(w.client.Delete(w.ctx, first))
	w.untilDeleting("root.leaf", "3 pods still run;")
	w.create(pod("late", "leaf", "1", "1Gi"))
	w.untilHeld("late", "QueueDeleted", "root.leaf")
	w.untilAllocated("root.leaf", "3")
	w.must(w.client.Delete(w.ctx, w.pods()["a"], client.GracePeriodSeconds(0)))
	w.untilDeleting("root.leaf", "2 pods still run;")
	w.untilAllocated("root.leaf", "2")

	quiet(t, w, s)
	before := fingerprint.Of(s.Ledger)
	if !strings.Contains(before, "queue root.leaf accepting false usage cpu=2 memory=2Gi") {
		t.Errorf("the deleted queue lost its pods:\n%s", before)
	}
	stop()
	s, stop = w.scheduler(ledger.Options{})
	w.untilEqual(s, before)
	w.must(w.client.Delete(w.ctx, w.pods()["b"], client.GracePeriodSeconds(0)))
	w.untilDeleting("root.leaf", "1 pod still runs;")
	if now := w.getQueue("root.leaf"); now.UID != first.UID {
		t.Error("it is another Queue")
	}
	w.must(w.client.Delete(w.ctx, w.pods()["c"], client.GracePeriodSeconds(0)))
	w.untilGone("root.leaf")
	w.untilHeld("late", "QueueNotFound", "root.leaf")

	w.queue("root.leaf weight=2")
	w.untilBound(1)
	w.untilHeldBack("root.leaf")
	w.untilCondition("root.leaf", v1alpha1.ConditionReady, metav1.ConditionTrue, "InForce")
	w.untilAllocated("root.leaf", "1")
	w.sound(s, stop)
}

// A deleted parent waits for its children, which go on as before; all Queues deleted at once go from the leaves up, however far the pods
// are; and what is left in the end is what the scheduler makes: root and root.default.
func TestDeletedParentsWaitForWhatIsBelow(t *testing.T) {
	w := newWorld(t, 2, "8", "8Gi")
	for _, q := range []string{"root max.cpu=6", "root.a", "root.a.b", "root.a.c", "root.d", "root.default"} {
		w.queue(q)
	}
	s, stop := w.scheduler(ledger.Options{})
	w.untilHeldBack("root", "root.a", "root.a.b", "root.a.c", "root.d", "root.default")
	w.create(pod("b", "a.b", "1", "1Gi"), pod("d", "d", "1", "1Gi"))
	w.untilBound(2)

	w.must(w.client.Delete(w.ctx, w.getQueue("root.a")))
	w.untilDeleting("root.a", "1 pod still runs and 2 child queues exist;")
	w.create(pod("c", "a.c", "1", "1Gi"))
	w.untilBound(3) // nobody deleted root.a.c
	w.untilDeleting("root.a", "2 pods still run and 2 child queues exist;")
	w.must(w.client.Delete(w.ctx, w.getQueue("root.a.b")))
	w.untilDeleting("root.a.b", "1 pod still runs;")
	w.must(w.client.Delete(w.ctx, w.pods()["b"], client.GracePeriodSeconds(0)))
	w.untilGone("root.a.b")
	w.untilDeleting("root.a", "1 pod still runs and 1 child queue exists;")

	root := w.getQueue("root")
	w.must(w.client.DeleteAllOf(w.ctx, &v1alpha1.Queue{}))
	w.untilGone("root.default")
	w.untilDeleting("root.a.c", "1 pod still runs;")
	w.untilDeleting("root", "2 pods still run and 2 child queues exist;")
	w.create(pod("late", "d", "1", "1Gi"))
	w.untilHeld("late", "QueueDeleted", "root.d")
	for _, q := range s.Ledger.Snapshot().Queues {
		if q.Path == "root" && q.Spec.Max.Len() == 0 {
			t.Error("what a deleted root says is not in force any more, and it has children")
		}
	}
	w.must(w.client.Delete(w.ctx, w.pods()["c"], client.GracePeriodSeconds(0)))
	w.untilGone("root.a.c")
	w.untilGone("root.a")
	w.untilDeleting("root", "1 pod still runs and 1 child queue exists;")
	w.must(w.client.Delete(w.ctx, w.pods()["d"], client.GracePeriodSeconds(0)))
	w.untilGone("root.d")
	w.until("root and root.default are made again, and nothing else is left", func() (bool, string) {
		list := &v1alpha1.QueueList{}
		w.must(w.client.List(w.ctx, list))
		var names []string
		fresh := true
		for _, q := range list.Items {
			names = append(names, q.Name)
			fresh = fresh && q.DeletionTimestamp == nil && q.UID != root.UID && slices.Contains(q.Finalizers, v1alpha1.QueueFinalizer)
		}
		slices.Sort(names)
		return fresh && slices.Equal(names, []string{"root", "root.default"}), fmt.Sprint(names, fresh)
	})
	w.create(pod("after", "", "1", "1Gi"))
	w.untilBound(1)
	w.sound(s, stop)
}

// Queues that cannot be read can be deleted, whether they were ever in force or not, and whatever the schema says meanwhile; where no
// scheduler runs, an administrator takes the finalizer off; and with the CRD all Queues go.
func TestQueuesGoWithoutBeingReadAndWithoutTheScheduler(t *testing.T) {
	w := newWorld(t, 2, "8", "8Gi")
	w.queue("root.turned weight=2")
	w.queue("root.left")
	s, stop := w.scheduler(ledger.Options{})
	w.create(pod("turned", "turned", "1", "1Gi"), pod("left", "left", "1", "1Gi"))
	w.untilBound(2)
	w.loosenCRD()
	unreadable := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"weight": map[string]any{"from": "a newer version"}},
		}}
	}
	patch := func(name, body string) {
		w.must(w.client.Patch(w.ctx, unreadable(name), client.RawPatch(types.MergePatchType, []byte(body))))
	}
	w.must(w.client.Create(w.ctx, unreadable("root.never")))
	w.must(w.client.Create(w.ctx, unreadable("root.mended")))
	patch("root.turned", `{"spec":{"weight":"-3"}}`)
	w.untilHeldBack("root.never", "root.mended", "root.turned")
	w.must(w.client.Delete(w.ctx, unreadable("root.never")))
	w.untilGone("root.never")
	w.tightenCRD()
	// The API server takes no change of an object whose types its schema does not know, a finalizer's included: mend it, and it goes.
	w.must(w.client.Delete(w.ctx, unreadable("root.mended")))
	patch("root.mended", `{"spec":{"weight":null}}`)
	w.untilGone("root.mended")
	w.must(w.client.Delete(w.ctx, unreadable("root.turned")))
	w.create(pod("late", "turned", "1", "1Gi"))
	w.untilHeld("late", "QueueDeleted", "root.turned")
	w.until("root.turned says what keeps it", func() (bool, string) {
		cs, _, _ := unstructured.NestedSlice(w.rawQueue("root.turned").Object, "status", "conditions")
		return strings.Contains(fmt.Sprint(cs), "1 pod still runs;"), fmt.Sprint(cs)
	})
	w.must(w.client.Delete(w.ctx, w.pods()["turned"], client.GracePeriodSeconds(0)))
	w.untilGone("root.turned")
	quiet(t, w, s)
	stop()

	// Nobody leads: a deleted Queue stays until somebody takes the finalizer off. Its pod is charged to the same place all the same.
	w.must(w.client.Delete(w.ctx, w.getQueue("root.left")))
	if q := w.getQueue("root.left"); q.DeletionTimestamp == nil {
		t.Error("root.left is not being deleted")
	}
	patch("root.left", `{"metadata":{"finalizers":null}}`)
	w.untilGone("root.left")
	s, _ = w.scheduler(ledger.Options{})
	w.until("the pod of a queue that is gone is charged", func() (bool, string) {
		is := fingerprint.Of(s.Ledger)
		return strings.Contains(is, "queue root.left accepting false usage cpu=1 memory=1Gi"), is
	})

	// The CRD takes all Queues with it while a scheduler runs, which makes no new root below it.
	w.must(w.client.Delete(w.ctx, w.pods()["left"], client.GracePeriodSeconds(0)))
	c, err := apiextensionsclient.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	crds := c.ApiextensionsV1().CustomResourceDefinitions()
	w.must(crds.Delete(w.ctx, "queues."+v1alpha1.GroupName, metav1.DeleteOptions{}))
	w.until("the CRD is gone", func() (bool, string) {
		crd, err := crds.Get(w.ctx, "queues."+v1alpha1.GroupName, metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(crd.Status.Conditions)
	})
}

// tightenCRD puts the schema back that loosenCRD took away.
func (w *world) tightenCRD() {
	w.t.Helper()
	c, err := apiextensionsclient.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	crds := c.ApiextensionsV1().CustomResourceDefinitions()
	is, err := crds.Get(w.ctx, "queues."+v1alpha1.GroupName, metav1.GetOptions{})
	w.must(err)
	crd := w.readCRD(queueCRD)
	crd.ResourceVersion = is.ResourceVersion
	_, err = crds.Update(w.ctx, crd, metav1.UpdateOptions{})
	w.must(err)
	w.until("the schema is in force", func() (bool, string) {
		q := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue",
			"metadata": map[string]any{"name": "root.probe"}, "spec": map[string]any{"weight": "x"},
		}}
		err := w.client.Create(w.ctx, q, client.DryRunAll)
		return apierrors.IsInvalid(err), fmt.Sprint(err)
	})
}

// rawQueue reads a Queue that the typed client may not be able to read.
func (w *world) rawQueue(name string) *unstructured.Unstructured {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
	w.must(w.client.Get(w.ctx, client.ObjectKey{Name: name}, u))
	return u
}

func (w *world) untilHeldBack(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.until("Queue "+name+" has the finalizer", func() (bool, string) {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
			err := w.client.Get(w.ctx, client.ObjectKey{Name: name}, u)
			return err == nil && slices.Contains(u.GetFinalizers(), v1alpha1.QueueFinalizer), fmt.Sprint(u.GetFinalizers(), err)
		})
	}
}

// untilDeleting waits until a Queue that is being deleted says what keeps it, and sees that no answer comes without the Queue.
func (w *world) untilDeleting(name, says string) {
	w.t.Helper()
	w.until("Queue "+name+" says "+says, func() (bool, string) {
		q := w.getQueue(name)
		c := meta.FindStatusCondition(q.Status.Conditions, v1alpha1.ConditionReady)
		if q.DeletionTimestamp == nil || c == nil {
			return false, fmt.Sprint("deleted at ", q.DeletionTimestamp, ", condition ", c)
		}
		return c.Status == metav1.ConditionFalse && c.Reason == "Deleting" && strings.Contains(c.Message, says), c.Message
	})
}

func (w *world) untilAllocated(name, cpu string) {
	w.t.Helper()
	w.until(fmt.Sprintf("Queue %s has %s cpu allocated", name, cpu), func() (bool, string) {
		has := w.getQueue(name).Status.Allocated[v1.ResourceCPU]
		return has.Cmp(resource.MustParse(cpu)) == 0, has.String()
	})
}

func (w *world) untilGone(name string) {
	w.t.Helper()
	w.until("Queue "+name+" is gone", func() (bool, string) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
		err := w.client.Get(w.ctx, client.ObjectKey{Name: name}, u)
		return apierrors.IsNotFound(err), fmt.Sprint(u.Object["metadata"], u.Object["status"], err)
	})
}

func (w *world) untilEqual(s *app.Scheduler, want string) {
	w.t.Helper()
	w.until("a ledger built again equals the old one", func() (bool, string) {
		is := fingerprint.Of(s.Ledger)
		return is == want, "before:\n" + want + "after:\n" + is
	})
}

// sound looks at the books of a scheduler, stops it, and compares with those of one that starts.
func (w *world) sound(s *app.Scheduler, stop func()) {
	w.t.Helper()
	quiet(w.t, w, s)
	for _, wrong := range s.Ledger.Check() {
		w.t.Error(wrong)
	}
	if s.Ledger.PreemptionCounts().Stopped {
		w.t.Error("an inspection found a violation")
	}
	if n := s.Ledger.Repairs(); n != 0 {
		w.t.Errorf("the sweeper had to put %d pods right", n)
	}
	before := fingerprint.Of(s.Ledger)
	stop()
	again, _ := w.scheduler(ledger.Options{})
	w.untilEqual(again, before)
}
