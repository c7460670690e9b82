package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// FromDefault is where a value in force comes from that no queue states.
const FromDefault = "default"

// Effective is what is in force of settings that may come from a queue above, spelled as in a spec. A value that the queue has not is
// empty, and so are all of a queue that is not in force.
type Effective struct {
	Policy, FairResource, MaxDriverShare Sourced
	FairShareThreshold, FairShareTimeout Sourced
	GuaranteedTimeout                    Sourced
	Preemptible                          Sourced // true or false
	MaxPodResources                      []SourcedAmount
}

// Sourced is a value and the queue that states it, or default.
type Sourced struct {
	Value string `json:"value"`
	From  string `json:"from"`
}

// SourcedAmount is that of an amount.
type SourcedAmount struct {
	Resource resource.Name
	Value    int64
	From     string
}

// EffectiveOf is what is in force of a queue.
func EffectiveOf(q ledger.QueueState) (e Effective) {
	if !q.InTree {
		return e
	}
	is := &q.Effective
	e.Policy = sourced(q.Spec.Policy.String(), is.PolicyFrom)
	if q.Spec.Policy == queue.Fair {
		e.FairResource = sourced(string(q.Spec.Rule().Resource), is.FairResourceFrom)
	}
	if q.Leaf && q.Path != queue.Root {
		e.MaxDriverShare = sourced(resource.Decimal(q.DriverShare()), q.DriverShareFrom())
	}
	e.FairShareThreshold = sourced(resource.Decimal(is.Preemption.Threshold()), is.ThresholdFrom)
	e.FairShareTimeout = sourced(timeout(is.Preemption.FairShareTimeout), is.FairShareTimeoutFrom)
	e.GuaranteedTimeout = sourced(timeout(is.Preemption.GuaranteedTimeout), is.GuaranteedTimeoutFrom)
	e.Preemptible = sourced(strconv.FormatBool(is.Preemption.Preemptible.Allowed()), is.PreemptibleFrom)
	for _, a := range is.MaxPod {
		e.MaxPodResources = append(e.MaxPodResources, SourcedAmount{a.Name, a.Value, string(a.From)})
	}
	return e
}

func sourced(value string, from queue.Path) Sourced {
	return Sourced{value, cmp.Or(string(from), FromDefault)}
}

// never is the timeout of which no queue states another.
const never = "never"

func timeout(t queue.Timeout) string {
	if !t.InForce() {
		return never
	}
	return application.Duration(t.Nanoseconds)
}

// Equal reports whether both are the same.
func (e Effective) Equal(o Effective) bool {
	pods := slices.Equal(e.MaxPodResources, o.MaxPodResources)
	e.MaxPodResources, o.MaxPodResources = nil, nil
	return pods && e.texts() == o.texts()
}

func (e Effective) texts() [7]Sourced {
	return [...]Sourced{
		e.Policy, e.FairResource, e.MaxDriverShare, e.FairShareThreshold, e.FairShareTimeout, e.GuaranteedTimeout, e.Preemptible,
	}
}

// MarshalJSON returns the shape that tools rely on; see Queue.
func (e Effective) MarshalJSON() ([]byte, error) {
	type flag struct {
		Value bool   `json:"value"`
		From  string `json:"from"`
	}
	pods := make(map[string]Sourced, len(e.MaxPodResources))
	for _, a := range e.MaxPodResources {
		pods[string(a.Resource)] = Sourced{quantity(a.Resource, a.Value), a.From}
	}
	return marshal(struct {
		Policy             Sourced            `json:"policy"`
		FairResource       Sourced            `json:"fairResource"`
		MaxDriverShare     Sourced            `json:"maxDriverShare"`
		MaxPodResources    map[string]Sourced `json:"maxPodResources"`
		FairShareThreshold Sourced            `json:"fairShareThreshold"`
		FairShareTimeout   Sourced            `json:"fairShareTimeout"`
		GuaranteedTimeout  Sourced            `json:"guaranteedTimeout"`
		Preemptible        flag               `json:"preemptible"`
	}{
		e.Policy, e.FairResource, e.MaxDriverShare, pods, e.FairShareThreshold, e.FairShareTimeout, e.GuaranteedTimeout,
		flag{e.Preemptible.Value == "true", e.Preemptible.From},
	})
}

// Limits is what is used of limits on applications and drivers.
type Limits struct {
	RunningApplications, Applications CountLimit
	// Drivers may use DriverLimit of the Queue.
	Drivers resource.List
}

// CountLimit is how many there are, and how many there may be.
type CountLimit struct {
	Used  int64
	Limit queue.Limit
}

func limitsOf(q ledger.QueueState) Limits {
	return Limits{
		RunningApplications: CountLimit{int64(q.ApplicationsAdmitted), q.Spec.MaxRunningApplications},
		Applications:        CountLimit{int64(q.ApplicationsTaken), q.ApplicationLimit},
		Drivers:             q.DriversAllocated,
	}
}

// Equal reports whether both are the same.
func (l Limits) Equal(o Limits) bool {
	return l.RunningApplications == o.RunningApplications && l.Applications == o.Applications && l.Drivers.Equal(o.Drivers)
}

// limitsJSON is the shape of the limits of a queue in JSON.
type limitsJSON struct {
	RunningApplications countJSON   `json:"runningApplications"`
	Applications        countJSON   `json:"applications"`
	Drivers             amountsJSON `json:"drivers"`
}

type countJSON struct {
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"` // -1 for any number
}

type amountsJSON struct {
	Used  map[string]string `json:"used"`
	Limit map[string]string `json:"limit"`
}

func (q Queue) limits() limitsJSON {
	number := func(c CountLimit) countJSON {
		if !c.Limit.Stated {
			return countJSON{c.Used, -1}
		}
		return countJSON{c.Used, c.Limit.Most}
	}
	return limitsJSON{
		number(q.Limits.RunningApplications), number(q.Limits.Applications), amountsJSON{quantities(q.Limits.Drivers), quantities(q.DriverLimit)},
	}
}

// cell prints a count with its limit, such as 3/10.
func (c CountLimit) cell() string {
	if !c.Limit.Stated {
		return nothing
	}
	return strconv.FormatInt(c.Used, 10) + "/" + strconv.FormatInt(c.Limit.Most, 10)
}

// cell prints a value with the queue that states it, such as "30s (root)".
func (s Sourced) cell() string {
	switch s.From {
	case "":
		return nothing
	case FromDefault:
		return s.Value
	}
	return s.Value + " (" + s.From + ")"
}

// effectiveColumns are those of -o wide alone.
var effectiveColumns = []queueColumn{
	{Column{Title: "SLOTS", Right: true}, wideTable, func(q Queue, _ Layout) string { return q.Limits.RunningApplications.cell() }},
	{Column{Title: "ENTRIES", Right: true}, wideTable, func(q Queue, _ Layout) string { return q.Limits.Applications.cell() }},
	{Column{Title: "DRIVERS"}, wideTable, func(q Queue, l Layout) string {
		if q.DriverLimit.Len() == 0 {
			return nothing
		}
		return l.amounts(q.Limits.Drivers) + " of " + l.amounts(q.DriverLimit)
	}},
	{Column{Title: "DRIVER-SHARE"}, wideTable, func(q Queue, _ Layout) string { return q.Effective.MaxDriverShare.cell() }},
	{Column{Title: "MAX-POD"}, wideTable, func(q Queue, _ Layout) string { return q.Effective.maxPod() }},
	{Column{Title: "THRESHOLD"}, wideTable, func(q Queue, _ Layout) string { return q.Effective.FairShareThreshold.cell() }},
	{Column{Title: "FAIR-SHARE-TIMEOUT"}, wideTable, func(q Queue, _ Layout) string { return q.Effective.FairShareTimeout.cell() }},
	{Column{Title: "GUARANTEED-TIMEOUT"}, wideTable, func(q Queue, _ Layout) string { return q.Effective.GuaranteedTimeout.cell() }},
	{Column{Title: "PREEMPTIBLE"}, wideTable, func(q Queue, _ Layout) string { return q.Effective.Preemptible.cell() }},
}

// maxPod prints the amounts, each with the queue that states it.
func (e Effective) maxPod() string {
	text := ""
	for i, a := range e.MaxPodResources {
		if i > 0 {
			text += " "
		}
		text += string(a.Resource) + "=" + resource.Format(a.Resource, a.Value) + " (" + a.From + ")"
	}
	return cmp.Or(text, nothing)
}
