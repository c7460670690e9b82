package report

import "strconv"

// Course is the table of a queue over time: a row for each time.
func Course(times []int64, queues []Queue, l Layout) Table {
	t := Table{Full: true, Columns: []Column{
		{Title: "WHEN"}, {Title: "ALLOCATED"}, {Title: "FAIR-SHARE"}, {Title: "DEMAND"}, {Title: "RUNNING", Right: true},
		{Title: "PENDING", Right: true},
	}}
	for i, q := range queues {
		t.Rows = append(t.Rows, []string{timestamp(times[i]), l.amounts(q.Allocated), l.amounts(q.FairShare), l.amounts(q.Demand),
			strconv.FormatInt(q.Running, 10), strconv.FormatInt(q.Pending, 10)})
	}
	return t
}
