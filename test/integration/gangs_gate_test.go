package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	podgroup "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// grouped creates pods of a group.
func (g *gated) grouped(group string, pods ...*v1.Pod) []*v1.Pod {
	g.t.Helper()
	for _, p := range pods {
		p.Labels[podgroup.PodGroupLabel] = group
		g.creates(p)
	}
	return pods
}

// declares creates a pod group.
func (g *gated) declares(name string, minMember int) {
	g.t.Helper()
	g.must(g.client.Create(g.ctx, podGroupObject(name, minMember, nil)))
}

// together makes a driver and n executors without creating them.
func together(a *spark.Application, n int) []*v1.Pod {
	pods := []*v1.Pod{a.Driver()}
	for i := range n {
		e := a.Executor(i+1, pods[0])
		e.OwnerReferences = nil // nobody has made the driver yet
		pods = append(pods, e)
	}
	return pods
}

func (g *gated) haveNodes(pods ...*v1.Pod) {
	g.t.Helper()
	for _, p := range pods {
		g.hasNode(p)
	}
}

// inTurns checks that all pods of a turn got their nodes before those of the next.
func (g *gated) inTurns(turns ...[]*v1.Pod) {
	g.t.Helper()
	given := g.nodesGiven(slices.Concat(turns...)...)
	for i, turn := range turns {
		for _, p := range turn {
			at := slices.Index(given, p.Name)
			for _, later := range slices.Concat(turns[i+1:]...) {
				if at < 0 || at > slices.Index(given, later.Name) {
					g.t.Errorf("%s did not get its node before %s: the order is %v", p.Name, later.Name, given)
				}
			}
		}
	}
}

// A driver alone passes the gate, and its executors are a gang. An application whose gang is not complete is starting, until its timeout; with
// the gang it runs, and the next one has its turn.
func TestADriverAloneAndItsExecutorsTogether(t *testing.T) {
	g := gateWorld(t, "startingTimeout=1h")
	g.s, _ = g.scheduler(ledger.Options{Journal: 10_000})
	app1, app2 := g.app("app1"), g.app("app2")
	d1 := g.creates(app1.Driver())
	g.hasNode(d1)
	d2 := g.creates(app2.Driver())
	g.declares("executors-1", 3)
	first := g.grouped("executors-1", app1.Executor(1, d1), app1.Executor(2, d1))
	g.untilHeld(first[0].Name, "GangIncomplete", "pod group default/executors-1 starts with 3 pods at once, and 2 exist")
	g.apps(map[string]string{"app1": "Starting", "app2": "Accepted"})
	g.waitsBehind(d2, d1, time.Hour, "1st")
	g.rests()

	first = append(first, g.grouped("executors-1", app1.Executor(3, d1))...)
	g.haveNodes(first...)
	g.hasNode(d2)
	others := append(slices.Clone(first), d2)
	g.inTurns([]*v1.Pod{d1}, others)
	if given := g.nodesGiven(others...); given[0] == d2.Name { // the first executor opens the gate
		t.Errorf("a second application started before the first had an executor: %v", given)
	}
	g.apps(map[string]string{"app1": "Running", "app2": "Starting"})
	g.declares("executors-2", 3)
	g.haveNodes(g.grouped("executors-2", app2.Executor(1, d2), app2.Executor(2, d2), app2.Executor(3, d2))...)
	g.apps(map[string]string{"app1": "Running", "app2": "Running"})
	g.startingSince(time.Hour)
	g.rests()
}

// A driver and its executors are one gang. Nobody starts for longer than it takes to give them nodes; what waits at the gate goes then; a gang that
// can never fit keeps nobody at the gate.
func TestADriverWithItsExecutorsInOneGang(t *testing.T) {
	g := gateWorld(t, "startingTimeout=1h")
	g.s, _ = g.scheduler(ledger.Options{Journal: 10_000})
	of, minimum := map[ledger.UID]string{}, map[string]int{}
	gang := func(a *spark.Application, executors int) []*v1.Pod {
		g.declares(a.Name, 1+executors)
		pods := g.grouped(a.Name, together(a, executors)...)
		for _, p := range pods {
			of[ledger.UID(p.UID)] = "default/" + a.Name
		}
		minimum["default/"+a.Name] = 1 + executors
		return pods
	}
	never := gang(g.app("app0"), 8) // 9 pods of 1 cpu, and there are 8 cpu
	app1, app2, app3 := g.app("app1"), g.app("app2"), g.app("app3")
	g.haveNodes(append(gang(app1, 2), gang(app2, 2)...)...)
	g.apps(map[string]string{"app0": "Accepted", "app1": "Running", "app2": "Running"})

	// The gate is closed by a driver alone, and opened by its executor.
	d3 := g.creates(app3.Driver())
	g.hasNode(d3)
	g.deletesAll("app1")
	last := gang(g.app("app4"), 2)
	g.waitsBehind(last[0], d3, time.Hour, "2nd")
	g.apps(map[string]string{"app0": "Accepted", "app2": "Running", "app3": "Starting", "app4": "Accepted"})
	g.rests()
	e31 := g.creates(app3.Executor(1, d3))
	g.hasNode(e31)
	g.haveNodes(last...)
	g.inTurns([]*v1.Pod{d3}, []*v1.Pod{e31}, last)
	g.apps(map[string]string{"app0": "Accepted", "app2": "Running", "app3": "Running", "app4": "Running"})
	g.startingSince(time.Hour)
	for _, p := range never {
		if now := g.pods()[p.Name]; now.Spec.NodeName != "" {
			t.Errorf("pod %s of a gang that can never fit is on %s", p.Name, now.Spec.NodeName)
		}
	}
	g.rests()
	checkGangs(t, g.s.Ledger.Journal(0), of, minimum)
}

// deletesAll deletes the pods of a group.
func (g *gated) deletesAll(group string) {
	g.t.Helper()
	g.kubectl("delete", "pods", "-n", "default", "-l", podgroup.PodGroupLabel+"="+group, "--now")
	g.until("the pods of "+group+" are gone", func() (bool, string) {
		s := gangOf(g.s, "default/"+group)
		return s.Pods == 0, fmt.Sprintf("%+v", s)
	})
}
