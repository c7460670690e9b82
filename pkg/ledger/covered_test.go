package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// What the ledger says is covered of a share, lazily, is what the core says of the whole tree at once, while queues become active and inactive and guarantees
// change.
func TestWhatIsCoveredIsThatOfTheWholeTree(t *testing.T) {
	less := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 31))
		f := newFixture(t, Options{})
		paths := []queue.Path{"root"}
		for i := range 8 {
			parent := paths[r.IntN(len(paths))]
			paths = append(paths, parent+queue.Path(fmt.Sprintf(".%c", 'a'+i)))
		}
		declare := func(path queue.Path) {
			f.declare(path, weight(r.Int64N(4)), func(d *queue.Declaration) {
				if r.IntN(2) == 0 {
					d.Spec.Guaranteed = amounts(r.Int64N(90), r.Int64N(2)*r.Int64N(300))
				}
			})
		}
		for _, path := range paths[1:] {
			declare(path)
		}
		for i := range 12 {
			path := paths[1+r.IntN(8)]
			switch uid := UID(fmt.Sprint("p", r.IntN(6))); r.IntN(4) {
			case 0:
				declare(path)
			case 1:
				f.forget(uid)
			default:
				f.pod(UID(fmt.Sprint("p", i)), string(path), asks(1, 1), boundTo("node"))
			}
			f.Snapshot()
			less += f.compareCovered()
		}
	}
	if less < 100 {
		t.Errorf("only %d shares were not covered in full", less)
	}
}

func (f *fixture) compareCovered() (less int) {
	f.t.Helper()
	l := f.Ledger
	var parents []int
	var shares []resource.List
	for _, n := range l.queues.Nodes {
		parents = append(parents, n.Parent)
		shares = append(shares, l.shares.of(l.queues.accounts[n.Path]))
	}
	want := fairshare.Covered(parents, shares)
	for i, n := range l.queues.Nodes {
		a := l.queues.accounts[n.Path]
		for up := a.parent; up != nil; up = up.parent {
			at, is := up.path.Depth()-queue.Root.Depth(), shares[i]
			if at < len(want[i]) {
				is = want[i][at]
			}
			got, part := l.shares.covered(a, up)
			if !got.Equal(is) || part != (at < len(want[i])) {
				f.t.Fatalf("of %s, for queues below %s, (%s) is covered (%v), not (%s)", n.Path, up.path, got, part, is)
			}
			if part {
				less++
			}
		}
	}
	return less
}

// root.ads has more than its share, and its child waits below a guarantee that root.ads has no share for. That is no reason to hold no nodes for a group
// elsewhere: root.ads is not owed the room.
func TestRoomIsKeptThoughAGuaranteeInAnotherQueueIsTooMuch(t *testing.T) {
	for name, due := range map[string]resource.List{"none": {}, "too much": amounts(1000, 0)} {
		f := newFixture(t, Options{})
		f.ObserveNode(Node{Name: "other", Allocatable: amounts(100, 400), Usable: true})
		for _, path := range []queue.Path{"root.ads", "root.groups", "root.small"} { // each has a share of 67 cpu
			f.declare(path)
		}
		f.declare("root.ads.etl", guaranteed(due))
		f.pod("etl", "ads.etl", boundTo("other"), asks(99, 4))
		f.pod("small", "small", boundTo("other"), asks(1, 4))
		f.pod("long", "groups", boundTo("node"), asks(40, 4))
		f.pod("waits", "ads.etl", asks(61, 4), ofClass("waits"))
		f.wantPods(f.choose(), "waits")
		f.fail("waits", NoFit)
		f.gang("g", "groups", 8)
		f.wantPods(f.choose())
		if got := f.afterPatience(); got != "ns/g" {
			t.Errorf("guaranteed %s: nodes are held for %q", name, got)
		}
	}
}
