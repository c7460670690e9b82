package view

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Choice is what a reader of the queues chose.
type Choice struct {
	// Filter: only queues whose path contains it, in upper or lower case, and those above them.
	Filter string
	// Resource is what the bars show; "": the dominant resource of each queue.
	Resource resource.Name
	// Own: bars show parts of what each queue should have or has, whichever is more. Else they show parts of the cluster.
	Own bool
	// Depth: queues at this depth are folded, and those below it; 0: none. Toggled are those that are folded if others of their depth are not, and
	// the other way round.
	Depth   int
	Toggled map[string]bool
	From    int // the first row
}

// Queues is the tree as it is shown: a part of the rows that the choice leaves.
type Queues struct {
	Table
	Resources     []resource.Name
	Rows          []Queue
	Starved, Over int // of all queues
	All           int
}

// Queue is a row of the tree.
type Queue struct {
	Path, Name, Full, Link string // Full is the path as it may be shown
	Level, Index           int    // Index counts the rows that the choice leaves, from 1
	Parent, Folded         bool
	Gauge                  report.Gauge
	Starved                string // for how long, and until when; "" if it is not
	Over                   bool
	State                  string // "" if it is Running
	Problems               []string
	Cells                  []Cell
}

// NewQueues lays the tree out.
func NewQueues(t report.Tree, starved report.Starved, c Choice, l report.Layout) Queues {
	is := map[string][]string{}
	for _, s := range starved.Queues {
		is[s.Queue] = append(is[s.Queue], s.Text(l))
	}
	out := Queues{All: len(t.Queues)}
	for i := range t.Cluster.Len() {
		out.Resources = append(out.Resources, t.Cluster.At(i).Name)
	}
	for i := range t.Queues {
		if t.Queues[i].Name != string(queue.Root) && t.Queues[i].IsOver(t.Cluster) {
			out.Over++
		}
	}
	out.Starved = len(is)
	rows := visible(t.Queues, c)
	out.ID, out.Total, out.None = "tree", len(rows), "no queue has such a name"
	var end int
	out.From, end, out.Before, out.After = part(c.From, len(rows))
	var shown []report.Queue
	for _, r := range rows[out.From:end] {
		shown = append(shown, t.Queues[r.at])
	}
	table := report.Rows(shown, l)
	var kept []int // the same for all parts
	for i, c := range table.Columns {
		if slices.Contains(treeColumns, c.Title) {
			kept = append(kept, i)
		}
	}
	for _, k := range kept {
		out.Columns = append(out.Columns, Column{table.Columns[k].Title, table.Columns[k].Right})
	}
	for i, q := range shown {
		r := rows[out.From+i]
		row := Queue{
			Path: q.Name, Name: reason.Name(q.Name), Full: reason.Name(q.Name), Link: QueueLink(q.Name), Level: r.level, Index: out.From + i + 1, Parent: r.parent, Folded: r.folded,
			Gauge: c.gauge(q, t.Cluster), Starved: strings.Join(is[q.Name], "; "), Over: q.Name != string(queue.Root) && q.IsOver(t.Cluster),
		}
		if r.level > 1 {
			row.Name = reason.Name(queue.Path(q.Name).Leaf())
		}
		if q.State != report.StateRunning {
			row.State = q.State
		}
		for _, p := range q.Problems {
			row.Problems = append(row.Problems, string(p.Code))
		}
		for _, k := range kept {
			row.Cells = append(row.Cells, Cell{Text: table.Rows[i][k], Right: table.Columns[k].Right})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// treeColumns are those beside the bars, which show the others.
var treeColumns = []string{"WEIGHT", "FAIR-SHARE", "ALLOCATED", "DEMAND", "APPLICATIONS", "RUNNING", "PENDING"}

// gauge shows what was chosen: a resource, or the dominant one of the queue in the cluster.
func (c Choice) gauge(q report.Queue, cluster resource.List) report.Gauge {
	g := report.GaugeOf(q, cluster, c.Resource)
	if c.Own {
		g = report.GaugeOf(q, q.SteadyFairShare.Max(q.FairShare).Max(q.Allocated), g.Resource)
	}
	return g
}

// shownRow is a queue, by its index, and its place in the tree.
type shownRow struct {
	at, level      int
	parent, folded bool
}

// visible are the queues that the choice leaves. They come in the order of their paths, so that what is below a queue follows it.
func visible(queues []report.Queue, c Choice) (rows []shownRow) {
	parents, matches := map[queue.Path]bool{}, map[queue.Path]bool{}
	filter := strings.ToLower(c.Filter)
	for _, q := range queues {
		path := queue.Path(q.Name)
		parents[path.Parent()] = true
		if filter != "" && strings.Contains(strings.ToLower(q.Name), filter) {
			for ; path != "" && !matches[path]; path = path.Parent() {
				matches[path] = true
			}
		}
	}
	level := map[queue.Path]int{}
	var below queue.Path // a folded queue
	for i, q := range queues {
		path := queue.Path(q.Name)
		if below != "" && path != below && below.Contains(path) || filter != "" && !matches[path] {
			continue
		}
		r := shownRow{at: i, level: level[path.Parent()] + 1, parent: parents[path]}
		level[path] = r.level
		if filter == "" && r.parent {
			r.folded = (c.Depth > 0 && r.level >= c.Depth) != c.Toggled[q.Name]
		}
		if r.folded {
			below = path
		}
		rows = append(rows, r)
	}
	return rows
}
