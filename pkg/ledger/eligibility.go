package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// Feasibility judges by what the ledger knows of the pods and nodes of a world: taints, selectors and node affinity, through Pod.Eligible. It knows
// nothing that needs other pods, and no disruption budgets.
func (l *Ledger) Feasibility(w preemption.World) preemption.Feasibility {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &eligibility{world: w, classes: map[string]*class{}, facts: make([]Node, len(w.Nodes))}
	for i := range w.Nodes {
		if e := l.nodes.byName[w.Nodes[i].Name]; e != nil {
			f.facts[i] = e.Node
		}
	}
	for _, c := range w.Claims {
		for _, u := range c.Units {
			for _, p := range u.Pods {
				if r := l.pods[UID(p.UID)]; r != nil && r.class != nil {
					f.classes[p.Class] = r.class
				}
			}
		}
	}
	return f
}

// eligibility keeps no picture: what it judges does not depend on other pods.
type eligibility struct {
	world   preemption.World
	classes map[string]*class
	facts   []Node
	commits int
}

func (f *eligibility) Fits(c *preemption.Claimant, at int, _ []string) bool {
	class := f.classes[c.Class]
	e := node{Node: f.facts[at], known: true}
	return class != nil && e.takes(&class.room)
}

func (f *eligibility) Commit(*preemption.Claimant, int, []string) { f.commits++ }
func (f *eligibility) Commits() int                               { return f.commits }
func (f *eligibility) Rollback(n int)                             { f.commits = n }
func (f *eligibility) Budgets(string) []int                       { return nil }
func (f *eligibility) Allowed(int) int                            { return 0 }
