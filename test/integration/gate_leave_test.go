package integration

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// How an application ceases to be starting although no executor of it has a node. what happens to first's driver; says is what becomes of
// first.
var leavings = []struct {
	name string
	what func(g *gated, driver *v1.Pod)
	says string // "" where it is gone
}{
	{"fails", func(g *gated, d *v1.Pod) { g.phase(d, v1.PodFailed) }, ""},
	{"succeeds", func(g *gated, d *v1.Pod) { g.phase(d, v1.PodSucceeded) }, ""},
	{"is-deleted", func(g *gated, d *v1.Pod) { g.must(g.client.Delete(g.ctx, d, client.GracePeriodSeconds(0))) }, ""},
	{"is-being-deleted", func(g *gated, d *v1.Pod) {
		g.must(g.client.Patch(g.ctx, d, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/held"]}}`))))
		g.must(g.client.Delete(g.ctx, d))
	}, "Completing"},
	{"is-evicted", func(g *gated, d *v1.Pod) {
		g.must(g.kube.PolicyV1().Evictions(d.Namespace).Evict(g.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}))
	}, ""},
}

func (g *gated) phase(p *v1.Pod, phase v1.PodPhase) {
	g.t.Helper()
	g.must(g.client.Status().Patch(g.ctx, p.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"`+string(phase)+`"}}`))))
}

// The next application starts as soon as it is clear that the one that is starting will not get on.
func TestAnApplicationThatWillNotGetOnLetsTheNextStart(t *testing.T) {
	g := gateWorld(t, "startingTimeout=1h")
	g.s, _ = g.scheduler(ledger.Options{})
	for _, leaving := range leavings {
		first, next := g.app("first-"+leaving.name), g.app("next-"+leaving.name)
		d := g.creates(first.Driver())
		g.hasNode(d)
		waits := g.creates(next.Driver())
		g.waitsBehind(waits, d, time.Hour, "1st")
		g.apps(map[string]string{first.Name: "Starting", next.Name: "Accepted"})
		leaving.what(g, d)
		g.hasNode(waits)
		states := map[string]string{next.Name: "Starting"}
		if leaving.says != "" {
			states[first.Name] = leaving.says
		}
		g.apps(states)
		g.startingSince(time.Hour, waits)
		g.rests()
		if t.Failed() {
			t.Fatalf("the driver %s", leaving.name)
		}
		g.clears(d, waits)
	}
}

// clears deletes the pods, and returns when no application is left.
func (g *gated) clears(pods ...*v1.Pod) {
	g.t.Helper()
	for _, p := range pods {
		g.must(client.IgnoreNotFound(g.client.Patch(g.ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
		g.must(client.IgnoreNotFound(g.client.Delete(g.ctx, p, client.GracePeriodSeconds(0))))
	}
	g.apps(map[string]string{})
}

// Time is up for one after the other of those that do not get on, and stays so for a scheduler that starts again.
func TestStartingTimeoutLetsTheNextStart(t *testing.T) {
	const timeout = 3 * time.Second
	g := gateWorld(t, "startingTimeout=3s")
	var stop func()
	g.s, stop = g.scheduler(ledger.Options{})
	var drivers []*v1.Pod
	states := map[string]string{}
	for i := range 3 {
		a := g.app(fmt.Sprintf("app-%d", i))
		drivers = append(drivers, g.creates(a.Driver()))
		states[a.Name] = "Running"
	}
	for i, d := range drivers {
		g.hasNode(d)
		if i > 0 {
			earliest := g.isScheduled(drivers[i-1]).Add(timeout)
			if at := g.isScheduled(d); at.Before(earliest) {
				t.Errorf("%s got its node at %s, and %s is starting until %s", d.Name, at, drivers[i-1].Name, earliest)
			}
		}
	}
	g.inOrder(drivers...)
	g.startingSince(timeout)
	g.creates(pod("later", "", "1", "1Gi")) // it is as late as its newest object in a file
	g.apps(states)
	g.rests()
	stop()
	g.s, _ = g.scheduler(ledger.Options{})
	g.rests()
	g.apps(states)
}

// Applications of one pod neither wait for those that start nor hold up others: pods that nobody owns, and those that say so.
func TestApplicationsOfOnePodPassTheGate(t *testing.T) {
	g := gateWorld(t, "startingTimeout=1h")
	g.s, _ = g.scheduler(ledger.Options{})
	starting, waiting := g.app("starting"), g.app("waiting")
	d := g.creates(starting.Driver())
	g.hasNode(d)
	waits := g.creates(waiting.Driver())
	g.waitsBehind(waits, d, time.Hour, "1st")
	bare := g.creates(pod("bare", g.queue, "1", "1Gi"))
	single := g.app("single").Driver()
	single.Labels[v1alpha1.KeyApplicationSize] = "1"
	g.hasNode(bare)
	g.hasNode(g.creates(single))
	g.counts(v1alpha1.ApplicationCounts{Pending: 1, Starting: 1, Running: 2})
	g.rests()
	g.waitsBehind(waits, d, time.Hour, "1st")
	// Nor do they keep anybody from starting.
	g.must(g.client.Delete(g.ctx, d, client.GracePeriodSeconds(0)))
	g.hasNode(waits)
	g.startingSince(time.Hour, waits)
	g.rests()
}
