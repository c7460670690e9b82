package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

func cores(n int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: n * 1000})
}

func queueNamed(name string, allocated, fair int64) report.Queue {
	return report.Queue{Name: name, Weight: 1000, State: report.StateRunning, Policy: "Fair", Allocated: cores(allocated), FairShare: cores(fair), SteadyFairShare: cores(fair)}
}

// A cluster of 100 cores: root.a has 60 of its 50, of which root.a.x has 60; root.b has 10 of its 50.
var small = report.Tree{Cluster: cores(100), Queues: []report.Queue{
	queueNamed("root", 70, 100), queueNamed("root.a", 60, 50), queueNamed("root.a.x", 60, 50), queueNamed("root.a.y", 0, 0), queueNamed("root.a-b", 0, 0),
	queueNamed("root.b", 10, 50), queueNamed("odd name", 0, 0),
}}

func names(q Queues) (all []string) {
	for _, r := range q.Rows {
		name := r.Path
		if r.Folded {
			name += "+"
		}
		all = append(all, name)
	}
	return all
}

func TestWhichRowsOfTheTreeAreShown(t *testing.T) {
	for name, c := range map[string]struct {
		choice Choice
		want   string
	}{
		"all":                       {Choice{}, "root root.a root.a.x root.a.y root.a-b root.b odd name"},
		"one level":                 {Choice{Depth: 1}, "root+ odd name"},
		"two levels":                {Choice{Depth: 2}, "root root.a+ root.a-b root.b odd name"},
		"one folded":                {Choice{Toggled: map[string]bool{"root.a": true}}, "root root.a+ root.a-b root.b odd name"},
		"two levels, one unfolded":  {Choice{Depth: 2, Toggled: map[string]bool{"root.a": true}}, "root root.a root.a.x root.a.y root.a-b root.b odd name"},
		"one level, unfolded":       {Choice{Depth: 1, Toggled: map[string]bool{"root": true}}, "root root.a+ root.a-b root.b odd name"},
		"a leaf toggled":            {Choice{Toggled: map[string]bool{"root.b": true}}, "root root.a root.a.x root.a.y root.a-b root.b odd name"},
		"a filter":                  {Choice{Filter: "X"}, "root root.a root.a.x"},
		"a filter, whatever folded": {Choice{Filter: "x", Depth: 1}, "root root.a root.a.x"},
		"a filter of a path":        {Choice{Filter: "root.a."}, "root root.a root.a.x root.a.y"},
		"a filter of an odd name":   {Choice{Filter: "odd"}, "odd name"},
		"a filter of nothing":       {Choice{Filter: "z"}, ""},
	} {
		q := NewQueues(small, report.Starved{}, c.choice, report.Layout{})
		if got := strings.Join(names(q), " "); got != c.want || q.Total != len(q.Rows) {
			t.Errorf("%s: %q of %d, want %q", name, got, q.Total, c.want)
		}
	}
}

func TestWhatARowOfTheTreeSays(t *testing.T) {
	starved := report.Starved{Queues: []report.StarvedQueue{{Queue: "root.b", Kind: preemption.BelowFairShare, Since: 1_000_000_000, Due: 91_000_000_000}}}
	q := NewQueues(small, starved, Choice{}, report.Layout{Now: 61_000_000_000})
	if q.Starved != 1 || q.Over != 2 || q.All != 7 {
		t.Errorf("%d starved, %d above, of %d; want 1, 2 (root.a and root.a.x), of 7", q.Starved, q.Over, q.All)
	}
	a, b := q.Rows[1], q.Rows[5]
	if !a.Over || a.Level != 2 || !a.Parent || a.Name != "a" || a.Starved != "" || a.Index != 2 {
		t.Errorf("root.a: %+v", a)
	}
	if b.Over || b.Parent || b.Starved != "below FairShare for 60s, preemption in 30s" {
		t.Errorf("root.b: %+v", b)
	}
	if g := a.Gauge; g.Resource != resource.CPU || g.Allocated != 600 || g.FairShare != 500 || g.Max != 1000 || g.Limited {
		t.Errorf("root.a: %+v", g)
	}
	// root.b has 10 of the 50 cores that it should have: a fifth of its own, a tenth of the cluster.
	if own := NewQueues(small, starved, Choice{Own: true}, report.Layout{}).Rows[5].Gauge; own.Allocated != 200 || own.FairShare != 1000 || b.Gauge.Allocated != 100 {
		t.Errorf("%+v of its own, %+v of the cluster", own, b.Gauge)
	}
	if odd := q.Rows[6]; odd.Level != 1 || odd.Name != `"odd name"` || odd.Link != "/queue?name=odd+name" {
		t.Errorf("%+v", odd)
	}
}

// Of 10,000 queues a page has 200 rows, wherever it begins, and all parts together have each queue once.
func TestALargeTreeIsShownInParts(t *testing.T) {
	large := report.Tree{Cluster: cores(100), Queues: []report.Queue{queueNamed("root", 0, 100)}}
	for i := range 9_999 {
		large.Queues = append(large.Queues, queueNamed(fmt.Sprintf("root.q%05d", i), 0, 0))
	}
	var all []string
	for from := 0; from >= 0; {
		q := NewQueues(large, report.Starved{}, Choice{From: from}, report.Layout{})
		if len(q.Rows) != PerPart || q.Total != 10_000 || q.From != from || q.Rows[0].Index != from+1 || q.First() != from+1 {
			t.Fatalf("from %d: %d rows of %d", from, len(q.Rows), q.Total)
		}
		all, from = append(all, names(q)...), q.After
	}
	if slices.Sort(all); len(slices.Compact(all)) != 10_000 {
		t.Errorf("%d queues in all parts", len(slices.Compact(all)))
	}
	for from, want := range map[int]int{-5: 0, 10_000: 9_800, 123_456_789: 9_800, 9_999: 9_999} {
		if q := NewQueues(large, report.Starved{}, Choice{From: from}, report.Layout{}); q.From != want {
			t.Errorf("from %d: the part begins at %d, want %d", from, q.From, want)
		}
	}
}

func TestAPartOfATable(t *testing.T) {
	table := report.Table{Columns: []report.Column{{Title: "QUEUE"}, {Title: "N", Right: true}, {Title: "USUAL", Usual: "-"}}}
	for i := range 450 {
		table.Rows = append(table.Rows, []string{fmt.Sprintf("root.q%d", i), "1", "-"})
	}
	s := report.Section{Heading: "Some:", Table: &table}
	got := TableOf("some", s, 200, NameLinks(&table))
	if got.Heading != "Some" || len(got.Columns) != 2 || len(got.Rows) != 200 || got.Before != 0 || got.After != 400 || got.First() != 201 || got.Last() != 400 {
		t.Errorf("%+v", got)
	}
	if c := got.Rows[0].Cells; c[0].Text != "root.q200" || c[0].Link != "/queue?name=root.q200" || c[1].Link != "" || !c[1].Right {
		t.Errorf("%+v", c)
	}
	if last := TableOf("some", s, 400, nil); len(last.Rows) != 50 || last.After != -1 {
		t.Errorf("the last part has %d rows", len(last.Rows))
	}
	if none := TableOf("some", report.Section{Table: &report.Table{}}, 7, nil); none.From != 0 || none.Before != -1 || none.After != -1 {
		t.Errorf("%+v", none)
	}
}

// Whatever is in a name stays in the value of its key.
func TestAddressesHoldAnyName(t *testing.T) {
	for _, name := range []string{"..", "../queues", "a&name=b", "a#b", "//evil.example", "a?b"} {
		for _, link := range []string{QueueLink(name), ApplicationLink("root", name), PodLink("ns", name)} {
			if strings.ContainsAny(link[1:], "/#") || strings.Count(link, "?") != 1 || strings.Count(link, "&") > 1 {
				t.Errorf("%q leads to %s", name, link)
			}
		}
	}
}
