package simulator

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// boundElsewhere is a calm world with a StateAware queue, a queue below it if there is to be one, and a pod of each role that others bound.
func boundElsewhere(in, below queue.Path) *World {
	spec := unlimited()
	spec.Policy = queue.StateAware
	obs := Objects{Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}, {Path: "root.a", Spec: unlimited()}, {Path: "root.a.s", Spec: spec}}}
	if below != "" {
		obs.Queues = append(obs.Queues, queue.Declaration{Path: below, Spec: unlimited()})
	}
	for role, name := range map[application.Role]string{application.Driver: "driver", application.Executor: "executor"} { // sorted by UID
		obs.Pods = append(obs.Pods, ledger.Pod{UID: ledger.UID(name), Name: name, Queue: string(in), Application: "of-" + name, Role: role, Class: "c",
			Request: size{cpu: 1000, memory: gib}.list(), Created: 1, Node: "node", Bound: 1})
	}
	return Start(1, obs, Options{Calm: true, Gates: true, Every: 1})
}

func (w *World) wantSound(t *testing.T, when string) {
	t.Helper()
	w.look(false)
	if len(w.wrong) > 0 {
		t.Fatalf("%s: %q", when, w.wrong)
	}
}

// The round after the change moves the pods, and one is gone before an audit.
func TestAuditsFollowWhatOthersBoundBetweenThem(t *testing.T) {
	for _, gone := range []bool{false, true} {
		w := boundElsewhere("root.a.s.part", "root.a.s.part")
		w.wantSound(t, "at first")
		delete(w.queues, "root.a.s.part")
		w.queueSeen("root.a.s.part", nil)
		w.round()
		if p := w.pods["executor"]; gone {
			p.exists = false
			w.podGone(p)
		}
		w.wantSound(t, "after the move")
	}
}

// In whatever order a scheduler that starts again sees the queues, what their status tells of these pods counts.
func TestAuditsKnowAfterARestartWhereOthersBoundPods(t *testing.T) {
	w := boundElsewhere("root.a.s", "")
	w.wantSound(t, "at first")
	q := w.queues["root.a.s"]
	q.Memory.Started = []string{"of-driver"}
	w.queues["root.a.s"] = q
	for range 20 {
		w.Restart()
		w.wantSound(t, "after a restart")
	}
}
