package ledger

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// owed is a ledger of 5,000 nodes with 20 pods of 4 cpu each, all of root.busy, where root.starved is owed room for 100 pods.
func owed(b *testing.B, queues int) (*Ledger, int64) {
	b.Helper()
	l, now := New(Options{}), 100*sec
	l.ObserveQueue(queue.Declaration{Path: "root.busy", Spec: queue.DefaultSpec()})
	starved := queue.Declaration{Path: "root.starved", Spec: queue.DefaultSpec()}
	starved.Spec.Preemption.FairShareTimeout = queue.Timeout{Stated: true, Nanoseconds: sec}
	l.ObserveQueue(starved)
	for i := range queues {
		l.ObserveQueue(queue.Declaration{Path: queue.Path(fmt.Sprintf("root.q%05d", i)), Spec: queue.DefaultSpec()})
	}
	size := resource.Of(resource.Entry{Name: resource.CPU, Value: 4000}, resource.Entry{Name: resource.Memory, Value: 16 << 30})
	for n := range 5000 {
		node := fmt.Sprintf("node-%04d", n)
		l.ObserveNode(Node{Name: node, Usable: true, Pods: 110,
			Allocatable: resource.Of(resource.Entry{Name: resource.CPU, Value: 80_000}, resource.Entry{Name: resource.Memory, Value: 320 << 30})})
		for p := range 20 {
			name := fmt.Sprintf("%s-%02d", node, p)
			l.ObservePod(Pod{UID: UID(name), Name: name, Queue: "busy", Application: fmt.Sprint("app", n%500), Request: size, Node: node, Class: "c"}, now)
		}
	}
	for i := range 100 {
		name := fmt.Sprintf("waits-%03d", i)
		l.ObservePod(Pod{UID: UID(name), Name: name, Queue: "starved", Application: "waits", Request: size, Class: "c"}, now)
	}
	l.Lead(now)
	l.LookAtStarvation(now)
	now += 2 * sec
	if due, _ := l.LookAtStarvation(now); !due {
		b.Fatal("no round is due")
	}
	return l, now
}

// BenchmarkCopyForPreemption: one operation is what a round does under the lock, after one node of 5,000 with 100,000 pods has changed.
func BenchmarkCopyForPreemption(b *testing.B) {
	for _, queues := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("queues=%d", queues), func(b *testing.B) {
			l, now := owed(b, queues)
			l.copyForPreemption(now, false)
			b.ResetTimer()
			for range b.N {
				l.nodes.all[b.N%len(l.nodes.all)].changed()
				if _, _, _, ok := l.copyForPreemption(now, false); !ok {
					b.Fatal("no claim")
				}
			}
		})
	}
}

// BenchmarkLookAtStarvation: one operation is a look at the clocks of all queues after a change.
func BenchmarkLookAtStarvation(b *testing.B) {
	l, now := owed(b, 10_000)
	b.ResetTimer()
	for range b.N {
		l.version++
		l.LookAtStarvation(now)
	}
}
