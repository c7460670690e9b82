package simulator

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// The adversary and root.b have a share of 50 cpu each. The adversary uses 60, and a pod of 30 more is nominated to the node. Of the 100 cpu there, 10 are
// free: a pod of root.b, which uses 30, wants them, after another of its class was tried in vain. Once the ledger has judged the nomination, nothing is withheld
// any more.
func TestTheAuditOfTheAdversaryKnowsItsGuarantee(t *testing.T) {
	guaranteed := func(gibs int64, asks size) func(*Objects) { // the adversary, and what its nominated pod asks for
		return func(obs *Objects) {
			obs.Queues[1].Spec.Guaranteed, obs.Pods[1].Request = size{memory: gibs * gib}.list(), asks.list()
		}
	}
	for name, c := range map[string]struct {
		edit func(*Objects)
		want queue.Path
	}{
		"nothing is guaranteed":               {func(*Objects) {}, "root.b"},
		"within its guarantee":                {guaranteed(2, size{cpu: 30_000, memory: gib}), ""},
		"above its guarantee":                 {guaranteed(1, size{cpu: 30_000, memory: gib}), "root.b"},
		"guaranteed what it does not ask for": {guaranteed(2, size{cpu: 30_000}), "root.b"},
		"the node could hold it":              {guaranteed(2, size{cpu: 100_000, memory: gib}), ""},
		"the node could not":                  {guaranteed(2, size{cpu: 100_001, memory: gib}), "root.b"},
		"it could not beside pods of others": {func(obs *Objects) {
			guaranteed(2, size{cpu: 70_001, memory: gib})(obs)
			obs.Pods[2].Foreign = true
		}, "root.b"},
		"nobody wants the room": {func(obs *Objects) { obs.Pods = obs.Pods[:3] }, ""},
		"the pod that wants it does not fit": {func(obs *Objects) {
			obs.Pods[3].Request, obs.Pods[4].Request = size{cpu: 10_001}.list(), size{cpu: 10_001}.list()
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := func(name string, in queue.Path, s size, edit func(p *ledger.Pod)) ledger.Pod {
				p := ledger.Pod{UID: ledger.UID(name), Namespace: "default", Name: name, Queue: string(in), Application: name, Class: name, Request: s.list()}
				edit(&p)
				return p
			}
			waits := func(p *ledger.Pod) { p.Class = "waits" }
			bound := func(p *ledger.Pod) { p.Node = "node" }
			obs := Objects{
				Queues: []queue.Declaration{{Path: queue.Root, Spec: unlimited()}, {Path: adversaryLeaf, Spec: unlimited()}, {Path: "root.b", Spec: unlimited()}},
				Nodes:  []ledger.Node{withFacts(ledger.Node{Name: "node", Allocatable: size{cpu: 100_000, memory: 100 * gib}.list(), Usable: true}, false)},
				Pods: []ledger.Pod{
					pod("adversary-1", adversaryLeaf, size{cpu: 60_000, memory: gib}, bound),
					pod("adversary-2", adversaryLeaf, size{cpu: 30_000, memory: gib}, func(p *ledger.Pod) { p.Nominated = "node" }),
					pod("runs", "root.b", size{cpu: 30_000}, bound),
					pod("tried", "root.b", size{cpu: 10_000}, waits),
					pod("waits", "root.b", size{cpu: 10_000}, waits),
				},
			}
			c.edit(&obs)
			w := Start(1, obs, Options{Calm: true, Preemption: true, Adversary: true})
			for s, _ := w.Ledger.PodState("tried"); s.State == ledger.Released; s, _ = w.Ledger.PodState("tried") {
				w.Step()
			}
			if got := w.withheldFrom(); got != c.want {
				t.Errorf("it withholds from %q, should from %q", got, c.want)
			}
			for w.now < 5*second {
				if err := w.Run(1); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
