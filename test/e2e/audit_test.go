package e2e

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/controllers/queuestatus"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func (w *world) createMisfits() {
	w.t.Helper()
	for _, p := range misfits() {
		_, err := w.kube.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{})
		w.must(err)
	}
}

// audit waits until every pod that fits has been bound and those that end have ended, and judges what was seen and what is left.
func (w *world) audit(f *flow) {
	w.t.Helper()
	pods := f.finish(w.ctx)
	w.until("every pod that fits is bound, and ends if it is to", func() (bool, string) {
		bound, over := w.history.bound(), w.history.over()
		return bound >= pods && over >= pods-stayers, fmt.Sprintf("%d created, %d bound, %d ended", pods, bound, over)
	})
	w.say("all %d pods that fit are bound", pods)
	w.auditPods(pods)
	w.auditBooks()
	w.say("the books are right")
	w.auditLogs()
	w.goodbye()
}

// judgement reports what was wrong on the way, also where the test has ended early.
func (w *world) judgement() {
	breaches, crowded, misses := w.history.judge()
	w.say("history: %d breaches, %d times too much on a node, %d lists after a watch that could not go on", len(breaches), len(crowded), misses)
	const most = 20 // of a kind are enough to see what it is
	for _, b := range breaches[:min(most, len(breaches))] {
		w.t.Error(b)
	}
	for _, c := range crowded[:min(most, len(crowded))] {
		w.t.Error(c)
	}
}

// auditPods: every pod that fits was bound once, the others never, and the API agrees with the history.
func (w *world) auditPods(pods int) {
	w.t.Helper()
	list, err := w.kube.CoreV1().Pods(metav1.NamespaceDefault).List(w.ctx, metav1.ListOptions{})
	w.must(err)
	node := map[string]string{}
	for i := range list.Items {
		p := &list.Items[i]
		node[p.Name] = p.Spec.NodeName
		if why, misfit := saying[p.Name]; misfit && !says(p, why) {
			w.t.Errorf("pod %s does not say %s=%s, %s: %v", p.Name, why.Type, why.Status, why.Reason, p.Status.Conditions)
		}
	}
	stories := w.history.stories()
	if want := pods + len(misfits()); len(stories) != want || len(node) != want {
		w.t.Errorf("%d pods were seen and %d are there, want %d", len(stories), len(node), want)
	}
	for _, s := range stories {
		want := 1
		if strings.HasPrefix(s.name, "misfit") {
			want = 0
		}
		if s.binds != want || node[s.name] != s.node {
			w.t.Errorf("pod %s was bound %d times, want %d; last to %q, the API says %q", s.name, s.binds, want, s.node, node[s.name])
		}
	}
}

// saying is what the misfits tell their users in the end. The one beyond its queue's max waits for its turn, and says nothing.
var saying = map[string]v1.PodCondition{
	"misfit-node":  {Type: v1.PodScheduled, Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable},
	"misfit-queue": {Type: v1alpha1.PodConditionQueued, Status: v1.ConditionTrue, Reason: string(reason.QueueNotFound)},
}

func says(p *v1.Pod, what v1.PodCondition) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == what.Type && c.Status == what.Status && c.Reason == what.Reason
	})
}

// auditBooks: every Queue's status says what a ledger says that is made again of the objects, and that is what the pods add up to.
func (w *world) auditBooks() {
	w.t.Helper()
	w.until("the statuses say what the objects say", func() (bool, string) {
		l, queues := w.rebuild()
		if wrong := l.Check(); len(wrong) > 0 {
			w.t.Fatalf("a ledger made again: %s", strings.Join(wrong, "; "))
		}
		seen := 0
		for _, q := range l.Snapshot().Queues {
			is, ok := queues[string(q.Path)]
			if !ok {
				return false, fmt.Sprintf("there is no Queue %s", q.Path)
			}
			seen++
			want := queuestatus.Status(q, is.Status, is.Generation, metav1.Time{})
			w.must(saysStarved(&want, is.Status))
			if !equality.Semantic.DeepEqual(want, is.Status) {
				return false, fmt.Sprintf("%s says\n%s\nshould say\n%s", q.Path, text(is.Status), text(want))
			}
			if held, says := w.history.held(is.Name), allocated(is); held != says {
				return false, fmt.Sprintf("the pods of %s hold %s, its status says %s", is.Name, held, says)
			}
		}
		return seen == len(queues), fmt.Sprintf("%d of %d Queues are in the ledger", seen, len(queues))
	})
}

// saysStarved compares the condition Starved with the clocks, and takes it over: its sentence has the numbers of the moment at which it was written.
func saysStarved(want *v1alpha1.QueueStatus, is v1alpha1.QueueStatus) error {
	clocks := is.BelowFairShareSince != nil || is.BelowGuaranteedSince != nil
	if says := meta.IsStatusConditionTrue(is.Conditions, v1alpha1.ConditionStarved); says != clocks {
		return fmt.Errorf("condition Starved is %t, while a clock runs is %t: %s", says, clocks, text(is))
	}
	if c := meta.FindStatusCondition(is.Conditions, v1alpha1.ConditionStarved); c != nil {
		meta.SetStatusCondition(&want.Conditions, *c)
		meta.FindStatusCondition(want.Conditions, v1alpha1.ConditionStarved).LastTransitionTime = c.LastTransitionTime
	}
	return nil
}

func allocated(q *v1alpha1.Queue) amounts {
	a := q.Status.Allocated
	return amounts{a.Cpu().MilliValue(), a.Memory().Value()}
}

func text(s v1alpha1.QueueStatus) string {
	data, err := yaml.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// rebuild makes a ledger of the API objects of this moment, as a scheduler that starts now would.
func (w *world) rebuild() (*ledger.Ledger, map[string]*v1alpha1.Queue) {
	w.t.Helper()
	fresh := &feed.Feed{
		Ledger: ledger.New(ledger.Options{}), Classes: &feed.Classes{},
		Ours: func(name string) bool { return name == v1alpha1.SchedulerName },
		Gate: func(*v1.Pod) string { return "" },
		Now:  func() int64 { return time.Now().UnixNano() },
		Kick: func() {},
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("QueueList"))
	w.must(w.client.List(w.ctx, list))
	queues := map[string]*v1alpha1.Queue{}
	for i := range list.Items {
		q, err := convert.DecodeQueue(&list.Items[i])
		w.must(err)
		queues[q.Name] = q
		fresh.Queues().OnAdd(&list.Items[i], true)
	}
	ns, err := w.kube.CoreV1().Nodes().List(w.ctx, metav1.ListOptions{})
	w.must(err)
	for i := range ns.Items {
		fresh.Nodes().OnAdd(&ns.Items[i], true)
	}
	pods, err := w.kube.CoreV1().Pods(metav1.NamespaceAll).List(w.ctx, metav1.ListOptions{})
	w.must(err)
	for i := range pods.Items {
		fresh.ObservePod(&pods.Items[i])
	}
	now := time.Now().UnixNano()
	fresh.Ledger.Lead(now)
	fresh.Ledger.LookAtStarvation(now) // clocks go on where the statuses left them
	return fresh.Ledger, queues
}

// What no scheduler may log: a crash, a pod that it lost.
var neverLogged = []string{"panic", "Released pods were lost"}

// notAllowed is logged where the manifests forgot a right, and for a moment by everybody when an apiserver starts.
const notAllowed = "forbidden"

func (w *world) auditLogs() {
	w.t.Helper()
	for _, r := range w.replicas {
		for _, p := range r.processes() {
			data, err := p.Log()
			w.must(err)
			for line := range strings.Lines(string(data)) {
				if strings.Contains(line, notAllowed) && !w.sawRestart(p) ||
					slices.ContainsFunc(neverLogged, func(never string) bool { return strings.Contains(line, never) }) {
					w.t.Errorf("replica %s, process %d: %s", r.name, p.number, line)
				}
			}
		}
	}
}

// sawRestart reports whether the process ran when a server was started again.
func (w *world) sawRestart(p *run) bool {
	return slices.ContainsFunc(w.restarts, func(r restart) bool {
		return p.began.Before(r.served) && (!p.Gone() || p.Ended().After(r.killed))
	})
}

// goodbye asks every replica to end, as a kubelet does: they obey, and the leader leaves the lease to others.
func (w *world) goodbye() {
	w.t.Helper()
	for _, r := range w.replicas {
		if p := r.end(syscall.SIGTERM); p.State().ExitCode() != 0 {
			w.t.Errorf("replica %s, asked to end, did so with %s\n%s", r.name, p.State(), p.Tail())
		}
	}
	w.until("the lease is given up", func() (bool, string) {
		now := w.history.leader()
		return now.identity == "", fmt.Sprint(now)
	})
}
