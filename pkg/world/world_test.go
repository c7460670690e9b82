package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// of is a world of the command line's tests.
func of(t *testing.T, name string) *World {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "cli", "testdata", "worlds", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := objects.Read(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return New(set, []string{"fairway"}, set.Newest())
}

func named(pods report.Pods) string {
	var names []string
	for _, p := range pods {
		name := p.Name
		if p.Position > 0 {
			name = string(rune('0'+p.Position)) + ":" + name
		}
		names = append(names, name+"="+string(p.Reason.Code))
	}
	return strings.Join(names, " ")
}

// In weights.yaml 25 cores are free. d-1 (10) is first, for its queue is below its guarantee; then 15 are free and y-2 (25) waits. x-3 would exceed
// the max of root.a, zinc is the second application in a queue of one, and late is in no queue.
func TestThePodsThatWait(t *testing.T) {
	for _, c := range []struct {
		top  queue.Path
		n    int
		want string
		more int
	}{
		{"root", 10, "1:d-1=WaitingTurn 2:y-2=WaitingTurn x-3=MaxResources z-1=MaxRunningApplications late=QueueNotFound", 0},
		{"root", 1, "1:d-1=WaitingTurn x-3=MaxResources", 3},
		{"root.b", 10, "1:d-1=WaitingTurn 2:y-2=WaitingTurn z-1=MaxRunningApplications", 0},
		{"root.b.night", 10, "2:y-2=WaitingTurn z-1=MaxRunningApplications", 0},
		{"root.a", 10, "x-3=MaxResources", 0},
		{"root.b.none", 10, "", 0},
	} {
		w := of(t, "weights.yaml")
		pods, more := w.Waiting(c.top, c.n)
		if got := named(pods); got != c.want || more != c.more {
			t.Errorf("%s, %d: %q and %d more, want %q and %d", c.top, c.n, got, more, c.want, c.more)
		}
	}
}

func TestThePodsOfAnApplication(t *testing.T) {
	w := of(t, "weights.yaml")
	if got, want := named(w.PodsOf("root.a", "team/app/xray")), "x-3=MaxResources x-1= x-2="; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if pods := w.PodsOf("root.b", "team/app/xray"); pods != nil {
		t.Errorf("in another queue: %q", named(pods))
	}
	pod, ok := w.PodNamed("team", "late")
	if !ok || pod.Reason.Code != reason.QueueNotFound {
		t.Errorf("%v, %+v", ok, pod.Reason)
	}
	if _, ok := w.PodNamed("other", "late"); ok {
		t.Error("a pod of another namespace is found")
	}
}

// Questions about pods change no answer: the plan is the same before them and after them.
func TestAQuestionChangesNoAnswer(t *testing.T) {
	text := func(d report.Document) string { return strings.Join(d.Lines(report.Layout{Wide: true}), "\n") }
	for _, name := range []string{"scenario-a.yaml", "evictions.yaml", "ideal.yaml", "weights.yaml"} {
		fresh, asked := of(t, name), of(t, name)
		for _, p := range asked.Pods() {
			if _, err := asked.Why(t.Context(), p.UID); err != nil {
				t.Fatal(err)
			}
		}
		asked.Waiting(queue.Root, 3)
		if is, want := text(asked.Plan()), text(fresh.Plan()); is != want {
			t.Errorf("%s: the plan is\n%s\nand was\n%s", name, is, want)
		}
		if is, want := text(asked.Order(queue.Root, 20)), text(of(t, name).Order(queue.Root, 20)); is != want {
			t.Errorf("%s: the order is\n%s\nand was\n%s", name, is, want)
		}
		if is, want := text(asked.Starved()), text(fresh.Starved()); is != want {
			t.Errorf("%s: starved is\n%s\nand was\n%s", name, is, want)
		}
	}
}

// Of 100 cores and 400 GiB the bound pods have 75 and 300.
func TestTheRoomOfANode(t *testing.T) {
	nodes := of(t, "weights.yaml").Nodes()
	list := func(cpu, gib int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000}, resource.Entry{Name: resource.Memory, Value: gib << 30})
	}
	if len(nodes) != 1 || !nodes[0].Ours.Equal(list(75, 300)) || !nodes[0].Free().Equal(list(25, 100)) || nodes[0].OnNode != 3 || !nodes[0].Known {
		t.Errorf("%+v", nodes)
	}
	// In evictions.yaml room is kept for two pods of 10 cores, beside the four pods that are there.
	if kept := of(t, "evictions.yaml").Nodes()[0]; !kept.Nominated.Equal(list(20, 80)) || !kept.Ours.Equal(list(40, 160)) || !kept.Free().IsZero() {
		t.Errorf("%+v", kept)
	}
	// In held.yaml both nodes are held for pod group team/ring, as the status of a queue says.
	for _, n := range of(t, "held.yaml").Nodes() {
		if n.HeldFor != "team/ring" {
			t.Errorf("node %s is held for %q", n.Name, n.HeldFor)
		}
	}
	lines := nodes.Lines(report.Layout{Terminal: true})
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "most cpu: 25c 100Gi on node n1") }) {
		t.Errorf("%q", lines)
	}
}
