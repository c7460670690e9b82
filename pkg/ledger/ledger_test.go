package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

const sec int64 = 1e9

// fixture is a ledger with one large node, a clock that stands still unless it is moved, and short words for what tests do.
type fixture struct {
	leader
	t   *testing.T
	now int64
}

func newFixture(t *testing.T, o Options) *fixture {
	t.Helper()
	f := &fixture{leader: newLeader(o), t: t, now: 100 * sec}
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(100, 400), Usable: true})
	return f
}

func amounts(cpu, gib int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu * 1000}, resource.Entry{Name: resource.Memory, Value: gib << 30})
}

// declare declares queues of weight 1, or changes one that is there: edits come last.
func (f *fixture) declare(path queue.Path, edits ...func(*queue.Declaration)) {
	f.t.Helper()
	d := queue.Declaration{Path: path, Spec: queue.DefaultSpec()}
	for _, edit := range edits {
		edit(&d)
	}
	f.ObserveQueue(d)
	f.sound()
}

func weight(w int64) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Weight = w * 1000 }
}
func maximum(m resource.List) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Max = m }
}
func guaranteed(g resource.List) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Guaranteed = g }
}
func policy(p queue.Policy) func(*queue.Declaration) {
	return func(d *queue.Declaration) { d.Spec.Policy = p }
}
func created(at int64) func(*queue.Declaration) { return func(d *queue.Declaration) { d.Created = at } }
func deleting(d *queue.Declaration)             { d.Deleting = true }

// pod observes a pod of 1 cpu and 4Gi, class "c", named as its UID and an application of its own, unless edited.
func (f *fixture) pod(uid UID, q string, edits ...func(*Pod)) {
	f.t.Helper()
	p := Pod{UID: uid, Name: string(uid), Namespace: "default", Queue: q, Application: string(uid), Class: "c", Request: amounts(1, 4)}
	for _, edit := range edits {
		edit(&p)
	}
	f.observe(p)
}

func (f *fixture) observe(p Pod) {
	f.t.Helper()
	f.ObservePod(p, f.now)
	f.sound()
}

// edit observes a change of a pod.
func (f *fixture) edit(uid UID, edit func(*Pod)) {
	f.t.Helper()
	s, ok := f.PodState(uid)
	if !ok {
		f.t.Fatalf("no pod %s", uid)
	}
	edit(&s.Pod)
	f.observe(s.Pod)
}

func ofClass(c string) func(*Pod)        { return func(p *Pod) { p.Class = c } }
func asks(cpu, gib int64) func(*Pod)     { return func(p *Pod) { p.Request = amounts(cpu, gib) } }
func at(created int64) func(*Pod)        { return func(p *Pod) { p.Created = created } }
func in(application string) func(*Pod)   { return func(p *Pod) { p.Application = application } }
func terminating(p *Pod)                 { p.Terminating = true }
func request(l resource.List) func(*Pod) { return func(p *Pod) { p.Request = l } }
func boundTo(node string) func(*Pod)     { return func(p *Pod) { p.Node = node } }
func foreignOn(node string) func(*Pod)   { return func(p *Pod) { p.Node, p.Foreign = node, true } }
func placedIn(path string) func(*Pod)    { return func(p *Pod) { p.Placed = path } }
func relabelled(q string) func(*Pod)     { return func(p *Pod) { p.Queue = q } }
func gatedBy(plugin string) func(*Pod)   { return func(p *Pod) { p.Gate = plugin } }
func prioritised(value int32) func(*Pod) { return func(p *Pod) { p.Priority = value } }
func (f *fixture) forget(uids ...UID)    { f.each(uids, func(uid UID) { f.ForgetPod(uid, f.now) }) }
func (f *fixture) bindAll(uids ...UID)   { f.each(uids, func(uid UID) { f.bound(uid, nil) }) }
func (f *fixture) each(us []UID, g func(UID)) {
	f.t.Helper()
	for _, uid := range us {
		g(uid)
		f.sound()
	}
}

// bound observes that a pod has a node. If the ledger has charged it, its binding names the queue, as this scheduler's bindings do.
func (f *fixture) bound(uid UID, edit func(*Pod)) {
	f.t.Helper()
	s, _ := f.PodState(uid)
	f.edit(uid, func(p *Pod) {
		p.Node = "node"
		if s.State.charged() {
			p.Placed = string(s.Leaf)
		}
		if edit != nil {
			edit(p)
		}
	})
}

// choose releases all it can and returns the pods in order.
func (f *fixture) choose() (uids []UID) {
	f.t.Helper()
	for {
		r, ok := f.Choose(f.now)
		if !ok {
			return uids
		}
		f.sound()
		uids = append(uids, r.UID)
	}
}

func (f *fixture) reserve(uids ...UID) {
	f.t.Helper()
	f.each(uids, func(uid UID) {
		if why, ok := f.Reserve(uid, "node", f.now); !ok {
			f.t.Errorf("Reserve refuses %s: %s", uid, why.Text())
		}
	})
}

// run takes pods the whole way: released, reserved, bound.
func (f *fixture) run(want ...UID) {
	f.t.Helper()
	for _, uid := range want {
		r, ok := f.Choose(f.now)
		if !ok || r.UID != uid {
			f.t.Fatalf("released %q, want %q", r.UID, uid)
		}
		f.reserve(uid)
		f.bindAll(uid)
	}
}

func (f *fixture) fail(uid UID, why Failure) []UID {
	f.t.Helper()
	withdraw := f.Fail(uid, why, f.now)
	f.sound()
	return withdraw
}

func (f *fixture) sound() {
	f.t.Helper()
	for _, w := range f.Check() {
		f.t.Error(w)
	}
	for _, v := range f.Inspect(3).Violations { // goes on where it was before the change
		f.t.Error(v)
	}
	if f.t.Failed() {
		f.t.FailNow()
	}
}

func (f *fixture) wantPods(got []UID, want ...UID) {
	f.t.Helper()
	if !slices.Equal(got, want) {
		f.t.Errorf("got %q, want %q", got, want)
	}
}

// wantState: "Waiting root.a" or, blocked and entered nowhere, "Waiting - QueueNotFound".
func (f *fixture) wantState(uid UID, want string) {
	f.t.Helper()
	s, ok := f.PodState(uid)
	got := "unknown"
	if ok {
		got = s.State.String() + " " + string(s.Leaf)
		if s.Leaf == "" {
			got = s.State.String() + " -"
		}
		if s.BlockedBy.Code != "" {
			got += " " + string(s.BlockedBy.Code)
		}
	}
	if got != want {
		f.t.Errorf("pod %s: %s, want %s", uid, got, want)
	}
}

func (f *fixture) queue(path queue.Path) QueueState {
	f.t.Helper()
	for _, q := range f.Snapshot().Queues {
		if q.Path == path {
			return q
		}
	}
	f.t.Fatalf("no queue %s", path)
	return QueueState{}
}

func (f *fixture) wantUsage(path queue.Path, want string) {
	f.t.Helper()
	if got := f.queue(path).Allocated.String(); got != want {
		f.t.Errorf("queue %s is charged %q, want %q", path, got, want)
	}
}

func TestEqualPodsAreReleasedInProportionToWeights(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.busy")
	f.declare("root.sometimes-busy", weight(3))
	for i := range 100 {
		f.pod(UID(fmt.Sprintf("busy-%03d", i)), "busy", asks(2, 8))
		f.pod(UID(fmt.Sprintf("sometimes-busy-%03d", i)), "sometimes-busy", asks(2, 8))
	}
	got := map[queue.Path]int{}
	for range 100 {
		r, ok := f.Choose(f.now)
		if !ok {
			t.Fatal("nothing is released")
		}
		f.reserve(r.UID)
		f.bindAll(r.UID)
		got[r.Queue]++
	}
	if got["root.busy"] != 25 || got["root.sometimes-busy"] != 75 {
		t.Errorf("got %v, want 25 and 75", got)
	}
}
