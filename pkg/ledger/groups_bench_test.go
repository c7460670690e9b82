package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// crowded has 1,000 nodes of 16 cpu with one of them free, and 50 pod groups of 64 pods of 2 cpu that wait for room.
func crowded(b *testing.B) *Ledger {
	b.Helper()
	l := New(Options{})
	for i := range 1000 {
		name := fmt.Sprintf("node-%04d", i)
		l.ObserveNode(Node{Name: name, Allocatable: amounts(16, 64), Usable: true})
		l.ObservePod(Pod{UID: UID("big-" + name), Queue: "root.a", Application: "big", Class: "big", Request: amounts(12, 48), Node: name, Placed: "root.a"}, sec)
		l.ObservePod(running(name), sec)
	}
	l.ObserveQueue(queue.Declaration{Path: "root.a", Spec: queue.DefaultSpec()})
	for g := range 50 {
		key := fmt.Sprintf("ns/g%02d", g)
		l.ObservePodGroup(PodGroup{Key: key, MinMember: 64})
		for i := range 64 {
			l.ObservePod(Pod{
				UID: UID(fmt.Sprint(key, i)), Queue: "root.a", Application: key, PodGroup: key, Class: "worker", Request: amounts(2, 8), Created: int64(g),
			}, sec)
		}
	}
	l.Lead(sec)
	if r, ok := l.Choose(sec); ok {
		b.Fatalf("%s is released", r.UID)
	}
	return l
}

func running(node string) Pod {
	return Pod{UID: UID("small-" + node), Queue: "root.a", Application: "small", Class: "small", Request: amounts(3, 12), Node: node, Placed: "root.a"}
}

// What a look costs in which nothing is new.
func BenchmarkWaitingGangs(b *testing.B) {
	l := crowded(b)
	for b.Loop() {
		if r, ok := l.Choose(sec); ok {
			b.Fatalf("%s is released", r.UID)
		}
	}
}

// What it costs after a node gained room for one more pod. The end and the begin of the pod there are part of it.
func BenchmarkWaitingGangsAfterANodeGainedRoom(b *testing.B) {
	l := crowded(b)
	p := running("node-0500")
	for b.Loop() {
		l.ForgetPod(p.UID, sec)
		if r, ok := l.Choose(sec); ok {
			b.Fatalf("%s is released", r.UID)
		}
		l.ObservePod(p, sec)
	}
}
