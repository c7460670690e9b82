package ledger

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const gpu resource.Name = "nvidia.com/gpu"

func withGPUs(cpu, gib, gpus int64) resource.List {
	return amounts(cpu, gib).Add(resource.Of(resource.Entry{Name: gpu, Value: gpus}))
}

func gpus(n int64) resource.List { return only(gpu, n) }

func TestAGuaranteeOfOneResourceGivesThatResource(t *testing.T) {
	f := newFixture(t, Options{})
	f.ObserveNode(Node{Name: "node", Allocatable: withGPUs(100, 400, 4), Usable: true})
	f.declare("root.sure", guaranteed(gpus(2)))
	f.declare("root.rest")
	f.pod("hog", "sure", asks(55, 4), at(1))
	f.pod("other", "rest", request(withGPUs(30, 4, 1)), at(1))
	f.run("other", "hog")
	for i := range int64(2) {
		f.pod(UID(fmt.Sprint("sure-cpu-", i)), "sure", at(10+i))
		f.pod(UID(fmt.Sprint("sure-gpu-", i)), "sure", request(withGPUs(1, 4, 1)), ofClass("gpu"), at(20+i))
		f.pod(UID(fmt.Sprint("rest-cpu-", i)), "rest", at(30+i))
	}
	f.pod("rest-gpu", "rest", request(withGPUs(1, 4, 1)), ofClass("gpu"), at(40))
	// Two GPUs because of the guarantee. Then sure has 57% of the cpu, and rest 50% of the GPUs at most.
	f.run("sure-gpu-0", "sure-gpu-1", "rest-cpu-0", "rest-cpu-1", "rest-gpu", "sure-cpu-0", "sure-cpu-1")
}

func TestAQueueWithoutGuaranteesKeepsNothingForThem(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.sure")
	f.declare("root.sure.x", guaranteed(amounts(5, 5)))
	f.declare("root.rest")
	f.declare("root.rest.y")
	f.pod("x", "sure.x")
	f.pod("y", "rest.y")
	f.choose()
	for _, path := range []queue.Path{"root", "root.rest", "root.rest.y"} {
		if g := f.queues.accounts[path].guarantee; g != nil {
			t.Errorf("%s keeps %+v", path, *g)
		}
	}
	if f.queues.accounts["root.sure"].guarantee == nil || f.queues.accounts["root.sure.x"].guarantee == nil {
		t.Error("nothing is kept where there is a guarantee")
	}
	f.declare("root.sure.x")
	if g := f.queues.accounts["root.sure.x"].guarantee; len(g.lacks) > 0 || g.inBelow.Competes() {
		t.Errorf("without its guarantee, root.sure.x lacks %v", g.lacks)
	}
}

// orderTwin says whose turn it is by computing everything from the pods again, in big rationals.
type orderTwin struct {
	total  resource.List
	queues []queue.Declaration // in path order
	pods   map[UID]*twinPod
}

type twinPod struct {
	Pod
	runs, gone bool
}

func (t *orderTwin) amounts(q queue.Path, waiting bool) (sum resource.List) {
	for _, p := range t.pods { // a sum
		if !p.gone && (waiting || p.runs) && q.Contains(queue.Path("root."+p.Queue)) {
			sum = sum.Add(p.Request)
		}
	}
	return sum
}

// below is of what a queue lacks some, and the smallest part that it has of what it is owed.
func (t *orderTwin) below(d *queue.Declaration) (lacks []resource.Name, part *big.Rat) {
	used, demand := t.amounts(d.Path, false), t.amounts(d.Path, true)
	for _, n := range []resource.Name{resource.CPU, resource.Memory, gpu} {
		owed := min(d.Spec.Guaranteed.Get(n), demand.Get(n))
		if used.Get(n) >= owed {
			continue
		}
		lacks = append(lacks, n)
		if r := big.NewRat(used.Get(n), owed); part == nil || r.Cmp(part) < 0 {
			part = r
		}
	}
	return lacks, part
}

func (t *orderTwin) shares(d *queue.Declaration) (out []*big.Rat) {
	used := t.amounts(d.Path, false)
	for _, n := range []resource.Name{resource.CPU, resource.Memory, gpu} {
		r := big.NewRat(used.Get(n), max(t.total.Get(n), 1))
		if d.Spec.Weight > 0 {
			r.Quo(r, big.NewRat(d.Spec.Weight, 1))
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *big.Rat) int { return b.Cmp(a) })
	return out
}

func (t *orderTwin) byShare(a, b *queue.Declaration) int {
	if (a.Spec.Weight == 0) != (b.Spec.Weight == 0) {
		return cmp.Compare(b.Spec.Weight, a.Spec.Weight)
	}
	return cmp.Or(slices.CompareFunc(t.shares(a), t.shares(b), (*big.Rat).Cmp), queue.ComparePaths(a.Path, b.Path))
}

// next is the pod of the queue whose turn it is, among those for which all of the conditions hold; way has the queues that had their turn because of a
// guarantee.
func (t *orderTwin) next(q queue.Path, holds []func(*twinPod) bool) (first *twinPod, way []queue.Path) {
	var kids, below []*queue.Declaration
	for i := range t.queues {
		if d := &t.queues[i]; d.Path.Parent() == q {
			kids = append(kids, d)
			if lacks, _ := t.below(d); len(lacks) > 0 {
				below = append(below, d)
			}
		}
	}
	if len(kids) == 0 {
		for _, p := range t.pods { // the first of all
			all := !p.gone && !p.runs && queue.Path("root."+p.Queue) == q
			for _, h := range holds {
				all = all && h(p)
			}
			if all && (first == nil || p.Created < first.Created) {
				first = p
			}
		}
		return first, nil
	}
	slices.SortFunc(below, func(a, b *queue.Declaration) int {
		_, x := t.below(a)
		_, y := t.below(b)
		return cmp.Or(x.Cmp(y), t.byShare(a, b))
	})
	slices.SortFunc(kids, t.byShare)
	for _, d := range below {
		lacks, _ := t.below(d)
		asks := func(p *twinPod) bool {
			return slices.ContainsFunc(lacks, func(n resource.Name) bool { return p.Request.Get(n) > 0 })
		}
		if p, way := t.next(d.Path, append(slices.Clone(holds), asks)); p != nil {
			return p, append(way, d.Path)
		}
	}
	for _, d := range kids {
		if p, way := t.next(d.Path, holds); p != nil {
			return p, way
		}
	}
	return nil, nil
}

// newOrderTwin draws a tree, some nodes and some pods, and shows them to the ledger.
func newOrderTwin(t *rapid.T, l *leader, total resource.List) *orderTwin {
	amount := func(name string, most int64) resource.List {
		return withGPUs(rapid.Int64Range(0, most).Draw(t, name+" cpu"), rapid.Int64Range(0, most).Draw(t, name+" memory"), rapid.Int64Range(0, 3).Draw(t, name+" gpu"))
	}
	twin := &orderTwin{total: total, pods: map[UID]*twinPod{}}
	l.ObserveNode(Node{Name: "node", Allocatable: twin.total, Usable: true})
	for _, path := range []queue.Path{"root.a", "root.a.x", "root.a.y", "root.b", "root.b.x", "root.b.y", "root.c"} {
		d := queue.Declaration{Path: path, Spec: queue.DefaultSpec()}
		d.Spec.Weight = rapid.SampledFrom([]int64{1000, 1000, 3000, 0}).Draw(t, "weight")
		if rapid.IntRange(0, 3).Draw(t, "is guaranteed something unless 0") > 0 {
			d.Spec.Guaranteed = amount("guaranteed", 12)
		}
		twin.queues = append(twin.queues, d)
		l.ObserveQueue(d)
	}
	alike := rapid.Bool().Draw(t, "pods of a size are of one class")
	for i := range rapid.IntRange(1, 90).Draw(t, "pods") {
		p := Pod{UID: UID(fmt.Sprintf("p%02d", i)), Namespace: "default", Created: int64(i + 1)}
		p.Name, p.Application = string(p.UID), string(p.UID)
		p.Queue = rapid.SampledFrom([]string{"a.x", "a.y", "b.x", "b.y", "c"}).Draw(t, "queue")
		p.Request = rapid.SampledFrom([]resource.List{amounts(1, 0), amounts(2, 1), amounts(0, 3), withGPUs(1, 1, 1), withGPUs(3, 0, 2), gpus(1)}).Draw(t, "request")
		if p.Class = p.Name; alike {
			p.Class = p.Request.String()
		}
		twin.pods[p.UID] = &twinPod{Pod: p}
		l.ObservePod(p, 0)
	}
	return twin
}

// fits leaves out the pods for which the node has no room.
func (t *orderTwin) fits(p *twinPod) bool {
	return p.Request.Fits(t.total.Sub(t.amounts("root", false)))
}

func TestTheOrderEqualsThatOfATwinThatComputesItFromScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLeader(Options{})
		twin := newOrderTwin(t, &l, withGPUs(300, 300, 200)) // room for all
		for range 120 {
			want, _ := twin.next("root", nil)
			got, ok := l.Choose(0)
			if ok != (want != nil) || ok && got.UID != want.UID {
				t.Fatalf("released %q, the twin's turn is %+v", got.UID, want)
			}
			for _, w := range l.Check() {
				t.Fatal(w)
			}
			if ok {
				want.runs = true
				if why, ok := l.Reserve(got.UID, "node", 0); !ok {
					t.Fatal(why.Text())
				}
				want.Node = "node"
				l.ObservePod(want.Pod, 0)
			}
			if rapid.IntRange(0, 3).Draw(t, "one ends if 0") == 0 || !ok {
				uid := UID(fmt.Sprintf("p%02d", rapid.IntRange(0, len(twin.pods)-1).Draw(t, "ends")))
				twin.pods[uid].gone = true
				l.ForgetPod(uid, 0)
			}
		}
	})
}

// What a rehearsal tells is what is released, and it names the guarantee at the steps where the twin takes the turn of one.
func TestARehearsalTellsTheOrderOfTheTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLeader(Options{})
		twin := newOrderTwin(t, &l, withGPUs(40, 40, 8))
		h := l.Rehearse()
		for {
			want, way := twin.next("root", []func(*twinPod) bool{twin.fits})
			got, ok := h.Next(false, true)
			if ok != (want != nil) || ok && got.UID != want.UID {
				t.Fatalf("tells %q, the twin's turn is %+v", got.UID, want)
			}
			if !ok {
				return
			}
			want.runs = true
			var guarantees []queue.Path
			for _, d := range slices.Backward(got.Decisions) {
				if d.Chosen.Below.Below() {
					guarantees = append(guarantees, queue.Path(d.Chosen.Name))
				}
				if d.By == "guarantee" && !d.Chosen.Below.Below() {
					t.Fatalf("%s: a guarantee decided at %s, of a queue that is not below it", got.UID, d.At)
				}
			}
			if !slices.Equal(guarantees, way) {
				t.Fatalf("%s: turns below guarantees of %v, the twin's %v", got.UID, guarantees, way)
			}
		}
	})
}
