package simulator

import "github.com/fairway-scheduler/fairway/pkg/core/queue"

// calculate draws the calculator of the root. It takes no random number, so that other worlds stay as they are.
func (o Options) calculate(d *queue.Declaration, n int) {
	if d.Path == queue.Root && !o.Calm && !o.Adversary {
		d.Spec.Calculator = queue.DominantCalculator
		if n == 0 {
			d.Spec.Calculator = queue.MemoryCalculator
		}
	}
}

// counted is what counts of some amounts where queues are compared.
func (w *World) counted(s size) size {
	if w.known.queues[queue.Root].Spec.Calculator == queue.MemoryCalculator {
		return size{memory: s[memory]}
	}
	return s
}
