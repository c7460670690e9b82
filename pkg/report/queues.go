package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Queue is a row about a queue. Amounts and counts include the queues below it.
type Queue struct {
	Name            string // the path
	Weight          int64  // in milli
	Capacity        string // in percent of the parent; "" of a queue that shares by weight
	Absolute        fairshare.Absolute
	Policy          string // "" if none is in force
	Calculator      queue.Calculator
	State           string
	Active          bool
	SteadyFairShare resource.List
	FairShare       resource.List
	Guaranteed      resource.List
	Max             resource.List
	Allocated       resource.List
	Demand          resource.List
	Pending         int64 // pods that wait
	Running         int64 // pods that hold resources

	ApplicationsPending, ApplicationsStarting, ApplicationsRunning int64

	ApplicationLimit queue.Limit   // applications that the queue takes in
	DriverLimit      resource.List // what drivers may use; empty: no share limits them
	Limits           Limits
	Effective        Effective

	// Starting lists the applications that are starting in a queue with policy StateAware. StartingTimeout is
	// how long they may be starting, in nanoseconds; 0 with other policies.
	Starting        []ledger.StartingApplication
	StartingTimeout int64

	Holds    []queue.Hold // nodes that are held for its pods
	Problems []reason.Reason
}

// The states of a queue.
const (
	StateRunning    = "Running"
	StateDraining   = "Draining"   // being deleted, or stopped with applications that go on
	StateNotReady   = "NotReady"   // declared but not in force
	StateUndeclared = "Undeclared" // exists only for its pods
)

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (q Queue) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Name            string            `json:"name"`
		Weight          string            `json:"weight"`
		Capacity        string            `json:"capacity"`
		Absolute        string            `json:"absoluteCapacity"`
		AbsoluteMax     string            `json:"absoluteMaxCapacity"`
		Policy          string            `json:"policy"`
		Calculator      string            `json:"resourceCalculator"`
		State           string            `json:"state"`
		Active          bool              `json:"active"`
		SteadyFairShare map[string]string `json:"steadyFairShare"`
		FairShare       map[string]string `json:"fairShare"`
		Guaranteed      map[string]string `json:"guaranteed"`
		Max             map[string]string `json:"max"`
		Allocated       map[string]string `json:"allocated"`
		Demand          map[string]string `json:"demand"`
		Applications    applicationCounts `json:"applications"`
		Takes           int64             `json:"applicationLimit"`
		DriverLimit     map[string]string `json:"driverLimit"`
		Limits          limitsJSON        `json:"limits"`
		Effective       Effective         `json:"effective"`
		Pods            podCounts         `json:"pods"`
		Problems        []problem         `json:"problems"`
		StartingTimeout string            `json:"startingTimeout"`
		Starting        []start           `json:"starting"`
		Holds           []hold            `json:"holds"`
	}{
		q.Name, q.weight(), q.Capacity, q.ofCluster(q.Absolute.Capacity), q.ofCluster(q.Absolute.Max), q.Policy, q.calculator(), q.State, q.Active,
		quantities(q.SteadyFairShare), quantities(q.FairShare), quantities(q.Guaranteed), quantities(q.Max),
		quantities(q.Allocated), quantities(q.Demand),
		applicationCounts{q.ApplicationsPending, q.ApplicationsStarting, q.ApplicationsRunning}, q.takes(), quantities(q.DriverLimit), q.limits(), q.Effective,
		podCounts{q.Pending, q.Running}, problems(q.Problems), startingTimeout(q.StartingTimeout), starts(q.Starting), holds(q.Holds),
	})
}

// weight is "" of a queue that shares by capacity.
func (q Queue) weight() string {
	if q.Capacity != "" {
		return ""
	}
	return resource.Format(resource.CPU, q.Weight)
}

// ofCluster prints a part of the cluster; "" of a queue that is not in force.
func (q Queue) ofCluster(millionths int64) string {
	if q.Policy == "" {
		return ""
	}
	return resource.Percent(millionths)
}

// calculator is "" of a queue that is not in force.
func (q Queue) calculator() string {
	if q.Policy == "" {
		return ""
	}
	return q.Calculator.String()
}

// takes is how many applications the queue takes in, -1 for any number.
func (q Queue) takes() int64 {
	if !q.ApplicationLimit.Stated {
		return -1
	}
	return q.ApplicationLimit.Most
}

func startingTimeout(ns int64) string {
	if ns == 0 {
		return ""
	}
	return application.Duration(ns)
}

// start is an application that is starting.
type start struct {
	Application string `json:"application"`
	Since       string `json:"since"`
	Until       string `json:"until"`
}

func starts(as []ledger.StartingApplication) []start {
	all := make([]start, len(as))
	for i, a := range as {
		all[i] = start{a.Application, timestamp(a.Since), timestamp(a.Until)}
	}
	return all
}

// tables says in which tables a column is.
type tables uint8

const (
	everyTable tables = iota
	fullTable         // those of whole trees
	wideTable         // of these, those with -o wide
)

// queueColumn is a column, with its text for a queue.
type queueColumn struct {
	Column
	in   tables
	cell func(Queue, Layout) string
}

// queueColumns are the columns in order. Titles are those of `kubectl get queues`.
var queueColumns = []queueColumn{
	{Column{Title: "NAME"}, everyTable, func(q Queue, _ Layout) string { return reason.Name(q.Name) }},
	{Column{Title: "WEIGHT", Right: true, Rank: 3}, everyTable, func(q Queue, _ Layout) string {
		if q.State == StateNotReady || q.Capacity != "" { // its weight is not known, or it has none
			return nothing
		}
		return resource.Decimal(q.Weight)
	}},
	{Column{Title: "CAPACITY", Right: true, Rank: 3, Usual: nothing}, fullTable, func(q Queue, _ Layout) string { return orNothing(q.Capacity) }},
	{Column{Title: "OF-CLUSTER", Right: true, Rank: 6, Usual: nothing}, fullTable, func(q Queue, _ Layout) string {
		if q.Capacity == "" {
			return nothing
		}
		return resource.Percent(q.Absolute.Capacity)
	}},
	{Column{Title: "POLICY", Rank: 9, Usual: "DominantResourceFairness"}, fullTable, func(q Queue, l Layout) string {
		if from := q.Effective.Policy.From; l.Wide && from != q.Name {
			return q.Effective.Policy.cell()
		}
		return q.Policy
	}},
	{Column{Title: "STEADY-SHARE", Rank: 4}, everyTable, func(q Queue, l Layout) string { return l.amounts(q.SteadyFairShare) }},
	{Column{Title: "FAIR-SHARE", Rank: 1}, everyTable, func(q Queue, l Layout) string { return l.amounts(q.FairShare) }},
	{Column{Title: "GUARANTEED", Rank: 6, Usual: nothing}, fullTable, func(q Queue, l Layout) string { return l.stated(q.Guaranteed) }},
	{Column{Title: "MAX", Rank: 6, Usual: nothing}, fullTable, func(q Queue, l Layout) string { return l.stated(q.Max) }},
	{Column{Title: "ALLOCATED"}, everyTable, func(q Queue, l Layout) string { return l.amounts(q.Allocated) }},
	{Column{Title: "DEMAND", Rank: 5}, everyTable, func(q Queue, l Layout) string { return l.amounts(q.Demand) }},
	{Column{Title: "APPLICATIONS", Right: true, Rank: 7}, everyTable, func(q Queue, _ Layout) string {
		return strconv.FormatInt(q.ApplicationsPending+q.ApplicationsStarting+q.ApplicationsRunning, 10)
	}},
	{Column{Title: "STARTING", Right: true, Rank: 8, Usual: "0"}, fullTable, func(q Queue, _ Layout) string { return strconv.FormatInt(q.ApplicationsStarting, 10) }},
	{Column{Title: "RUNNING", Right: true, Rank: 6}, everyTable, func(q Queue, _ Layout) string { return strconv.FormatInt(q.Running, 10) }},
	{Column{Title: "PENDING", Right: true, Rank: 2}, everyTable, func(q Queue, _ Layout) string { return strconv.FormatInt(q.Pending, 10) }},
	{Column{Title: "STATE", Rank: 2, Usual: StateRunning}, fullTable, func(q Queue, _ Layout) string { return q.State }},
	{Column{Title: "PROBLEMS", Rank: 8, Usual: nothing}, fullTable, func(q Queue, _ Layout) string { return codes(q.Problems) }},
}

// Queues returns a table of queues, in the given order. Its columns fit 80 characters with the names of the
// demo; a wider screen shows more.
func Queues(queues []Queue) Table { return queueTable(queues, Layout{}, false) }

func queueTable(queues []Queue, l Layout, full bool) Table {
	var t Table
	last := len(queueColumns) - 2 // STATE and PROBLEMS
	columns := slices.DeleteFunc(slices.Concat(queueColumns[:last], effectiveColumns, queueColumns[last:]), func(c queueColumn) bool {
		return c.in != everyTable && !full || c.in == wideTable && !l.Wide
	})
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, q := range queues {
		row := make([]string, 0, len(columns))
		for _, c := range columns {
			row = append(row, c.cell(q, l))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func codes(problems []reason.Reason) string {
	if len(problems) == 0 {
		return nothing
	}
	words := make([]string, len(problems))
	for i, p := range problems {
		words[i] = string(p.Code)
	}
	return strings.Join(words, ",")
}
