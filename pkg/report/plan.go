package report

import (
	"slices"
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/picture"
)

// Plan is what would be preempted now.
type Plan struct {
	picture.Preemption
	// Now is used for the time since when a queue is starved, if that is not known.
	Now int64
}

func (p Plan) path(queue int) string { return string(p.World.Queues[queue].Path) }

// pod returns the name of a pod of the plan.
func (p Plan) pod(uid string) string {
	if pod, ok := p.Pods[uid]; ok {
		return fullName(pod)
	}
	return uid
}

func (p Plan) since(c preemption.Payment) int64 {
	if c.Since == 0 {
		return p.Now
	}
	return c.Since
}

// owed returns what the claim is owed for which a victim goes: a queue may have two.
func (p Plan) owed(v preemption.Victim) (owed resource.List) {
	for i, c := range slices.Backward(p.Plan.Claims) {
		if c.Queue == v.ForQueue {
			owed = c.Owed
			if p.nominates(i, v.For) {
				return owed
			}
		}
	}
	return owed
}

func (p Plan) nominates(claim int, uid string) bool {
	return slices.ContainsFunc(p.Plan.Claims[claim].Nominations, func(n preemption.Nomination) bool { return n.UID == uid })
}

// reason is the sentence about a victim.
func (p Plan) reason(v preemption.Victim) string {
	return reason.Taking{
		Above: p.path(v.Above), Resource: v.Resource, Surplus: v.Surplus, Share: p.World.Queues[v.Above].Entitlement.Get(v.Resource),
		For: p.path(v.ForQueue), Owed: p.owed(v), With: v.With,
	}.Text()
}

// left is the part of a claim for which no nodes were found.
func left(c preemption.Payment) resource.List {
	placed := make(map[string]bool, len(c.Nominations))
	for _, n := range c.Nominations {
		placed[n.UID] = true
	}
	rest := c.Owed
	for _, u := range c.Units {
		for _, pod := range u.Pods {
			if placed[pod.UID] {
				rest = rest.Sub(pod.Request)
			}
		}
	}
	var some []resource.Entry
	for i := range rest.Len() {
		if e := rest.At(i); e.Value > 0 {
			some = append(some, e)
		}
	}
	return resource.Of(some...)
}

// unpaid is the sentence about what is left of a claim, "" if nothing is.
func (p Plan) unpaid(c preemption.Payment) string {
	if c.Unpaid == "" {
		return ""
	}
	return reason.Unpaid{Why: c.Unpaid, Queue: p.path(c.Queue), Left: left(c), NoPod: p.allPlaced(c)}.Text()
}

// allPlaced: each pod of the claim has a node, by this claim or by another one.
func (p Plan) allPlaced(c preemption.Payment) bool {
	for _, u := range c.Units {
		for _, pod := range u.Pods {
			if !slices.ContainsFunc(p.Plan.Claims, func(o preemption.Payment) bool {
				return slices.ContainsFunc(o.Nominations, func(n preemption.Nomination) bool { return n.UID == pod.UID })
			}) {
				return false
			}
		}
	}
	return len(c.Units) > 0
}

// stopped is the sentence about why there is no round, "" if there is one.
func (p Plan) stopped() string {
	switch p.Plan.Stopped {
	case "":
		return ""
	case preemption.NotBusy:
		n := p.Plan.StoppedFor
		return reason.NotBusy{
			Resource: n, Used: p.Plan.StoppedAt, Total: p.World.Total.Get(n), Threshold: p.World.Settings.UtilizationThreshold,
		}.Text()
	}
	return string(p.Plan.Stopped)
}

type wireClaim struct {
	Queue   string            `json:"queue"`
	Claim   map[string]string `json:"claim"`
	Since   string            `json:"since"`
	Kind    string            `json:"kind"`
	Pods    int               `json:"pods"` // for which there would be nodes
	Unpaid  map[string]string `json:"unpaid"`
	Reason  string            `json:"reason"`
	Message string            `json:"message"`
}

type wireVictim struct {
	Pod    string `json:"pod"`
	Queue  string `json:"queue"`
	Node   string `json:"node"`
	For    string `json:"for"`
	Reason string `json:"reason"`
}

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (p Plan) MarshalJSON() ([]byte, error) {
	claims, victims := []wireClaim{}, []wireVictim{}
	for _, c := range p.Plan.Claims {
		claims = append(claims, wireClaim{
			Queue: p.path(c.Queue), Claim: quantities(c.Owed), Since: timestamp(p.since(c)), Kind: c.Kind.String(), Pods: len(c.Nominations),
			Unpaid: quantities(left(c)), Reason: string(c.Unpaid), Message: p.unpaid(c),
		})
	}
	for _, v := range p.Plan.Victims {
		victims = append(victims, wireVictim{p.pod(v.UID), p.path(v.Queue), p.World.Nodes[v.Node].Name, p.pod(v.For), p.reason(v)})
	}
	ideal := make(map[string]map[string]string, len(p.Plan.Ideal))
	for i, l := range p.Plan.Ideal {
		ideal[p.path(i)] = quantities(l)
	}
	return marshal(struct {
		Claims      []wireClaim                  `json:"claims"`
		Victims     []wireVictim                 `json:"victims"`
		Ideal       map[string]map[string]string `json:"ideal"`
		Taken       map[string]string            `json:"taken"`
		PodSeconds  int64                        `json:"podSeconds"`
		ObserveOnly bool                         `json:"observeOnly"`
		Faults      []string                     `json:"faults"`
		Stopped     string                       `json:"stopped"`
		Message     string                       `json:"message"`
	}{claims, victims, ideal, quantities(p.Plan.Taken), p.podSeconds(), p.World.Settings.ObserveOnly, list(p.Faults), string(p.Plan.Stopped), p.stopped()})
}

// Lines shows the claims, which pods would be evicted for them and why, and what each queue would have in the
// end.
func (p Plan) Lines(l Layout) []string {
	if len(p.Plan.Claims) == 0 {
		return []string{
			Clip("("+noClaims+")", l.Width),
			Clip("(to see what another timeout would do, state it in a Queue: --with FILE)", l.Width),
		}
	}
	return linesOf(p.Sections(l), l)
}

// Since has the rows of both plans, and the sentences of the later one.
func (p Plan) Since(before Document, l Layout) []string {
	b, _ := before.(Plan)
	if len(p.Plan.Claims)+len(b.Plan.Claims) == 0 {
		return p.Lines(l)
	}
	return linesOf(p.sections(l, Compare(b.claims(l), p.claims(l), l.Style), Compare(b.victims(l), p.victims(l), l.Style),
		Compare(b.ideal(l), p.ideal(l), l.Style)), l)
}

func (p Plan) sections(l Layout, claims, victims, ideal Table) []Section {
	var unpaid, why []string
	if text := p.stopped(); text != "" {
		unpaid = append(unpaid, text)
	}
	for _, c := range p.Plan.Claims {
		if text := p.unpaid(c); text != "" {
			unpaid = append(unpaid, text)
		}
	}
	type pair struct{ above, forQueue int }
	said := map[pair]bool{}
	for _, v := range p.Plan.Victims { // for each pair of queues, the first sentence stands for all
		if of := (pair{v.Above, v.ForQueue}); !said[of] {
			said[of] = true
			why = append(why, p.reason(v))
		}
	}
	return []Section{
		{Table: &claims},
		{Heading: "What is not paid:", Items: unpaid},
		{Heading: "This plan breaks a rule, and the scheduler would evict nobody by it (please report it):", Items: p.Faults},
		{Heading: p.heading(l), Table: &victims},
		{Heading: "Why:", Items: why},
		{Heading: "If every queue had what the shares say, and no more than it asks for:", Table: &ideal},
	}
}

// podSeconds is the sum of the times that the victims have run.
func (p Plan) podSeconds() int64 { return p.Plan.PodSeconds(p.World, -1, p.Now) }

func (p Plan) claims(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "QUEUE"}, {Title: "BELOW"}, {Title: "SINCE", Right: true, Rank: 2}, {Title: "OWED"}, {Title: "PODS", Right: true, Rank: 1},
		{Title: "UNPAID", Usual: nothing}, {Title: "REASON", Rank: 3, Usual: nothing},
	}}
	for i, c := range p.Plan.Claims {
		rest, why := nothing, nothing
		if c.Unpaid != "" {
			rest, why = l.amounts(left(c)), string(c.Unpaid)
			t.emphasise(i, yellow)
		}
		t.Keys = append(t.Keys, p.path(c.Queue)+" "+c.Kind.String())
		t.Rows = append(t.Rows, []string{p.path(c.Queue), c.Kind.String(), l.age(p.since(c)), l.amounts(c.Owed), strconv.Itoa(len(c.Nominations)), rest, why})
	}
	return t
}

func (p Plan) victims(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{{Title: "POD"}, {Title: "QUEUE", Rank: 1}, {Title: "NODE", Rank: 2}, {Title: "FOR"}}}
	if l.Wide {
		t.Columns = append(t.Columns, Column{Title: "REASON"})
	}
	for _, v := range p.Plan.Victims {
		row := []string{p.pod(v.UID), p.path(v.Queue), p.World.Nodes[v.Node].Name, p.pod(v.For)}
		if l.Wide {
			row = append(row, p.reason(v))
		}
		t.Keys, t.Rows = append(t.Keys, v.UID), append(t.Rows, row)
	}
	return t
}

func (p Plan) ideal(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "QUEUE"}, {Title: "ALLOCATED"}, {Title: "FAIR-SHARE", Rank: 1}, {Title: "IDEAL"},
	}}
	for i, ideal := range p.Plan.Ideal {
		q := p.World.Queues[i]
		t.Keys = append(t.Keys, string(q.Path))
		t.Rows = append(t.Rows, []string{string(q.Path), l.amounts(q.Usage), l.amounts(q.Entitlement), l.amounts(ideal)})
	}
	return t
}
