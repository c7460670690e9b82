package world

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Changes are the differences between two worlds.
func Changes(before, after *World) report.Changes {
	c := report.Changes{Queues: queueChanges(before, after)}
	c.WouldStart, c.WouldNotStart = startChanges(before, after)
	had := shortfalls(before.Snapshot)
	for _, s := range shortfalls(after.Snapshot) {
		if !slices.ContainsFunc(had, func(h report.Shortfall) bool {
			return h.Queue == s.Queue && h.Resource == s.Resource && h.Covered == s.Covered
		}) {
			c.BelowGuarantee = append(c.BelowGuarantee, s)
		}
	}
	was := byPath(before.Snapshot)
	for _, q := range after.Snapshot.Queues {
		for _, p := range q.Problems {
			if !slices.Contains(was[q.Path].Problems, p) {
				c.Problems = append(c.Problems, p)
			}
		}
	}
	return c
}

func byPath(s ledger.Snapshot) map[queue.Path]ledger.QueueState {
	all := make(map[queue.Path]ledger.QueueState, len(s.Queues))
	for _, q := range s.Queues {
		all[q.Path] = q
	}
	return all
}

func queueChanges(before, after *World) []report.QueueChange {
	var all []report.QueueChange
	was, is := report.NewTree(before.Snapshot, nil, queue.Root).Queues, report.NewTree(after.Snapshot, nil, queue.Root).Queues
	states, would := byPath(before.Snapshot), byPath(after.Snapshot)
	for len(was)+len(is) > 0 { // both in one order
		switch {
		case len(is) == 0 || len(was) > 0 && compareRows(was[0], is[0]) < 0:
			all = append(all, report.QueueChange{Name: was[0].Name, Change: "gone"})
			was = was[1:]
		case len(was) == 0 || was[0].Name != is[0].Name:
			all = append(all, report.QueueChange{Name: is[0].Name, Change: "new"})
			is = is[1:]
		default:
			fields := different(was[0], is[0])
			if path := queue.Path(is[0].Name); states[path].Spec.Preemption != would[path].Spec.Preemption { // no row shows it
				fields = append(fields, "preemption")
			}
			if len(fields) > 0 {
				all = append(all, report.QueueChange{Name: is[0].Name, Change: "changed", Fields: fields})
			}
			was, is = was[1:], is[1:]
		}
	}
	return all
}

// compareRows is the order of the rows of a tree.
func compareRows(a, b report.Queue) int {
	p, q := queue.Path(a.Name), queue.Path(b.Name)
	switch pathsFirst := queue.Root.Contains(p); {
	case pathsFirst == queue.Root.Contains(q):
		return queue.ComparePaths(p, q)
	case pathsFirst:
		return -1
	}
	return 1
}

// different names the fields in which two rows about one queue differ, as their JSON does.
func different(a, b report.Queue) []string {
	var fields []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"weight", a.Weight == b.Weight || a.Capacity+b.Capacity != ""},
		{"capacity", a.Capacity == b.Capacity},
		{"absoluteCapacity", a.Absolute.Capacity == b.Absolute.Capacity || a.Capacity+b.Capacity == ""}, // else it is steadyFairShare
		{"absoluteMaxCapacity", a.Absolute.Max == b.Absolute.Max},
		{"policy", a.Policy == b.Policy},
		{"resourceCalculator", a.Calculator == b.Calculator},
		{"state", a.State == b.State},
		{"active", a.Active == b.Active},
		{"steadyFairShare", a.SteadyFairShare.Equal(b.SteadyFairShare)},
		{"fairShare", a.FairShare.Equal(b.FairShare)},
		{"guaranteed", a.Guaranteed.Equal(b.Guaranteed)},
		{"max", queue.SameLimits(a.Max, b.Max)},
		{"allocated", a.Allocated.Equal(b.Allocated)},
		{"demand", a.Demand.Equal(b.Demand)},
		{"applications", a.ApplicationsPending == b.ApplicationsPending && a.ApplicationsStarting == b.ApplicationsStarting && a.ApplicationsRunning == b.ApplicationsRunning},
		{"applicationLimit", a.ApplicationLimit == b.ApplicationLimit},
		{"driverLimit", a.DriverLimit.Equal(b.DriverLimit)},
		{"limits", a.Limits.Equal(b.Limits)},
		{"effective", a.Effective.Equal(b.Effective)},
		{"startingTimeout", a.StartingTimeout == b.StartingTimeout},
		{"starting", slices.Equal(a.Starting, b.Starting)},
		{"holds", queue.SameHolds(a.Holds, b.Holds)},
		{"pods", a.Pending == b.Pending && a.Running == b.Running},
		{"problems", slices.Equal(a.Problems, b.Problems)},
	} {
		if !f.same {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// startChanges returns the applications without running pods that would get a pod released in one world but not
// in the other.
func startChanges(before, after *World) (would, wouldNot []report.Application) {
	only := func(as report.Applications, in, out map[applicationKey]bool) []report.Application {
		var found []report.Application
		for _, a := range as {
			if key := (applicationKey{queue.Path(a.Queue), a.Name}); a.Running == 0 && in[key] && !out[key] {
				found = append(found, a)
			}
		}
		return found
	}
	was, is := before.starting(), after.starting()
	return only(after.Applications(queue.Root), is, was), only(before.Applications(queue.Root), was, is)
}

// starting are the applications that would get a pod released now.
func (w *World) starting() map[applicationKey]bool {
	w.details()
	pods := make(map[ledger.UID]ledger.PodState, len(w.pods))
	for _, p := range w.pods {
		pods[p.UID] = p
	}
	all := map[applicationKey]bool{}
	for _, uid := range w.Picture().Released() {
		all[applicationKey{pods[uid].Leaf, pods[uid].Application}] = true
	}
	return all
}

// shortfalls are guarantees that queues do not have: a queue has less than it is guaranteed and asks for, or
// the guarantees below its parent sum to more than the parent's steady fair share. It names the first resource of
// each.
func shortfalls(s ledger.Snapshot) []report.Shortfall {
	var all []report.Shortfall
	promised := map[queue.Path]*resource.Sum{}
	for _, q := range s.Queues {
		if promised[q.Path.Parent()] == nil {
			promised[q.Path.Parent()] = &resource.Sum{}
		}
		promised[q.Path.Parent()].Add(q.Spec.Guaranteed)
	}
	states := byPath(s)
	for _, q := range s.Queues {
		above, hasParent := states[q.Path.Parent()]
		for i := range q.Spec.Guaranteed.Len() {
			e := q.Spec.Guaranteed.At(i)
			short := report.Shortfall{Queue: string(q.Path), Resource: e.Name, Guaranteed: e.Value}
			if hasParent && e.Value > 0 && promised[q.Path.Parent()].Get(e.Name) > above.SteadyFairShare.Get(e.Name) {
				short.Has = above.SteadyFairShare.Get(e.Name)
				all = append(all, short)
				break
			}
			if short.Has = q.Allocated.Get(e.Name); short.Has < min(e.Value, q.Demand.Get(e.Name)) {
				short.Covered = true
				all = append(all, short)
				break
			}
		}
	}
	return all
}
