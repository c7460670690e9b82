package dispatch

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// batch is how many pods are released before all are refunded; the timer stops during refunds.
const batch = 1024

// applications is the same in every world, whatever the number of pods; it is a multiple of the numbers of
// leaves.
const applications = 10_000

// full is a cluster under load: a tree of four levels, pods of a few classes waiting in all leaves, some of
// them running.
type full struct {
	*ledger.Ledger
	dispatcher Dispatcher
	leaves     []queue.Path
	classes    int64
	released   []ledger.UID
	now        int64
}

func (f *full) Exclusive(g func(Gate))  { g(f) }
func (f *full) Holds(ledger.UID) bool   { return true }
func (f *full) Admit(uid ledger.UID)    { f.released = append(f.released, uid) }
func (f *full) Withdraw(uid ledger.UID) {}
func (f *full) round()                  { f.dispatcher.Round(f.now) }
func (f *full) pod(n int, r *rand.Rand) ledger.Pod {
	leaf := f.leaves[n%len(f.leaves)]
	class := r.Int64N(f.classes)
	kind := class % 4
	return ledger.Pod{
		UID: ledger.UID(fmt.Sprintf("uid-%08d", n)), Name: fmt.Sprintf("pod-%08d", n), Namespace: "default", Queue: string(leaf),
		Application: fmt.Sprintf("default/job/%d", n%applications),
		Class:       fmt.Sprintf("class-%d", class), Created: int64(n),
		Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 500 * (1 + kind)}, resource.Entry{Name: resource.Memory, Value: (4 - kind) << 30}),
	}
}

// newFull declares about the given number of queues: tens of groups that hold the rest evenly.
func newFull(queues, pods int, classes int64) *full {
	f := &full{classes: classes, Ledger: ledger.New(ledger.Options{Window: batch}), now: 1, released: make([]ledger.UID, 0, batch)}
	f.dispatcher = Dispatcher{Ledger: f.Ledger, Port: f}
	r := rand.New(rand.NewPCG(1, 2))
	declare := func(path queue.Path) {
		s := queue.DefaultSpec()
		s.Weight = 1000 * (1 + r.Int64N(4))
		f.ObserveQueue(queue.Declaration{Path: path, Spec: s})
	}
	groups := 3
	for groups*groups*groups < queues {
		groups++
	}
	for i := 0; len(f.leaves) < queues; i++ {
		top := queue.Path(fmt.Sprintf("root.top-%d", i%groups))
		middle := queue.Path(fmt.Sprintf("%s.middle-%d", top, i/groups%groups))
		leaf := queue.Path(fmt.Sprintf("%s.leaf-%d", middle, i))
		declare(top)
		declare(middle)
		declare(leaf)
		f.leaves = append(f.leaves, leaf)
	}
	for i := range 1000 {
		f.ObserveNode(ledger.Node{Name: fmt.Sprintf("node-%d", i), Usable: true, Allocatable: resource.Of(
			resource.Entry{Name: resource.CPU, Value: 64_000}, resource.Entry{Name: resource.Memory, Value: 256 << 30})})
	}
	for n := range pods {
		f.ObservePod(f.pod(n, r), f.now)
	}
	f.Lead(f.now)
	f.warmUp()
	return f
}

// warmUp has some pods run, so that shares differ and every class is known to fit.
func (f *full) warmUp() {
	for i := 0; i < 5 || len(f.released) < batch; i++ {
		f.released = f.released[:0]
		f.round()
		for j, uid := range f.released {
			f.bind(uid, fmt.Sprintf("node-%d", (i*batch+j)%1000))
		}
	}
	f.released = f.released[:0]
	f.round()
	f.refund()
}

func (f *full) bind(uid ledger.UID, node string) {
	f.Reserve(uid, node, f.now)
	s, _ := f.PodState(uid)
	s.Node = node
	f.ObservePod(s.Pod, f.now)
}

func (f *full) refund() {
	for _, uid := range f.released {
		f.Fail(uid, ledger.Refused, f.now)
	}
	f.released = f.released[:0]
}

func forSizes(b *testing.B, waiting []int, run func(b *testing.B, f *full)) {
	for _, queues := range []int{100, 10_000} {
		for _, pods := range waiting {
			var f *full
			b.Run(fmt.Sprintf("queues=%d/pods=%d", queues, pods), func(b *testing.B) {
				if f == nil {
					f = newFull(queues, pods, 4)
					b.ResetTimer()
				}
				b.ReportAllocs()
				run(b, f)
			})
		}
	}
}

// A release allocates nothing, so a large cluster under load leaves nothing to the garbage collector.
func TestChooseAndChargeDoesNotAllocate(t *testing.T) {
	newFull(50, 5000, 4).allocatesNothing(t)
}

func (f *full) allocatesNothing(t *testing.T) {
	t.Helper()
	least := uint64(1 << 62)
	for range 5 { // other goroutines of the test binary may allocate meanwhile
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f.round()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
		if len(f.released) != batch {
			t.Fatalf("%d of %d pods were released", len(f.released), batch)
		}
		f.refund()
	}
	if least > batch/100 { // a round may allocate what it hands to the port
		t.Errorf("releasing %d pods allocates %d times", batch, least)
	}
}

// BenchmarkChooseAndCharge: one operation releases one pod: chosen, charged at every level, and handed to the
// gate.
func BenchmarkChooseAndCharge(b *testing.B) {
	forSizes(b, []int{10_000, 1_000_000}, func(b *testing.B, f *full) {
		for done := 0; done < b.N; done += batch {
			f.round()
			b.StopTimer()
			if len(f.released) != batch {
				b.Fatalf("%d of %d pods were released", len(f.released), batch)
			}
			f.refund()
			b.StartTimer()
		}
	})
}

// releases releases b.N pods, and takes them back while the clock stands.
func (f *full) releases(b *testing.B) {
	for done := 0; done < b.N; done += batch {
		f.round()
		b.StopTimer()
		f.refund()
		b.StartTimer()
	}
}

// BenchmarkClasses is BenchmarkChooseAndCharge with more classes: each class has its own order in every queue.
func BenchmarkClasses(b *testing.B) {
	for _, classes := range []int64{1, 16, 256} {
		var f *full
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			if f == nil {
				f = newFull(100, 10_000, classes)
				b.ResetTimer()
			}
			b.ReportAllocs()
			f.releases(b)
		})
	}
}

// guarantee guarantees every queue more than it has, so that all take their turns below a guarantee.
func (f *full) guarantee() {
	much := resource.Of(resource.Entry{Name: resource.CPU, Value: 1 << 40}, resource.Entry{Name: resource.Memory, Value: 1 << 60})
	for _, leaf := range f.leaves {
		for path := leaf; path != queue.Root; path = path.Parent() {
			s := queue.DefaultSpec()
			s.Guaranteed = much
			f.ObserveQueue(queue.Declaration{Path: path, Spec: s})
		}
	}
	f.round()
	f.refund()
}

func TestAReleaseBelowGuaranteesDoesNotAllocate(t *testing.T) {
	f := newFull(50, 5000, 4)
	f.guarantee()
	f.allocatesNothing(t)
}

// BenchmarkGuarantees is BenchmarkChooseAndCharge with every queue below its guarantee.
func BenchmarkGuarantees(b *testing.B) {
	for _, queues := range []int{100, 10_000} {
		var f *full
		b.Run(fmt.Sprintf("queues=%d", queues), func(b *testing.B) {
			if f == nil {
				f = newFull(queues, 10_000, 4)
				f.guarantee()
				b.ResetTimer()
			}
			b.ReportAllocs()
			f.releases(b)
		})
	}
}

// BenchmarkChooseChargeAndRefund: one operation releases one pod and refunds it.
func BenchmarkChooseChargeAndRefund(b *testing.B) {
	forSizes(b, []int{10_000}, func(b *testing.B, f *full) {
		for done := 0; done < b.N; done += batch {
			f.round()
			f.refund()
		}
	})
}

// BenchmarkWholeWay: one operation takes one pod through all states: released, reserved, seen bound, seen
// gone, and a new one submitted.
func BenchmarkWholeWay(b *testing.B) {
	forSizes(b, []int{10_000}, func(b *testing.B, f *full) {
		r := rand.New(rand.NewPCG(3, 4))
		for done := 0; done < b.N; done += batch {
			f.round()
			b.StopTimer()
			bound, next := make([]ledger.Pod, 0, batch), make([]ledger.Pod, 0, batch)
			for _, uid := range f.released {
				s, _ := f.PodState(uid)
				s.Node = "node-1"
				bound, next = append(bound, s.Pod), append(next, f.pod(int(s.Created), r))
			}
			b.StartTimer()
			for i, uid := range f.released {
				f.Reserve(uid, "node-1", f.now)
				f.ObservePod(bound[i], f.now)
				f.ForgetPod(uid, f.now)
				f.ObservePod(next[i], f.now)
			}
			f.released = f.released[:0]
		}
	})
}

// BenchmarkBacklog: one operation reads the first thousand pods, while the ledger's lock is held once.
func BenchmarkBacklog(b *testing.B) {
	forSizes(b, []int{100_000}, func(b *testing.B, f *full) {
		for b.Loop() {
			f.Backlog(1000, 0, f.now)
		}
	})
}

// BenchmarkNodeChanges: one operation observes a node whose size changed, and settles: the shares of all
// queues change.
func BenchmarkNodeChanges(b *testing.B) {
	forSizes(b, []int{10_000}, func(b *testing.B, f *full) {
		for i := range b.N {
			f.ObserveNode(ledger.Node{Name: "node-0", Usable: true, Allocatable: resource.Of(
				resource.Entry{Name: resource.CPU, Value: 64_000 + int64(i%2)}, resource.Entry{Name: resource.Memory, Value: 256 << 30})})
			f.round()
			b.StopTimer()
			f.refund()
			b.StartTimer()
		}
	})
}

// BenchmarkYardstick is the unit in which a release is measured on any machine: one Pop and one Push on a heap
// of 10,000 entries.
func BenchmarkYardstick(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	y := make(yard, 0, 10_000)
	for range cap(y) {
		y = append(y, &entry{key: r.Uint64()})
	}
	heap.Init(&y)
	b.ReportAllocs()
	for b.Loop() {
		e := heap.Pop(&y).(*entry)
		e.key = r.Uint64()
		heap.Push(&y, e)
	}
}

type entry struct{ key uint64 }

type yard []*entry

func (y yard) Len() int           { return len(y) }
func (y yard) Less(i, j int) bool { return y[i].key < y[j].key }
func (y yard) Swap(i, j int)      { y[i], y[j] = y[j], y[i] }
func (y *yard) Push(x any)        { *y = append(*y, x.(*entry)) }
func (y *yard) Pop() any {
	x := (*y)[len(*y)-1]
	*y = (*y)[:len(*y)-1]
	return x
}
