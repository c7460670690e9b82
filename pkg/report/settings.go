package report

import (
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Settings is what is in force of a queue, a row for each setting, with the queue that states it.
func (q Queue) Settings(l Layout) Table {
	t := Table{Full: true, Columns: []Column{{Title: "SETTING"}, {Title: "VALUE"}, {Title: "FROM"}}}
	add := func(name, value, from string) {
		if value != "" {
			t.Keys, t.Rows = append(t.Keys, name), append(t.Rows, []string{name, value, from})
		}
	}
	own := func(name string, stated resource.List) {
		for i := range stated.Len() {
			e := stated.At(i)
			add(name+" "+reason.Name(string(e.Name)), resource.Format(e.Name, e.Value), q.Name)
		}
	}
	e := q.Effective
	add("policy", e.Policy.Value, e.Policy.From)
	add("fairResource", e.FairResource.Value, e.FairResource.From)
	if q.Capacity != "" {
		add("capacity", q.Capacity, q.Name)
		add("absoluteCapacity", q.ofCluster(q.Absolute.Capacity), q.Name)
		add("absoluteMaxCapacity", q.ofCluster(q.Absolute.Max), q.Name)
	} else if q.Policy != "" {
		from := q.Name
		if q.Weight == queue.DefaultWeight { // stated or not
			from = nothing
		}
		add("weight", resource.Decimal(q.Weight), from)
	}
	own("guaranteed", q.Guaranteed)
	own("max", q.Max)
	for _, a := range e.MaxPodResources {
		add("maxPodResources "+reason.Name(string(a.Resource)), resource.Format(a.Resource, a.Value), a.From)
	}
	count := func(name string, l queue.Limit) {
		if l.Stated {
			add(name, strconv.FormatInt(l.Most, 10), q.Name)
		}
	}
	count("maxRunningApplications", q.Limits.RunningApplications.Limit)
	count("maxApplications", q.ApplicationLimit)
	add("maxDriverShare", e.MaxDriverShare.Value, e.MaxDriverShare.From)
	add("startingTimeout", startingTimeout(q.StartingTimeout), q.Name)
	add("fairShareThreshold", e.FairShareThreshold.Value, e.FairShareThreshold.From)
	add("fairShareTimeout", e.FairShareTimeout.Value, e.FairShareTimeout.From)
	add("guaranteedTimeout", e.GuaranteedTimeout.Value, e.GuaranteedTimeout.From)
	add("preemptible", e.Preemptible.Value, e.Preemptible.From)
	return t
}

// LimitsUsed is what is used of each limit of a queue; a limit that is reached is emphasised.
func (q Queue) LimitsUsed(l Layout) Table {
	t := Table{Full: true, Columns: []Column{{Title: "LIMIT"}, {Title: "USED", Right: true}, {Title: "MOST", Right: true}}}
	add := func(name, used, most string, reached bool) {
		if reached {
			t.emphasise(len(t.Rows), yellow)
		}
		t.Keys, t.Rows = append(t.Keys, name), append(t.Rows, []string{name, used, most})
	}
	amounts := func(name string, used, most resource.List) {
		for i := range most.Len() {
			e := most.At(i)
			has := used.Get(e.Name)
			add(name+" "+reason.Name(string(e.Name)), resource.Format(e.Name, has), resource.Format(e.Name, e.Value), has >= e.Value)
		}
	}
	count := func(name string, c CountLimit) {
		if c.Limit.Stated {
			add(name, strconv.FormatInt(c.Used, 10), strconv.FormatInt(c.Limit.Most, 10), c.Used >= c.Limit.Most)
		}
	}
	amounts("max", q.Allocated, q.Max)
	count("maxRunningApplications", q.Limits.RunningApplications)
	count("maxApplications", q.Limits.Applications)
	amounts("maxDriverShare", q.Limits.Drivers, q.DriverLimit)
	return t
}
