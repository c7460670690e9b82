package e2e

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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	gangPods  = 40 // of 1 cpu each, and there are 48
	gangKills = 10
	loners    = 8 // single pods with each gang
)

// gangWatch is what anybody can see of how gangs start.
type gangWatch struct {
	mu     sync.Mutex
	pods   map[string]*v1.Pod
	parts  map[string]int // bound pods of each gang, ended ones too
	inMind map[string]int // pods of each gang that have a node in mind, and are not bound
}

// watchGangs follows the pods of groups until the test ends.
func (w *world) watchGangs() *gangWatch {
	w.t.Helper()
	g := &gangWatch{pods: map[string]*v1.Pod{}, parts: map[string]int{}, inMind: map[string]int{}}
	factory := informers.NewSharedInformerFactoryWithOptions(w.kube, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.LabelSelector = podgroup.PodGroupLabel
	}))
	see := func(o any) {
		if p, ok := o.(*v1.Pod); ok {
			g.see(p)
		}
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, o any) { see(o) },
	})
	w.must(err)
	factory.Start(w.ctx.Done())
	factory.WaitForCacheSync(w.ctx.Done())
	return g
}

func (g *gangWatch) see(p *v1.Pod) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := p.Labels[podgroup.PodGroupLabel]
	if before := g.pods[p.Name]; before != nil {
		g.parts[name] -= count(before.Spec.NodeName != "")
		g.inMind[name] -= count(inMind(before))
	}
	g.pods[p.Name] = p
	g.parts[name] += count(p.Spec.NodeName != "")
	g.inMind[name] += count(inMind(p))
}

// inMind: kube-scheduler says which node it has in mind for a pod that waits in Permit.
func inMind(p *v1.Pod) bool { return p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// moment reports whether some gang has come so far that some of its pods have places or are bound, and not all are bound. binding: some must be.
func (g *gangWatch) moment(binding bool) (name string, there bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, bound := range g.parts { // any will do
		if bound < gangPods && (bound > 0 || !binding && g.inMind[name] > 0) {
			return fmt.Sprintf("%s, of which %d pods are bound and %d wait in Permit", name, bound, g.inMind[name]), true
		}
	}
	return "", false
}

// whole is how many gangs have all their pods bound.
func (g *gangWatch) whole() (n int, rest string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, bound := range g.parts { // a sum: order does not matter
		n += count(bound == gangPods)
		if bound != gangPods {
			rest += fmt.Sprintf(" %s: %d bound", name, bound)
		}
	}
	return n, rest
}

// gang creates some single pods, and then a gang. They run for so many seconds; "" for ever.
func (w *world) gang(name, seconds string) {
	w.t.Helper()
	g := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"minMember": int64(gangPods)}}}
	g.SetGroupVersionKind(podgroup.SchemeGroupVersion.WithKind("PodGroup"))
	g.SetName(name)
	g.SetNamespace(metav1.NamespaceDefault)
	w.must(w.client.Create(w.ctx, g))
	for i := range gangPods + loners {
		p := newPod(fmt.Sprintf("%s-%02d", name, i), "root.etl", amounts{1000, 256 << 20})
		if i >= loners { // last, so that it is on its way when this returns
			p.Labels[podgroup.PodGroupLabel] = name
		}
		if seconds != "" {
			p.Annotations = map[string]string{localcluster.RunSecondsAnnotation: seconds}
		}
		_, err := w.kube.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{})
		w.must(err)
	}
}

// TestKillsWhileGangsStart kills the scheduler with kill -9 while pods of a gang wait in Permit or are bound, as soon as that shows. In the end every
// gang is whole, and every pod was bound once.
func TestKillsWhileGangsStart(t *testing.T) {
	w := newWorld(t)
	w.createMisfits()
	g := w.watchGangs()
	r := w.replica("single", w.kubeconfig(), nil)
	inPermit, inPart := 0, 0
	for i := range gangKills {
		binding := i%2 == 1
		w.gang(fmt.Sprintf("gang-%02d", i), "1")
		var found string
		w.until("a gang is on its way", func() (ok bool, _ string) {
			if found, ok = g.moment(binding); ok {
				return true, ""
			}
			n, rest := g.whole()
			if n == i+1 { // it was too fast for us
				found = "no gang: this one is whole already"
				return true, ""
			}
			return false, rest
		})
		began := time.Now()
		r.kill()
		_, waits := g.moment(false)
		_, part := g.moment(true)
		inPermit, inPart = inPermit+count(waits && !part), inPart+count(part)
		w.until("every gang is whole", func() (bool, string) {
			n, rest := g.whole()
			return n == i+1, rest
		})
		w.say("kill -9 with %s: all are whole after %.1fs", found, time.Since(began).Seconds())
	}
	w.say("%d of %d kills came while a gang waited in Permit, %d left a gang in part", inPermit, gangKills, inPart)
	if inPermit == 0 || inPart == 0 {
		t.Error("one of the two was not shown")
	}
	w.gang("stays", "")
	pods := (gangKills + 1) * (gangPods + loners)
	w.untilBound(pods)
	w.until("all that end have ended", func() (bool, string) {
		over := w.history.over()
		return over >= pods-gangPods-loners, fmt.Sprint(over)
	})
	w.auditPods(pods)
	w.auditBooks()
	w.auditGroups()
	w.auditLogs()
	w.goodbye()
}

// auditGroups: every group says what became of it.
func (w *world) auditGroups() {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(podgroup.SchemeGroupVersion.WithKind("PodGroupList"))
	w.until("every group says that it has finished, or runs", func() (bool, string) {
		w.must(w.client.List(w.ctx, list))
		var wrong []string
		for i := range list.Items {
			o := &list.Items[i]
			want := string(podgroup.PodGroupFinished)
			if o.GetName() == "stays" {
				want = string(podgroup.PodGroupRunning)
			}
			if is, _, _ := unstructured.NestedString(o.Object, "status", "phase"); is != want {
				wrong = append(wrong, fmt.Sprintf("%s says %s, want %s", o.GetName(), is, want))
			}
		}
		slices.Sort(wrong)
		return len(list.Items) == gangKills+1 && len(wrong) == 0, strings.Join(wrong, ", ")
	})
}
