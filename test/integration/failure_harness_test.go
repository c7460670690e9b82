package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	coreresource "github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// stage is a point of an attempt, just before the plugins of that point run.
type stage string

const (
	atPreFilter stage = "PreFilter"
	atReserve   stage = "Reserve"
	atPermit    stage = "Permit"
	atBind      stage = "Bind"
)

// elsewhere is the name of a plugin that nobody has: it makes pods wait in Permit.
const elsewhere = "Elsewhere"

// stops stands between kube-scheduler and its framework. It halts the attempts that a test names, at the stage it names; everything
// else is upstream's. (A plugin would not do: it runs at some place among the other plugins of a stage.)
type stops struct {
	framework.Framework
	ctx context.Context
	mu  sync.Mutex
	at  map[string]*stop // not reached yet, by stage and name of the pod
	all []*stop          // of this scene
}

// stop is one attempt that will be halted, or is.
type stop struct {
	f       *failing
	what    string
	reached chan struct{}
	proceed chan func(plugins func() *fwk.Status) *fwk.Status
	result  chan *fwk.Status
}

func (s *stops) halt(at stage, pod *v1.Pod, plugins func() *fwk.Status) *fwk.Status {
	s.mu.Lock()
	key := string(at) + " " + pod.Name
	st := s.at[key]
	delete(s.at, key)
	s.mu.Unlock()
	if st == nil {
		return plugins()
	}
	close(st.reached)
	select {
	case how := <-st.proceed:
		result := how(plugins)
		st.result <- result
		return result
	case <-s.ctx.Done():
		return fwk.AsStatus(s.ctx.Err())
	}
}

func (s *stops) RunPreFilterPlugins(ctx context.Context, cs fwk.CycleState, pod *v1.Pod) (r *fwk.PreFilterResult, _ *fwk.Status, by sets.Set[string]) {
	status := s.halt(atPreFilter, pod, func() (status *fwk.Status) {
		r, status, by = s.Framework.RunPreFilterPlugins(ctx, cs, pod)
		return status
	})
	return r, status, by
}

func (s *stops) RunReservePluginsReserve(ctx context.Context, cs fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return s.halt(atReserve, pod, func() *fwk.Status { return s.Framework.RunReservePluginsReserve(ctx, cs, pod, node) })
}

func (s *stops) RunPermitPlugins(ctx context.Context, cs fwk.CycleState, pod *v1.Pod, node string) (wait map[string]time.Duration, _ *fwk.Status) {
	status := s.halt(atPermit, pod, func() (status *fwk.Status) {
		wait, status = s.Framework.RunPermitPlugins(ctx, cs, pod, node)
		return status
	})
	if status.IsWait() {
		wait = map[string]time.Duration{elsewhere: 10 * time.Minute}
	}
	return wait, status
}

func (s *stops) RunBindPlugins(ctx context.Context, cs fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return s.halt(atBind, pod, func() *fwk.Status { return s.Framework.RunBindPlugins(ctx, cs, pod, node) })
}

// free lets all attempts go on that still stand, and forgets the stops that were not reached.
func (s *stops) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.all {
		select {
		case st.proceed <- func(plugins func() *fwk.Status) *fwk.Status { return plugins() }:
		default: // it went on
		}
	}
	clear(s.at)
	s.all = nil
}

// wait returns once the pod's attempt is at the stage.
func (s *stop) wait() *stop {
	s.f.t.Helper()
	select {
	case <-s.reached:
	case <-time.After(patience):
		s.f.t.Fatalf("%s: not reached within %s", s.what, patience)
	}
	return s
}

// pass lets the attempt go on as if nothing had been, and returns what the plugins of the stage say.
func (s *stop) pass() *fwk.Status {
	s.f.t.Helper()
	return s.on(func(plugins func() *fwk.Status) *fwk.Status { return plugins() })
}

// fail makes the stage fail in the place of its plugins.
func (s *stop) fail(why string) {
	s.f.t.Helper()
	s.on(func(func() *fwk.Status) *fwk.Status { return fwk.AsStatus(errors.New(why)) })
}

func (s *stop) on(how func(plugins func() *fwk.Status) *fwk.Status) *fwk.Status {
	s.f.t.Helper()
	s.proceed <- how
	select {
	case st := <-s.result:
		return st
	case <-time.After(patience):
		s.f.t.Fatalf("%s: does not go on", s.what)
		return nil
	}
}

// failing is a world with a scheduler whose attempts can be stopped, as one scene sees it.
type failing struct {
	*world
	s     *app.Scheduler
	stops *stops
	name  string // of the scene: part of the names of its pods and queues
}

const sceneLabel = "scene"

// failingWorld starts a control plane and a scheduler. config is the text of a KubeSchedulerConfiguration, "" for none.
func failingWorld(t *testing.T, nodes int, config string) *failing {
	if !*long {
		t.Skip("takes minutes: make test-long")
	}
	t.Helper()
	f := &failing{world: newWorld(t, nodes, "8", "32Gi")}
	f.start(config)
	f.until("the scheduler creates root.default", func() (bool, string) {
		err := f.client.Get(f.ctx, client.ObjectKey{Name: v1alpha1.DefaultQueue}, &v1alpha1.Queue{})
		return err == nil, fmt.Sprint(err)
	})
	return f
}

func (f *failing) start(config string) {
	f.t.Helper()
	flags := map[string]string{"kubeconfig": f.cluster.Kubeconfig(), "leader-elect": "false", "secure-port": "0"}
	if config != "" {
		path := filepath.Join(f.t.TempDir(), "config.yaml")
		text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n" +
			"clientConnection: {kubeconfig: " + f.cluster.Kubeconfig() + ", qps: 1000, burst: 2000}\n" + config
		f.must(os.WriteFile(path, []byte(text), 0o600))
		flags["config"] = path
	}
	opts := options.NewOptions()
	for _, fs := range opts.Flags.FlagSets {
		for name, value := range flags {
			if fs.Lookup(name) != nil {
				f.must(fs.Set(name, value))
			}
		}
	}
	ctx, cancel := context.WithCancel(klog.NewContext(f.ctx, klog.Background()))
	s, err := app.Setup(ctx, opts, app.Options{})
	f.must(err)
	f.stops = &stops{Framework: s.Scheduler.Profiles[v1alpha1.SchedulerName], ctx: ctx, at: map[string]*stop{}}
	s.Scheduler.Profiles[v1alpha1.SchedulerName] = f.stops
	f.s = s
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	f.t.Cleanup(func() { cancel(); <-done })
}

// scene runs one case in a queue of its own, root.<name>, and looks at the books after it and again when its pods are gone.
func (f *failing) scene(name string, play func(f *failing)) {
	f.t.Helper()
	f.t.Run(name, func(t *testing.T) {
		w := *f.world
		w.t = t
		c := &failing{world: &w, s: f.s, stops: f.stops, name: name}
		t.Cleanup(func() { // also where play gives up
			c.stops.free()
			c.clear()
		})
		c.queue(c.leaf())
		play(c)
		c.settled()
		c.clear()
		c.settled()
	})
}

func (f *failing) leaf() string { return "root." + f.name }

// clear deletes the pods of the scene, also those with finalizers.
func (f *failing) clear() {
	list := &v1.PodList{}
	err := f.client.List(f.ctx, list, client.InNamespace("default"), client.MatchingLabels{sceneLabel: f.name})
	for i := range list.Items {
		p := &list.Items[i]
		if len(p.Finalizers) > 0 {
			err = errors.Join(err, f.client.Patch(f.ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		}
		err = errors.Join(err, client.IgnoreNotFound(f.client.Delete(f.ctx, p, client.GracePeriodSeconds(0))))
	}
	if client.IgnoreNotFound(err) != nil {
		f.t.Errorf("the scene's pods cannot be deleted: %v", err)
	}
}

// pod creates a pod of 1 cpu in the scene's queue, unless edited.
func (f *failing) pod(name string, edits ...func(*v1.Pod)) *v1.Pod {
	f.t.Helper()
	p := pod(f.name+"-"+name, f.leaf(), "1", "1Gi")
	p.Labels[sceneLabel] = f.name
	for _, edit := range edits {
		edit(p)
	}
	f.must(f.client.Create(f.ctx, p))
	return p
}

func withQueue(q string) func(*v1.Pod) { return func(p *v1.Pod) { p.Labels[v1alpha1.KeyQueue] = q } }
func withCPU(cpu string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU] = resource.MustParse(cpu) }
}
func onNode(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }
func withSelector(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}
func withFinalizer(p *v1.Pod) { p.Finalizers = []string{"example.com/held"} }

// nowhere asks for a node label that no node has until the scene gives it to one.
func (f *failing) nowhere(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{sceneLabel: f.name} }

// hold halts the next attempt of the pod at the stage. It must be called before the pod can get there.
func (f *failing) hold(at stage, name string) *stop {
	f.t.Helper()
	pod := f.name + "-" + name
	s := &stop{f: f, what: pod + " at " + string(at), reached: make(chan struct{}),
		proceed: make(chan func(func() *fwk.Status) *fwk.Status, 1), result: make(chan *fwk.Status, 1)}
	f.stops.mu.Lock()
	defer f.stops.mu.Unlock()
	f.stops.at[string(at)+" "+pod] = s
	f.stops.all = append(f.stops.all, s)
	return s
}

// waitElsewhere makes the pod wait in Permit, and returns when it does.
func (f *failing) waitElsewhere(permit *stop, p *v1.Pod) fwk.WaitingPod {
	f.t.Helper()
	permit.wait().on(func(plugins func() *fwk.Status) *fwk.Status {
		if st := plugins(); !st.IsSuccess() {
			return st
		}
		return fwk.NewStatus(fwk.Wait, "waits for somebody else")
	})
	var waiting fwk.WaitingPod
	f.until(p.Name+" waits in Permit", func() (bool, string) {
		waiting = f.stops.GetWaitingPod(p.UID)
		return waiting != nil, "it does not"
	})
	return waiting
}

// get returns the pod as it is now, nil if there is none of that UID.
func (f *failing) get(p *v1.Pod) *v1.Pod {
	f.t.Helper()
	now := &v1.Pod{}
	err := f.client.Get(f.ctx, client.ObjectKeyFromObject(p), now)
	f.must(client.IgnoreNotFound(err))
	if err != nil || now.UID != p.UID {
		return nil
	}
	return now
}

// change patches an object, whatever others write to it meanwhile.
func change[T client.Object](f *failing, object T, edit func(T)) {
	f.t.Helper()
	f.must(f.client.Get(f.ctx, client.ObjectKeyFromObject(object), object))
	before := object.DeepCopyObject().(client.Object)
	edit(object)
	f.must(f.client.Patch(f.ctx, object, client.MergeFrom(before)))
}

// changeStatus is change for the status.
func changeStatus[T client.Object](f *failing, object T, edit func(T)) {
	f.t.Helper()
	f.must(f.client.Get(f.ctx, client.ObjectKeyFromObject(object), object))
	before := object.DeepCopyObject().(client.Object)
	edit(object)
	f.must(f.client.Status().Patch(f.ctx, object, client.MergeFrom(before)))
}

// remove deletes a pod at once, as far as finalizers allow.
func (f *failing) remove(p *v1.Pod) {
	f.t.Helper()
	f.must(f.client.Delete(f.ctx, p, client.GracePeriodSeconds(0)))
}

// bind binds a pod by hand, as another scheduler would.
func (f *failing) bind(p *v1.Pod, node string) {
	f.t.Helper()
	f.must(f.kube.CoreV1().Pods(p.Namespace).Bind(f.ctx, &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{}))
}

// limit sets max.cpu of a queue, and returns when the ledger knows it.
func (f *failing) limit(queue, cpu string) {
	f.t.Helper()
	change(f, &v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: queue}}, func(q *v1alpha1.Queue) { q.Spec.Max = set(nil, "cpu", cpu) })
	want := resource.MustParse(cpu)
	f.until(queue+" has max.cpu="+cpu, func() (bool, string) {
		for _, q := range f.s.Ledger.Snapshot().Queues {
			if string(q.Path) == queue {
				is, ok := q.Spec.Max.Lookup(coreresource.CPU)
				return ok && is == want.MilliValue(), fmt.Sprint(is)
			}
		}
		return false, "no such queue"
	})
}

// used is what a queue is charged.
func (f *failing) used(queue string) string {
	for _, q := range f.s.Ledger.Snapshot().Queues {
		if string(q.Path) == queue {
			return q.Allocated.String()
		}
	}
	return "no such queue"
}

func (f *failing) untilUsed(queue, want string) {
	f.t.Helper()
	f.until(fmt.Sprintf("%s is charged %q", queue, want), func() (bool, string) {
		got := f.used(queue)
		return got == want, got
	})
}

// state is where the ledger has the pod: "Waiting root.a", held by a reason "Waiting root.a SchedulingGate", in no queue
// "Waiting - QueueNotFound", and "unknown".
func (f *failing) state(p *v1.Pod) string {
	s, ok := f.s.Ledger.PodState(ledger.UID(p.UID))
	if !ok {
		return "unknown"
	}
	words := []string{s.State.String(), "-"}
	if s.Leaf != "" {
		words[1] = string(s.Leaf)
	}
	if s.Hold.Code != "" {
		words = append(words, string(s.Hold.Code))
	}
	return strings.Join(words, " ")
}

// untilState waits until the ledger has the pod in one of the states.
func (f *failing) untilState(p *v1.Pod, want ...string) {
	f.t.Helper()
	f.until(fmt.Sprintf("pod %s is %q", p.Name, want), func() (bool, string) {
		got := f.state(p)
		return slices.Contains(want, got), got
	})
}

// untilRuns waits until the pod is bound, by whom ever, and charged to the queue. It returns the pod.
func (f *failing) untilRuns(p *v1.Pod, queue string) *v1.Pod {
	f.t.Helper()
	f.untilState(p, "Bound "+queue)
	now := f.get(p)
	if now == nil || now.Spec.NodeName == "" {
		f.t.Fatalf("pod %s is bound in the ledger only", p.Name)
	}
	return now
}

// untilUnschedulable waits until kube-scheduler has said on the pod that no node fits, and the pod is back: parked, or waiting for
// room because an event woke it already.
func (f *failing) untilUnschedulable(p *v1.Pod, queue string) {
	f.t.Helper()
	f.untilCondition(p, v1.PodReasonUnschedulable)
	f.untilState(p, "Parked "+queue, "Waiting "+queue)
}

// untilCondition waits until the pod says PodScheduled=False for the reason.
func (f *failing) untilCondition(p *v1.Pod, reason string) {
	f.t.Helper()
	f.until(fmt.Sprintf("pod %s says %s", p.Name, reason), func() (bool, string) {
		c := scheduled(f.get(p))
		return c != nil && c.Status == v1.ConditionFalse && c.Reason == reason, fmt.Sprint(c)
	})
}

func scheduled(p *v1.Pod) *v1.PodCondition {
	if p != nil {
		for i := range p.Status.Conditions {
			if p.Status.Conditions[i].Type == v1.PodScheduled {
				return &p.Status.Conditions[i]
			}
		}
	}
	return nil
}

// settled waits until nothing is under way and looks at everything that a failure could leave behind: the ledger adds up and equals one
// that is built anew from the API objects; nothing is in the window; the sweeper found nothing; kube-scheduler holds the parked pods
// and no others, runs no attempt, and assumes no pod.
func (f *failing) settled() {
	f.t.Helper()
	l, last := f.s.Ledger, uint64(0)
	f.until("the books are settled", func() (bool, string) {
		for _, wrong := range l.Check() {
			f.t.Error(wrong)
		}
		if n := l.Repairs(); n != 0 {
			f.t.Errorf("the sweeper had to put %d pods right", n)
		}
		if f.t.Failed() {
			f.t.FailNow()
		}
		before := l.Snapshot()
		if before.InWindow != 0 {
			return false, fmt.Sprintf("%d pods in the window", before.InWindow)
		}
		want, is := f.rebuilt(), l.Fingerprint()
		if want != is {
			return false, "rebuilt:\n" + want + "is:\n" + is
		}
		if missing := f.left(); missing != "" {
			return false, missing
		}
		unmoved := last == before.Version
		last = l.Version()
		return unmoved && last == before.Version, "it still moves"
	})
}

// left says what kube-scheduler holds that it should not, or the other way round.
func (f *failing) left() string {
	q := f.s.Scheduler.SchedulingQueue
	if n := len(q.InFlightPods()); n > 0 {
		return fmt.Sprintf("%d attempts run", n)
	}
	if n := f.s.Scheduler.Cache.Dump().AssumedPods.Len(); n > 0 {
		return fmt.Sprintf("kube-scheduler assumes %d pods", n)
	}
	held, _ := q.PendingPods()
	for _, p := range held {
		if st, _ := f.s.Ledger.PodState(ledger.UID(p.UID)); st.State != ledger.Parked {
			return fmt.Sprintf("kube-scheduler has pod %s, which is %s", p.Name, f.state(p))
		}
	}
	list := &v1.PodList{}
	f.must(f.client.List(f.ctx, list))
	bound := 0
	for i := range list.Items {
		p := &list.Items[i]
		if st, _ := f.s.Ledger.PodState(ledger.UID(p.UID)); st.State == ledger.Parked {
			if info, ok := q.GetPod(p.Name, p.Namespace); !ok || info.Pod.UID != p.UID || info.Gated() {
				return fmt.Sprintf("nothing would wake parked pod %s", p.Name)
			}
		}
		if p.Spec.NodeName != "" && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			bound++
		}
	}
	if n, err := f.s.Scheduler.Cache.PodCount(); err != nil || n != bound {
		return fmt.Sprintf("kube-scheduler has %d pods on nodes (%v), the API %d", n, err, bound)
	}
	return ""
}

// rebuilt is the fingerprint of a ledger that is fed the API objects of this moment, as a scheduler that starts now would be.
func (f *failing) rebuilt() string {
	f.t.Helper()
	queues := &unstructured.UnstructuredList{}
	queues.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("QueueList"))
	nodes, pods, claims := &v1.NodeList{}, &v1.PodList{}, &resourcev1.ResourceClaimList{}
	for _, list := range []client.ObjectList{queues, nodes, claims, pods} {
		f.must(f.client.List(f.ctx, list))
	}
	made := map[string]bool{}
	for i := range claims.Items {
		made[claims.Items[i].Name] = true
	}
	fresh := &feed.Feed{
		Ledger: ledger.New(ledger.Options{}), Classes: &feed.Classes{},
		Ours: func(name string) bool { return name == v1alpha1.SchedulerName },
		Gate: func(p *v1.Pod) string { return gateOf(p, made) },
		Now:  func() int64 { return time.Now().UnixNano() },
		Kick: func() {},
	}
	for i := range queues.Items {
		fresh.Queues().OnAdd(&queues.Items[i], true)
	}
	for i := range nodes.Items {
		fresh.Nodes().OnAdd(&nodes.Items[i], true)
	}
	for i := range pods.Items {
		fresh.ObservePod(&pods.Items[i])
	}
	return fresh.Ledger.Fingerprint()
}

// gateOf is what the PreEnqueue plugins of kube-scheduler say, as far as these tests go.
func gateOf(p *v1.Pod, made map[string]bool) string {
	if len(p.Spec.SchedulingGates) > 0 {
		return "SchedulingGates"
	}
	for _, c := range p.Spec.ResourceClaims {
		name := c.ResourceClaimName
		for _, s := range p.Status.ResourceClaimStatuses {
			if s.Name == c.Name {
				name = s.ResourceClaimName
			}
		}
		if name == nil || !made[*name] {
			return "DynamicResources"
		}
	}
	return ""
}

// failedScheduling counts the events with which kube-scheduler says that an attempt at the pod failed.
func (f *failing) failedScheduling(p *v1.Pod) (n int) {
	f.t.Helper()
	for _, e := range f.eventsOf(p.Name) {
		if e.Reason == "FailedScheduling" && e.InvolvedObject.UID == p.UID {
			n++
		}
	}
	return n
}
