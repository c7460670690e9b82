package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// picture is the cluster as the plan has changed it so far: claimants are on their nodes, victims are gone. Amounts are slices with one
// entry for each of names, because a plan looks at every candidate of every node.
type picture struct {
	names        []resource.Name
	precedence   []int // indices into names: see Precedence
	total        []int64
	queues       []account
	nodes        []pictureNode // in order of names
	pods         []pod         // all candidates, node by node, in order of UID
	applications []pictureApplication
	// applicationsAt are indices into applications.
	applicationsAt map[applicationKey]int32
	moved          bool // ranks of applications have changed
	evictionUnits  []evictionUnit
	spent          []int // victims charged to each disruption budget
}

// account is a queue in the picture.
type account struct {
	parent, depth int
	children      []int
	usage         []int64
	counts        []bool          // the resources that the queue's rule looks at
	limits        []int64         // max; Unlimited where there is none
	dues                          // as its siblings see them
	covered       []dues          // as queues further outside see them: see seen
	entitlements  []resource.List // of covered, as far as they are smaller
	announced     []int64         // nil: no excess is ignored
	preemptible   bool            // pods in the queue itself may go
	mayPay        bool            // so may some in it, or below it
	// guarded: an earlier claim has taken victims from the queue, so later claims must leave it at its entitlement too, as the outermost of these claims saw
	// it, guardedFrom levels below the root.
	guarded     bool
	guardedFrom int
	// applications are those of a leaf, stale: their ranks are out of date.
	applications []int32
	stale        bool
	// byAge: the leaf serves its applications by priority and age; else by what they have of the resources in countsInside.
	byAge        bool
	countsInside []bool
}

// pictureNode is a node in the picture.
type pictureNode struct {
	index         int // into World.Nodes
	name          string
	free          []int64
	slots         int
	evictionUnits []int32 // that run here
	change        int     // grows when a claimant or a victim comes or goes
}

// pod is a candidate in the picture.
type pod struct {
	*Candidate
	node, evictionUnit int32
	application        int32 // never (the constant): not known
	request            []int64
	gone               bool
	budgets            []int
	asked              bool // budgets is known
}

// evictionUnit is what is evicted together or not at all: a single candidate, or all candidates of a group.
type evictionUnit struct {
	pods      []int32
	drivers   int
	announced bool
}

// build makes the picture of a world and of the ideal of its queues.
func (p *picture) build(w *World, ideal []resource.List) {
	p.nameResources(w)
	p.total = p.dense(w.Total, 0)
	p.queues = make([]account, len(w.Queues))
	entitlements, ideals := coveredOf(w, ideal)
	for i := range w.Queues {
		p.queues[i] = p.account(w, &w.Queues[i])
		p.addDues(w, i, ideal[i], entitlements[i], ideals[i])
		if parent := w.Queues[i].Parent; parent >= 0 {
			p.queues[parent].children = append(p.queues[parent].children, i)
		}
	}
	for i := len(p.queues) - 1; i >= 0; i-- { // children come after parents
		a := &p.queues[i]
		a.mayPay = a.mayPay || a.preemptible
		if a.mayPay && a.parent >= 0 {
			p.queues[a.parent].mayPay = true
		}
	}
	p.buildApplications(w)
	p.buildNodes(w)
}

// nameResources collects every resource that is counted, limited or asked for.
func (p *picture) nameResources(w *World) {
	p.addNames(w.Total)
	for i := range w.Queues {
		q := &w.Queues[i]
		p.addNames(q.Usage)
		p.addNames(q.Entitlement)
		p.addNames(q.Max)
		p.addNames(q.Announced)
	}
	for i := range w.Applications {
		p.addNames(w.Applications[i].Usage)
	}
	for i := range w.Claims {
		p.addNames(w.Claims[i].Target)
		for _, u := range w.Claims[i].Units {
			for j := range u.Pods {
				p.addNames(u.Pods[j].Request)
			}
		}
	}
	for i := range w.Nodes {
		for j := range w.Nodes[i].Candidates {
			p.addNames(w.Nodes[i].Candidates[j].Request)
		}
	}
	slices.Sort(p.names)
	p.orderResources()
}

func (p *picture) addNames(l resource.List) {
	for i := range l.Len() {
		if n := l.At(i).Name; !slices.Contains(p.names, n) {
			p.names = append(p.names, n)
		}
	}
}

func (p *picture) dense(l resource.List, absent int64) []int64 {
	return p.denseInto(make([]int64, len(p.names)), l, absent)
}

func (p *picture) denseInto(out []int64, l resource.List, absent int64) []int64 {
	for i, n := range p.names {
		if v, ok := l.Lookup(n); ok {
			out[i] = v
		} else {
			out[i] = absent
		}
	}
	return out
}

func (p *picture) account(w *World, q *Queue) account {
	a := account{
		parent: q.Parent, preemptible: q.Preemptible,
		usage: p.dense(q.Usage, 0), limits: p.dense(q.Max, resource.Unlimited),
	}
	a.counts = p.counted(q.Rule)
	if w.Settings.MaxIgnoredOverCapacity > 0 {
		a.announced = p.dense(q.Announced, 0)
	}
	if q.Parent >= 0 {
		a.depth = p.queues[q.Parent].depth + 1
	}
	return a
}

// counted says which resources a rule looks at.
func (p *picture) counted(rule queue.Rule) []bool {
	counts := make([]bool, len(p.names))
	for i, n := range p.names {
		counts[i] = rule.Counts(n)
	}
	return counts
}

// more is a list and a part of it, in thousandths, rounded down.
func more(l resource.List, thousandths int64) resource.List {
	entries := make([]resource.Entry, l.Len())
	for i := range entries {
		e := l.At(i)
		entries[i] = resource.Entry{Name: e.Name, Value: resource.Part(e.Value, resource.SatAdd(whole, thousandths), whole)}
	}
	return resource.OfSorted(entries)
}

// bounds turns the dominant share of l into usages, so that comparing shares takes no products. A queue has reached the share if some
// counted usage is at least least. It is within the share if no counted usage is above most.
func (p *picture) bounds(q *Queue, total, l resource.List) (least, most []int64) {
	s := Dominant(q.Rule, total, l)
	least, most = make([]int64, len(p.names)), make([]int64, len(p.names))
	for i := range p.names {
		switch {
		case s.Amount <= 0:
			least[i], most[i] = 0, 0
		case s.Of <= 0: // infinite: only a resource of which there is nothing reaches it
			least[i], most[i] = resource.Unlimited, resource.Unlimited
			if p.total[i] <= 0 {
				least[i] = 1
			}
		case p.total[i] <= 0: // any amount is more than there is
			least[i], most[i] = 1, 0
		default:
			least[i], most[i] = resource.PartUp(p.total[i], s.Amount, s.Of), resource.Part(p.total[i], s.Amount, s.Of)
		}
	}
	return least, most
}

// within reports whether no counted usage is above most.
func (a *account) within(most []int64) bool {
	for i, counted := range a.counts {
		if counted && a.usage[i] > most[i] {
			return false
		}
	}
	return true
}

// keeps reports whether the queue is at its entitlement, or at its ideal, or above, where least is the one or the other.
func (a *account) keeps(least []int64) bool {
	nothing := true
	for i, counted := range a.counts {
		if !counted {
			continue
		}
		if a.usage[i] >= least[i] {
			return true
		}
		nothing = nothing && least[i] <= 0
	}
	return nothing // a negative entitlement counts as none
}

// charge adds a request along the path of a queue, or takes it off.
func (p *picture) charge(q int, request []int64, add bool) {
	for ; q >= 0; q = p.queues[q].parent {
		change(p.queues[q].usage, request, add)
	}
}

func change(amounts, by []int64, add bool) {
	for i, v := range by {
		if add {
			amounts[i] = resource.SatAdd(amounts[i], v)
		} else {
			amounts[i] = resource.SatSub(amounts[i], v)
		}
	}
}

// take makes a pod a victim, or takes that back.
func (p *picture) take(v *pod, goes bool) {
	v.gone = goes
	p.charge(v.Queue, v.request, !goes)
	if v.application != never {
		change(p.applications[v.application].usage, v.request, !goes)
		p.queues[v.Queue].stale = true
	}
	node := &p.nodes[v.node]
	change(node.free, v.request, goes)
	step := 1
	if !goes {
		step = -1
	}
	node.slots += step
	for _, b := range v.budgets {
		p.spent[b] += step
	}
}

// assume counts a claimant on a node, or takes that back. Its queues were charged with the whole unit: see chargeUnit.
func (p *picture) assume(node int32, request []int64, on bool) {
	change(p.nodes[node].free, request, !on)
	if on {
		p.nodes[node].slots--
	} else {
		p.nodes[node].slots++
	}
}
