package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	coreresource "github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/test/inprocess"
)

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
	ctx, cancel := context.WithCancel(klog.NewContext(f.ctx, klog.Background()))
	s, err := app.Setup(ctx, f.options(config), app.Options{Ledger: ledger.Options{Journal: 1_000_000}})
	f.must(err)
	f.stops = &stops{Framework: s.Scheduler.Profiles[v1alpha1.SchedulerName], ctx: ctx, at: map[string]*stop{}}
	s.Scheduler.Profiles[v1alpha1.SchedulerName] = f.stops
	f.s = s
	done := make(chan struct{})
	go func() {
		defer close(done)
		inprocess.Run(ctx, s)
	}()
	f.t.Cleanup(func() { cancel(); <-done })
}

// scene runs one case in a queue of its own, root.<name>, and looks at the books, and at what is shown of them, after it and again when its pods are gone.
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
		c.agree()
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
	if s.BlockedBy.Code != "" {
		words = append(words, string(s.BlockedBy.Code))
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
