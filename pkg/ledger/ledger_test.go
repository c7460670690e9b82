package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func amounts(cpu, gib int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000}, resource.Entry{Name: resource.Memory, Value: gib << 30})
}

func declare(l *Ledger, path string, weight int64) {
	s := queue.DefaultSpec()
	s.Weight = weight * 1000
	l.ObserveQueue(queue.Declaration{Path: queue.Path(path), Spec: s})
}

func pods(l *Ledger, q string, n int, request resource.List) {
	for i := range n {
		name := fmt.Sprintf("%s-%03d", q, i)
		l.ObservePod(Pod{UID: UID(name), Name: name, Queue: q, Application: name, Class: "c", Request: request, Created: int64(i)}, 1)
	}
}

func sound(t *testing.T, l *Ledger) {
	t.Helper()
	for _, w := range l.Check() {
		t.Error(w)
	}
}

func TestEqualPodsAreReservedInProportionToWeights(t *testing.T) {
	l := New(Options{})
	l.ObserveNode(Node{Name: "n", Allocatable: amounts(200, 800), Usable: true})
	declare(l, "root.busy", 1)
	declare(l, "root.sometimes-busy", 3)
	pods(l, "root.busy", 100, amounts(2, 8))
	pods(l, "root.sometimes-busy", 100, amounts(2, 8))
	sound(t, l)
	got := map[queue.Path]int{}
	for i := range 100 {
		r, ok := l.Choose(int64(i))
		if !ok {
			t.Fatalf("nothing to release after %d", i)
		}
		sound(t, l)
		if why, ok := l.Reserve(r.UID, 1); !ok {
			t.Fatal(why.Text())
		}
		got[r.Queue]++
		p, _ := l.PodState(r.UID)
		p.Node = "n"
		l.ObservePod(p.Pod, 2)
		sound(t, l)
	}
	if got["root.busy"] != 25 || got["root.sometimes-busy"] != 75 {
		t.Errorf("got %v, want 25 and 75", got)
	}
	s := l.Snapshot()
	for _, q := range s.Queues {
		t.Logf("%+v", q)
	}
}
