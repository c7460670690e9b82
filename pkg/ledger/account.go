package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/resource"

// account is what a queue (queueAccount) and an application (appAccount) have alike: the sums over their pods. set keeps them, and startTimers changes
// the demand of queues too, since applications at a gate do not count there. orderBooks.rebuild adds the demand of all queues up again.
type account struct {
	parent *queueAccount // of an application: its leaf; nil: it is the root

	usage resource.Sum // charges: released, reserved and bound pods
	// demand is usage plus the waiting pods that nothing but room holds back. What a queue passes up is capped by its max, so the demand of the queue above
	// it is the sum over the capped demands of the children, not over the pods.
	demand resource.Sum

	pending, running int // pods: not bound, bound
}

// addPods adds n pods that are bound (running) or not.
func (a *account) addPods(running bool, n int) {
	if running {
		a.running += n
	} else {
		a.pending += n
	}
}

func addSigned(s *resource.Sum, d resource.List, sign int) {
	if sign > 0 {
		s.Add(d)
	} else {
		s.Sub(d)
	}
}

func sign(up bool) int {
	if up {
		return 1
	}
	return -1
}
