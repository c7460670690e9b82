package simulator

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// preemptQueue draws what a queue states about preemption. Root always states a timeout: in most other worlds nothing would happen.
func (g *generator) preemptQueue(d *queue.Declaration) {
	p, root := &d.Spec.Preemption, d.Path == queue.Root
	*p = queue.Preemption{}
	if g.IntN(4) == 0 {
		p.FairShareThreshold = queue.AtMost(1 + g.Int64N(1000))
	}
	if root || g.IntN(5) == 0 {
		p.FairShareTimeout = g.timeout(root)
	}
	if root || g.IntN(5) == 0 {
		p.GuaranteedTimeout = g.timeout(root)
	}
	if !root {
		switch g.IntN(8) {
		case 0:
			p.Preemptible = queue.PreemptibleNo
		case 1:
			p.Preemptible = queue.PreemptibleYes
		}
		return
	}
	p.UtilizationThreshold = queue.AtMost([]int64{0, 500, 800}[g.IntN(3)])
	p.Interval = queue.Timeout{Stated: true, Nanoseconds: second * g.Int64N(4)}
	p.MaxWaitBeforeKill = queue.Timeout{Stated: true, Nanoseconds: 5 * second * g.Int64N(4)}
	if g.IntN(4) == 0 {
		p.TotalPerRound = queue.AtMost(1 + g.Int64N(300))
	}
	if g.IntN(8) == 0 {
		p.MaxIgnoredOverCapacity = queue.AtMost(g.Int64N(200))
	}
	if g.IntN(8) == 0 {
		p.NaturalTerminationFactor = queue.AtMost(1 + g.Int64N(1000))
	}
}

func (g *generator) timeout(root bool) queue.Timeout {
	if g.IntN(6) == 0 && !root {
		return queue.Timeout{Stated: true, Never: true}
	}
	return queue.Timeout{Stated: true, Nanoseconds: []int64{0, second, 10 * second, 60 * second}[g.IntN(4)]}
}
