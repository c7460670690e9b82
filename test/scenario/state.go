package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// cluster cpu=200 memory=800Gi
func (w *World) setCluster(s statement) (string, error) {
	total, err := s.amounts()
	if err == nil {
		w.cluster = total
	}
	return "", err
}

// queue PATH [weight=N] [capacity=N%|unset] [maxCapacity=N%|unset] [guaranteed=(...)] [max=(...)] [maxPodResources=(...)]
// [maxRunningApplications=N] [maxApplications=N|unset] [maxDriverShare=N] [users.maxRunningApplications=N]
// [users.minSharePercent=N|unset] [users.shareFactor=N|unset] [users.weights=(ann=2, bob=0.5)]
// [strict=true] [maxStarting=N] [startingTimeout=5m|adaptive] [defaultPriority=N] [maxPriority=N]
// [policy=NAME] [fairResource=NAME] [resourceCalculator=Dominant|Memory] [state=Running|Stopped]
// [preemption.fairShareTimeout=60s|never|unset and so on] declares a queue, or changes those settings of one
// that is declared. The path is not checked: what happens with a bad one is a rule.
func (w *World) setQueue(s statement) (string, error) {
	name, err := s.word("path")
	if err != nil {
		return "", err
	}
	d := queue.Declaration{Path: queue.Path(name), Spec: queue.DefaultSpec(), Created: w.now * second}
	i, known := w.declaration(d.Path)
	if known {
		d = w.queues[i]
	}
	for _, o := range s.options {
		if err := setSpec(&d, o); err != nil {
			return "", err
		}
	}
	if known {
		w.queues[i] = d
	} else {
		w.queues = append(w.queues, d)
	}
	return "", nil
}

func setSpec(d *queue.Declaration, o option) (err error) {
	spec := &d.Spec
	switch o.Key {
	case "weight":
		spec.Weight, err = parseWeight(o.value())
	case "capacity":
		spec.Capacity, err = parsePercent(o)
	case "maxCapacity":
		spec.MaxCapacity, err = parsePercent(o)
	case "guaranteed":
		spec.Guaranteed, d.Percent.Guaranteed, err = parseParts(o)
	case "max":
		spec.Max, d.Percent.Max, err = parseParts(o)
	case "maxPodResources":
		spec.MaxPod, d.Percent.MaxPod, err = parseParts(o)
	case "maxRunningApplications", "maxApplications", "users.maxRunningApplications":
		err = setApplications(spec, o)
	case "maxDriverShare":
		spec.MaxDriverShare, err = parseRatio(o)
	case "users.minSharePercent", "users.shareFactor", "users.weights":
		err = setUsers(&spec.Users, o)
	case "maxStarting", "startingTimeout":
		err = setStarting(spec, o)
	case "defaultPriority", "maxPriority":
		err = setPriority(spec, o)
	case "fairResource":
		spec.FairResource = resource.Name(o.value())
	case "resourceCalculator":
		spec.Calculator, err = queue.ParseCalculator(o.value())
	case "strict":
		spec.Strict, err = strconv.ParseBool(o.value())
	case "policy":
		spec.Policy, err = queue.ParsePolicy(o.value())
	case "state":
		spec.State, err = queue.ParseState(o.value())
	case "reservable":
		d.Parent, d.Reservable, err = o.value() == "true", o.value() == "true", parseBool(o)
	case "children.maxCreated":
		d.Parent = true
		d.MaxCreated, err = parseCount(o)
	default:
		key, ok := strings.CutPrefix(o.Key, "preemption.")
		if !ok {
			return fmt.Errorf("a queue has no %s", o.Key)
		}
		err = setPreemption(&spec.Preemption, o, key)
	}
	return err
}

// setApplications sets a number of applications.
func setApplications(spec *queue.Spec, o option) (err error) {
	switch o.Key {
	case "maxRunningApplications":
		spec.MaxRunningApplications, err = parseCount(o)
	case "maxApplications":
		spec.MaxApplications, err = parseCountOrUnset(o)
	default:
		spec.MaxRunningApplicationsPerUser, err = parseCount(o)
	}
	return err
}

// setStarting sets how many applications may be starting, or for how long.
func setStarting(spec *queue.Spec, o option) (err error) {
	if o.Key == "maxStarting" {
		spec.MaxStarting, err = parseCount(o)
	} else {
		spec.StartingTimeout, err = parseStartingTimeout(o)
	}
	return err
}

// setPriority sets a priority of a queue's pods.
func setPriority(spec *queue.Spec, o option) error {
	priority, err := parsePriority(o)
	if o.Key == "defaultPriority" {
		spec.DefaultPriority = priority
	} else {
		spec.MaxPriority = queue.AtMost(int64(priority))
	}
	return err
}

// delete PATH begins the deletion of a queue: it exists, but not for much longer.
func (w *World) deleteQueue(s statement) (string, error) {
	i, err := w.declared(s)
	if err == nil {
		w.queues[i].Deleting = true
	}
	return "", err
}

// remove PATH ends it: the queue is no longer declared.
func (w *World) removeQueue(s statement) (string, error) {
	i, err := w.declared(s)
	if err == nil {
		w.queues = slices.Delete(w.queues, i, i+1)
	}
	return "", err
}

func (w *World) declared(s statement) (int, error) {
	name, err := s.word("path")
	if err != nil {
		return 0, err
	}
	i, ok := w.declaration(queue.Path(name))
	if !ok {
		return 0, fmt.Errorf("queue %s is not declared", name)
	}
	return i, nil
}

// usage PATH cpu=4 memory=8Gi says what the pods directly in a queue are charged; no
// amounts: nothing runs there. Limits are not asked, as for pods that already run.
func (w *World) setUsage(s statement) (string, error) {
	name, err := s.word("path")
	if err != nil {
		return "", err
	}
	l, err := s.amounts()
	if err == nil {
		w.at(queue.Path(name)).usage = l
	}
	return "", err
}

// waiting PATH cpu=4 memory=8Gi says what the pods that wait directly in a queue ask
// for; no amounts: none wait.
func (w *World) setWaiting(s statement) (string, error) {
	name, err := s.word("path")
	if err != nil {
		return "", err
	}
	l, err := s.amounts()
	if err != nil {
		return "", err
	}
	p := w.at(queue.Path(name))
	if p.waiting.IsZero() {
		p.since = w.now * second
	}
	p.waiting = l
	return "", nil
}

// active PATH... says which queues have an application that may run, besides those
// where something runs or waits. It replaces what an earlier one said.
func (w *World) setActive(s statement) (string, error) {
	if len(s.options) > 0 {
		return "", fmt.Errorf("active takes paths only")
	}
	for i := range w.places {
		w.places[i].active = false
	}
	for _, name := range s.words {
		w.at(queue.Path(name)).active = true
	}
	return "", nil
}

// application NAME queue=PATH [usage=(...)] [waiting=(...)] [priority=N] adds an
// application to a queue, or changes those properties of one.
func (w *World) setApplication(s statement) (string, error) {
	name, err := s.word("name")
	if err != nil {
		return "", err
	}
	a := application{name: name, submitted: w.now * second}
	i := slices.IndexFunc(w.apps, func(a application) bool { return a.name == name })
	if i >= 0 {
		a = w.apps[i]
	}
	for _, o := range s.options {
		if err := a.set(o); err != nil {
			return "", err
		}
	}
	if a.path == "" {
		return "", fmt.Errorf("an application needs a queue")
	}
	if i >= 0 {
		w.apps[i] = a
	} else {
		w.apps = append(w.apps, a)
	}
	return "", nil
}

func (a *application) set(o option) error {
	var err error
	switch o.Key {
	case "queue":
		a.path = queue.Path(o.value())
	case "usage":
		a.usage, err = parseList(o)
	case "waiting":
		a.waiting, err = parseList(o)
	case "priority":
		a.priority, err = parsePriority(o)
	default:
		err = fmt.Errorf("an application has no %s", o.Key)
	}
	return err
}

// account is what a queue's subtree uses and wants.
type account struct {
	usage   resource.Sum
	waiting resource.Sum
	demand  resource.Sum // usage and waiting, at most max at every level
	active  bool
}

// accounts returns the account of every node.
func (w *World) accounts() []account {
	out := make([]account, len(w.tree.Nodes))
	enter := func(p queue.Path, usage, waiting resource.List, active bool) {
		if i, ok := w.tree.Find(p); ok {
			out[i].usage.Add(usage)
			out[i].waiting.Add(waiting)
			out[i].active = out[i].active || active || !usage.IsZero() || !waiting.IsZero()
		}
	}
	for _, p := range w.places {
		enter(p.path, p.usage, p.waiting, p.active)
	}
	for _, a := range w.apps {
		enter(a.path, a.usage, a.waiting, false)
	}
	for i := len(out) - 1; i >= 0; i-- { // children come after parents
		n := w.tree.Nodes[i]
		if len(n.Children) == 0 {
			out[i].demand.AddSum(&out[i].usage)
			out[i].demand.AddSum(&out[i].waiting)
		}
		limited := out[i].demand.List().CapBy(n.Spec.Max)
		out[i].demand = resource.Sum{}
		out[i].demand.Add(limited)
		if n.Parent >= 0 {
			parent := &out[n.Parent]
			parent.usage.AddSum(&out[i].usage)
			parent.waiting.AddSum(&out[i].waiting)
			parent.demand.AddSum(&out[i].demand)
			parent.active = parent.active || out[i].active
		}
	}
	return out
}
