package queuestatus

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// feed gives a ledger, and the informer, what the API server holds of Queues, statuses included, and the pods.
func (w *world) feed(l *ledger.Ledger, pods ...ledger.Pod) {
	w.Helper()
	l.ObserveNode(ledger.Node{Name: "n", Allocatable: amounts(1000, 1000), Usable: true})
	for _, u := range w.stored {
		q, err := convert.DecodeQueue(u)
		if err != nil {
			w.Fatal(err)
		}
		d, err := convert.Declaration(q)
		if err != nil {
			w.Fatal(err)
		}
		l.ObserveQueue(d)
		w.generations[q.Name] = q.Generation
		if err := w.store.Add(u); err != nil {
			w.Fatal(err)
		}
	}
	for _, p := range pods {
		l.ObservePod(p, w.clock.Now().UnixNano())
	}
}

func (w *world) states(l *ledger.Ledger) map[string]application.State {
	states := map[string]application.State{}
	l.Lead(w.clock.Now().UnixNano())
	for _, a := range l.Applications() {
		states[a.Name] = a.State
	}
	return states
}

// An application that has started, and of which only the driver is left, does not start again when the scheduler does: its status says so. How
// long starts took is known, too, and the new scheduler has nothing to write.
func TestWhatHasStartedHasStartedAfterARestart(t *testing.T) {
	w := newWorld(t)
	w.makeQueue("root")
	w.makeQueue("root.a")
	w.stored["root.a"].Object["spec"] = map[string]any{"policy": "StateAware", "startingTimeout": "adaptive"}
	pod := func(name, app string, role application.Role, after int64) ledger.Pod {
		return ledger.Pod{
			UID: ledger.UID(name), Name: name, Queue: "root.a", Application: app, Role: role, Node: "n", Request: amounts(1, 1),
			Bound: start.UnixNano() + after*1e9,
		}
	}
	drivers := []ledger.Pod{pod("old-driver", "old", application.Driver, 0), pod("new-driver", "new", application.Driver, 10)}
	w.clock.Step(20e9)
	w.feed(w.ledger, drivers...)
	w.ledger.Lead(w.clock.Now().UnixNano())
	w.ledger.ObservePod(pod("old-executor", "old", application.Executor, 12), w.clock.Now().UnixNano())
	w.ledger.ForgetPod("old-executor", w.clock.Now().UnixNano())
	w.wrote(w.informed(), "root", "root.a")
	want := &v1alpha1.QueueStarts{
		Timeout: "36s", Percentile95: "12s", Applications: []v1alpha1.StartingApplication{{Name: "new", Since: atSecond(10), Until: atSecond(46)}},
		Started: []string{"old"}, LastStarts: []string{"12s"},
	}
	if diff := cmp.Diff(want, w.status("root.a").Starts); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	if n := w.status("root").Applications; n != (v1alpha1.ApplicationCounts{Starting: 1, Running: 1}) {
		t.Errorf("root counts %+v", n)
	}

	w.ledger = ledger.New(ledger.Options{})
	slices.Reverse(drivers)
	w.feed(w.ledger, drivers...)
	if diff := cmp.Diff(map[string]application.State{"old": application.Running, "new": application.Starting}, w.states(w.ledger)); diff != "" {
		t.Errorf("after the restart (-want +got):\n%s", diff)
	}
	w.wrote(w.informed())

	// Without the memory it would start again, and hold others up.
	delete(w.stored["root.a"].Object["status"].(map[string]any)["starts"].(map[string]any), "started")
	forgetful := ledger.New(ledger.Options{})
	w.feed(forgetful, drivers...)
	if got := w.states(forgetful)["old"]; got != application.Starting {
		t.Errorf("without what the status remembers it is %s: the test proves nothing", got)
	}
}
