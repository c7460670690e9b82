package fairshare

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Applications divides the share of a leaf among its n applications that may run, in order of submission. All
// have weight 1 and no limit of their own. Under FIFO and StateAware the first application has the whole
// share.
func Applications(rule queue.Rule, share resource.List, n int) []resource.List {
	all := make([]Child, n)
	for i := range all {
		all[i] = Child{Weight: queue.DefaultWeight, Active: !rule.Policy.ByAge() || i == 0}
	}
	shares := Level(rule, share, all)
	for i := range shares {
		shares[i] = counted(rule, share, shares[i])
	}
	return shares
}
