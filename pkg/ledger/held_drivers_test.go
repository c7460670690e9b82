package ledger

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Of 100 cpu and 400Gi a tenth is for drivers, and half of that for each of two users who ask: 5 cpu and 20Gi.
func TestDriversOfAUserThatMayNotStartAreHeldBack(t *testing.T) {
	for name, c := range map[string]struct {
		setUp func(*fixture)
		want  string
	}{
		"within the part": {func(f *fixture) {
			f.pod("d", "a", driver, by("ann"), in("one"), asks(1, 4), at(3))
		}, ""},
		"memory is the scarcest: a half may start": {func(f *fixture) {
			f.pod("d", "a", driver, by("ann"), in("one"), asks(2, 8), at(3))
		}, "cpu=1 memory=4Gi"},
		"and with it a half of what waits with it": {func(f *fixture) {
			f.pod("d", "a", driver, by("ann"), in("one"), asks(2, 8), at(3))
			f.pod("e", "a", executor, by("ann"), in("one"), asks(6, 6), at(4))
		}, "cpu=4 memory=7Gi"},
		"executors of one that runs wait for none": {func(f *fixture) {
			f.pod("d", "a", driver, by("ann"), in("zero"), asks(2, 8), at(3))
			f.pod("e", "a", executor, by("ann"), in("zero"), asks(6, 6), at(4))
		}, "cpu=1 memory=4Gi"},
		"one of those of a user without any may start": {func(f *fixture) {
			f.pod("d", "a", driver, by("cat"), in("one"), asks(6, 4), at(3))
			f.pod("e", "a", driver, by("cat"), in("two"), asks(2, 4), at(4))
		}, "cpu=2 memory=2Gi"},
		"it counts whose they are": {func(f *fixture) {
			f.pod("d", "a", driver, by("ann"), in("one"), asks(1, 8), at(3))
			f.pod("e", "a", driver, by("bob"), in("two"), asks(1, 8), at(4))
		}, "cpu=500m memory=4Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.declare("root.a", byCapacity(100_000), func(d *queue.Declaration) { d.Spec.Users.MinShare = queue.AtMost(50) })
			f.pod("d0", "a", driver, by("ann"), in("zero"), asks(1, 16), at(0))
			f.run("d0")
			f.pod("b", "a", by("bob"), asks(1, 4), ofClass("b"), at(1))
			c.setUp(f)
			f.Settle(f.now)
			f.sound()
			if got := f.heldBack()[f.queues.accounts["root.a"]].String(); got != c.want {
				t.Errorf("held back is %q, want %q", got, c.want)
			}
		})
	}
}

// Of the 51 cpu that a asks for, its parent counts the 10 of its max, and 1 of them could run: 9 are held back of the parent, beside the 5 of b that are not.
func TestWhatIsHeldBackBeyondAMaxIsNoDemandOfTheParent(t *testing.T) {
	f := newFixture(t, Options{})
	f.declare("root.p")
	f.declare("root.p.a", driverShare(0), maximum(amounts(10, 400)))
	f.declare("root.p.b")
	f.pod("d0", "p.a", driver, asks(1, 4), at(0))
	f.run("d0")
	f.pod("d1", "p.a", driver, asks(50, 4), at(1))
	f.pod("b", "p.b", asks(5, 4), at(2))
	f.Settle(f.now)
	f.sound()
	held := f.heldBack()
	for path, want := range map[queue.Path]string{"root.p.a": "cpu=1 memory=4Gi", "root.p.b": "cpu=5 memory=4Gi", "root.p": "cpu=6 memory=8Gi", "root": "cpu=6 memory=8Gi"} {
		if got := f.queues.accounts[path].claimable(held).String(); got != want {
			t.Errorf("%s may claim %q, want %q", path, got, want)
		}
	}
}
