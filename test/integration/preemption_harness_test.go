package integration

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// taking is a world in which preemption is watched: every version of every pod is kept. It is also one scene of it, whose pods and queues
// begin with its name.
type taking struct {
	*world
	*history
	runs *process
	name string
}

// process is the scheduler of all scenes, which a scene may start again.
type process struct {
	base   *world // of the test, not of a scene: what one scene starts the next one uses
	config string
	s      *app.Scheduler
	stop   func()
}

func (r *process) start() {
	r.s, r.stop = r.base.run(r.base.options(r.config), ledger.Options{Journal: 1_000_000})
}

// takingWorld has nodes of which each has room for 4 pods of a scene. config is the text of a KubeSchedulerConfiguration, "" for none. Rounds
// and waits are as short as they may be.
func takingWorld(t *testing.T, nodes int, config string) *taking {
	t.Helper()
	w := newWorldAlone(t, nodes, "4", "16Gi")
	w.queue("root preemption.interval=1s preemption.maxWaitBeforeKill=1s")
	k := &taking{world: w, history: w.record(), runs: &process{base: w, config: config}}
	k.runs.start()
	return k
}

// preemption sets one field of spec.preemption.
func (w *world) preemption(q *v1alpha1.Queue, name, value string) {
	w.t.Helper()
	if q.Spec.Preemption == nil {
		q.Spec.Preemption = &v1alpha1.QueuePreemption{}
	}
	p := q.Spec.Preemption
	switch name {
	case "fairShareThreshold":
		p.FairShareThreshold = ptr.To(resource.MustParse(value))
	case "fairShareTimeout":
		p.FairShareTimeout = value
	case "guaranteedTimeout":
		p.GuaranteedTimeout = value
	case "preemptible":
		p.Preemptible = ptr.To(value == "true")
	case "observeOnly":
		p.ObserveOnly = ptr.To(value == "true")
	case "totalPerRound":
		p.TotalPerRound = ptr.To(resource.MustParse(value))
	case "maxIgnoredOverCapacity":
		p.MaxIgnoredOverCapacity = ptr.To(resource.MustParse(value))
	case "naturalTerminationFactor":
		p.NaturalTerminationFactor = ptr.To(resource.MustParse(value))
	case "interval":
		p.Interval = value
	case "maxWaitBeforeKill":
		p.MaxWaitBeforeKill = value
	default:
		w.t.Fatalf("unknown field preemption.%s", name)
	}
}

// root changes what all queues have in common, until the scene ends.
func (k *taking) root(name, value string) {
	k.t.Helper()
	f := &failing{world: k.world}
	root := &v1alpha1.Queue{}
	root.Name = v1alpha1.RootQueue
	k.must(k.client.Get(k.ctx, client.ObjectKeyFromObject(root), root))
	before := root.Spec.Preemption.DeepCopy()
	change(f, root, func(q *v1alpha1.Queue) { k.preemption(q, name, value) })
	k.t.Cleanup(func() { change(f, root, func(q *v1alpha1.Queue) { q.Spec.Preemption = before }) })
}

// scene plays one case, looks at the books when it is over, and takes its pods away.
func (k *taking) scene(name string, play func(*taking)) {
	k.t.Helper()
	k.t.Run(name, func(t *testing.T) {
		w := *k.world
		w.t = t
		scene := &taking{world: &w, history: k.history, runs: k.runs, name: name}
		began := time.Now()
		t.Cleanup(scene.clear) // also where play gives up
		play(scene)
		scene.onceEach()
		scene.books()
		t.Logf("%s took %s", name, time.Since(began).Round(100*time.Millisecond))
	})
}

// clear takes the pods of the scene away, and returns when the scheduler knows.
func (k *taking) clear() {
	var err error
	for _, p := range k.mine() {
		if p.Finalizers != nil {
			err = errors.Join(err, k.client.Patch(k.ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		}
		err = errors.Join(err, client.IgnoreNotFound(k.client.Delete(k.ctx, p, client.GracePeriodSeconds(0))))
	}
	if err != nil {
		k.t.Errorf("the scene's pods cannot be deleted: %v", err)
	}
	k.until("the scheduler knows that the scene is over", func() (bool, string) {
		root := k.runs.s.Ledger.Snapshot().Queues[0]
		return root.PodsRunning+root.PodsPending == 0, fmt.Sprintf("%d pods run, %d wait", root.PodsRunning, root.PodsPending)
	})
}

// books waits until nothing is under way and compares the ledger with one that is made again.
func (k *taking) books() {
	k.t.Helper()
	(&failing{world: k.world, s: k.runs.s}).settled()
}

// mine are the pods of the scene that are not finished, by name.
func (k *taking) mine() map[string]*v1.Pod {
	k.t.Helper()
	pods := k.pods()
	maps.DeleteFunc(pods, func(name string, _ *v1.Pod) bool { return !strings.HasPrefix(name, k.name+"-") })
	return pods
}

// leaf is the full name of a queue of the scene.
func (k *taking) leaf(queue string) string { return "root." + k.name + "-" + queue }

// queues declares queues of the scene, each written as its name and its fields.
func (k *taking) queues(texts ...string) {
	k.t.Helper()
	for _, text := range texts {
		k.queue("root." + k.name + "-" + text)
	}
}

// fill creates pods of 1 cpu and 4Gi, called by the scene, the queue and a number from a first one on.
func (k *taking) fill(queue string, from, n int, edits ...func(*v1.Pod)) []*v1.Pod {
	k.t.Helper()
	var pods []*v1.Pod
	for i := range n {
		p := pod(fmt.Sprintf("%s-%s-%d", k.name, queue, from+i), k.leaf(queue), "1", "4Gi")
		for _, edit := range edits {
			edit(p)
		}
		pods = append(pods, p)
	}
	k.create(pods...)
	return pods
}

// running waits until so many pods of a queue have nodes, and run as far as the kubelet is concerned: what does not run yet is evicted without
// regard to budgets. It returns them.
func (k *taking) running(queue string, n int) []*v1.Pod {
	k.t.Helper()
	var pods []*v1.Pod
	k.until(fmt.Sprintf("%d pods of %s run", n, queue), func() (bool, string) {
		pods = pods[:0]
		for _, p := range k.mine() {
			if p.Labels[v1alpha1.KeyQueue] == k.leaf(queue) && p.Status.Phase == v1.PodRunning && p.DeletionTimestamp == nil {
				pods = append(pods, p)
			}
		}
		return len(pods) == n, fmt.Sprintf("%d do; %v", len(pods), k.runs.s.Ledger.Victims())
	})
	return pods
}

// stopping is a pod that takes its time to stop when it is evicted.
func stopping(seconds, grace int64) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Annotations = map[string]string{localcluster.StopSecondsAnnotation: fmt.Sprint(seconds)}
		p.Spec.TerminationGracePeriodSeconds = &grace
	}
}

func labelled(key, value string) func(*v1.Pod) { return func(p *v1.Pod) { p.Labels[key] = value } }

func withSize(cpu, memory string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse(memory)}
	}
}

func withPort(port int32) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: port, HostPort: port}}
	}
}

// fate is what the versions of a pod tell about its end.
type fate struct {
	name, queue, node string
	// shown is how often it began to say that it is to go, withdrawn how often it took that back. told is the last of the first kind, and message its words.
	shown, withdrawn int
	told             time.Time
	message          string
	// asked is when it was told to stop, by the API's clock, which is cut to whole seconds; zero: never. evicted: by the Eviction API.
	asked     time.Time
	evictions int
	stops     time.Time // its deadline
}

// announcement is what a pod says about Fairway's wish that it go, nil if it says nothing.
func announcement(p *v1.Pod) *v1.PodCondition {
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && strings.HasPrefix(c.Message, v1alpha1.PreemptionMessage) {
			return c
		}
	}
	return nil
}

// byEvictionAPI is the reason that the Eviction API writes into the condition DisruptionTarget.
const byEvictionAPI = "EvictionByEvictionAPI"

func evictedByAPI(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget && c.Reason == byEvictionAPI })
}

// fates are those of the scene's pods that were announced or evicted, by UID: a pod made again under a name is another one.
func (k *taking) fates() map[types.UID]*fate {
	all := map[types.UID]*fate{}
	last := map[types.UID]*v1.Pod{}
	for _, p := range k.of(func(p *v1.Pod) bool { return strings.HasPrefix(p.Name, k.name+"-") }) {
		before := last[p.UID]
		if before == nil {
			before = &v1.Pod{}
		}
		last[p.UID] = p
		says, said := announcement(p), announcement(before)
		// The Eviction API writes first and deletes then. Between the two it gives up where the client goes away.
		evicted := evictedByAPI(p) && p.DeletionTimestamp != nil && before.DeletionTimestamp == nil
		if all[p.UID] == nil {
			if says == nil && !evicted {
				continue
			}
			all[p.UID] = &fate{name: p.Name, queue: p.Labels[v1alpha1.KeyQueue], node: p.Spec.NodeName}
		}
		f := all[p.UID]
		if says != nil && said == nil && !evictedByAPI(before) {
			f.shown++
			f.told, f.message = says.LastTransitionTime.Time, says.Message
		}
		if says == nil && said != nil && !evictedByAPI(p) && p.DeletionTimestamp == nil {
			f.withdrawn++
		}
		if evicted {
			f.evictions++
		}
		if p.DeletionTimestamp != nil && before.DeletionTimestamp == nil {
			f.stops = p.DeletionTimestamp.Time
			f.asked = f.stops.Add(-time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
		}
	}
	return all
}

// evicted are the names of the scene's pods that were evicted, sorted.
func (k *taking) evicted() []string {
	var names []string
	for _, f := range k.fates() {
		if f.evictions > 0 {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}

// announced counts the scene's pods that have said that they are to go.
func (k *taking) announced() (n int) {
	for _, f := range k.fates() {
		n += btoi(f.shown > 0)
	}
	return n
}

// onceEach: nobody was evicted or announced twice, and nobody was evicted unannounced.
func (k *taking) onceEach() {
	k.t.Helper()
	for _, f := range k.fates() {
		if f.evictions > 1 || f.shown != 1 {
			k.t.Errorf("pod %s was announced %d times and evicted %d times", f.name, f.shown, f.evictions)
		}
	}
}

// evictedAre checks who was evicted in the scene, by counts of name prefixes after the scene's: {"hog-": 3}. Nobody else was.
func (k *taking) evictedAre(want map[string]int) {
	k.t.Helper()
	got := map[string]int{}
	for _, name := range k.evicted() {
		rest := strings.TrimPrefix(name, k.name+"-")
		kind := rest[:strings.LastIndexByte(rest, '-')+1]
		got[kind]++
	}
	if !maps.Equal(got, want) {
		k.t.Errorf("evicted were %v, want %v: %v", got, want, k.evicted())
	}
}

// paid waits until no claim is open and nobody is on his way out or in: nothing will be evicted any more.
func (k *taking) paid() {
	k.t.Helper()
	k.until("all claims are paid", func() (bool, string) {
		for _, q := range k.runs.s.Ledger.Snapshot().Queues {
			if q.Starvation.Claiming {
				return false, fmt.Sprintf("%s is owed %s; victims are %v", q.Path, q.Starvation.Owed, k.runs.s.Ledger.Victims())
			}
		}
		return len(k.runs.s.Ledger.Victims()) == 0, fmt.Sprint(k.runs.s.Ledger.Victims())
	})
	rest(k.t, k.world, k.runs.s)
}
