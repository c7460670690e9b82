package demo

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

//go:embed preempt.yaml
var preemptYAML []byte

// preemption is the demo of Scenario A without preemption and with it.
var preemption = showTwoQueues(preemptYAML, "both acts were over", func(q twoQueues, o Options) player {
	return &preemptPlayer{twoQueues: q, story: preemptStory{once: o.Once, limit: o.Deadline}}
})

// preemptPlayer does what the story decides.
type preemptPlayer struct {
	twoQueues
	story   preemptStory
	watched watchedEvictions
}

func (p *preemptPlayer) step(ctx context.Context) (done bool, err error) {
	now := time.Now()
	world, err := p.observer.world(now)
	if err := p.demo.handleError(err); err != nil {
		return false, err
	}
	pods := p.observer.all()
	evictions := p.watched.look(pods)
	turn := p.story.step(now, world, evictions)
	for _, line := range turn.say {
		p.demo.say("%s", line)
	}
	p.view = view{
		title: p.story.headline(), elapsed: now.Sub(p.demo.began), body: preemptRows{world.queues, evictions}, hints: p.hints(),
	}
	p.demo.screen.show(now, p.view)
	if turn.done || turn.err != nil {
		return turn.done, turn.err
	}
	return false, p.demo.handleError(p.carryOut(ctx, now, turn, pods))
}

func (p *preemptPlayer) carryOut(ctx context.Context, now time.Time, t turn, pods []*corev1.Pod) error {
	if t.clear {
		if err := p.workload.clearAll(ctx); err != nil {
			return err
		}
	}
	if t.amend {
		p.watched = watchedEvictions{}
		_, err := p.demo.objects.Resource(v1alpha1.QueueResource).Patch(ctx, v1alpha1.RootQueue, types.MergePatchType, []byte(preemptPatch), metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("switch preemption on in Queue root: %w", err)
		}
	}
	if t.end > 0 {
		if err := p.workload.end(ctx, oldest(pods, busy, t.end)); err != nil {
			return err
		}
	}
	for _, submission := range t.submit {
		names, err := p.workload.submit(ctx, submission)
		p.observer.created(now, submission.queue, names)
		if err != nil {
			return err
		}
	}
	return nil
}

// all returns the pods that the watch has shown.
func (o *observer) all() (pods []*corev1.Pod) {
	for _, object := range o.pods.List() {
		if pod, ok := object.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// oldest returns the names of the pods of a queue that have run longest.
func oldest(pods []*corev1.Pod, queue string, n int) (names []string) {
	var running []*corev1.Pod
	for _, p := range pods {
		if p.Annotations[v1alpha1.KeyPlacedQueue] == queue && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			running = append(running, p)
		}
	}
	slices.SortFunc(running, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range running[:min(n, len(running))] {
		names = append(names, p.Name)
	}
	return names
}

// watchedEvictions counts evictions by what pods show: a pod that showed that it would be evicted and then was
// gone counts as evicted.
type watchedEvictions struct {
	announced map[types.UID]bool
	gone      int
}

func (w *watchedEvictions) look(pods []*corev1.Pod) evictions {
	before := w.announced
	w.announced = map[types.UID]bool{}
	for _, p := range pods {
		if p.Status.Phase != corev1.PodSucceeded && (convert.Announcement(p) != nil || before[p.UID] && disrupted(p)) {
			w.announced[p.UID] = true
		}
		delete(before, p.UID) // it stays, ended by itself, or is still announced
	}
	w.gone += len(before)
	return evictions{announced: len(w.announced), gone: w.gone}
}

// disrupted reports whether the API server evicts the pod: it says so in the same condition, in place of the
// announcement.
func disrupted(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// hints suggest what to look at, once there is something to see.
func (p *preemptPlayer) hints() []string {
	if p.demo.options.Once || len(p.story.acts) < 2 || p.story.stage < contested {
		return nil
	}
	return preemptHints(p.demo.cluster.Kubeconfig(), tool(p.demo.root, "bin", "tools", "kubectl"), tool(p.demo.root, "bin", "kubectl-fairway"))
}

func preemptHints(kubeconfig, kubectl, fairway string) []string {
	return hints(kubeconfig, kubectl+" get queues -o wide", fairway+inBrowser, fairway+" preemption", kubectl+" get events --field-selector reason="+v1alpha1.EventPreempting,
		kubectl+" edit queue "+busy+"   # with weight: 9 it is "+busy+" that starves")
}

// preemptRows are the queues and the evictions seen so far.
type preemptRows struct {
	queues    queueRows
	evictions evictions
}

func (r preemptRows) table(width int, style report.Style) []string {
	line := fmt.Sprintf("pods announced to be evicted: %d, evicted: %d", r.evictions.announced, r.evictions.gone)
	return append(r.queues.table(width, style), report.Clip(line, width))
}

func (r preemptRows) chart(width int, style report.Style) []string {
	return r.queues.chart(width, style)
}

func (r preemptRows) essence() string { return r.queues.essence() + fmt.Sprint(r.evictions) }
