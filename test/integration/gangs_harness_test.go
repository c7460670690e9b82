package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// podGroupObject makes a pod group without creating it.
func podGroupObject(name string, minMember int, spec map[string]any) *unstructured.Unstructured {
	full := map[string]any{"minMember": int64(minMember)}
	for field, value := range spec {
		full[field] = value
	}
	g := &unstructured.Unstructured{Object: map[string]any{"spec": full}}
	g.SetGroupVersionKind(podgroup.SchemeGroupVersion.WithKind("PodGroup"))
	g.SetName(name)
	g.SetNamespace("default")
	return g
}

// group declares the pod group of the scene, which goes with it.
func (f *failing) group(minMember int, spec map[string]any) *unstructured.Unstructured {
	f.t.Helper()
	g := podGroupObject(f.name, minMember, spec)
	f.must(f.client.Create(f.ctx, g))
	f.t.Cleanup(func() { f.must(client.IgnoreNotFound(f.client.Delete(f.ctx, g))) })
	return g
}

func (f *failing) key() string { return "default/" + f.name }

// inGroup makes a pod one of the scene's group.
func (f *failing) inGroup(p *v1.Pod) { p.Labels[podgroup.PodGroupLabel] = f.name }

// members creates pods of the scene's group, in the order in which they are released: what is created in a later second comes later.
func (f *failing) members(names []string, edits ...func(*v1.Pod)) (pods []*v1.Pod) {
	f.t.Helper()
	for i, name := range names {
		if i == len(names)-1 {
			f.laterThan(pods...)
		}
		pods = append(pods, f.pod(name, append(edits, f.inGroup)...))
	}
	return pods
}

// laterThan returns when what is created now says that it is younger than these pods.
func (f *failing) laterThan(pods ...*v1.Pod) {
	f.t.Helper()
	f.until("another second has begun", func() (bool, string) {
		now := time.Now().Unix()
		return !slices.ContainsFunc(pods, func(p *v1.Pod) bool { return p.CreationTimestamp.Unix() >= now }), "it has not"
	})
}

// untilInPermit waits until the pods wait in Permit for the others of their group, and none of them is bound.
func (f *failing) untilInPermit(pods ...*v1.Pod) {
	f.t.Helper()
	for _, p := range pods {
		f.until(p.Name+" waits in Permit", func() (bool, string) { return f.stops.GetWaitingPod(p.UID) != nil, f.state(p) })
	}
	f.noneBound(pods...)
}

func (f *failing) noneBound(pods ...*v1.Pod) {
	f.t.Helper()
	for _, p := range pods {
		if now := f.get(p); now != nil && now.Spec.NodeName != "" {
			f.t.Errorf("pod %s is bound to %s", p.Name, now.Spec.NodeName)
		}
	}
}

// untilBack waits until none of the pods has a place, and nothing is charged for them.
func (f *failing) untilBack(pods ...*v1.Pod) {
	f.t.Helper()
	for _, p := range pods {
		f.until(p.Name+" is back", func() (bool, string) {
			is := f.state(p)
			return strings.HasPrefix(is, "Waiting ") || is == "unknown", is
		})
		if f.stops.GetWaitingPod(p.UID) != nil {
			f.t.Errorf("pod %s waits in Permit, and the ledger says %s", p.Name, f.state(p))
		}
	}
	f.noneBound(pods...)
	f.untilUsed(f.leaf(), "")
	if g := gangOf(f.s, f.key()); g != nil && (g.Reserved > 0 || g.Bound > 0 || g.Whole) {
		f.t.Errorf("the group is %+v after it went back", g)
	}
}

// untilWhole waits until all pods of the group are bound, and looks at how they came to it.
func (f *failing) untilWhole(pods ...*v1.Pod) {
	f.t.Helper()
	for _, p := range pods {
		f.untilRuns(p, f.leaf())
	}
	f.untilGang(f.s, f.key(), func(g ledger.PodGroupState) bool { return g.Whole && g.Bound == len(pods) && g.Reserved == 0 })
	f.boundAfterReserved(pods...)
}

// boundAfterReserved checks in the journal that no pod of a group was bound before all of them had their places.
func (f *failing) boundAfterReserved(pods ...*v1.Pod) {
	f.t.Helper()
	of := map[ledger.UID]string{}
	for _, p := range pods {
		of[ledger.UID(p.UID)] = f.key()
	}
	checkGangs(f.t, f.s.Ledger.Journal(0), of, map[string]int{f.key(): len(pods)})
}

// checkGangs follows the journal of a ledger. of says of which group pods are, minimum how many pods a group starts with. No pod of a group
// may be bound before so many have places at once; and no group may have some of its nodes and not all while none of its pods is on its way,
// from when its first pod is bound until it was whole.
func checkGangs(t *testing.T, journal []ledger.Entry, of map[ledger.UID]string, minimum map[string]int) {
	t.Helper()
	type group struct {
		states map[ledger.UID]ledger.State
		bound  map[ledger.UID]bool // ever
		begun  bool                // so many had places at once
	}
	groups := map[string]*group{}
	for key := range minimum {
		groups[key] = &group{states: map[ledger.UID]ledger.State{}, bound: map[ledger.UID]bool{}}
	}
	for _, e := range journal {
		key, is := of[e.UID]
		if !is {
			continue
		}
		g := groups[key]
		g.states[e.UID] = e.State
		g.bound[e.UID] = g.bound[e.UID] || e.State == ledger.Bound
		placed, onTheirWay := 0, 0
		for _, s := range g.states {
			placed += btoi(s == ledger.Reserved || s == ledger.Bound)
			onTheirWay += btoi(s == ledger.Released || s == ledger.Reserved)
		}
		g.begun = g.begun || placed >= minimum[key]
		if len(g.bound) > 0 && e.State == ledger.Bound && !g.begun {
			t.Errorf("step %d: %s is bound, and %d of the %d pods of %s have places", e.Sequence, e.Name, placed, minimum[key], key)
		}
		ever := 0
		for _, b := range g.bound {
			ever += btoi(b)
		}
		if onTheirWay == 0 && ever > 0 && ever < minimum[key] {
			t.Errorf("step %d: %s is %s, and %s rests with %d of its %d pods", e.Sequence, e.Name, e.State, key, ever, minimum[key])
		}
	}
}

// span is when the pods of a group were bound, by the watch: the first and the last of them, and when the last of them was first seen.
type span struct {
	bound, ended          int
	complete, first, last time.Time
}

func (s span) String() string {
	return fmt.Sprintf("%d pods: the first is bound %s after the last is there, all are after %s", s.bound,
		s.first.Sub(s.complete).Round(time.Millisecond), s.last.Sub(s.complete).Round(time.Millisecond))
}

// spans are those of all groups, by name.
type spans struct {
	mu    sync.Mutex
	all   map[string]*span
	known map[types.UID]int // 1: it is there, 2: bound, 3: ended
}

// spans follows the pods of groups from now on.
func (w *world) spans() *spans {
	w.t.Helper()
	s := &spans{all: map[string]*span{}, known: map[types.UID]int{}}
	w.follow(podgroup.PodGroupLabel, func(p *v1.Pod) { s.see(p, time.Now()) })
	return s
}

// follow has every pod seen that the labels select, whenever it changes, until the test ends. An apiserver that is busy ends the watch of somebody
// who reads too slowly, so this is an informer: it may pass versions over, and always comes to the last one.
func (w *world) follow(labels string, see func(*v1.Pod)) {
	w.t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(w.kube, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = labels }))
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { see(o.(*v1.Pod)) },
		UpdateFunc: func(_, o any) { see(o.(*v1.Pod)) },
	})
	w.must(err)
	factory.Start(w.ctx.Done())
	factory.WaitForCacheSync(w.ctx.Done())
}

func (s *spans) see(p *v1.Pod, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := p.Labels[podgroup.PodGroupLabel]
	g := s.all[name]
	if g == nil {
		g = &span{}
		s.all[name] = g
	}
	was, is := s.known[p.UID], 1+btoi(p.Spec.NodeName != "")+btoi(p.Status.Phase == v1.PodSucceeded)
	if was == 0 {
		g.complete = at
	}
	if was < 2 && is >= 2 {
		g.last = at
		if g.bound++; g.bound == 1 {
			g.first = at
		}
	}
	g.ended += btoi(is == 3 && was < 3)
	s.known[p.UID] = max(is, was)
}

func (s *spans) span(name string) span {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.all[name]; g != nil {
		return *g
	}
	return span{}
}
