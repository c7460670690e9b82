package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/guarantee"
	"github.com/fairway-scheduler/fairway/pkg/core/limit"
	"github.com/fairway-scheduler/fairway/pkg/core/ordering"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// tree prints the queues in force and what is in force for them.
func (w *World) showTree(statement) (string, error) {
	rows := [][]string{{"QUEUE", "PODS", "POLICY", "WEIGHT", "GUARANTEED", "MAX"}}
	for _, n := range w.tree.Nodes {
		pods := "refused"
		switch {
		case n.Accepting:
			pods = "accepted"
		case len(n.Children) > 0:
			pods = "in children"
		}
		rows = append(rows, []string{
			string(n.Path), pods, n.Spec.Policy.String(), weightOf(n.Spec), amounts(n.Spec.Guaranteed), amounts(n.Spec.Max),
		})
	}
	out := table(rows)
	for _, p := range w.tree.Blocked {
		out += "not in force: " + string(p) + "\n"
	}
	return out, nil
}

// weightOf is the weight of a queue, or its capacity.
func weightOf(s queue.Spec) string {
	if s.Capacity.Stated {
		return milli(s.Capacity.Most) + "%"
	}
	return milli(s.Weight)
}

// capacities prints what is in force of each queue that shares by capacity, and every queue's part of the cluster.
func (w *World) showCapacities(statement) (string, error) {
	rows := [][]string{{"QUEUE", "CAPACITY", "MAX CAPACITY", "OF THE CLUSTER", "AT MOST"}}
	percent := func(l queue.Limit) string {
		if !l.Stated {
			return "-"
		}
		return milli(l.Most) + "%"
	}
	absolute := fairshare.AbsoluteOf(w.tree, w.cluster, fairshare.Shares(w.tree, w.cluster, nil))
	for i, n := range w.tree.Nodes {
		rows = append(rows, []string{
			string(n.Path), percent(n.Spec.Capacity), percent(n.Spec.MaxCapacity),
			resource.Percent(absolute[i].Capacity), resource.Percent(absolute[i].Max),
		})
	}
	return table(rows), nil
}

// limits prints the limits that queues state besides max.
func (w *World) showLimits(statement) (string, error) {
	rows := [][]string{{"QUEUE", "POD", "APPLICATIONS", "DRIVERS", "APPLICATIONS OF A USER"}}
	for _, n := range w.tree.Nodes {
		share := "-"
		if l := n.Spec.MaxDriverShare; l.Stated {
			share = milli(l.Most)
		}
		rows = append(rows, []string{
			string(n.Path), amounts(n.Spec.MaxPod), count(n.Spec.MaxRunningApplications), share, count(n.Spec.MaxRunningApplicationsPerUser),
		})
	}
	return table(rows), nil
}

func count(l queue.Limit) string {
	if !l.Stated {
		return "-"
	}
	return strconv.FormatInt(l.Most, 10)
}

// problems prints what is wrong with queues.
func (w *World) showProblems(statement) (string, error) {
	problems := slices.Concat(w.tree.Problems, fairshare.Overcommitted(w.tree, fairshare.Shares(w.tree, w.cluster, nil)))
	if len(problems) == 0 {
		return "none\n", nil
	}
	slices.SortStableFunc(problems, func(a, b queue.Problem) int { return queue.ComparePaths(a.Path, b.Path) })
	var out strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&out, "%s: %s\n", p.Reason.Code, p.Reason.Text())
	}
	return out.String(), nil
}

// shares [steady] prints the steady and the instantaneous share of each queue, or only
// the steady one.
func (w *World) showShares(s statement) (string, error) {
	rows := [][]string{{"QUEUE", "STEADY FAIR SHARE", "FAIR SHARE"}}
	active := make([]bool, len(w.tree.Nodes))
	for i, a := range w.accounts() {
		active[i] = a.active
	}
	steady := fairshare.Shares(w.tree, w.cluster, nil)
	fair := fairshare.Shares(w.tree, w.cluster, active)
	for i, n := range w.tree.Nodes {
		rows = append(rows, []string{string(n.Path), amounts(steady[i]), amounts(fair[i])})
	}
	switch {
	case len(s.words) == 0:
	case len(s.words) == 1 && s.words[0] == "steady":
		for i := range rows {
			rows[i] = rows[i][:2]
		}
	default:
		return "", fmt.Errorf("shares takes nothing but steady")
	}
	return table(rows), nil
}

// order [PATH] prints, from the root down to the next pod, the order of the queues and applications that have waiting
// pods, each with the criterion that puts it behind the one before. With a path it prints that level only.
func (w *World) showOrder(s statement) (string, error) {
	from := queue.Root
	if len(s.words) > 0 {
		from = queue.Path(s.words[0])
	}
	i, ok := w.tree.Find(from)
	if !ok {
		return "", fmt.Errorf("queue %s is not in the tree", from)
	}
	accounts := w.accounts()
	var out strings.Builder
	for {
		ranked := w.rank(i, accounts)
		if len(ranked) == 0 {
			fmt.Fprintf(&out, "%s: nobody waits\n", w.tree.Nodes[i].Path)
			return out.String(), nil
		}
		fmt.Fprintf(&out, "%s: %s", w.tree.Nodes[i].Path, ranked[0].name)
		for j := 1; j < len(ranked); j++ {
			_, by := ordering.Compare(w.tree.Nodes[i].Spec.Policy, &ranked[j-1].key, &ranked[j].key)
			fmt.Fprintf(&out, ", then %s (%s)", ranked[j].name, by)
		}
		out.WriteString("\n")
		first := ranked[0].node
		if len(s.words) > 0 || first < 0 || !w.hasApplications(first) {
			return out.String(), nil
		}
		i = first
	}
}

type contender struct {
	name string
	node int // -1 for an application
	key  ordering.Key
}

// rank orders the children of a node, or the applications of one without children.
func (w *World) rank(node int, accounts []account) []contender {
	n := w.tree.Nodes[node]
	var out []contender
	add := func(index int, s ordering.Standing, waits bool) *contender {
		if !waits {
			return nil
		}
		out = append(out, contender{name: s.Name, node: index})
		c := &out[len(out)-1]
		c.key.Set(n.Spec.Rule(), s, w.cluster)
		return c
	}
	for _, c := range n.Children {
		child, a := w.tree.Nodes[c], &accounts[c]
		is := add(c, ordering.Standing{Usage: &a.usage, Weight: child.Spec.Weight, Name: string(child.Path), ByCapacity: child.Spec.Capacity.Stated}, !a.waiting.List().IsZero())
		lacks := guarantee.Lacking(n.Spec.Rule(), child.Spec.Guaranteed, &a.demand, &a.usage, nil)
		if is != nil && guarantee.Asks(a.waiting.List(), lacks) { // what waits counts as one pod
			all := is.key
			is.key.SetBelow(&all, guarantee.Smallest(n.Spec.Rule(), child.Spec.Guaranteed, &a.demand, &a.usage))
		}
	}
	for _, a := range w.apps {
		if a.path != n.Path || len(n.Children) > 0 {
			continue
		}
		var usage resource.Sum
		usage.Add(a.usage)
		add(-1, ordering.Standing{
			Usage: &usage, Weight: queue.DefaultWeight, Priority: a.priority, Submitted: a.submitted, Name: a.name,
		}, !a.waiting.IsZero())
	}
	slices.SortFunc(out, func(x, y contender) int {
		c, _ := ordering.Compare(n.Spec.Policy, &x.key, &y.key)
		return c
	})
	return out
}

// hasApplications reports whether there is a level below a node to order: child
// queues, or applications that were stated.
func (w *World) hasApplications(node int) bool {
	n := w.tree.Nodes[node]
	return len(n.Children) > 0 || slices.ContainsFunc(w.apps, func(a application) bool { return a.path == n.Path })
}

// try PATH cpu=4 memory=8Gi prints whether a pod of that size may enter the queue.
func (w *World) showTry(s statement) (string, error) {
	name, err := s.word("path")
	if err != nil {
		return "", err
	}
	request, err := s.amounts()
	if err != nil {
		return "", err
	}
	if r := w.entry(queue.Path(name), request); r.Code != "" {
		return fmt.Sprintf("%s: %s\n", r.Code, r.Text()), nil
	}
	return "may enter\n", nil
}

// entry returns why a pod may not enter a queue, and the zero reason when it may.
func (w *World) entry(p queue.Path, request resource.List) reason.Reason {
	i, inTree := w.tree.Find(p)
	d, declared := w.declaration(p)
	switch {
	case declared && w.queues[d].Deleting:
		return reason.Reason{Code: reason.QueueDeleted, Queue: string(p)}
	case p == queue.Root:
		return reason.Reason{Code: reason.QueueNotLeaf, Queue: string(p)}
	case inTree && len(w.tree.Nodes[i].Children) > 0:
		child := w.tree.Nodes[w.tree.Nodes[i].Children[0]].Path
		return reason.Reason{Code: reason.QueueNotLeaf, Queue: string(p), Details: reason.Child{Path: string(child)}}
	case !declared:
		return reason.Reason{Code: reason.QueueNotFound, Queue: string(p)}
	case !inTree:
		at := slices.IndexFunc(w.tree.Problems, func(x queue.Problem) bool { return x.Path == p })
		return reason.Reason{Code: reason.QueueNotReady, Queue: string(p), Details: reason.Cause{Problem: w.tree.Problems[at].Reason.Text()}}
	}
	accounts := w.accounts()
	for ; i >= 0; i = w.tree.Nodes[i].Parent {
		n := w.tree.Nodes[i]
		if why, exceeded := limit.MaxResources(string(n.Path), &accounts[i].usage, request, n.Spec.Max); exceeded {
			return why
		}
	}
	return reason.Reason{}
}

// request [NAME] prints the path that a pod means by what it wrote.
func (w *World) showRequest(s statement) (string, error) {
	name := strings.Join(s.words, " ")
	p, err := queue.ParseRequest(name)
	if err != nil {
		r := reason.Reason{Code: reason.QueueNameInvalid, Queue: name, Details: reason.Invalid{Why: err.Error()}}
		return fmt.Sprintf("%s: %s\n", r.Code, r.Text()), nil
	}
	return string(p) + "\n", nil
}

// table aligns rows in columns.
func table(rows [][]string) string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(tw, strings.Join(r, "\t"))
	}
	tw.Flush()
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

func amounts(l resource.List) string {
	if l.Len() == 0 {
		return "-"
	}
	return l.String()
}

// milli spells a weight or a ratio the way it is written: 0.25, 3.
func milli(v int64) string {
	text := fmt.Sprintf("%d.%03d", v/1000, v%1000)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
