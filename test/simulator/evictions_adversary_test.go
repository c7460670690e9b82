package simulator

import (
	"fmt"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// adversary adds a queue, mostly of a tiny weight, and what hurts others most there: huge pods, small ones of a high priority, and
// drivers of which a node holds one.
func (s *steady) adversary(g *generator) {
	d := g.adversary()
	g.preemptQueue(&d)
	s.obs.Queues = append(s.obs.Queues, d)
	node := sizeOf(s.obs.Nodes[g.IntN(len(s.obs.Nodes))].Allocatable)
	half := size{cpu: node[cpu]/2 + 1, memory: gib}
	submit := func(i int, request size, edit func(p *ledger.Pod)) {
		name := fmt.Sprintf("adversary-%02d", i)
		p := ledger.Pod{UID: ledger.UID(name), Name: name, Namespace: "default", Queue: string(d.Path), Application: name,
			Class:   fmt.Sprint("adversary", request),
			Request: request.list(), Role: application.Executor}
		edit(&p)
		s.obs.Pods = append(s.obs.Pods, p)
	}
	submit(0, size{cpu: node[cpu], memory: node[memory]}, func(*ledger.Pod) {})
	for i := range 3 {
		submit(1+i, size{cpu: 1000, memory: gib}, func(p *ledger.Pod) { p.Priority = int32(1000 * i) })
		submit(4+i, half, func(p *ledger.Pod) { p.Role = application.Driver })
	}
}
