package limit_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

func TestMaxApplications(t *testing.T) {
	user := limit.Level{Queue: "root.a", User: "ann", OfUser: true, Running: 2, Most: queue.AtMost(2)}
	part := limit.Level{Queue: "root.a", Running: 4, Most: queue.AtMost(4), Cluster: 10}
	root := limit.Level{Queue: "root", Running: 9, Most: queue.AtMost(10)}
	for name, c := range map[string]struct {
		levels []limit.Level
		want   reason.Reason
	}{
		"none is full": {[]limit.Level{root}, reason.Reason{}},
		"the user is named first": {[]limit.Level{user, part, root},
			reason.Reason{Code: reason.UserMaxApplications, Queue: "root.a", Details: reason.Applications{User: "ann", Most: 2, Running: 2}}},
		"then the leaf, with the number of which it has a part": {[]limit.Level{part, root},
			reason.Reason{Code: reason.MaxApplications, Queue: "root.a", Details: reason.Applications{Most: 4, Running: 4, Cluster: 10}}},
		"0 takes none": {[]limit.Level{{Queue: "root.a", Most: queue.AtMost(0)}},
			reason.Reason{Code: reason.MaxApplications, Queue: "root.a", Details: reason.Applications{}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, over := limit.MaxApplications(c.levels); got != c.want || over != (c.want.Code != "") {
				t.Errorf("got %+v, %v", got, over)
			}
		})
	}
}

// A capacity is in millionths of a percent of the cluster: 40% are 40,000,000.
func TestPartOfApplications(t *testing.T) {
	const percent = 1_000_000
	for name, c := range map[string]struct {
		cluster, capacity int64
		want              queue.Limit
	}{
		"40% of 10000":                   {10_000, 40 * percent, queue.AtMost(4000)},
		"all":                            {10_000, 100 * percent, queue.AtMost(10_000)},
		"rounded down":                   {10, 25 * percent, queue.AtMost(2)},
		"33.33% of 10000":                {10_000, 33_330_000, queue.AtMost(3333)},
		"a tiny queue takes one":         {10_000, percent / 1000, queue.AtMost(1)},
		"one where the cluster has 0":    {0, 50 * percent, queue.AtMost(1)},
		"one in a cluster without nodes": {10_000, 0, queue.AtMost(1)},
		"the largest number that fits":   {1<<31 - 1, 100 * percent, queue.AtMost(1<<31 - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := limit.PartOfApplications(c.cluster, c.capacity); got != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestApplicationsPerUser(t *testing.T) {
	for name, c := range map[string]struct {
		leaf             queue.Limit
		minShare, factor int64
		want             queue.Limit
	}{
		"a quarter":                         {queue.AtMost(4000), 25, 1000, queue.AtMost(1000)},
		"times the factor":                  {queue.AtMost(4000), 25, 2000, queue.AtMost(2000)},
		"as many as of all":                 {queue.AtMost(4000), 100, 1000, queue.Limit{}},
		"never more than of all":            {queue.AtMost(4000), 25, 9000, queue.Limit{}},
		"a factor below 1":                  {queue.AtMost(10), 100, 500, queue.AtMost(5)},
		"rounded down once":                 {queue.AtMost(10), 33, 500, queue.AtMost(1)},
		"one at least":                      {queue.AtMost(3), 25, 1000, queue.AtMost(1)},
		"a leaf that takes one":             {queue.AtMost(1), 25, 1000, queue.Limit{}},
		"a leaf that takes none takes none": {queue.AtMost(0), 25, 1000, queue.Limit{}},
		"a leaf without a number":           {queue.Limit{}, 25, 1000, queue.Limit{}},
		"a factor that would wrap":          {queue.AtMost(10), 100, 1 << 62, queue.Limit{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := limit.ApplicationsPerUser(c.leaf, c.minShare, c.factor); got != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The twin computes in fractions, and cuts once.
func TestNumbersOfApplicationsEqualTheirTwin(t *testing.T) {
	cut := func(factors ...*big.Rat) int64 {
		n := big.NewRat(1, 1)
		for _, f := range factors {
			n.Mul(n, f)
		}
		return max(new(big.Int).Quo(n.Num(), n.Denom()).Int64(), 1)
	}
	rapid.Check(t, func(t *rapid.T) {
		cluster, absolute := rapid.Int64Range(1, 1<<31-1).Draw(t, "cluster"), rapid.Int64Range(1, 100_000_000).Draw(t, "capacity")
		leaf := limit.PartOfApplications(cluster, absolute)
		if want := queue.AtMost(cut(big.NewRat(cluster, 1), big.NewRat(absolute, 100_000_000))); leaf != want {
			t.Fatalf("a leaf takes %v, want %v", leaf, want)
		}
		minShare, factor := rapid.Int64Range(1, 100).Draw(t, "percent"), rapid.Int64Range(1, 1_000_000_000).Draw(t, "factor")
		want := queue.AtMost(cut(big.NewRat(leaf.Most, 1), big.NewRat(minShare, 100), big.NewRat(factor, 1000)))
		if want.Most >= leaf.Most {
			want = queue.Limit{}
		}
		if got := limit.ApplicationsPerUser(leaf, minShare, factor); got != want {
			t.Fatalf("a user may have %v, want %v", got, want)
		}
	})
}
