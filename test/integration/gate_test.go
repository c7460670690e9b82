package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/app"
	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// gated is a world with one StateAware queue, in which the test plays Spark.
type gated struct {
	*world
	*history
	s     *app.Scheduler
	queue string
}

// gateWorld has room for 8 pods. The scheduler is not started yet.
func gateWorld(t *testing.T, spec string) *gated {
	t.Helper()
	w := newWorld(t, 1, "8", "8Gi")
	w.queue("root.spark policy=StateAware " + spec)
	return &gated{world: w, history: w.record(), queue: "root.spark"}
}

// app makes an application; its pods are created one by one.
func (g *gated) app(name string) *spark.Application {
	return &spark.Application{Name: name, Queue: g.queue, RunFor: time.Hour}
}

// full is how an application is called over the cluster.
func full(name string) string { return "default/sparkapplication/" + name }

// creates creates a pod.
func (g *gated) creates(p *v1.Pod) *v1.Pod {
	g.t.Helper()
	g.must(g.client.Create(g.ctx, p))
	return p
}

// hasNode waits until the pod has a node, and nothing of ours holds it.
func (g *gated) hasNode(p *v1.Pod) {
	g.t.Helper()
	g.until(p.Name+" has a node", func() (bool, string) {
		g.must(g.client.Get(g.ctx, client.ObjectKeyFromObject(p), p))
		q := queuedCondition(p)
		return p.Spec.NodeName != "" && (q == nil || q.Status == v1.ConditionFalse), fmt.Sprint(q)
	})
}

// isScheduled is when the pod got its node, by its condition.
func (g *gated) isScheduled(p *v1.Pod) time.Time {
	g.t.Helper()
	c := scheduled(p)
	if c == nil || c.Status != v1.ConditionTrue {
		g.t.Fatalf("pod %s does not say when it got its node: %v", p.Name, c)
	}
	return c.LastTransitionTime.UTC()
}

// shown is an application as `kubectl fairway apps -o json` shows it.
type shownApplication struct {
	Application, Queue, State, Reason string
	Pods                              struct{ Pending, Running int }
}

// apps waits until `kubectl fairway apps` shows these states, by the names of applications, live and from what kubectl wrote into a file, and
// until the status of the queue counts them.
func (g *gated) apps(want map[string]string) {
	g.t.Helper()
	g.until(fmt.Sprintf("the applications are %v", want), func() (bool, string) {
		live := g.shownApps("", "--kubeconfig", g.cluster.Kubeconfig())
		offline := g.shownApps(g.dump("yaml"), "-f", "-")
		return maps.Equal(live, want) && maps.Equal(offline, want), fmt.Sprintf("live %v, offline %v", live, offline)
	})
	counts := map[string]int32{}
	for _, state := range want {
		counts[state]++
	}
	g.counts(v1alpha1.ApplicationCounts{Pending: counts["Accepted"], Starting: counts["Starting"], Running: counts["Running"] + counts["Completing"]})
}

// counts waits until the status of the queue counts its applications so.
func (g *gated) counts(want v1alpha1.ApplicationCounts) {
	g.t.Helper()
	g.until(fmt.Sprintf("the status counts %+v", want), func() (bool, string) {
		is := g.getQueue(g.queue).Status.Applications
		return is == want, fmt.Sprintf("%+v", is)
	})
}

func (g *gated) shownApps(stdin string, args ...string) map[string]string {
	g.t.Helper()
	var shown struct{ Applications []shownApplication }
	g.must(json.Unmarshal([]byte(g.fairway(stdin, append([]string{"apps", "-o", "json"}, args...)...)), &shown))
	states := map[string]string{}
	for _, a := range shown.Applications {
		if a.Queue == g.queue {
			states[strings.TrimPrefix(a.Application, full(""))] = a.State
		}
	}
	return states
}

// startingSince waits until the status of the queue says that exactly these applications are starting, each since its driver got its node, and
// until the timeout is over.
func (g *gated) startingSince(timeout time.Duration, drivers ...*v1.Pod) {
	g.t.Helper()
	want := map[string][2]time.Time{}
	for _, d := range drivers {
		at := g.isScheduled(d)
		want[full(spark.NameOf(d.Name))] = [2]time.Time{at, at.Add(timeout)}
	}
	g.until(fmt.Sprintf("the status says who is starting: %v", want), func() (bool, string) {
		is := map[string][2]time.Time{}
		starts := g.getQueue(g.queue).Status.Starts
		if starts == nil {
			return false, "it says nothing of starts"
		}
		for _, a := range starts.Applications {
			is[a.Name] = [2]time.Time{a.Since.UTC(), a.Until.UTC()}
		}
		return maps.Equal(is, want), fmt.Sprint(is)
	})
}

// waitsBehind waits until the pod says, in its condition and in one event, behind whom it waits.
func (g *gated) waitsBehind(p, driver *v1.Pod, timeout time.Duration, place string) {
	g.t.Helper()
	since := g.isScheduled(driver)
	message := fmt.Sprintf("queue %s lets 1 application start at a time, and %s is starting since %s, until %s at the latest; this one is %s in line, "+
		"and goes when that one has a second pod placed or has ended, or with a higher maxStarting", g.queue, full(spark.NameOf(driver.Name)),
		since.Format(time.RFC3339), since.Add(timeout).Format(time.RFC3339), place)
	g.held(p.Name, "StateAware", message)
	g.says(p, v1.EventTypeWarning, "StateAware", message)
}

func (g *gated) says(p *v1.Pod, kind, reason, message string) {
	g.t.Helper()
	g.until("an event of "+p.Name+" says "+message, func() (bool, string) {
		var notes []string
		for _, e := range g.eventsOf(p.Name) {
			if e.Type == kind && e.Reason == reason {
				notes = append(notes, e.Message)
			}
		}
		return slices.Contains(notes, message), fmt.Sprintf("%q", notes)
	})
}

// rests waits until nothing is under way, and lets everybody be asked.
func (g *gated) rests() {
	g.t.Helper()
	(&failing{world: g.world, s: g.s}).settled()
	g.agree()
}

// inOrder checks that the pods got their nodes in this order, by the versions of all pods that the API had, and by what they say themselves.
func (g *gated) inOrder(pods ...*v1.Pod) {
	g.t.Helper()
	var want []string
	for i, p := range pods {
		want = append(want, p.Name)
		if i > 0 && g.isScheduled(p).Before(g.isScheduled(pods[i-1])) {
			g.t.Errorf("%s says that it got its node at %s, %s before it at %s", p.Name, g.isScheduled(p), pods[i-1].Name, g.isScheduled(pods[i-1]))
		}
	}
	if is := g.nodesGiven(pods...); !slices.Equal(is, want) {
		g.t.Errorf("nodes were given in the order %v, want %v", is, want)
	}
}

// nodesGiven are the names of the pods in the order in which they got their nodes.
func (g *gated) nodesGiven(pods ...*v1.Pod) (names []string) {
	meant := func(p *v1.Pod) bool {
		return p.Spec.NodeName != "" && slices.ContainsFunc(pods, func(o *v1.Pod) bool { return o.UID == p.UID })
	}
	for _, p := range g.of(meant) {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// The example of YuniKorn's state aware scheduling, step by step: App1 and App2 were submitted to one queue, in this order.
func TestTheExampleOfApp1AndApp2(t *testing.T) {
	const timeout = 5 * time.Minute // the default
	g := gateWorld(t, "")
	app1, app2 := g.app("app1"), g.app("app2")
	d1, d2 := g.creates(app1.Driver()), g.creates(app2.Driver())

	// 1. Both wait for their first allocation; each has asked for its driver.
	offline := g.shownApps(g.dump("yaml"), "-f", "-")
	if want := map[string]string{"app1": "Accepted", "app2": "Accepted"}; !maps.Equal(offline, want) {
		t.Errorf("before a scheduler runs: %v, want %v", offline, want)
	}
	g.s, _ = g.scheduler(ledger.Options{})

	// 2. App1 gets its driver and is starting; App2's request is passed over.
	g.hasNode(d1)
	g.apps(map[string]string{"app1": "Starting", "app2": "Accepted"})
	g.startingSince(timeout, d1)
	g.waitsBehind(d2, d1, timeout, "1st")
	g.rests()

	// 3. App1 asks for E11 and E12 and gets them; with the first of them it is running.
	e11, e12 := g.creates(app1.Executor(1, d1)), g.creates(app1.Executor(2, d1))
	g.hasNode(e11)
	g.hasNode(e12)

	// 4. Nobody is starting: App2 gets its driver, and is.
	g.hasNode(d2)
	g.says(d2, v1.EventTypeNormal, "Accepted", "Accepted")
	first := e11
	if g.nodesGiven(e11, e12)[0] == e12.Name { // one does not wait for the other
		first = e12
	}
	g.inOrder(d1, first, d2)
	g.apps(map[string]string{"app1": "Running", "app2": "Starting"})
	g.startingSince(timeout, d2)
	g.rests()

	// 5. App2 asks for E21 and gets it: App2 is running.
	e21 := g.creates(app2.Executor(1, d2))
	g.hasNode(e21)
	g.apps(map[string]string{"app1": "Running", "app2": "Running"})
	g.startingSince(timeout)
	g.inOrder(d1, first, d2, e21)
	for _, p := range []*v1.Pod{d1, d2, e11, e12, e21} {
		g.until("an event says that "+p.Name+" was scheduled", func() (bool, string) {
			events := g.eventsOf(p.Name)
			return slices.ContainsFunc(events, func(e v1.Event) bool { return e.Reason == "Scheduled" }), fmt.Sprint(len(events), " events")
		})
	}
	if starts := g.getQueue(g.queue).Status.Starts; starts == nil || starts.Timeout != "5m" || len(starts.LastStarts) != 2 {
		t.Errorf("the status remembers %+v, want two starts and a timeout of 5m", starts)
	}
	g.rests()
}
