package e2e

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	hog, starved = "root.hog", "root.starved"
	// Of 48 cpu, all of which hog holds in pods of 1 cpu, starved is owed the half. The pods take two seconds to stop.
	hogs, owed         = nodes * nodeCPU / 1000, nodes * nodeCPU / 1000 / 2
	stopsAfter         = 2
	preemptionRounds   = 8
	preemptionTimeout  = 2 * time.Second
	preemptionWait     = 2 * time.Second
	progressOfOneRound = 4 * owed // announced, evicted, gone, and in their place
)

// TestKillsWhileQueuesAreGivenTheirShare kills the scheduler with kill -9 at any moment of a preemption: before it is due, while victims are announced,
// while they wait, while they are evicted, while they stop, and while the claimants start. The next process evicts what is still owed: in the end
// as many pods went as without any kill, each of them announced. (A pod may be announced twice: the next process plans again, after it has tried
// one pod of each class.)
func TestKillsWhileQueuesAreGivenTheirShare(t *testing.T) {
	w := newWorld(t)
	root := &v1alpha1.Queue{}
	w.must(w.client.Get(w.ctx, client.ObjectKey{Name: "root"}, root))
	root.Spec.Preemption = &v1alpha1.QueuePreemption{Interval: "1s", MaxWaitBeforeKill: preemptionWait.String()}
	w.must(w.client.Update(w.ctx, root))
	for _, q := range []v1alpha1.Queue{declare(hog), declare(starved, func(q *v1alpha1.Queue) {
		q.Spec.Preemption = &v1alpha1.QueuePreemption{FairShareTimeout: preemptionTimeout.String()}
	})} {
		w.must(w.client.Create(w.ctx, &q))
	}
	r := w.replica("single", w.kubeconfig(), nil)
	for round := range preemptionRounds {
		dice := rand.New(rand.NewPCG(13, uint64(round)))
		w.fillRound(hog, round, hogs)
		w.fillRound(starved, round, owed)
		since := w.belowSince()
		for last, i := -1, 0; i <= round%2; i++ { // in every second round twice
			at := last + 1 + dice.IntN(progressOfOneRound-last-1)
			last = at
			w.killPreempting(r, round, at, since)
		}
		w.until("starved has its share", func() (bool, string) {
			p := w.taken(round)
			return p.in == owed && p.gone == p.evicted && w.history.held(hog).cpu == 1000*(hogs-owed), p.String()
		})
		if p := w.taken(round); p.evicted != owed || p.unannounced > 0 {
			t.Errorf("round %d, in which %d pods were owed: %s, %d of them unannounced", round, owed, p, p.unannounced)
		}
		w.endRound()
	}
	w.auditBooks()
	w.auditLogs()
	w.goodbye()
}

// fillRound creates pods of a queue; those of hog have their places before it returns, and run.
func (w *world) fillRound(queue string, round, n int) {
	w.t.Helper()
	for i := range n {
		p := newPod(fmt.Sprintf("%s-%d-%d", strings.TrimPrefix(queue, "root."), round, i), queue, amounts{1000, 1 << 30})
		p.Annotations = map[string]string{localcluster.StopSecondsAnnotation: strconv.Itoa(stopsAfter)}
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](10)
		_, err := w.kube.CoreV1().Pods(p.Namespace).Create(w.ctx, p, metav1.CreateOptions{})
		w.must(err)
	}
	if queue == hog {
		w.until("hog has all", func() (bool, string) {
			held := w.history.held(hog)
			return held.cpu == int64(1000*n), held.String()
		})
	}
}

// belowSince waits until the status says since when starved is below its fair share.
func (w *world) belowSince() (since metav1.Time) {
	w.t.Helper()
	w.until("the status says since when starved is below", func() (bool, string) {
		q := w.starved()
		if q.Status.BelowFairShareSince != nil {
			since = *q.Status.BelowFairShareSince
		}
		return !since.IsZero(), "it does not"
	})
	return since
}

func (w *world) starved() *v1alpha1.Queue {
	w.t.Helper()
	q := &v1alpha1.Queue{}
	w.must(w.client.Get(w.ctx, client.ObjectKey{Name: starved}, q))
	return q
}

// taken is how far a round has come.
type taken struct{ told, evicted, gone, in, toldAgain, unannounced int }

func (p taken) progress() int { return p.told + p.evicted + p.gone + p.in }

func (p taken) String() string {
	return fmt.Sprintf("%d announced, %d evicted, %d gone, %d in, %d announced again", p.told, p.evicted, p.gone, p.in, p.toldAgain)
}

func (w *world) taken(round int) (p taken) {
	for _, s := range w.history.stories() {
		queue, rest, _ := strings.Cut(s.name, "-")
		if of, _, _ := strings.Cut(rest, "-"); of != strconv.Itoa(round) {
			continue
		}
		p.told += btoi(s.told > 0)
		p.toldAgain += btoi(s.told > 1)
		p.unannounced += btoi(s.evicted && s.told == 0)
		p.evicted += btoi(s.evicted)
		p.gone += btoi(s.evicted && s.ended)
		p.in += btoi("root."+queue == starved && s.binds > 0)
	}
	return p
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// announces: it is Fairway that says so.
func announces(c v1.PodCondition) bool {
	return c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && strings.HasPrefix(c.Message, v1alpha1.PreemptionMessage)
}

// evicts: the Eviction API says so.
func evicts(c v1.PodCondition) bool {
	return c.Type == v1.DisruptionTarget && c.Reason == "EvictionByEvictionAPI"
}

// killPreempting kills the scheduler when the round has come so far, and returns when another one leads. The clock runs on.
func (w *world) killPreempting(r *replica, round, at int, since metav1.Time) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d steps of %d are done", at, progressOfOneRound), func() (bool, string) {
		p := w.taken(round)
		return p.progress() >= at, p.String()
	})
	before, was, began := w.history.leader(), w.taken(round), time.Now()
	r.kill()
	w.until("another process leads", func() (bool, string) {
		now := w.history.leader()
		return now != before && now.identity != "", fmt.Sprint(now)
	})
	w.say("round %d: kill -9 with %s: another process leads after %.1fs", round, was, time.Since(began).Seconds())
	if now := w.starved().Status.BelowFairShareSince; now != nil && !now.Equal(&since) {
		w.t.Errorf("starved was below its fair share since %s, after a kill since %s", since, now)
	}
}

// endRound has all pods complete that run, and returns when nobody holds anything.
func (w *world) endRound() {
	w.t.Helper()
	w.until("all pods have completed", func() (bool, string) {
		list, err := w.kube.CoreV1().Pods(metav1.NamespaceDefault).List(w.ctx, metav1.ListOptions{})
		w.must(err)
		left := 0
		for i := range list.Items {
			p := &list.Items[i]
			if p.Status.Phase == v1.PodSucceeded {
				continue
			}
			left++
			if p.Status.Phase == v1.PodRunning { // before, the kubelet would bring it back
				_, err := w.kube.CoreV1().Pods(p.Namespace).Patch(w.ctx, p.Name, types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
				if !apierrors.IsNotFound(err) {
					w.must(err)
				}
			}
		}
		return left == 0, fmt.Sprintf("%d have not", left)
	})
	w.until("the status says that nobody holds anything", func() (bool, string) {
		q := w.starved()
		return q.Status.BelowFairShareSince == nil && q.Status.Allocated.Cpu().IsZero() && w.history.held("root").cpu == 0, fmt.Sprintf("%+v", q.Status)
	})
}
