package fairshare_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestApplicationsShareTheirQueueByItsPolicy(t *testing.T) {
	share := resource.Of(resource.Entry{Name: resource.CPU, Value: 10_000}, resource.Entry{Name: resource.Memory, Value: 100})
	for _, c := range []struct {
		policy queue.Policy
		want   []string
	}{
		{queue.DominantResourceFairness, []string{"cpu=3333m memory=33", "cpu=3333m memory=33", "cpu=3333m memory=33"}},
		{queue.Fair, []string{"memory=33", "memory=33", "memory=33"}},
		{queue.FIFO, []string{"cpu=10 memory=100", "cpu=0 memory=0", "cpu=0 memory=0"}},
	} {
		rule := queue.Spec{Policy: c.policy}.Rule()
		for i, got := range fairshare.Applications(rule, share, len(c.want)) {
			if got.String() != c.want[i] {
				t.Errorf("%s, application %d: got %s, want %s", c.policy, i, got, c.want[i])
			}
		}
		if got := fairshare.Applications(rule, share, 0); len(got) != 0 {
			t.Errorf("%s: shares of nobody: %v", c.policy, got)
		}
	}
}
