package placement

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Pods that ask for any queues at all: what is created is created below each queue as often as that allows, and no more often. The twin counts names
// with a common beginning.
func TestNoMoreQueuesAreCreatedThanTheQueuesAboveAllow(t *testing.T) {
	policy := parsed(t, "Specified; Reject")
	created, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.SampledFrom([]string{"a", "b", "c"})
		most := map[string]int{}
		for _, above := range []string{"root", "root.a", "root.a.b"} {
			if rapid.Bool().Draw(t, above) {
				most[above] = rapid.IntRange(0, 5).Draw(t, "most")
			}
		}
		all := Tree{}
		for above := range most {
			all.Declare(queue.Path(above), Queue{Parent: true, MaxCreated: queue.AtMost(int64(most[above]))})
		}
		var names []string
		below := func(above string) (n int) {
			for _, name := range names {
				if strings.HasPrefix(name, above+".") {
					n++
				}
			}
			return n
		}
		for range 12 {
			asks := strings.Join(rapid.SliceOfN(label, 1, 4).Draw(t, "asks"), ".")
			d := policy.Place(Submission{Queue: asks}, all)
			switch why := d.Rejected.Text(); {
			case len(d.Create) > 0:
				created++
				for _, q := range d.Create {
					all.Declare(q.Path, Queue{Created: true, Parent: q.Parent})
					names = append(names, string(q.Path))
				}
			case strings.Contains(why, "children.maxCreated"):
				refused++
				full := strings.Fields(why[strings.Index(why, " of queue "):])[2]
				missing := 0
				for _, p := range append(queue.Path("root."+asks).Ancestors(), queue.Path("root."+asks)) {
					if !all[p].Declared && p != queue.Root {
						missing++
					}
				}
				if n, stated := most[full]; !stated || below(full)+missing <= n {
					t.Fatalf("%s is refused: %s, and below %s are %d of %v", asks, why, full, below(full), names)
				}
			}
			for above, n := range most {
				if below(above) > n {
					t.Fatalf("below %s are %d, at most %d are allowed: %v", above, below(above), n, names)
				}
			}
		}
	})
	if created == 0 || refused == 0 {
		t.Errorf("%d created, %d refused", created, refused)
	}
}

// Many at once: together they may not exceed what each of them alone may use.
func TestPlannedQueuesCountTogether(t *testing.T) {
	all := Tree{}
	all.Declare("root.a", Queue{Parent: true, MaxCreated: queue.AtMost(3)})
	all.Declare("root.a.x", Queue{Created: true})
	planned := Planned{}
	for _, c := range []struct {
		paths string
		want  bool
	}{{"root.a.b root.a.b.c root.a.b.d", false}, {"root.a.b", true}, {"root.a.c root.a.c.d", false}, {"root.a.c", true}, {"root.a.d", false}, {"root.b", true}} {
		var create []NewQueue
		for _, p := range strings.Fields(c.paths) {
			create = append(create, NewQueue{Path: queue.Path(p)})
		}
		if got := planned.Add(create, all); got != c.want {
			t.Errorf("%s: %v, want %v", c.paths, got, c.want)
		}
	}
}

func TestTheRootAllowsTenThousandCreatedQueues(t *testing.T) {
	policy := parsed(t, "Specified; Reject")
	for below, want := range map[int64]string{
		9_999: "", 10_000: "the placement policy rejects the pod: queue root.a cannot be created, as children.maxCreated of queue root is 10000",
	} {
		if d := policy.Place(Submission{Queue: "a"}, Tree{queue.Root: {CreatedBelow: below}}); d.Rejected.Code != "" != (want != "") || want != "" && d.Rejected.Text() != want {
			t.Errorf("%d: %+v", below, d)
		}
	}
}
