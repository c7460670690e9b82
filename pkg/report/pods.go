package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Pod is a row about a pod.
type Pod struct {
	ledger.PodState
	// Position is its place among all releases, from 1; 0: it is not in the order, or not looked for.
	Position int
	// Reason is why it waits; zero if it does not.
	Reason reason.Reason
}

// Pods are pods in the order in which they go, then those that a rule holds.
type Pods []Pod

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (ps Pods) MarshalJSON() ([]byte, error) {
	type pod struct {
		podName
		User     string            `json:"user"`
		Role     string            `json:"role"`
		State    string            `json:"state"`
		Position int               `json:"position"`
		Node     string            `json:"node"`
		Request  map[string]string `json:"request"`
		Created  string            `json:"created"`
		Bound    string            `json:"bound"`
		Reason   reason.Code       `json:"reason"`
		Message  string            `json:"message"`
	}
	rows := make([]pod, len(ps))
	for i, p := range ps {
		rows[i] = pod{nameOf(p.PodState), p.User, p.Role.String(), p.State.String(), p.Position, p.Node, quantities(p.Request), timestamp(p.Created), timestamp(p.Bound),
			p.Reason.Code, message(p.Reason)}
	}
	return marshal(struct {
		Pods []pod `json:"pods"`
	}{rows})
}

// Lines has a row for each pod.
func (ps Pods) Lines(l Layout) []string { return linesOf(ps.Sections(l), l) }

// Sections has one section.
func (ps Pods) Sections(l Layout) []Section {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "POD"}, {Title: "POSITION", Right: true, Usual: nothing}, {Title: "APPLICATION", Rank: 3}, {Title: "USER", Rank: 8}, {Title: "ROLE", Rank: 7, Usual: nothing},
		{Title: "STATE", Rank: 1}, {Title: "REQUEST", Rank: 4}, {Title: "NODE", Rank: 5, Usual: nothing}, {Title: "AGE", Rank: 6}, {Title: "REASON", Usual: nothing},
		{Title: "MESSAGE", Rank: 9, Usual: nothing},
	}}
	for i, p := range ps {
		position, role := nothing, nothing
		if p.Position > 0 {
			position = strconv.Itoa(p.Position)
		} else if p.Reason.Code != "" {
			t.emphasise(i, yellow)
		}
		if p.Role != application.None {
			role = p.Role.String()
		}
		t.Keys = append(t.Keys, string(p.UID))
		t.Rows = append(t.Rows, []string{podText(p.PodState), position, reason.Name(p.Application), reason.Name(p.User), role, p.State.String(), l.amounts(p.Request),
			orNothing(p.Node), l.age(p.Created), orNothing(string(p.Reason.Code)), orNothing(message(p.Reason))})
	}
	return []Section{{Table: &t, None: "no pods"}}
}

// History is what is known to have happened to a pod, oldest first.
func (p Pod) History(l Layout) Table {
	t := Table{Full: true, Columns: []Column{{Title: "WHEN"}, {Title: "AGO", Right: true}, {Title: "WHAT"}}}
	add := func(at int64, what string) {
		if at != 0 {
			t.Rows = append(t.Rows, []string{timestamp(at), l.age(at), what})
		}
	}
	add(p.Created, "created, with a request of "+l.amounts(p.Request))
	add(p.Bound, "got node "+reason.Name(p.Node))
	add(p.Announced, "its eviction was announced")
	if p.Terminating && p.Deadline <= l.Now {
		add(p.Deadline, "should have stopped")
	}
	return t
}

// History is what is known to have happened to an application, oldest first.
func (a Application) History(Layout) Table {
	t := Table{Full: true, Columns: []Column{{Title: "WHEN"}, {Title: "WHAT"}}}
	for _, e := range []struct {
		at   int64
		what string
	}{
		{a.Submitted, "submitted: its oldest pod was created"}, {a.StartingSince, "began to start"}, {a.WaitingSince, "its oldest waiting pod was created"},
		{a.StartingUntil, "counts as starting until then at the latest"},
	} {
		if e.at != 0 {
			t.Rows = append(t.Rows, []string{timestamp(e.at), e.what})
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return t
}

// Node is a row about a node: what it has, what is taken of it, and what is kept on it for pods that have not started.
type Node struct {
	ledger.NodeState
	// HeldFor is the pod group, or one of the large pods, for which it is held; "" for none.
	HeldFor string
}

// Nodes are the nodes of a cluster, by name.
type Nodes []Node

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (ns Nodes) MarshalJSON() ([]byte, error) {
	type node struct {
		Name        string            `json:"name"`
		State       string            `json:"state"`
		Rack        string            `json:"rack"`
		Allocatable map[string]string `json:"allocatable"`
		Used        map[string]string `json:"used"`
		Others      map[string]string `json:"usedByOthers"`
		Kept        map[string]string `json:"kept"`
		HeldFor     string            `json:"heldFor"`
		Free        map[string]string `json:"free"`
		Pods        int               `json:"pods"`
		MostPods    int               `json:"mostPods"`
	}
	rows := make([]node, len(ns))
	for i, n := range ns {
		rows[i] = node{n.Name, n.state(), n.Rack, quantities(n.Allocatable), quantities(n.Ours), quantities(n.Foreign), quantities(n.Nominated), n.HeldFor, quantities(n.Free()),
			n.OnNode, n.Pods}
	}
	return marshal(struct {
		Nodes []node `json:"nodes"`
	}{rows})
}

// Lines has a row for each node.
func (ns Nodes) Lines(l Layout) []string { return linesOf(ns.Sections(l), l) }

// The states of a node.
const (
	nodeReady    = "Ready"
	nodeUnusable = "Unusable" // not ready, or cordoned
	nodeGone     = "Gone"     // only its pods are left
)

func (n Node) state() string {
	switch {
	case !n.Known:
		return nodeGone
	case !n.Usable:
		return nodeUnusable
	}
	return nodeReady
}

// Sections are the largest pods that fit now, and the nodes.
func (ns Nodes) Sections(l Layout) []Section {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "NODE"}, {Title: "STATE", Rank: 2, Usual: nodeReady}, {Title: "RACK", Rank: 9, Usual: nothing}, {Title: "ALLOCATABLE", Rank: 3}, {Title: "USED", Rank: 4},
		{Title: "OTHERS", Rank: 6, Usual: "0"}, {Title: "KEPT", Rank: 5, Usual: "0"}, {Title: "HELD-FOR", Rank: 5, Usual: nothing}, {Title: "FREE"},
		{Title: "PODS", Right: true, Rank: 7},
	}}
	for i, n := range ns {
		if n.state() != nodeReady {
			t.emphasise(i, yellow)
		}
		pods := strconv.Itoa(n.OnNode)
		if n.Pods > 0 {
			pods += "/" + strconv.Itoa(n.Pods)
		}
		t.Rows = append(t.Rows, []string{reason.Name(n.Name), n.state(), orNothing(reason.Name(n.Rack)), l.amounts(n.Allocatable), l.amounts(n.Ours), l.amounts(n.Foreign),
			l.amounts(n.Nominated), orNothing(reason.Name(n.HeldFor)), l.amounts(n.Free()), pods})
	}
	return []Section{{Heading: "The largest pods that fit now:", Items: ns.largest(l)}, {Table: &t, None: "no nodes"}}
}

// largest says, for each resource, on which node the pod with most of it would fit, of the nodes that are open to any pod.
func (ns Nodes) largest(l Layout) (items []string) {
	best := map[resource.Name]*Node{}
	var names resource.List
	for i := range ns {
		n := &ns[i]
		if n.state() != nodeReady || n.HeldFor != "" || n.Pods > 0 && n.OnNode >= n.Pods {
			continue
		}
		free := n.Free()
		names = names.Max(free)
		for j := range free.Len() {
			e := free.At(j)
			if b := best[e.Name]; e.Value > 0 && (b == nil || e.Value > b.Free().Get(e.Name)) {
				best[e.Name] = n
			}
		}
	}
	for i := range names.Len() {
		name := names.At(i).Name
		if n := best[name]; n != nil {
			items = append(items, "most "+reason.Name(string(name))+": "+l.amounts(n.Free())+" on node "+reason.Name(n.Name))
		}
	}
	if len(items) == 0 {
		items = append(items, "none: no node has anything free")
	}
	return items
}
