package history

import (
	"fmt"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

func cores(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: n * 1000})
}

// tree has a root and so many leaves; leaf 0 has what is allocated.
func tree(leaves int, allocated int64) report.Tree {
	t := report.Tree{Cluster: cores(100), Queues: []report.Queue{{Name: "root", Allocated: cores(allocated)}}}
	for i := range leaves {
		q := report.Queue{Name: fmt.Sprintf("root.q%d", i), Weight: 1000, FairShare: cores(1)}
		if i == 0 {
			q.Allocated = cores(allocated)
		}
		t.Queues = append(t.Queues, q)
	}
	return t
}

const second = int64(1_000_000_000)

func TestTheTreeAsItWas(t *testing.T) {
	h := New(10*second, 100, 1<<20)
	if _, _, _, ok := h.At(5); ok {
		t.Error("an empty history has a moment")
	}
	starved := report.Starved{Queues: []report.StarvedQueue{{Queue: "root.q1", Since: 7}}}
	h.Add(100*second, tree(2, 1), report.Starved{})
	h.Add(105*second, tree(2, 2), report.Starved{}) // too soon
	h.Add(110*second, tree(2, 3), starved)
	h.Add(120*second, tree(1, 4), report.Starved{})
	for at, want := range map[int64]struct{ when, allocated, queues, starved int64 }{
		0: {100, 1, 3, 0}, 100: {100, 1, 3, 0}, 109: {100, 1, 3, 0}, 110: {110, 3, 3, 1}, 119: {110, 3, 3, 1}, 120: {120, 4, 2, 0}, 999: {120, 4, 2, 0},
	} {
		got, s, when, ok := h.At(at * second)
		if !ok || when != want.when*second || int64(len(got.Queues)) != want.queues || int64(len(s.Queues)) != want.starved ||
			!got.Queues[1].Allocated.Equal(cores(want.allocated)) || !got.Cluster.Equal(cores(100)) {
			t.Errorf("at %d: %v at %d, %d starved; want %+v", at, got.Queues, when/second, len(s.Queues), want)
		}
	}
	c := h.Of("root.q1")
	if len(c) != 2 || c[0].At != 100*second || c[1].At != 110*second || c[1].Queue.Name != "root.q1" || c[1].Queue.Weight != 1000 {
		t.Errorf("%+v", c)
	}
	// With queues before it its place differs.
	h.Add(200*second, report.Tree{Queues: []report.Queue{{Name: "root"}, {Name: "root.a"}, {Name: "root.b"}, {Name: "root.q1"}}}, report.Starved{})
	if c := h.Of("root.q1"); len(c) != 3 || c[2].Queue.Name != "root.q1" {
		t.Errorf("%+v", c)
	}
	if h.Of("root.none") != nil {
		t.Error("a queue that never was has a course")
	}
}

// A queue that does not change is kept once.
func TestWhatDoesNotChangeIsShared(t *testing.T) {
	h := New(second, 100, 1<<30)
	h.Add(1*second, tree(50, 1), report.Starved{})
	before := h.bytes
	h.Add(2*second, tree(50, 2), report.Starved{}) // root and q0 change
	if grown, want := h.bytes-before, bytesOf(2, 51, 0); grown != want {
		t.Errorf("%d bytes more, want %d", grown, want)
	}
	if h.samples[0].queues[2] != h.samples[1].queues[2] || h.samples[0].queues[1] == h.samples[1].queues[1] {
		t.Error("q1 is not shared, or q0 is")
	}
}

// After eight hours at one look a second, with all queues changing, there are no more samples and bytes than at most, and they reach from the
// beginning to the end.
func TestMemoryIsBounded(t *testing.T) {
	const most, bytes, hours = 50, 400_000, 8
	h := New(5*second, most, bytes)
	for s := int64(0); s <= hours*3600; s++ {
		h.Add(s*second, tree(9, s), report.Starved{})
		if len(h.samples) > most || h.bytes > bytes {
			t.Fatalf("after %d seconds: %d samples, %d bytes", s, len(h.samples), h.bytes)
		}
	}
	times := h.Times()
	if times[0] != 0 || len(times) < most/4 || times[len(times)-1] < (hours*3600-h.every/second)*second {
		t.Errorf("%d samples from %d to %d", len(times), times[0]/second, times[len(times)-1]/second)
	}
	// By bytes alone: 9 queues and the root that all change take about 10 x 900 bytes.
	h = New(second, 1_000_000, bytes)
	for s := int64(0); s < 5000; s++ {
		changed := tree(9, s)
		for i := range changed.Queues {
			changed.Queues[i].Pending = s
		}
		if h.Add(s*second, changed, report.Starved{}); h.bytes > bytes {
			t.Fatalf("%d bytes", h.bytes)
		}
	}
	if n := len(h.samples); n < 10 || n > bytes/9000 {
		t.Errorf("%d samples", n)
	}
}
