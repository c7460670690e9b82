package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
	"github.com/fairway-scheduler/fairway/test/fingerprint"
)

// Pods that nobody expects, and Queues that a newer, laxer CRD lets in: each is reported, none stops the others.
func TestBadInputStopsNobodyElse(t *testing.T) {
	w := newWorld(t, 2, "16", "64Gi")
	w.queue("root.good weight=2")
	w.queue("root.odd")
	s, _ := w.scheduler(ledger.Options{})

	bare := pod("bare", "root.odd", "1", "1Gi")
	bare.Spec.Containers[0].Resources = v1.ResourceRequirements{}
	huge := pod("huge", "root.odd", "1", fmt.Sprint(int64(1)<<62))
	unknown := pod("unknown", "root.odd", "1", "1Gi")
	for _, list := range []*v1.ResourceList{&unknown.Spec.Containers[0].Resources.Requests, &unknown.Spec.Containers[0].Resources.Limits} {
		if *list == nil {
			*list = v1.ResourceList{}
		}
		(*list)["example.com/unobtainium"] = resource.MustParse("3")
	}
	many := pod("many", "root.odd", "10m", "10Mi")
	for i := range 199 {
		c := many.Spec.Containers[0]
		c.Name = fmt.Sprintf("c%d", i)
		many.Spec.Containers = append(many.Spec.Containers, c)
	}
	w.create(bare, huge, unknown, many, pod("plain", "root.good", "1", "1Gi"))
	w.untilBound(3) // bare, many, plain
	for _, name := range []string{"huge", "unknown"} {
		w.until(name+" says why no node fits", func() (bool, string) {
			for _, c := range w.pods()[name].Status.Conditions {
				if c.Type == v1.PodScheduled {
					return c.Status == v1.ConditionFalse && strings.Contains(c.Message, "Insufficient"), c.Message
				}
			}
			return false, "no condition"
		})
	}

	w.loosenCRD()
	bad := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue",
		"metadata": map[string]any{"name": "root.bad"},
		"spec":     map[string]any{"weight": map[string]any{"from": "a newer version"}},
	}}
	w.must(w.client.Create(w.ctx, bad))
	// And a good one goes bad: its last good state stays in force.
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"weight":"-3","max":{"cpu":"lots"}}}`))
	good := bad.DeepCopy() // untyped: the typed client could not read the answer
	good.SetName("root.good")
	w.must(w.client.Patch(w.ctx, good, patch))
	for _, name := range []string{"root.bad", "root.good"} {
		w.until(name+" says that it cannot be used", func() (bool, string) {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Queue"))
			w.must(w.client.Get(w.ctx, client.ObjectKey{Name: name}, u))
			cs, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			return strings.Contains(fmt.Sprint(cs), "SpecInvalid") && strings.Contains(fmt.Sprint(cs), "spec."), fmt.Sprint(cs)
		})
	}
	for _, q := range s.Ledger.Snapshot().Queues {
		if q.Path == "root.good" && (q.Spec.Weight != 2000 || q.Spec.Max.Len() != 0 || !q.InTree) {
			t.Errorf("the last good state of root.good is not in force: %+v", q)
		}
	}
	w.create(pod("after", "root.good", "1", "1Gi"), pod("lost", "root.bad", "1", "1Gi"))
	w.untilBound(4)
	w.untilHeld("lost", "QueueNotReady", "root.bad")
	rest(t, w, s) // and not quiet: of a Queue that cannot be read, only the scheduler remembers the last good state
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}

// loosenCRD replaces the schema by one that accepts anything, as a newer version of the CRD might accept more than we know.
func (w *world) loosenCRD() {
	w.t.Helper()
	c, err := apiextensionsclient.NewForConfig(w.cluster.RESTConfig())
	w.must(err)
	crds := c.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := crds.Get(w.ctx, "queues."+v1alpha1.GroupVersion.Group, metav1.GetOptions{})
	w.must(err)
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensions.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
	crd.Spec.Versions[0].AdditionalPrinterColumns = nil
	_, err = crds.Update(w.ctx, crd, metav1.UpdateOptions{})
	w.must(err)
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Queue",
		"metadata": map[string]any{"name": "root.probe"}, "spec": map[string]any{"weight": "x"},
	}}
	w.until("the laxer CRD is in force", func() (bool, string) {
		err := w.client.Create(w.ctx, probe.DeepCopy(), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
}

// 200 edits a second (for a minute with -long, five seconds without), of weights, limits of every kind, policies, and queues that come and go, while pods flow: nothing crashes, nothing
// is lost, no limit is broken, and what remains equals a ledger built again.
func TestAStormOfEditsUnderLoadLosesNothing(t *testing.T) {
	const perSecond, leaves = 200, 20
	storm := time.Duration(scale(5, 60)) * time.Second
	flowing := scale(600, 2000)
	w := newWorld(t, 10, "20", "80Gi")
	name := func(i int) string { return fmt.Sprintf("root.q%d", i) }
	for i := range leaves {
		w.queue(name(i))
	}
	s, stop := w.scheduler(ledger.Options{})
	ended := make(chan struct{})
	go func() { // pods flow
		defer close(ended)
		for i := range flowing {
			p := pod(fmt.Sprintf("p%d", i), name(i%leaves), "1", "4Gi")
			p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: fmt.Sprintf("%d.%d", 1+i%5, i%10)}
			if err := w.client.Create(w.ctx, p); err != nil {
				return
			}
		}
	}()
	const editors = 50 // one alone does not get 200 answers a second, nor do a few while pods flow
	each := int(storm/time.Second) * perSecond / editors
	edited := make(chan struct{})
	begun := time.Now()
	for i := range editors {
		go func() {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for n := range each { // who is late catches up: a ticker would drop what was due meanwhile
				due := begun.Add(time.Duration(n*editors+i) * time.Second / perSecond)
				<-time.After(time.Until(due))
				if err := w.edit(r, name(r.IntN(leaves))); err != nil {
					t.Error(err)
				}
			}
			edited <- struct{}{}
		}()
	}
	for range editors {
		<-edited
	}
	t.Logf("%d edits in %v", each*editors, time.Since(begun).Round(10*time.Millisecond))
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
	<-ended
	for i := range leaves {
		w.until("queue "+name(i)+" is there to stay", func() (bool, string) { // a deleted one drains first
			q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}
			w.must(client.IgnoreAlreadyExists(w.client.Create(w.ctx, q.DeepCopy())))
			err := w.client.Get(w.ctx, client.ObjectKeyFromObject(q), q)
			w.must(client.IgnoreNotFound(err))
			return err == nil && q.DeletionTimestamp == nil, fmt.Sprint("deleted at ", q.DeletionTimestamp, err)
		})
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"max":null,"maxPodResources":null,"maxRunningApplications":null}}`))
		w.must(w.client.Patch(w.ctx, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}, patch))
	}
	w.until("every pod ran and ended", func() (bool, string) {
		left := w.pods()
		return len(left) == 0, fmt.Sprint(len(left), " left")
	})
	if s.Ledger.Repairs() != 0 {
		t.Errorf("the sweeper had to put %d pods right", s.Ledger.Repairs())
	}
	quiet(t, w, s)
	before := fingerprint.Of(s.Ledger)
	stop()
	again, _ := w.scheduler(ledger.Options{})
	w.until("a ledger built again equals the old one", func() (bool, string) {
		after := fingerprint.Of(again.Ledger)
		return after == before, "before:\n" + before + "after:\n" + after
	})
}

// edit changes, deletes or makes a queue.
func (w *world) edit(r *rand.Rand, name string) error {
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	var err error
	switch k := r.IntN(20); {
	case k == 0:
		err = w.client.Delete(w.ctx, q)
	case k < 3:
		err = w.client.Create(w.ctx, q)
	default:
		spec := []string{
			fmt.Sprintf(`{"spec":{"weight":"%d"}}`, r.IntN(9)), fmt.Sprintf(`{"spec":{"max":{"cpu":"%d"}}}`, 1+r.IntN(30)),
			`{"spec":{"max":null}}`, `{"spec":{"policy":"FIFO"}}`, `{"spec":{"policy":"Fair"}}`,
			fmt.Sprintf(`{"spec":{"guaranteed":{"memory":"%dGi"}}}`, r.IntN(50)),
			fmt.Sprintf(`{"spec":{"max":{"memory":"%d%%"},"guaranteed":{"cpu":"%d%%"}}}`, 1+r.IntN(100), r.IntN(20)),
			fmt.Sprintf(`{"spec":{"maxRunningApplications":%d}}`, r.IntN(9)), `{"spec":{"maxRunningApplications":null}}`,
			fmt.Sprintf(`{"spec":{"maxPodResources":{"cpu":"%d"}}}`, r.IntN(3)), fmt.Sprintf(`{"spec":{"maxDriverShare":"0.%d"}}`, r.IntN(10)),
		}[r.IntN(11)]
		err = w.client.Patch(w.ctx, q, client.RawPatch(types.MergePatchType, []byte(spec)))
	}
	return client.IgnoreNotFound(client.IgnoreAlreadyExists(err))
}
