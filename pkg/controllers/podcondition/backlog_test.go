package podcondition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

const misfit = "0/1 nodes are available: 1 Insufficient cpu."

// crowded is a world with a node of no cpu and a queue root.m for so many pods, each of one cpu, and what an informer would have of it.
type crowded struct {
	*world
	indexer cache.Indexer
	patches []string
}

func newCrowded(t *testing.T, most int64, o Options) *crowded {
	c := &crowded{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
	o.Pods = corelisters.NewPodLister(c.indexer)
	c.world = newWorld(t, o)
	c.client.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		c.patches = append(c.patches, string(a.(clienttesting.PatchAction).GetPatch()))
		return false, nil, nil
	})
	c.ledger.ObserveNode(ledger.Node{Name: "node", Usable: true})
	c.most(most)
	return c
}

func cpus(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: 1000 * n})
}

func (c *crowded) most(pods int64) {
	s := queue.DefaultSpec()
	s.Max, s.Policy = cpus(pods), queue.FIFO
	c.ledger.ObserveQueue(queue.Declaration{Path: "root.m", Spec: s})
}

// wait makes pods p00, p01, ... that wait in root.m.
func (c *crowded) wait(n int) {
	c.Helper()
	for i := range n {
		name := fmt.Sprintf("p%02d", i)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "7", Generation: 2}}
		pod.CreationTimestamp = metav1.NewTime(start.Add(time.Duration(i) * time.Second))
		if err := c.client.Tracker().Add(pod); err != nil {
			c.Fatal(err)
		}
	}
	c.seen()
}

// seen is what the informers bring.
func (c *crowded) seen() {
	c.Helper()
	list, err := c.client.CoreV1().Pods("team").List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	for i := range list.Items {
		if p := &list.Items[i]; p.Name[0] == 'p' { // others were told to the ledger otherwise
			c.observePod(p, "m")
		}
	}
}

func (c *crowded) observePod(p *corev1.Pod, asks string) {
	c.Helper()
	if err := c.indexer.Update(p); err != nil {
		c.Fatal(err)
	}
	o := ledger.Pod{
		UID: ledger.UID(p.UID), Namespace: p.Namespace, Name: p.Name, Queue: asks, Application: p.Name, Class: "c", Request: cpus(1),
		Created: p.CreationTimestamp.UnixNano(), Node: p.Spec.NodeName,
	}
	if showsUnschedulable(p) {
		o.Unschedulable = conditionIn(p, corev1.PodScheduled).Message
	}
	c.ledger.ObservePod(o, c.clock.Now().UnixNano())
}

// probe has the next pod tried for nothing; upstream says so on it.
func (c *crowded) probe() {
	c.Helper()
	now := c.clock.Now().UnixNano()
	r, ok := c.ledger.Choose(now)
	if !ok {
		c.Fatal("nothing to release")
	}
	c.ledger.Fail(r.UID, ledger.NoFit, now)
	c.edit(strings.TrimPrefix(string(r.UID), "uid-"), func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: misfit}}
	})
	c.seen()
}

func (c *crowded) edit(name string, edit func(*corev1.Pod)) {
	c.Helper()
	p := c.get(name)
	edit(p)
	if err := c.client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), p, "team"); err != nil {
		c.Fatal(err)
	}
}

func (c *crowded) get(name string) *corev1.Pod {
	c.Helper()
	p, err := c.client.CoreV1().Pods("team").Get(c.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.Fatal(err)
	}
	return p
}

// passes lets so much time go by, with a pass per interval and everything seen at once.
func (c *crowded) passes(d time.Duration) {
	c.Helper()
	for until := c.clock.Now().Add(d); c.clock.Now().Before(until); {
		c.pass()
		c.seen()
	}
}

// wantShown checks which pods autoscalers would make room for.
func (c *crowded) wantShown(want ...string) {
	c.Helper()
	list, err := c.client.CoreV1().Pods("team").List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	for i := range list.Items {
		if p := &list.Items[i]; isUnschedulable(p) {
			got = append(got, p.Name)
		}
	}
	if !slices.Equal(got, want) {
		c.Errorf("%q show Unschedulable, want %q", got, want)
	}
}

// isUnschedulable is what cluster-autoscaler asks of a pod without a node: PodScheduled is False for the reason Unschedulable. Karpenter asks
// for type and reason alone.
func isUnschedulable(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "PodScheduled" && c.Reason == "Unschedulable" {
			return c.Status == "False" && p.Spec.NodeName == ""
		}
	}
	return false
}

func TestPodsThatWaitForRoomShowIt(t *testing.T) {
	c := newCrowded(t, 3, Options{ShowUnschedulable: true})
	c.wait(6)
	c.probe()
	c.passes(5 * time.Second) // the looks are at 0, 2 and 4 seconds
	c.wantShown("p00")
	at := c.clock.Now().Add(time.Second)
	c.passes(2 * time.Second)
	c.wantShown("p00", "p01", "p02")
	want := &corev1.PodCondition{
		Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: misfit, ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(at),
	}
	if diff := cmp.Diff(want, conditionIn(c.get("p01"), corev1.PodScheduled)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c.most(1)
	c.passes(2 * time.Second)
	c.wantShown("p00")
	c.most(2)
	c.passes(8 * time.Second)
	c.wantShown("p00", "p01")
	head := func(name string) string {
		return `{"metadata":{"uid":"uid-` + name + `","resourceVersion":"7"},"status":{"conditions":[{`
	}
	shows := `"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"` + misfit + `","lastTransitionTime":"`
	wantPatches := []string{
		head("p01") + shows + `2024-05-01T12:00:06Z","observedGeneration":2}]}}`,
		head("p02") + shows + `2024-05-01T12:00:06Z","observedGeneration":2}]}}`,
		head("p01") + `"$patch":"delete","type":"PodScheduled"}]}}`,
		head("p02") + `"$patch":"delete","type":"PodScheduled"}]}}`,
		head("p01") + shows + `2024-05-01T12:00:16Z","observedGeneration":2}]}}`,
	}
	if diff := cmp.Diff(wantPatches, c.patches); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c.wantEvents("p00", "p01", "p02", "p03", "p04", "p05")
}

// One rate for all that is written, and who is spoken to first: those that a rule blocks, then those that must not go on showing it, then the
// backlog in the order of the dispatch.
func TestOneRateForAllConditions(t *testing.T) {
	c := newCrowded(t, 40, Options{ShowUnschedulable: true})
	c.wait(60)
	c.probe()
	for i := range 15 { // as if another had written them
		c.edit(fmt.Sprintf("p%02d", 45+i), func(p *corev1.Pod) { p.Status = c.get("p00").Status })
	}
	c.writer.look(c.clock.Now()) // the time begins
	c.clock.Step(DefaultUnschedulableAfter)
	c.seen()
	for i := range 15 {
		c.pod(fmt.Sprintf("q%02d", i), "nowhere")
	}
	for range 10 {
		before := len(c.patched)
		c.pass()
		c.seen()
		if n := len(c.patched) - before; n > 10 {
			t.Errorf("%d patches in half a second at 20 a second", n)
		}
	}
	var want []string
	for _, part := range []struct {
		prefix   string
		from, to int
	}{{"q", 0, 15}, {"p", 45, 60}, {"p", 1, 40}} {
		for i := part.from; i < part.to; i++ {
			want = append(want, fmt.Sprintf("%s%02d", part.prefix, i))
		}
	}
	slices.Sort(c.patched[15:min(30, len(c.patched))])
	if diff := cmp.Diff(want, c.patched); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPodsOfWhichOthersTakeCareAreNotWritten(t *testing.T) {
	for name, happens := range map[string]func(*crowded){
		"bound": func(c *crowded) {
			c.edit("p01", func(p *corev1.Pod) { p.Spec.NodeName = "node" })
			if err := c.indexer.Update(c.get("p01")); err != nil { // the lister knows, the ledger does not yet
				c.Fatal(err)
			}
		},
		"being deleted": func(c *crowded) {
			p := c.get("p01")
			p.DeletionTimestamp = &metav1.Time{Time: start}
			if err := c.indexer.Update(p); err != nil {
				c.Fatal(err)
			}
		},
		"made again": func(c *crowded) {
			p := c.get("p01")
			p.UID = "another"
			if err := c.indexer.Update(p); err != nil {
				c.Fatal(err)
			}
		},
		"gone": func(c *crowded) {
			if err := c.indexer.Delete(c.get("p01")); err != nil {
				c.Fatal(err)
			}
		},
		"released": func(c *crowded) {
			c.ledger.Admitted("uid-p00")
			c.ledger.TakeWoken(c.clock.Now().UnixNano())
			c.ledger.ObserveNode(ledger.Node{Name: "new", Usable: true, Allocatable: cpus(9)})
			for _, want := range []ledger.UID{"uid-p00", "uid-p01"} {
				r, _ := c.ledger.Choose(c.clock.Now().UnixNano())
				if r.UID != want {
					c.Fatalf("%s was released, want %s", r.UID, want)
				}
				c.ledger.Reserve("uid-p00", "new", c.clock.Now().UnixNano())
			}
		},
		"blocked": func(c *crowded) { c.observePod(c.get("p01"), "nowhere") },
		"says so already": func(c *crowded) {
			c.edit("p01", func(p *corev1.Pod) { p.Status = c.get("p00").Status })
			if err := c.indexer.Update(c.get("p01")); err != nil {
				c.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowded(t, 2, Options{ShowUnschedulable: true, UnschedulableAfter: time.Second})
			c.wait(2)
			c.probe()
			c.writer.look(c.clock.Now())
			c.clock.Step(time.Second)
			c.writer.look(c.clock.Now())
			if len(c.writer.backlog) != 1 {
				t.Fatalf("the look found %v", c.writer.backlog)
			}
			happens(c)
			c.writer.showBacklog(c.context, c.clock.Now())
			if len(c.patches) != 0 {
				t.Errorf("patched %q", c.patches)
			}
		})
	}
}

func TestAFailedWriteOfPodScheduledIsTriedAgainLater(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, tc := range map[string]struct {
		err    error
		within int // patches of p01 in ten seconds from its first on, and how often that is logged
		logged int
	}{
		"refused":  {errors.New("connection refused"), 1, 1},
		"conflict": {apierrors.NewConflict(pods, "p01", errors.New("changed")), 5, 0}, // once for each look
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowded(t, 3, Options{ShowUnschedulable: true})
			c.fail = func(name string) error {
				if name == "p01" {
					return tc.err
				}
				return nil
			}
			c.wait(3)
			c.probe()
			c.passes(16 * time.Second) // the first at 6 seconds
			c.wantShown("p00", "p02")
			n := 0
			for _, p := range c.patched {
				n += btoi(p == "p01")
			}
			if logged := strings.Count(c.log.String(), "cannot be written"); n != tc.within || logged != tc.logged {
				t.Errorf("tried %d times, logged %d times, want %d and %d", n, logged, tc.within, tc.logged)
			}
			c.fail = nil
			c.passes(4 * time.Second)
			c.wantShown("p00", "p01", "p02")
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Where it is switched off, pods that must not show it lose it all the same: upstream writes it on every probe.
func TestSwitchedOffNothingIsShownAndTheWrongIsTakenAway(t *testing.T) {
	c := newCrowded(t, 3, Options{})
	c.wait(3)
	c.probe()
	c.passes(20 * time.Second)
	c.wantShown("p00")
	c.observePod(c.get("p00"), "nowhere")
	c.pass()
	c.pass()
	c.pass()
	c.pass()
	c.wantShown()
}

// What pods show is read from the pods, so the next leader writes nothing again.
func TestTheNextLeaderWritesNothingAgain(t *testing.T) {
	c := newCrowded(t, 4, Options{ShowUnschedulable: true})
	c.wait(6)
	c.probe()
	c.passes(8 * time.Second)
	c.wantShown("p00", "p01", "p02", "p03")
	next := newCrowded(t, 4, Options{ShowUnschedulable: true})
	list, err := c.client.CoreV1().Pods("team").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if err := next.client.Tracker().Add(&list.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	next.seen()
	next.passes(4 * time.Second)
	next.probe()
	next.passes(20 * time.Second)
	next.wantShown("p00", "p01", "p02", "p03")
	if len(next.patches) != 0 {
		t.Errorf("the next leader wrote %q", next.patches)
	}
}

func TestShortageIsSaidAsUpstreamSaysIt(t *testing.T) {
	for want, s := range map[string]ledger.Shortage{
		"no nodes available to schedule pods": {},
		"0/3 nodes are available.":            {Nodes: 3},
		misfit:                                {Nodes: 1, Lacking: []ledger.Lack{{Resource: resource.CPU, Nodes: 1}}},
		"0/12 nodes are available: 1 Insufficient nvidia.com/gpu, 10 Insufficient cpu, 2 Too many pods.": {
			Nodes: 12, TooMany: 2, Lacking: []ledger.Lack{{Resource: resource.CPU, Nodes: 10}, {Resource: "nvidia.com/gpu", Nodes: 1}},
		},
	} {
		if got := shortageText(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
