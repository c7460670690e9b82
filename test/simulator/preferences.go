package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/locality"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// ledgerOptions are those of every ledger of the world: that of the scheduler, and those that are built again.
func (w *World) ledgerOptions() ledger.Options {
	o := ledger.Options{Window: w.Window, LargePodPatience: w.opts.LargePods}
	if w.opts.Preferences {
		o.Delay = locality.Delay{Node: int32(1 + w.seed%7), Rack: int32(w.seed%4) - 1}
	}
	return o
}

// prefer has most pods prefer some nodes or racks, of which some do not exist.
func (g *generator) prefer(p *ledger.Pod) {
	draw := func(chance int, name func() string) string {
		if g.IntN(chance) == 0 {
			return ""
		}
		var names []string
		for range 1 + g.IntN(3) {
			names = append(names, name())
		}
		slices.Sort(names)
		return strings.Join(slices.Compact(names), ",")
	}
	p.PreferredNodes = draw(3, func() string { return fmt.Sprintf("node-%02d", 1+g.IntN(7)) })
	p.PreferredRacks = draw(2, func() string { return rack(g.IntN(4)) })
}

func rack(n int) string { return fmt.Sprintf("rack-%d", n) }

// preferredFit is a node that a pod prefers and that has room for it, if the ledger has such a one in mind: those are tried first.
func (w *World) preferredFit(p *pod) string {
	if !w.opts.Preferences {
		return ""
	}
	kept := w.Ledger.NodesNominatedToOthers(p.UID)
	names := w.Ledger.PreferredNodes(p.UID, 32)
	node := w.openFit(p, func(name string) bool {
		return slices.Contains(names, name) && !kept[name] && w.kube.rooms[name].fits(p)
	})
	if node != "" {
		w.Preferred++
	}
	return node
}
