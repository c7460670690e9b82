package simulator

import (
	"fmt"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// wideNodes are nodes of 8 cpu.
func wideNodes(n int) (nodes []ledger.Node) {
	for i := range n {
		nodes = append(nodes, withFacts(ledger.Node{Name: fmt.Sprintf("wide-%02d", i), Allocatable: size{cpu: 8000, memory: 8 * gib}.list(), Usable: true}, false))
	}
	return nodes
}

// largePodPatience is of the random worlds: most hold nodes for large pods, after a while that is short beside how long their pods run.
func largePodPatience(seed uint64) int64 {
	if seed%4 == 0 {
		return 0
	}
	return 5 * millisecond * int64(1+seed%40)
}

// passer is users who submit pods that need most of a node, and small pods that pass them.
func (w *World) passer() {
	if w.closing {
		return
	}
	switch w.rng.IntN(8) {
	case 0:
		w.passing("large", size{cpu: 1000 * int64(5+w.rng.IntN(4)), memory: gib}, 5*second)
	case 1, 2:
		w.passing("brief", size{cpu: 1000, memory: gib / 16}, second/5)
	default:
		w.passing("small", size{cpu: 1000, memory: gib / 16}, 5*second)
	}
	w.at(w.rng.Int64N(second/10), w.passer)
}

// passing submits a pod that mostly says how long it runs, at most so long.
func (w *World) passing(kind string, s size, longest int64) {
	g := w.generator
	p := g.pod(g.style(w.anyDeclared()), w.now)
	for _, q := range w.tree().Nodes { // mostly in one leaf, the last one
		if q.Accepting && w.rng.IntN(8) > 0 {
			p.Queue = string(q.Path)
		}
	}
	p.Application, p.Priority, p.Role, p.Gate, p.Node, p.Foreign, p.Terminating = string(p.UID), 0, application.None, "", "", false, false
	p.Request, p.Class, p.Eligible = s.list(), kind+fmt.Sprint(s), nil
	p.Created = w.now - w.rng.Int64N(second)
	if w.rng.IntN(8) > 0 {
		p.Lasts = w.rng.Int64N(longest)
	}
	w.create(p)
}
