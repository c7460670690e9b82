package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// withPatience runs a scheduler that holds nodes for large pods after so many seconds; 0: it holds none.
func (w *world) withPatience(seconds int) *app.Scheduler {
	w.t.Helper()
	s, _ := w.run(w.options(fmt.Sprintf(`profiles:
- schedulerName: fairway
  plugins: {multiPoint: {enabled: [{name: Fairway}], disabled: [{name: PrioritySort}, {name: DefaultPreemption}]}}
  pluginConfig: [{name: Fairway, args: {largePodPatienceSeconds: %d}}]
`, seconds)), ledger.Options{})
	return s
}

const passedBy = 60 // small pods

// beside creates a pod that needs a whole node beside small pods of which some always wait, and waits until it starts or so many of these have ended.
func beside(t *testing.T, patience int) (starts bool) {
	w := newWorld(t, 2, "8", "64Gi")
	w.queue("root.small")
	w.queue("root.large")
	s := w.withPatience(patience)
	var ended atomic.Int64
	known := map[string]bool{}
	w.follow("", func(p *v1.Pod) {
		if p.Status.Phase == v1.PodSucceeded && !known[p.Name] {
			known[p.Name] = true
			ended.Add(1)
		}
	})
	stop := w.singles("root.small", 24, func(i int) int { return 2 + i%7 })
	w.until("the nodes are full", func() (bool, string) {
		n := w.bound()
		return n["all"] == 16, fmt.Sprint(n)
	})
	large := pod("large", "root.large", "8", "8Gi")
	runs("3600")(large)
	w.create(large)
	before := ended.Load()
	w.until("it starts, or is passed", func() (bool, string) {
		w.must(w.client.Get(w.ctx, client.ObjectKeyFromObject(large), large))
		starts = large.Spec.NodeName != ""
		return starts || ended.Load()-before >= passedBy, fmt.Sprintf("%d small pods have ended", ended.Load()-before)
	})
	t.Logf("patience %d s: when %d small pods had ended, the large one had a node: %v", patience, ended.Load()-before, starts)
	stop()
	if groups, held := s.Ledger.HeldNodes(); groups != 0 || starts && held != 0 {
		t.Errorf("%d nodes are held for groups, %d for large pods", groups, held)
	}
	return starts
}

// A stream of small pods passes one that needs a whole node, but not for ever: a node is held for it.
func TestALargePodStartsBesideAStreamOfSmallOnes(t *testing.T) {
	if !beside(t, 2) {
		t.Errorf("%d small pods passed it", passedBy)
	}
}

// Without held nodes it does not start as long as small pods wait.
func TestALargePodIsPassedIfNoNodesAreHeld(t *testing.T) {
	if beside(t, 0) {
		t.Error("it started, so the stream of small pods proves nothing")
	}
}

// While a node is held, a pod that says how long it runs, and ends in time, uses its room, and says so. One that says nothing waits.
func TestAPodThatEndsInTimeUsesAHeldNode(t *testing.T) {
	w := newWorld(t, 2, "4", "64Gi")
	w.queue("root.small")
	w.queue("root.large")
	s := w.withPatience(1)
	expects := func(p *v1.Pod, duration, seconds string) *v1.Pod {
		p.Annotations = map[string]string{v1alpha1.KeyExpectedDuration: duration, localcluster.RunSecondsAnnotation: seconds}
		return p
	}
	filler := pod("filler", "root.small", "4", "1Gi") // the small pods have their share with it, so the other node may be held
	runs("3600")(filler)
	w.create(filler)
	w.untilBound(1)
	// 200 s are what it expects: until it is deleted, nothing of it ends.
	w.create(expects(pod("long", "root.small", "2", "1Gi"), "200s", "3600"))
	w.untilBound(2)
	w.create(pod("large", "root.large", "4", "1Gi"))
	passing := ""
	for i := 0; passing == ""; i++ { // each passes the large pod, until a node is held for it
		name := fmt.Sprintf("small-%03d", i)
		w.create(pod(name, "root.small", "2", "1Gi"))
		w.until("it has a node, or one is held", func() (bool, string) {
			if _, held := s.Ledger.HeldNodes(); held == 1 {
				passing = name
				return true, ""
			}
			p, there := w.pods()[name]
			return there && p.Spec.NodeName != "", name
		})
		if passing == "" {
			w.must(w.client.Delete(w.ctx, pod(name, "", "2", "1Gi"), client.GracePeriodSeconds(0)))
			w.until("it is gone", func() (bool, string) { _, there := w.pods()[name]; return !there, name })
		}
	}
	w.create(expects(pod("brief", "root.small", "1", "1Gi"), "10s", "3600"))
	w.until("the brief pod runs", func() (bool, string) {
		p := w.pods()["brief"]
		return p.Spec.NodeName != "", fmt.Sprint(queuedCondition(p))
	})
	w.until("it says why", func() (bool, string) {
		var all []string
		for _, e := range w.eventsOf("brief") {
			all = append(all, e.Reason+": "+e.Message)
			if e.Reason == v1alpha1.EventBackfilled && e.Message == reason.Backfilled {
				return true, ""
			}
		}
		return false, strings.Join(all, "; ")
	})
	if _, held := s.Ledger.HeldNodes(); held != 1 || w.pods()["large"].Spec.NodeName != "" {
		t.Errorf("%d nodes are held", held)
	}
	for _, name := range []string{"brief", "long"} {
		w.must(w.client.Delete(w.ctx, pod(name, "", "1", "1Gi"), client.GracePeriodSeconds(0)))
	}
	w.until("the large pod runs", func() (bool, string) {
		p := w.pods()["large"]
		return p.Spec.NodeName != "", fmt.Sprint(queuedCondition(p))
	})
	(&failing{world: w, s: s}).settled()
	w.agree()
}
