package feed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	coreresource "github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/dump"
)

var now = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// randomSet draws the objects of a small cluster in which everything that depends on an order of arrival may happen: queues that are
// missing, that cannot be read, that were made under a queue with pods; labels that begin to matter; pods that are gated, foreign, ended, drivers.
func randomSet(t *rapid.T) *objects.Set {
	s := &objects.Set{}
	paths := []string{"root", "root.a", "root.a.x", "root.a.y", "root.b", "root.c"}
	at := func(label string) metav1.Time {
		return metav1.NewTime(now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, label)) * time.Minute))
	}
	for _, p := range paths {
		if rapid.IntRange(0, 3).Draw(t, p) == 0 {
			continue
		}
		var weight any = fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "weight"))
		if rapid.IntRange(0, 9).Draw(t, "bad") == 0 {
			weight = map[string]any{}
		}
		q := queueOf(p, "uid-"+p, weight)
		q.Object["spec"].(map[string]any)["max"] = map[string]any{"cpu": fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "max"))}
		if rapid.Bool().Draw(t, "dated") {
			q.SetCreationTimestamp(at("created"))
		}
		s.Queues = append(s.Queues, q)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "nodes") {
		s.Nodes = append(s.Nodes, readyNode(fmt.Sprintf("n%d", i), "4", func(n *v1.Node) { n.Spec.Unschedulable = rapid.IntRange(0, 4).Draw(t, "cordoned") == 0 }))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "classes") {
		extended := "example.com/gpu"
		s.DeviceClasses = append(s.DeviceClasses, &resourcev1.DeviceClass{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", i)}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &extended},
		})
	}
	for _, kind := range ownerKinds {
		if rapid.Bool().Draw(t, "known") {
			o := &convert.Owner{Kind: kind.kind, ObjectMeta: metav1.ObjectMeta{Name: "o", Namespace: "ns", UID: types.UID(kind.kind)}}
			replicas := rapid.Int32Range(0, 2).Draw(t, "replicas")
			o.Spec = convert.OwnerSpec{Parallelism: &replicas, Replicas: &replicas}
			s.Owners = append(s.Owners, o)
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "groups") {
		var minMember any = int64(rapid.IntRange(1, 4).Draw(t, "minMember"))
		if rapid.IntRange(0, 9).Draw(t, "bad") == 0 {
			minMember = "x"
		}
		g := groupOf(fmt.Sprintf("g%d", i), "", minMember)
		if rapid.IntRange(0, 3).Draw(t, "whole") == 0 {
			g.Object["status"] = map[string]any{"phase": "Running"}
		}
		s.PodGroups = append(s.PodGroups, g)
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "pods") {
		s.Pods = append(s.Pods, randomPod(t, i, append(paths, "", "root.A"), at))
	}
	return s
}

var ownerKinds = []struct{ apiVersion, kind string }{{"batch/v1", convert.KindJob}, {"apps/v1", convert.KindReplicaSet}}

func randomPod(t *rapid.T, i int, queues []string, at func(string) metav1.Time) *v1.Pod {
	return pod(fmt.Sprintf("p%d", i), func(p *v1.Pod) {
		p.Labels["app"] = rapid.SampledFrom([]string{"one", "two"}).Draw(t, "app")
		p.Labels["tier"] = rapid.SampledFrom([]string{"one", "two"}).Draw(t, "tier")
		p.Labels["fairway.dev/queue"] = rapid.SampledFrom(queues).Draw(t, "queue")
		p.Labels["fairway.dev/application"] = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "application")
		p.Labels["fairway.dev/role"] = rapid.SampledFrom([]string{"driver", "executor", ""}).Draw(t, "role")
		if rapid.IntRange(0, 3).Draw(t, "undated") > 0 {
			p.CreationTimestamp = at("created")
		}
		if g := rapid.IntRange(0, 3).Draw(t, "group"); g < 3 { // the last of them there never is
			p.Labels["scheduling.x-k8s.io/pod-group"] = fmt.Sprintf("g%d", g)
		}
		chance := func(label string) bool { return rapid.IntRange(0, 5).Draw(t, label) == 0 }
		if chance("owned") {
			owner := rapid.SampledFrom(ownerKinds).Draw(t, "owner")
			controlledBy(owner.apiVersion, owner.kind, "o", owner.kind)(p)
			delete(p.Labels, "fairway.dev/application")
		}
		if chance("created") { // by what may be a driver
			p.Annotations = map[string]string{"fairway.dev/creator-pod": "p0"}
			controlledBy("v1", "Pod", "p0", "p0")(p)
		}
		if i == 0 {
			p.Spec.ServiceAccountName = rapid.SampledFrom([]string{"", "spark"}).Draw(t, "account")
			p.Annotations = map[string]string{"fairway.dev/user": "ada"}
		}
		if rapid.Bool().Draw(t, "bound") {
			p.Spec.NodeName = rapid.SampledFrom([]string{"n0", "n1", "gone"}).Draw(t, "node")
		}
		if chance("foreign") {
			p.Spec.SchedulerName = ""
		}
		if chance("ended") {
			p.Status.Phase = v1.PodSucceeded
		}
		if chance("leaving") {
			then := at("left")
			p.DeletionTimestamp = &then
		}
		if chance("gated") {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}}
		}
		if chance("shy") {
			key := rapid.SampledFrom([]string{"app", "tier"}).Draw(t, "of")
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
				{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: "one"}}},
			}}}
		}
	})
}

func readyNode(name, cpu string, change ...func(*v1.Node)) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{
		Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: resource.MustParse("10")},
		Conditions:  []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
	}}
	for _, c := range change {
		c(n)
	}
	return n
}

// seen is all that faces show of a ledger.
type seen struct {
	Queues       []ledger.QueueState
	Total        coreresource.List
	Pods         []ledger.PodState
	Applications []ledger.ApplicationState
	Gangs        []ledger.PodGroupState
}

func seenOf(l *ledger.Ledger) seen {
	l.Lead(now.UnixNano())
	s := l.Snapshot()
	return seen{s.Queues, s.Total, l.Pods(), l.Applications(), l.PodGroups()}
}

var asShown = cmp.Options{
	cmpopts.IgnoreFields(ledger.Pod{}, "Eligible"), cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b coreresource.List) bool { return a.Equal(b) }),
}

func TestRebuildDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSet(t)
		want := seenOf(Rebuild(s, ours, now, ledger.Options{}))
		other := &objects.Set{
			Queues: rapid.Permutation(s.Queues).Draw(t, "queues"), Nodes: rapid.Permutation(s.Nodes).Draw(t, "nodes"),
			Pods: rapid.Permutation(s.Pods).Draw(t, "pods"), DeviceClasses: rapid.Permutation(s.DeviceClasses).Draw(t, "classes"),
			Owners:    rapid.Permutation(s.Owners).Draw(t, "owners"),
			PodGroups: rapid.Permutation(s.PodGroups).Draw(t, "groups"),
		}
		if diff := cmp.Diff(want, seenOf(Rebuild(other, ours, now, ledger.Options{})), asShown); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The scheduler hears of objects of all kinds in any order, and observes its pods again when it learns that another label matters.
func TestRebuildIsWhatTheSchedulerWouldHaveBeenFed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSet(t)
		f := &Feed{
			Ledger: ledger.New(ledger.Options{}), Ours: func(name string) bool { return name == "fairway" }, Gate: gateOf,
			Now: now.UnixNano, Kick: func() {}, Classes: &Classes{},
		}
		var heard []*v1.Pod
		again := false
		f.Classes.Relabel = func() { again = true }
		f.Created = func(types.UID) { again = true }
		f.Resized = func(owner types.UID) {
			for _, p := range heard {
				if c := metav1.GetControllerOf(p); c != nil && c.UID == owner {
					f.ObservePod(p)
				}
			}
		}
		at := metav1.NewTime(now)
		var events []func()
		for _, q := range s.Queues {
			events = append(events, func() { f.Queues().OnAdd(queueAt(q, at), true) })
		}
		for _, n := range s.Nodes {
			events = append(events, func() { f.Nodes().OnAdd(n, true) })
		}
		for _, c := range s.DeviceClasses {
			events = append(events, func() { f.DeviceClasses().OnAdd(c, true) })
		}
		for _, o := range s.Owners {
			events = append(events, func() { f.Owners().OnAdd(o, true) })
		}
		for _, g := range s.PodGroups {
			events = append(events, func() { f.PodGroups().OnAdd(g, true) })
		}
		for _, p := range s.Pods {
			events = append(events, func() {
				heard = append(heard, podAt(p, at))
				f.ObservePod(podAt(p, at))
			})
		}
		shuffle := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		for _, happens := range events {
			happens()
			for again {
				again = false
				for _, p := range heard {
					f.ObservePod(p)
				}
			}
		}
		if diff := cmp.Diff(seenOf(f.Ledger), seenOf(Rebuild(s, ours, now, ledger.Options{})), asShown); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestWhatOthersBlockIsToldFromThePod(t *testing.T) {
	name := "c"
	claim := func(c v1.PodResourceClaim, made ...v1.PodResourceClaimStatus) *v1.Pod {
		return pod("p", func(p *v1.Pod) {
			c.Name = "device"
			p.Spec.ResourceClaims, p.Status.ResourceClaimStatuses = []v1.PodResourceClaim{c}, made
		})
	}
	for what, tc := range map[string]struct {
		pod  *v1.Pod
		want string
	}{
		"nothing":                                {pod("p"), ""},
		"a gate":                                 {pod("p", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} }), "SchedulingGates"},
		"a claim that is not made yet":           {claim(v1.PodResourceClaim{ResourceClaimTemplateName: &name}), "DynamicResources"},
		"another claim is made":                  {claim(v1.PodResourceClaim{ResourceClaimTemplateName: &name}, v1.PodResourceClaimStatus{Name: "other"}), "DynamicResources"},
		"the claim is made":                      {claim(v1.PodResourceClaim{ResourceClaimTemplateName: &name}, v1.PodResourceClaimStatus{Name: "device", ResourceClaimName: &name}), ""},
		"no claim was needed":                    {claim(v1.PodResourceClaim{ResourceClaimTemplateName: &name}, v1.PodResourceClaimStatus{Name: "device"}), ""},
		"a claim by its name, which may be made": {claim(v1.PodResourceClaim{ResourceClaimName: &name}), ""},
		"both": {pod("p", func(p *v1.Pod) {
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}}
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "device", ResourceClaimTemplateName: &name}}
		}), "SchedulingGates"},
	} {
		l := Rebuild(&objects.Set{Pods: []*v1.Pod{tc.pod}}, ours, now, ledger.Options{})
		if got, ok := l.PodState("p"); !ok || got.Gate != tc.want {
			t.Errorf("%s: held by %q, want %q", what, got.Gate, tc.want)
		}
	}
}

func TestWhatSaysNothingOfItsCreationIsCreatedNow(t *testing.T) {
	s := &objects.Set{
		Pods:   []*v1.Pod{pod("p", func(p *v1.Pod) { p.Labels["fairway.dev/queue"] = "root.a" })},
		Queues: []*unstructured.Unstructured{queueOf("root.a", "1", "2"), queueOf("root.a.b", "2", "2")},
	}
	s.Queues[1].Object["metadata"].(map[string]any)["creationTimestamp"] = nil // as many tools write it
	l := Rebuild(s, ours, now, ledger.Options{})
	if p, _ := l.PodState("p"); p.Created != now.UnixNano() {
		t.Errorf("the pod is created %v", time.Unix(0, p.Created))
	}
	if !s.Pods[0].CreationTimestamp.IsZero() || !s.Queues[0].GetCreationTimestamp().Time.IsZero() {
		t.Error("the set has changed")
	}
	inTree := func(l *ledger.Ledger) bool {
		return slices.ContainsFunc(l.Snapshot().Queues, func(q ledger.QueueState) bool { return q.Path == "root.a.b" && q.InTree })
	}
	if !inTree(l) {
		t.Error("a pod that is as young as the queue root.a.b keeps it out of the tree")
	}
	s.Pods[0] = podAt(s.Pods[0], metav1.NewTime(now.Add(-time.Second)))
	if inTree(Rebuild(s, ours, now, ledger.Options{})) {
		t.Error("an older pod in root.a does not keep a new child out of the tree, as it would live")
	}
}

func TestARebuildKnowsWhatNodesNeedNotList(t *testing.T) {
	wants := pod("p", func(p *v1.Pod) {
		p.Labels["fairway.dev/queue"] = "root.a"
		p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
	})
	extended := "example.com/gpu"
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &extended}}
	for _, tc := range []struct {
		classes []*resourcev1.DeviceClass
		want    []string
	}{{nil, []string{}}, {[]*resourcev1.DeviceClass{class}, []string{"n"}}} {
		l := Rebuild(&objects.Set{
			Queues: []*unstructured.Unstructured{queueOf("root.a", "1", "1")}, Nodes: []*v1.Node{readyNode("n", "4")},
			Pods: []*v1.Pod{wants}, DeviceClasses: tc.classes,
		}, ours, now, ledger.Options{})
		if _, ok := l.Choose(now.UnixNano()); !ok {
			t.Fatal("the pod is never tried")
		}
		if got := l.Candidates("p", 5, 0); !cmp.Equal(got, tc.want) {
			t.Errorf("with %d classes, there is room on %v, want %v", len(tc.classes), got, tc.want)
		}
	}
}

func TestARebuildKnowsPodGroups(t *testing.T) {
	name := "g"
	inTree := groupOf(name, "", nil)
	inTree.SetAPIVersion("scheduling.k8s.io/v1alpha2")
	inTree.Object["spec"] = map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(4)}}}
	l := Rebuild(&objects.Set{
		PodGroups: []*unstructured.Unstructured{groupOf("bad", "", "x"), groupOf(name, "", int64(3)), inTree},
		Pods:      []*v1.Pod{pod("p", func(p *v1.Pod) { p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name} })},
	}, ours, now, ledger.Options{})
	want := []ledger.PodGroupState{
		{PodGroup: ledger.PodGroup{Key: "ns/g", MinMember: 3}}, {PodGroup: ledger.PodGroup{Key: "ns/g (scheduling.k8s.io)", MinMember: 4}, Pods: 1},
	}
	if diff := cmp.Diff(want, l.PodGroups(), asShown); diff != "" {
		t.Error(diff)
	}
}

func TestEndedPodsTakeNoPart(t *testing.T) {
	for phase, want := range map[v1.PodPhase]bool{"": true, v1.PodPending: true, v1.PodRunning: true, v1.PodUnknown: true, v1.PodSucceeded: false, v1.PodFailed: false} {
		shy := pod("p", func(p *v1.Pod) {
			p.Status.Phase = phase
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
				{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "x"}}},
			}}}
		})
		l := Rebuild(&objects.Set{Pods: []*v1.Pod{shy, pod("a"), pod("b")}}, ours, now, ledger.Options{})
		if _, got := l.PodState("p"); got != want {
			t.Errorf("phase %q: takes part is %v", phase, got)
		}
		a, _ := l.PodState("a")
		b, _ := l.PodState("b")
		if (a.Class != b.Class) != want {
			t.Errorf("phase %q: its affinity tells others apart is %v", phase, a.Class != b.Class)
		}
	}
}

func TestAQueueThatCannotBeReadIsAProblemOfThePicture(t *testing.T) {
	set, err := objects.Read("dump", strings.NewReader("{kind: Queue, apiVersion: scheduling.fairway.dev/v1alpha1, metadata: {name: root.a}, spec: {weight: {}}}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range Rebuild(set, ours, now, ledger.Options{}).Snapshot().Queues {
		if q.Path == queue.Path("root.a") && len(q.Problems) == 1 {
			return
		}
	}
	t.Error("the queue has no row under problems")
}

// A command may hold at most three times the memory that decoding takes; this counts all bytes that were ever asked for, which no other
// program disturbs.
func TestAPictureCostsAtMostThreeTimesItsDecoding(t *testing.T) {
	for _, format := range []dump.Format{dump.JSON, dump.YAML} {
		path := writeDump(t, dump.Size{Queues: 50, Nodes: 5, Pods: 500}, format)
		decode := costOf(t, func() (any, error) { return fromFile(path, readDump) })
		tree := costOf(t, func() (any, error) { return fromFile(path, picture) })
		if tree.allocated > 3*decode.allocated || tree.kept > 3*decode.kept {
			t.Errorf("%s: allocates %d and keeps %d bytes; decoding alone %d and %d", format, tree.allocated, tree.kept, decode.allocated, decode.kept)
		}
	}
}
