package convert

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func makeQueue(name string, change ...func(*v1alpha1.Queue)) *v1alpha1.Queue {
	q := &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, f := range change {
		f(q)
	}
	return q
}

func weight(s string) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) { w := apiresource.MustParse(s); q.Spec.Weight = &w }
}

// stating is what a person wrote, from "name", "amount" pairs.
func stating(pairs ...string) v1alpha1.Amounts {
	out := v1alpha1.Amounts{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = v1alpha1.Amount{Text: pairs[i+1]}
	}
	return out
}

func guaranteed(pairs ...string) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) { q.Spec.Guaranteed = stating(pairs...) }
}

func limited(pairs ...string) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) { q.Spec.Max = stating(pairs...) }
}

func policy(spec, status v1alpha1.QueuePolicy) func(*v1alpha1.Queue) {
	return func(q *v1alpha1.Queue) { q.Spec.Policy, q.Status.Policy = spec, status }
}

func TestDeclaration(t *testing.T) {
	created := time.Unix(1700000000, 0)
	for name, tc := range map[string]struct {
		in   *v1alpha1.Queue
		want queue.Declaration
	}{
		"an empty spec is the default": {
			makeQueue("root.a"),
			queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec(), PolicyInForce: queue.Unstated},
		},
		"every field arrives in the units of the core": {
			makeQueue("root.a.b", weight("2.5"), guaranteed("cpu", "500m"), limited("memory", "1Gi", "example.com/gpu", "0"), policy("Fair", "")),
			queue.Declaration{
				Path: "root.a.b",
				Spec: queue.Spec{
					Weight: 2500, Guaranteed: Amounts(amounts("cpu", "500m")),
					Max: Amounts(amounts("memory", "1Gi", "example.com/gpu", "0")), Policy: queue.Fair,
				},
				PolicyInForce: queue.Fair,
			},
		},
		"limits, and parts of the cluster": {
			makeQueue("root.a", limited("cpu", "50%", "memory", "1Gi"), guaranteed("cpu", "12.5%"), func(q *v1alpha1.Queue) {
				share, three := apiresource.MustParse("0.3"), int32(3)
				q.Spec.MaxPodResources, q.Spec.MaxDriverShare, q.Spec.MaxRunningApplications = stating("memory", "0.001%"), &share, &three
				q.Spec.FairResource = "example.com/gpu"
			}),
			queue.Declaration{
				Path: "root.a", PolicyInForce: queue.Unstated,
				Spec: queue.Spec{
					Weight: 1000, Max: Amounts(amounts("memory", "1Gi")), Policy: queue.Unstated, FairResource: "example.com/gpu",
					MaxRunningApplications: queue.AtMost(3), MaxDriverShare: queue.AtMost(300),
				},
				Percent: queue.Percent{
					Guaranteed: resource.Of(resource.Entry{Name: "cpu", Value: 12_500}), Max: resource.Of(resource.Entry{Name: "cpu", Value: 50_000}),
					MaxPod: resource.Of(resource.Entry{Name: "memory", Value: 1}),
				},
			},
		},
		"the users of the root": {
			makeQueue("root", func(q *v1alpha1.Queue) {
				none := int32(0)
				q.Spec.Users = &v1alpha1.QueueUsers{MaxRunningApplications: &none}
			}),
			queue.Declaration{Path: "root", PolicyInForce: queue.Unstated,
				Spec: queue.Spec{Weight: 1000, Policy: queue.Unstated, MaxRunningApplicationsPerUser: queue.AtMost(0)}},
		},
		"the policy of the status is the last good one": {
			makeQueue("root", policy("FIFO", "Fair")),
			queue.Declaration{Path: "root", Spec: queue.Spec{Weight: 1000, Policy: queue.FIFO}, PolicyInForce: queue.Fair},
		},
		"a status that nobody understands is passed over": {
			makeQueue("root", policy("FIFO", "Lottery")),
			queue.Declaration{Path: "root", Spec: queue.Spec{Weight: 1000, Policy: queue.FIFO}, PolicyInForce: queue.FIFO},
		},
		"creation and deletion are kept": {
			makeQueue("root", func(q *v1alpha1.Queue) {
				q.CreationTimestamp = metav1.NewTime(created)
				q.DeletionTimestamp = &metav1.Time{Time: created.Add(time.Hour)}
			}),
			queue.Declaration{Path: "root", Spec: queue.DefaultSpec(), PolicyInForce: queue.Unstated, Created: created.UnixNano(), Deleting: true},
		},
		"weight 0":           {makeQueue("root.a", weight("0")), queue.Declaration{Path: "root.a", Spec: queue.Spec{Policy: queue.Unstated}, PolicyInForce: queue.Unstated}},
		"the largest weight": {makeQueue("root.a", weight("1M")), queue.Declaration{Path: "root.a", Spec: queue.Spec{Weight: maxWeight, Policy: queue.Unstated}, PolicyInForce: queue.Unstated}},
		"the smallest step":  {makeQueue("root.a", weight("0.001")), queue.Declaration{Path: "root.a", Spec: queue.Spec{Weight: 1, Policy: queue.Unstated}, PolicyInForce: queue.Unstated}},
		"huge amounts saturate": {
			makeQueue("root.a", limited("memory", "1e40")),
			queue.Declaration{Path: "root.a", Spec: queue.Spec{Weight: 1000, Policy: queue.Unstated, Max: Amounts(amounts("memory", "9223372036854775807"))}, PolicyInForce: queue.Unstated},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Declaration(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Spec.Equal(tc.want.Spec) {
				t.Errorf("spec is %+v, want %+v", got.Spec, tc.want.Spec)
			}
			if !got.Percent.Equal(tc.want.Percent) {
				t.Errorf("percent is %+v, want %+v", got.Percent, tc.want.Percent)
			}
			if got.Path != tc.want.Path || got.PolicyInForce != tc.want.PolicyInForce || got.Created != tc.want.Created || got.Deleting != tc.want.Deleting {
				t.Errorf("declaration is %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestDeclarationNamesObjectAndField(t *testing.T) {
	for name, tc := range map[string]struct {
		in   *v1alpha1.Queue
		want string
	}{
		"negative weight":           {makeQueue("root.a", weight("-1")), "queue root.a: spec.weight: -1 is not between 0 and 1000000"},
		"weight above the range":    {makeQueue("root.a", weight("1000001")), "queue root.a: spec.weight: 1000001 is not between 0 and 1000000"},
		"weight far past the range": {makeQueue("root.a", weight("1e400")), "queue root.a: spec.weight: 10e399 is not between 0 and 1000000"},
		"weight too fine":           {makeQueue("root.a", weight("0.0001")), "queue root.a: spec.weight: 100u has more than three decimals"},
		"negative guarantee": {makeQueue("root.a", guaranteed("memory", "-1", "cpu", "-2")),
			"queue root.a: spec.guaranteed: cpu: -2 is less than 0"},
		"guaranteed pods": {makeQueue("root.a", guaranteed("pods", "3")),
			"queue root.a: spec.guaranteed: pods is a limit of each node and is not shared between queues"},
		"negative max": {makeQueue("root.a", limited("cpu", "-2")), "queue root.a: spec.max: cpu: -2 is less than 0"},
		"limited pods": {makeQueue("root.a", limited("pods", "3")),
			"queue root.a: spec.max: pods is a limit of each node and is not shared between queues"},
		"more than the cluster":    {makeQueue("root.a", limited("cpu", "100.001%")), `queue root.a: spec.max: cpu: "100.001%" is not between 0% and 100%`},
		"less than nothing of it":  {makeQueue("root.a", limited("cpu", "-1%")), `queue root.a: spec.max: cpu: "-1%" is not between 0% and 100%`},
		"too fine a part":          {makeQueue("root.a", limited("cpu", "0.0001%")), `queue root.a: spec.max: cpu: "0.0001%" has more than three decimals`},
		"a part of something else": {makeQueue("root.a", guaranteed("cpu", "1Gi%")), `queue root.a: spec.guaranteed: cpu: "1Gi%" is not between 0% and 100%`},
		"no amount": {makeQueue("root.a", guaranteed("cpu", "many")),
			`queue root.a: spec.guaranteed: cpu: "many" is neither a quantity nor a percentage of the cluster`},
		"fewer applications than none": {makeQueue("root.a", func(q *v1alpha1.Queue) { n := int32(-1); q.Spec.MaxRunningApplications = &n }),
			"queue root.a: spec.maxRunningApplications: -1 is less than 0"},
		"more than all to drivers": {makeQueue("root.a", func(q *v1alpha1.Queue) { s := apiresource.MustParse("1.5"); q.Spec.MaxDriverShare = &s }),
			"queue root.a: spec.maxDriverShare: 1500m is not between 0 and 1 with at most three decimals"},
		"users of one queue": {makeQueue("root.a", func(q *v1alpha1.Queue) {
			n := int32(1)
			q.Spec.Users = &v1alpha1.QueueUsers{MaxRunningApplications: &n}
		}), "queue root.a: spec.users.maxRunningApplications: it holds over all queues, so it can be stated in the queue root only"},
		"unknown state": {makeQueue("root.a", func(q *v1alpha1.Queue) { q.Spec.State = v1alpha1.QueueDraining }),
			`queue root.a: spec.state: state "Draining" is not one of Running, Stopped`},
		"unknown policy": {makeQueue("root.a", policy("Best", "")),
			`queue root.a: spec.policy: policy "Best" is not one of DominantResourceFairness, Fair, FIFO, StateAware`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Declaration(tc.in)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error is %v\nwant %s", err, tc.want)
			}
			if got.Path != "" {
				t.Errorf("there is a declaration beside the error: %+v", got)
			}
		})
	}
	if _, err := Declaration(makeQueue("busy")); err == nil {
		t.Error("a name outside the tree is accepted")
	}
}

func TestDecodeQueue(t *testing.T) {
	object := func(weight any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue",
			"metadata": map[string]any{"name": "root.a"},
			"spec":     map[string]any{"weight": weight, "max": map[string]any{"cpu": int64(3), "memory": int64(64 << 30)}},
		}}
	}
	q, err := DecodeQueue(object("250m"))
	if err != nil {
		t.Fatal(err)
	}
	if q.Name != "root.a" || q.Spec.Weight.MilliValue() != 250 || q.Spec.Max[corev1.ResourceCPU].Text != "3" {
		t.Errorf("decoded %+v", q)
	}
	if d, err := Declaration(q); err != nil || d.Spec.Max.Get(resource.Memory) != 64<<30 {
		t.Errorf("64 GiB written as a number of bytes are %+v, %v", d.Spec.Max, err)
	}
	if _, err := DecodeQueue(object("heavy")); err == nil {
		t.Error("a weight that is no quantity is accepted")
	} else if want := "queue root.a: spec.weight: cannot be read: "; len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Errorf("error %q does not name queue and field", err)
	}
}

// FuzzDeclaration reads any JSON as a Queue, as if no schema had stood before it: it is read whole, or refused by name.
func FuzzDeclaration(f *testing.F) {
	for _, s := range []string{
		`{"metadata":{"name":"root.a"},"spec":{"weight":"0.5","max":{"cpu":"10"},"guaranteed":{"memory":"1Gi"},"policy":"Fair"}}`,
		`{"metadata":{"name":"root.a"},"spec":{"weight":1e9,"max":{"cpu":"-1"},"policy":7}}`,
		`{"metadata":{"name":"Root"},"spec":[]}`, `{"metadata":{"name":"root.a"},"spec":{"max":{"cpu":{}}},"status":{"policy":"x"}}`, `{}`, `{"metadata":3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		object := &unstructured.Unstructured{}
		if json.Unmarshal(data, &object.Object) != nil || object.Object == nil {
			return
		}
		q, err := DecodeQueue(object)
		if err != nil {
			if want := "queue " + object.GetName() + ":"; !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("%q does not begin with %q", err, want)
			}
			return
		}
		d, err := Declaration(q)
		if err != nil {
			if want := "queue " + q.Name + ":"; !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("%q does not begin with %q", err, want)
			}
			return
		}
		if _, err := queue.ParsePath(q.Name); err != nil || d.Spec.Weight < 0 || d.Spec.Weight > maxWeight {
			t.Fatalf("%s was taken for %+v", data, d)
		}
		for _, l := range []resource.List{d.Spec.Max, d.Spec.Guaranteed} {
			for i := range l.Len() {
				if l.At(i).Value < 0 {
					t.Fatalf("%s was taken for %+v", data, d)
				}
			}
		}
	})
}
