package dispatch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// crowd is how many users have pods in one leaf.
const crowd = 1000

// crowded is a cluster under load, in which pods of a thousand users wait in the leaf root.busy.crowd. Nearly all of the cluster is the share of root.busy,
// so most releases are of that leaf. It is entitled to this part of root.busy, in thousandths of a percent. Beyond that, a
// hundred of the users may have one to two equal parts of what the leaf uses: the limit moves with every release, stops some of them and lets others go.
func crowded(queues int, percent int64) *full {
	f := newFull(queues, 10_000, 4)
	busy := queue.DefaultSpec()
	busy.Weight = 1_000_000_000
	f.ObserveQueue(queue.Declaration{Path: "root.busy", Spec: busy})
	for name, part := range map[queue.Path]int64{"root.busy.crowd": percent, "root.busy.rest": 100_000 - percent} {
		s := queue.DefaultSpec()
		s.Capacity, s.MaxApplications = queue.AtMost(part), queue.AtMost(20*1000) // not its part of 10000
		s.Users.MinShare, s.Users.ShareFactor = queue.AtMost(1), queue.AtMost(1_000_000)
		var weights []queue.UserWeight
		for i := range 100 { // as many as a Queue may state
			weights = append(weights, queue.UserWeight{User: userName(10 * i), Weight: 100 + int64(i)})
		}
		s.Users.Weights = queue.WeightsOf(weights...) // a tenth to a fifth of 1% each
		f.ObserveQueue(queue.Declaration{Path: name, Spec: s})
	}
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 20 * crowd {
		p := f.pod(n, r)
		p.Name, p.Queue, p.User = fmt.Sprintf("crowd-%08d", n), "root.busy.crowd", userName(n%crowd)
		p.UID = ledger.UID(p.Name)
		p.Application = fmt.Sprintf("%s/job/%d", p.User, n/crowd%10)
		f.ObservePod(p, f.now)
	}
	f.warmUp()
	return f
}

func userName(i int) string { return fmt.Sprintf("user-%04d", i) }

// held says of how many users of the leaf with a thousand the limit holds pods.
func (f *full) held() (held int) {
	for _, u := range f.Users() {
		if u.Queue == "root.busy.crowd" && u.Reason.Code != "" {
			held++
		}
	}
	return held
}

func TestAReleaseWithUserLimitsDoesNotAllocate(t *testing.T) {
	f := crowded(50, 1_000)
	if n := f.held(); n < 10 || n > 90 {
		t.Errorf("the limit holds pods of %d users", n)
	}
	f.allocatesNothing(t)
	if wrong := f.Check(); len(wrong) > 0 {
		t.Error(wrong)
	}
}

// BenchmarkUserLimits is BenchmarkChooseAndCharge with a thousand users in one leaf that limits them: below its capacity, and far above it.
func BenchmarkUserLimits(b *testing.B) {
	for _, queues := range []int{100, 10_000} {
		for _, c := range []struct {
			name    string
			percent int64
		}{{"below", 99_000}, {"above", 1_000}} {
			var f *full
			b.Run(fmt.Sprintf("queues=%d/%s", queues, c.name), func(b *testing.B) {
				if f == nil {
					f = crowded(queues, c.percent)
					b.ResetTimer()
				}
				b.ReportAllocs()
				f.releases(b)
			})
		}
	}
}
