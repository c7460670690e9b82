package integration

import (
	"flag"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

var toldFor = flag.Duration("told", 15*time.Second, "how long TestWhatPodsSayInChurnIsSo takes")

// kubectl describe shows a pod's events. Whatever holds a pod, one of ours says it.
func TestEveryPodThatWaitsHasAnEvent(t *testing.T) {
	w := newWorld(t, 1, "4", "32Gi")
	w.queue("root.a")
	w.queue("root.m max.cpu=1")
	w.scheduler(ledger.Options{})
	w.create(pod("full", "root.a", "4", "1Gi"))
	w.untilBound(1)
	w.must(w.client.Create(w.ctx, podGroupObject("part", 3, nil)))
	part := pod("part", "root.a", "1", "1Gi")
	labelled(podgroup.PodGroupLabel, "part")(part)
	w.create(
		pod("room-1", "root.a", "1", "1Gi"), pod("room-2", "root.a", "1", "1Gi"), pod("room-3", "root.a", "1", "1Gi"), pod("limit", "root.m", "2", "1Gi"),
		pod("queue", "root.nowhere", "1", "1Gi"), part,
	)
	for name, reason := range map[string]string{
		"room-1": "WaitingForRoom", "room-2": "WaitingForRoom", "room-3": "WaitingForRoom", "limit": "MaxResources", "queue": "QueueNotFound", "part": "GangIncomplete",
	} {
		w.until(name+" has its event", func() (bool, string) {
			var all []string
			for _, e := range w.eventsOf(name) {
				all = append(all, e.Reason+": "+e.Message)
				if e.Reason == reason && e.Action == "Queueing" && e.Message != "" {
					return true, ""
				}
			}
			return false, fmt.Sprint(all)
		})
	}
}

// Pods come, end and are evicted. No pod that has a node or has ended goes on to say that something blocks it, and no event says that a pod waits which has
// had a node for a while. What why and order answer meanwhile is so, too: see answers.
func TestWhatPodsSayInChurnIsSo(t *testing.T) {
	c := newChurn(t, 7)
	w := c.world
	w.scheduler(ledger.Options{})

	asking := &answers{churn: c, promised: map[string]time.Time{}, differ: map[string]time.Time{}}
	said, lies := saying{since: map[string]time.Time{}, placed: map[string]time.Time{}}, 0
	began := time.Now()
	for i := 0; time.Since(began) < *toldFor; i++ {
		c.hogs(150)
		name := fmt.Sprint("wave-", i)
		c.wave(name)
		until := time.Now().Add(5 * time.Second)
		w.until("the wave has gone on for some time", func() (bool, string) {
			lies += said.look(c)
			asking.look(said.placed)
			return time.Now().After(until), "it has not"
		})
	}
	events, err := w.kube.CoreV1().Events("default").List(w.ctx, metav1.ListOptions{})
	w.must(err)
	of := 0
	for _, e := range events.Items {
		at, placed := said.placed[string(e.InvolvedObject.UID)]
		if e.Action != "Queueing" || e.Reason == "Accepted" {
			continue
		}
		of++
		if last := lastTime(&e); placed && last.After(at.Add(5*time.Second)) {
			t.Errorf("%s had a node at %s, and an event of %s says: %s", e.InvolvedObject.Name, at.Format(time.TimeOnly), last.Format(time.TimeOnly), e.Message)
		}
	}
	t.Logf("%d pods, %d with a node, %d events that a pod waits", c.created, len(said.placed), of)
	t.Logf("why was asked about %d pods, order %d times", asking.asked, asking.orders)
	if asking.asked == 0 || asking.orders == 0 {
		t.Error("why and order were not asked")
	}
	if of == 0 || lies > 0 {
		t.Errorf("%d events, and %d pods said for long what was not so", of, lies)
	}
}

// saying is since when pods have a node, and since when they say what is not so.
type saying struct{ since, placed map[string]time.Time }

// longest is how long a condition may take to follow.
const longest = 30 * time.Second

func (s *saying) look(c *churn) (lies int) {
	pods, err := c.pods.List(labels.Everything())
	c.must(err)
	now := time.Now()
	for _, p := range pods {
		uid := string(p.UID)
		if p.Spec.NodeName == "" && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			continue
		}
		if _, known := s.placed[uid]; !known {
			s.placed[uid] = now
		}
		if !blocked(p) {
			delete(s.since, uid)
			continue
		}
		if _, known := s.since[uid]; !known {
			s.since[uid] = now
		}
		if now.Sub(s.since[uid]) > longest {
			c.t.Errorf("%s is %s on node %q and says for %s: %s", p.Name, p.Status.Phase, p.Spec.NodeName, longest, queuedCondition(p).Message)
			delete(s.since, uid)
			lies++
		}
	}
	return lies
}

func blocked(p *v1.Pod) bool {
	q := queuedCondition(p)
	return q != nil && q.Status == v1.ConditionTrue
}

func lastTime(e *v1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.LastTimestamp.Time
}
