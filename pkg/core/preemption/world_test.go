package preemption_test

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// filters is a Feasibility of a few rules: some classes may not run on some nodes, a port is taken once on a node, and budgets.
type filters struct {
	barred  map[string]bool   // class/node
	late    map[string]bool   // class/node that is refused while nothing is placed
	ports   map[string]string // by UID of a pod, or by class of a claimant
	on      map[string]int    // node of each pod that runs and has a port
	budgets map[string][]int
	allowed []int
	done    []commit
	asked   int
	// exact: the filters count the room of this world, as those of kube-scheduler do.
	exact *preemption.World
}

type commit struct {
	port    string
	node    int
	gone    []string
	request resource.List
}

func (f *filters) Fits(c *preemption.Claimant, node int, gone []string) bool {
	f.asked++
	at := fmt.Sprint(c.Class, "/", node)
	if f.barred[at] || f.late[at] && len(f.done) == 0 {
		return false
	}
	if !f.roomy(c, node, gone) {
		return false
	}
	port := f.ports[c.Class]
	if port == "" {
		return true
	}
	left := slices.Clone(gone)
	for _, d := range f.done {
		if d.port == port && d.node == node {
			return false
		}
		left = append(left, d.gone...)
	}
	for uid, on := range f.on {
		if on == node && f.ports[uid] == port && !slices.Contains(left, uid) {
			return false
		}
	}
	return true
}

// roomy reports whether the node has room for the claimant as the picture is.
func (f *filters) roomy(c *preemption.Claimant, node int, gone []string) bool {
	if f.exact == nil {
		return true
	}
	n := &f.exact.Nodes[node]
	free, slots := n.Free, n.Slots
	for i := range n.Candidates {
		if f.left(n.Candidates[i].UID, gone) {
			free, slots = free.Add(n.Candidates[i].Request), slots+1
		}
	}
	for _, d := range f.done {
		if d.node == node {
			free, slots = free.Sub(d.request), slots-1
		}
	}
	for i := range c.Request.Len() {
		if e := c.Request.At(i); e.Value > 0 && e.Value > free.Get(e.Name) {
			return false
		}
	}
	return slots > 0
}

func (f *filters) left(uid string, gone []string) bool {
	return slices.Contains(gone, uid) || slices.ContainsFunc(f.done, func(d commit) bool { return slices.Contains(d.gone, uid) })
}

func (f *filters) Commit(c *preemption.Claimant, node int, gone []string) {
	f.done = append(f.done, commit{port: f.ports[c.Class], node: node, gone: gone, request: c.Request})
}

func (f *filters) Commits() int             { return len(f.done) }
func (f *filters) Rollback(n int)           { f.done = f.done[:n] }
func (f *filters) Budgets(uid string) []int { return f.budgets[uid] }
func (f *filters) Allowed(budget int) int   { return f.allowed[budget] }

// worldOf is a world in which queues are added by path, parents first; usage is what their candidates hold.
func worldOf(total resource.List) *preemption.World {
	s := preemption.DefaultSettings()
	return &preemption.World{Total: total, Used: total, Settings: s, Queues: []preemption.Queue{{
		Path: queue.Root, Parent: -1, Entitlement: total, Preemptible: true, Weight: 1000, Active: true,
	}}}
}

func addQueue(w *preemption.World, path queue.Path, entitlement resource.List) int {
	parent := slices.IndexFunc(w.Queues, func(q preemption.Queue) bool { return q.Path == path.Parent() })
	w.Queues = append(w.Queues, preemption.Queue{Path: path, Parent: parent, Entitlement: entitlement, Preemptible: true, Weight: 1000, Active: true})
	return len(w.Queues) - 1
}

func addNode(w *preemption.World, allocatable resource.List) int {
	w.Nodes = append(w.Nodes, preemption.Node{Name: fmt.Sprintf("node-%04d", len(w.Nodes)), Free: allocatable, Slots: 110})
	return len(w.Nodes) - 1
}

// run puts a candidate on a node and charges it to its queues.
func run(w *preemption.World, node int, c preemption.Candidate) {
	n := &w.Nodes[node]
	if c.UID == "" {
		c.UID = fmt.Sprintf("%s/%04d", n.Name, len(n.Candidates))
	}
	n.Free = n.Free.Sub(c.Request)
	n.Slots--
	n.Candidates = append(n.Candidates, c)
	for q := c.Queue; q >= 0; q = w.Queues[q].Parent {
		w.Queues[q].Usage = w.Queues[q].Usage.Add(c.Request)
		w.Queues[q].Demand = w.Queues[q].Demand.Add(c.Request)
	}
}

// claim adds a claim of a queue for single pods of one class.
func claim(w *preemption.World, q int, target, request resource.List, pods int) *preemption.Claim {
	c := preemption.Claim{Queue: q, Kind: preemption.BelowFairShare, Since: 1, Target: target}
	for i := range pods {
		c.Units = append(c.Units, preemption.Unit{Pods: []preemption.Claimant{{
			UID: fmt.Sprintf("claimant-%d-%04d", q, i), Queue: q, Request: request, Class: "plain",
		}}})
		for at := q; at >= 0; at = w.Queues[at].Parent {
			w.Queues[at].Demand = w.Queues[at].Demand.Add(request)
		}
	}
	w.Claims = append(w.Claims, c)
	return &w.Claims[len(w.Claims)-1]
}

func uids(p preemption.Plan) []string {
	var out []string
	for _, v := range p.Victims {
		out = append(out, v.UID)
	}
	return out
}
