package report

import (
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Queue is what a row says about a queue. Amounts and counts include the queues below it.
type Queue struct {
	Name            string // the path
	Weight          int64  // in milli
	SteadyFairShare resource.List
	FairShare       resource.List
	Allocated       resource.List
	Demand          resource.List
	Pending         int64 // pods that wait
	Running         int64 // pods that hold resources
	Applications    int64 // pending and running
}

// Queues is a table of queues, in the order given. Titles are those of `kubectl get queues`; the columns fit 80 characters with the names
// of the demo, and a wider screen shows more.
func Queues(queues []Queue) Table {
	t := Table{Columns: []Column{
		{Title: "NAME"},
		{Title: "WEIGHT", Right: true, Rank: 3},
		{Title: "STEADY-SHARE", Rank: 4},
		{Title: "FAIR-SHARE", Rank: 1},
		{Title: "ALLOCATED"},
		{Title: "DEMAND", Rank: 5},
		{Title: "APPLICATIONS", Right: true, Rank: 7},
		{Title: "RUNNING", Right: true, Rank: 6},
		{Title: "PENDING", Right: true, Rank: 2},
	}}
	for _, q := range queues {
		t.Rows = append(t.Rows, []string{
			q.Name, Weight(q.Weight), Amounts(q.SteadyFairShare), Amounts(q.FairShare), Amounts(q.Allocated), Amounts(q.Demand),
			strconv.FormatInt(q.Applications, 10), strconv.FormatInt(q.Running, 10), strconv.FormatInt(q.Pending, 10),
		})
	}
	return t
}
