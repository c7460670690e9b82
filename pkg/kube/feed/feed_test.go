package feed

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func pod(name string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), Labels: map[string]string{"name": name}},
		Spec: v1.PodSpec{SchedulerName: "fairway", Containers: []v1.Container{{
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}},
		}}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func classOf(c *Classes, p *v1.Pod) string { return c.of(p, convert.PodRequest(p), false) }

func TestWhatFiltersReadMakesAClassAndNothingElse(t *testing.T) {
	spread := func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1}}
	}
	for what, c := range map[string]struct {
		change func(*v1.Pod)
		same   bool
	}{
		"another name, UID and labels": {func(*v1.Pod) {}, true},
		"a token volume, as every pod has one": {func(p *v1.Pod) {
			p.Spec.Volumes = []v1.Volume{{Name: "kube-api-access-x", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{}}}}
		}, true},
		"a container port": {func(p *v1.Pod) { p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80}} }, true},
		"a host port":      {func(p *v1.Pod) { p.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: 80}} }, false},
		"a size":           {func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse("2") }, false},
		"a namespace":      {func(p *v1.Pod) { p.Namespace = "other" }, false},
		"a profile":        {func(p *v1.Pod) { p.Spec.SchedulerName = "fairway-packed" }, false},
		"a priority":       {func(p *v1.Pod) { n := int32(5); p.Spec.Priority = &n }, false},
		"a selector":       {func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} }, false},
		"a toleration":     {func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Key: "k"}} }, false},
		"a claim": {func(p *v1.Pod) {
			p.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}
		}, false},
		"a spread constraint": {spread, false},
	} {
		classes := &Classes{}
		if same := classOf(classes, pod("a")) == classOf(classes, pod("b", c.change)); same != c.same {
			t.Errorf("%s: same class is %v", what, same)
		}
	}
	if c := (&Classes{Single: true}); classOf(c, pod("a")) == classOf(c, pod("b")) {
		t.Error("with extenders, each pod is its own class")
	}
}

// Of two pods that differ in a label alone, filters judge alike
// unless a selector of their own names that label.
func TestOnlyLabelsThatASelectorNamesMakeAClass(t *testing.T) {
	matches := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "x"}}
	terms := []v1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: matches}}
	for what, c := range map[string]struct {
		change func(*v1.Pod)
		counts []string // the labels that do
	}{
		"nothing":                          {func(*v1.Pod) {}, nil},
		"affinity to nodes":                {func(p *v1.Pod) { p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{}} }, nil},
		"preferred affinity to pods":       {affinity(v1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{PodAffinityTerm: terms[0]}}}), nil},
		"affinity to pods":                 {affinity(v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}), []string{"tier"}},
		"affinity to no pods":              {affinity(v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: "zone"}}}), nil},
		"affinity by expression and value": {affinity(v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{expressed("tier", "job")}}), []string{"tier", "job"}},
		"spread over all":                  {spreadOver(nil), nil},
		"spread over some":                 {spreadOver(matches), []string{"tier"}},
		"spread over the pods of its job":  {spreadOver(matches, "job"), []string{"tier", "job"}},
	} {
		for _, label := range []string{"name", "tier", "job"} {
			with := func(value string) string {
				return classOf(&Classes{}, pod("a", c.change, func(p *v1.Pod) { p.Labels[label] = value }))
			}
			if is, want := with("x") != with("y"), slices.Contains(c.counts, label); is != want {
				t.Errorf("%s: label %s makes another class: %v", what, label, is)
			}
		}
	}
}

func affinity(a v1.PodAffinity) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Affinity = &v1.Affinity{PodAffinity: &a} }
}

func spreadOver(s *metav1.LabelSelector, keys ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, LabelSelector: s, MatchLabelKeys: keys}}
	}
}

func expressed(key string, matchLabelKeys ...string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: "zone", MatchLabelKeys: matchLabelKeys, LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpExists}}}}
}

func TestLabelsCountOnceAntiAffinityOfAnyPodNamesThem(t *testing.T) {
	relabelled := 0
	c := &Classes{Relabel: func() { relabelled++ }}
	anti := func(key string) *v1.Pod {
		return pod("anti", func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{expressed(key)}}}
		})
	}
	same := func() bool { return classOf(c, pod("a")) == classOf(c, pod("b")) } // they differ in label "name"
	c.see(pod("a"))
	c.see(pod("anti", func(p *v1.Pod) { p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{}} }))
	if !same() || relabelled != 0 {
		t.Fatal("labels count although nobody looks at them")
	}
	c.see(anti("other"))
	c.see(anti("other"))
	if !same() || relabelled != 1 {
		t.Errorf("nobody looks at label name; asked %d times for a new look at the waiting pods", relabelled)
	}
	c.see(anti("name"))
	c.see(anti("other"))
	if same() || relabelled != 2 {
		t.Errorf("label name counts; asked %d times for a new look at the waiting pods", relabelled)
	}
}

// A user who creates pods with ever new labels does not cause all waiting pods to be observed again for each of them.
func TestManyLabelsThatAntiAffinityNamesAreAsGoodAsAll(t *testing.T) {
	relabelled := 0
	c := &Classes{Relabel: func() { relabelled++ }}
	for i := range 3 * maxVisible {
		c.see(pod("anti", func(p *v1.Pod) {
			p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{expressed(fmt.Sprint("key-", i))}}}
		}))
	}
	if relabelled != maxVisible+1 {
		t.Errorf("asked %d times for a new look at the waiting pods", relabelled)
	}
	if classOf(c, pod("a")) == classOf(c, pod("b")) {
		t.Error("labels that nobody tells apart any more must all count")
	}
}

func TestEligibleIsWhatTheNodeItselfDecides(t *testing.T) {
	gpu := func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"kind": "gpu"} }
	tolerant := func(p *v1.Pod) { p.Spec.Tolerations = []v1.Toleration{{Operator: v1.TolerationOpExists}} }
	node := func(change ...func(*v1.Node)) *v1.Node {
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		for _, c := range change {
			c(n)
		}
		return n
	}
	labelled := func(n *v1.Node) { n.Labels = map[string]string{"kind": "gpu"} }
	tainted := func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "t", Effect: v1.TaintEffectNoSchedule}} }
	preferring := func(n *v1.Node) { n.Spec.Taints = []v1.Taint{{Key: "t", Effect: v1.TaintEffectPreferNoSchedule}} }
	cordoned := func(n *v1.Node) { n.Spec.Unschedulable = true }
	for what, c := range map[string]struct {
		pod  *v1.Pod
		node *v1.Node
		want bool
	}{
		"a plain pod, a plain node":              {pod("p"), node(), true},
		"a selector that does not match":         {pod("p", gpu), node(), false},
		"a selector that matches":                {pod("p", gpu), node(labelled), true},
		"a taint":                                {pod("p"), node(tainted), false},
		"a taint that only prefers":              {pod("p"), node(preferring), true},
		"a tolerated taint":                      {pod("p", tolerant), node(tainted), true},
		"a cordoned node":                        {pod("p"), node(cordoned), false},
		"a cordoned node, everything tolerated":  {pod("p", tolerant), node(cordoned), true},
		"tolerated, but the selector says no":    {pod("p", tolerant, gpu), node(tainted), false},
		"tainted, cordoned, labelled, tolerated": {pod("p", tolerant, gpu), node(tainted, cordoned, labelled), true},
	} {
		if got := eligible(c.pod)(factsOf(c.node)); got != c.want {
			t.Errorf("%s: eligible is %v", what, got)
		}
	}
}

func TestFactsOfANodeAreTheSamePointerUntilTheyChange(t *testing.T) {
	f := &Feed{}
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"a": "1"}}}
	first := f.factsFor(n)
	beat := n.DeepCopy()
	beat.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady}}
	if f.factsFor(beat) != first {
		t.Error("a heartbeat changed the facts")
	}
	beat.Labels["a"] = "2"
	if f.factsFor(beat) == first {
		t.Error("a label did not")
	}
}

// One Queue that cannot be read is reported; the others, and its own last good state, stay.
func TestAQueueThatCannotBeReadBlocksNoOther(t *testing.T) {
	l := ledger.New(ledger.Options{})
	f := &Feed{Ledger: l, Kick: func() {}, Now: func() int64 { return 1 }}
	h := f.Queues()
	q := func(name string, weight any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name, "generation": int64(3)}, "spec": map[string]any{"weight": weight},
		}}
	}
	h.OnAdd(q("root.a", "2"), true)
	h.OnAdd(q("root.b", map[string]any{"from": "a newer version"}), true)
	h.OnUpdate(q("root.a", "2"), q("root.a", "-7"))
	h.OnAdd(q("root.c", "1"), true)
	problems := map[queue.Path]int{}
	weights := map[queue.Path]int64{}
	l.Lead(1)
	for _, s := range l.Snapshot().Queues {
		problems[s.Path], weights[s.Path] = len(s.Problems), s.Spec.Weight
	}
	if problems["root.a"] != 1 || problems["root.b"] != 1 || problems["root.c"] != 0 {
		t.Errorf("problems %v", problems)
	}
	if weights["root.a"] != 2000 || weights["root.c"] != 1000 {
		t.Errorf("weights %v", weights)
	}
	if f.Generation("root.a") != 3 || f.Generation("nobody") != 0 {
		t.Error("generations are not kept")
	}
	h.OnUpdate(q("root.a", "-7"), q("root.a", "2"))
	h.OnDelete(q("root.b", nil))
	l.Settle(1)
	for _, s := range l.Snapshot().Queues {
		if len(s.Problems) > 0 || s.Path == "root.b" {
			t.Errorf("%s: %v", s.Path, s.Problems)
		}
	}
}

// A pod that waits wants a device that no node lists. Whether it is tried says what the ledger believes of that device.
func TestADeviceClassOffersWhatNoNodeLists(t *testing.T) {
	const gpu = "example.com/gpu"
	class := func(extended ...string) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}}
		if len(extended) > 0 {
			c.Spec.ExtendedResourceName = &extended[0]
		}
		return c
	}
	for what, c := range map[string]struct {
		device  string
		happens func(f *Feed)
		tried   bool
	}{
		"nobody offers it":              {gpu, func(*Feed) {}, false},
		"a class offers it":             {gpu, func(f *Feed) { f.DeviceClasses().OnAdd(class(gpu), true) }, true},
		"a class offers it by its name": {resourcev1.ResourceDeviceClassPrefix + "gpus", func(f *Feed) { f.DeviceClasses().OnAdd(class(), false) }, true},
		"a class offers something else": {gpu, func(f *Feed) { f.DeviceClasses().OnAdd(class("example.com/nic"), false) }, false},
		"a class comes to offer it": {gpu, func(f *Feed) {
			f.DeviceClasses().OnAdd(class(), false)
			f.DeviceClasses().OnUpdate(class(), class(gpu))
		}, true},
		"a class offers it no more": {gpu, func(f *Feed) {
			f.DeviceClasses().OnAdd(class(gpu), false)
			f.DeviceClasses().OnUpdate(class(gpu), class())
		}, false},
		"a class that offers it is gone": {gpu, func(f *Feed) {
			f.DeviceClasses().OnAdd(class(gpu), false)
			f.DeviceClasses().OnDelete(cache.DeletedFinalStateUnknown{Obj: class(gpu)})
		}, false},
		"filters pass it over":                           {gpu, func(f *Feed) { f.IgnoreResources([]string{gpu}) }, true},
		"filters pass its group over, and a class comes": {gpu, func(f *Feed) { f.IgnoreResources([]string{"example.com"}); f.DeviceClasses().OnAdd(class(), false) }, true},
	} {
		f := openFeed()
		l := f.Ledger
		l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
		f.Nodes().OnAdd(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: v1.NodeStatus{
			Allocatable: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourcePods: resource.MustParse("10")},
			Conditions:  []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
		}}, true)
		f.ObservePod(pod("p", func(p *v1.Pod) {
			p.Annotations = map[string]string{"fairway.dev/queue": "root.a"}
			p.Spec.Containers[0].Resources.Requests[v1.ResourceName(c.device)] = resource.MustParse("1")
		}))
		l.Lead(2)
		first, ok := l.Choose(2)
		if !ok {
			t.Fatalf("%s: the pod is never tried", what)
		}
		l.Fail(first.UID, ledger.NoFit, 3)
		l.Admitted(first.UID)
		l.TakeWoken(4)
		c.happens(f)
		if _, tried := l.Choose(5); tried != c.tried {
			t.Errorf("%s: tried is %v", what, tried)
		}
	}
}

func TestAPodComesWithItsUser(t *testing.T) {
	f := openFeed()
	l := f.Ledger
	f.ObservePod(pod("signed", func(p *v1.Pod) { p.Annotations = map[string]string{"fairway.dev/user": "alice"} }))
	f.ObservePod(pod("unsigned"))
	for uid, want := range map[ledger.UID]string{"signed": "alice", "unsigned": "system:serviceaccount:ns:default"} {
		if got, ok := l.PodState(uid); !ok || got.User != want {
			t.Errorf("pod %s counts for user %q, want %q", uid, got.User, want)
		}
	}
}
