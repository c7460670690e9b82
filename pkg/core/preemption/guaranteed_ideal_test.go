package preemption_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// guaranteedHouse is a cluster with 20 devices. root.a has 11 of them, root.d.e 9, each in a pod of 1 cpu, and e asks for 11 pods more. root.d.f has 15
// cpu and no device. It is guaranteed one, and asks for it with a pod of 1 cpu. a has more cpu in pods without a device, and asks for yet more.
func guaranteedHouse(cpus, cpuOfA, moreOfA int64, guarantees map[string]int64) *preemption.World {
	both := func(cpus, gpus int64) resource.List { return cpu(cpus).Add(devices(gpus)) }
	w := worldOf(both(cpus, 20))
	a := addQueue(w, "root.a", both(cpus/2, 10))
	d := addQueue(w, "root.d", both(cpus/2, 10))
	e := addQueue(w, "root.d.e", both(cpus/4, 5))
	f := addQueue(w, "root.d.f", both(cpus/4, 5))
	addNode(w, both(cpus, 20))
	for i := range 20 {
		q := a
		if i >= 11 {
			q = e
		}
		run(w, 0, preemption.Candidate{Queue: q, Request: both(1, 1)})
	}
	if cpuOfA > 0 {
		run(w, 0, preemption.Candidate{Queue: a, Request: cpu(cpuOfA)})
	}
	run(w, 0, preemption.Candidate{Queue: f, Request: cpu(15)})
	for _, q := range []int{e, d, 0} {
		w.Queues[q].Demand = w.Queues[q].Demand.Add(both(11, 11))
	}
	for _, q := range []int{a, 0} {
		w.Queues[q].Demand = w.Queues[q].Demand.Add(cpu(moreOfA))
	}
	claim(w, f, devices(1), both(1, 1), 1).Kind = preemption.BelowGuaranteed
	w.Queues[f].Guaranteed = devices(1)
	for i := range w.Queues {
		if n := guarantees[string(w.Queues[i].Path)]; n > 0 {
			w.Queues[i].Guaranteed = devices(n)
		}
	}
	return w
}

// In all of these f is above its fair share, for its cpu, and below its guarantee.
func TestWhichQueuesPayForAGuarantee(t *testing.T) {
	for name, c := range map[string]struct {
		w    *preemption.World
		want string
	}{
		// Of 40 cpu a asks for 11, so the ideal of d is 29 (0.725) and 10 devices. With the pod it has 25 and 10. The ideal of e is the 9 devices that it
		// has, and that of a is 10.
		"a queue above its ideal": {guaranteedHouse(40, 0, 0, nil), "a"},
		// a asks for 31 cpu, so the ideal of d is 20 cpu, and it has 24: its children give.
		"inside a queue that is above its ideal": {guaranteedHouse(40, 0, 20, nil), "d.e"},
		// The same, but d has 9 of its own 10.
		"outside a queue that lacks the same of its own guarantee": {guaranteedHouse(40, 0, 20, map[string]int64{"root.d": 10}), "a"},
		// Of 100 cpu a has 66. The ideal of d is the 36 that it asks for, so that of a is 64. d is short: with the pod it has half of the devices, its share.
		"outside, with more cpu than its ideal": {guaranteedHouse(100, 55, 0, nil), "a"},
		// The same, but a is guaranteed all the devices that it has. The ideal of e is 8 devices: d has 9, and one is for f.
		"not what is guaranteed, whatever the surplus of cpu": {guaranteedHouse(100, 55, 0, map[string]int64{"root.a": 11}), "d.e"},
	} {
		if got := victimsBy(t, c.w); got != c.want {
			t.Errorf("%s: victims are of %q, want %q", name, got, c.want)
		}
	}
}
