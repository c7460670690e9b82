package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// setPreemption sets the preemption settings of a queue: preemption.fairShareTimeout=60s and so on.
func setPreemption(p *queue.Preemption, o option, key string) (err error) {
	switch key {
	case "fairShareThreshold":
		p.FairShareThreshold, err = parseRatio(o)
	case "fairShareTimeout":
		p.FairShareTimeout, err = parseTimeout(o, true)
	case "guaranteedTimeout":
		p.GuaranteedTimeout, err = parseTimeout(o, true)
	case "preemptible":
		p.Preemptible, err = queue.StatedPreemptible(o.value() == "true"), parseBool(o)
	case "observeOnly":
		p.ObserveOnly, err = o.value() == "true", parseBool(o)
	case "utilizationThreshold":
		p.UtilizationThreshold, err = parseRatio(o)
	case "interval":
		p.Interval, err = parseTimeout(o, false)
	case "maxWaitBeforeKill":
		p.MaxWaitBeforeKill, err = parseTimeout(o, false)
	case "totalPerRound":
		p.TotalPerRound, err = parseRatio(o)
	case "maxIgnoredOverCapacity":
		p.MaxIgnoredOverCapacity, err = parseRatio(o)
	case "naturalTerminationFactor":
		p.NaturalTerminationFactor, err = parseRatio(o)
	default:
		err = fmt.Errorf("a queue has no %s", o.Key)
	}
	return err
}

func parseBool(o option) error {
	if o.value() != "true" && o.value() != "false" {
		return fmt.Errorf("%s: %q is neither true nor false", o.Key, o.value())
	}
	return nil
}

// parseTimeout reads a duration. "unset" removes the setting; "never", if allowed, switches preemption off.
func parseTimeout(o option, mayBeNever bool) (queue.Timeout, error) {
	switch {
	case o.value() == "unset":
		return queue.Timeout{}, nil
	case o.value() == "never" && mayBeNever:
		return queue.Timeout{Stated: true, Never: true}, nil
	}
	d, err := time.ParseDuration(o.value())
	if err != nil || d < 0 {
		return queue.Timeout{}, fmt.Errorf("%s: %q is no duration such as 30s or 5m", o.Key, o.value())
	}
	return queue.Timeout{Stated: true, Nanoseconds: d.Nanoseconds()}, nil
}

// starvation prints the starved queues: since when, when their timeouts pass, whether a claim is open, and what it still
// lacks.
func (w *World) showStarvation(statement) (string, error) {
	l := w.inLive().ledger
	l.LookAtStarvation(w.now * second)
	rows := [][]string{{"QUEUE", "BELOW FAIR SHARE", "DUE", "BELOW GUARANTEED", "DUE", "CLAIMING", "OWED"}}
	for _, q := range l.Snapshot().Queues {
		s := q.Starvation
		if s.BelowFairShareSince == 0 && s.BelowGuaranteedSince == 0 && !s.Claiming {
			continue
		}
		rows = append(rows, []string{
			string(q.Path), since(s.BelowFairShareSince), clock(s.FairShareDue), since(s.BelowGuaranteedSince), clock(s.GuaranteedDue),
			yes(s.Claiming), amounts(s.Owed),
		})
	}
	if len(rows) == 1 {
		return "nobody is below\n", nil
	}
	return table(rows), nil
}

func since(at int64) string {
	if at == 0 {
		return "-"
	}
	return "since " + clock(at)
}

// clock is a time of the day.
func clock(at int64) string {
	if at == 0 {
		return "-"
	}
	return time.Unix(0, at).UTC().Format(time.TimeOnly)
}

// preempt [short] makes a round of preemption if one is due: it checks the clocks, makes a plan, and the ledger adopts
// it. It prints the plan; with "short" only the number of victims.
func (w *World) preempt(s statement) (string, error) {
	l, now := w.inLive(), w.now*second
	due, next := l.ledger.LookAtStarvation(now)
	switch {
	case !due && next == 0:
		return "nothing is due\n", nil
	case !due:
		return "nothing is due before " + clock(next) + "\n", nil
	}
	world, ok := l.ledger.Preemption(now)
	if !ok {
		return "nothing is due\n", nil
	}
	plan := preemption.Make(world, l.feasibility(world))
	text := planText(world, plan, len(s.words) > 0)
	if stale := l.ledger.Adopt(world, plan, now); stale > 0 {
		text += fmt.Sprintf("%d places were not taken, since the world has moved on\n", stale)
	}
	return text, nil
}

// what-preemption [short|matrix] prints the round that would follow if the timeouts of all starved queues had passed. It
// changes nothing. With "matrix" it prints who loses and who gets how much.
func (w *World) whatPreemption(s statement) (string, error) {
	l := w.inLive()
	world := l.ledger.WhatPreemption(w.now * second)
	matrix := slices.Equal(s.words, []string{"matrix"})
	if len(world.Claims) == 0 && !matrix {
		return "nobody would claim\n", nil
	}
	plan := preemption.Make(world, l.feasibility(world))
	if matrix {
		return planMatrix(world, plan), nil
	}
	return planText(world, plan, len(s.words) > 0), nil
}

// planText prints a plan: for each claim what it is owed, which pods get which nodes, and why no more; then the victims,
// and for which pod each goes.
func planText(w preemption.World, plan preemption.Plan, short bool) string {
	var out strings.Builder
	if plan.Stopped != "" {
		fmt.Fprintf(&out, "no round: %s: %s\n", plan.Stopped, amounts(resource.Of(resource.Entry{Name: plan.StoppedFor, Value: plan.StoppedAt})))
	}
	for _, p := range plan.Claims {
		fmt.Fprintf(&out, "%s claims %s since %s: owed %s", w.Queues[p.Queue].Path, p.Kind, clock(p.Since), amounts(p.Owed))
		if p.Unpaid != "" {
			fmt.Fprintf(&out, "; unpaid: %s", p.Unpaid)
		}
		out.WriteString("\n")
		if short {
			fmt.Fprintf(&out, "  %d places\n", len(p.Nominations))
			continue
		}
		for _, at := range p.Nominations {
			fmt.Fprintf(&out, "  %s on %s\n", at.UID, w.Nodes[at.Node].Name)
		}
	}
	if short {
		if len(plan.Victims) > 0 {
			fmt.Fprintf(&out, "%d victims: %s\n", len(plan.Victims), amounts(plan.Taken))
		}
		return out.String()
	}
	for _, v := range plan.Victims {
		with := ""
		if v.With != "" {
			with = ", with its group " + v.With
		}
		fmt.Fprintf(&out, "%s goes for %s%s: %s has %s above its share\n", v.UID, v.For, with, w.Queues[v.Above].Path,
			amounts(resource.Of(resource.Entry{Name: v.Resource, Value: v.Surplus})))
	}
	return out.String()
}

// budgets are disruption budgets, in the order in which they were stated.
type budget struct {
	name    string
	allowed int
	pods    map[string]bool
}

// budget NAME allowed=N PODS... states a disruption budget: how many of these pods may go at a time.
func (w *World) setBudget(s statement) (string, error) {
	if len(s.words) == 0 || len(s.options) != 1 || s.options[0].Key != "allowed" {
		return "", fmt.Errorf("budget takes a name, allowed= and pods")
	}
	n, err := parseCount(s.options[0])
	if err != nil {
		return "", err
	}
	l := w.inLive()
	b := budget{name: s.words[0], allowed: int(n.Most), pods: map[string]bool{}}
	for _, name := range s.words[1:] {
		b.pods[name] = true
	}
	for i := range l.budgets {
		if l.budgets[i].name == b.name {
			l.budgets[i] = b
			return "", nil
		}
	}
	l.budgets = append(l.budgets, b)
	return "", nil
}

// feasibility is what the ledger knows of nodes, plus ports and budgets, which it does not know.
func (l *live) feasibility(w preemption.World) preemption.Feasibility {
	return &feasible{Feasibility: l.ledger.Feasibility(w), live: l, world: w}
}

type feasible struct {
	preemption.Feasibility
	*live
	world preemption.World
	steps []commit
}

// commit is one step of a plan as it is made.
type commit struct {
	uid  string
	node string
	gone []string
}

// Fits adds ports: two pods with the same port do not fit on one node.
func (f *feasible) Fits(c *preemption.Claimant, node int, gone []string) bool {
	if !f.Feasibility.Fits(c, node, gone) {
		return false
	}
	port := f.ports[c.UID]
	if port == "" {
		return true
	}
	left := map[string]bool{}
	for _, uids := range append([][]string{gone, f.world.Gone}, f.goneSoFar()...) {
		for _, uid := range uids {
			left[uid] = true
		}
	}
	name := f.world.Nodes[node].Name
	for _, p := range f.pods {
		if p.Node == name && !left[p.Name] && f.ports[p.Name] == port {
			return false
		}
	}
	for _, s := range f.steps {
		if s.node == name && f.ports[s.uid] == port {
			return false
		}
	}
	return true
}

func (f *feasible) goneSoFar() (all [][]string) {
	for _, s := range f.steps {
		all = append(all, s.gone)
	}
	return all
}

func (f *feasible) Commit(c *preemption.Claimant, node int, gone []string) {
	f.Feasibility.Commit(c, node, gone)
	f.steps = append(f.steps, commit{c.UID, f.world.Nodes[node].Name, gone})
}

func (f *feasible) Rollback(n int) {
	f.Feasibility.Rollback(n)
	f.steps = f.steps[:n]
}

func (f *feasible) Budgets(uid string) (of []int) {
	for i, b := range f.budgets {
		if b.pods[uid] {
			of = append(of, i)
		}
	}
	return of
}

func (f *feasible) Allowed(b int) int { return f.budgets[b].allowed }

// actions [do [short]] [grace=30s] [fail=NAME] [refuse=NAME] prints the pending actions that are due, or with "short" how many there are. With "do" they
// are carried out: evicted pods terminate after their grace period. The eviction of the pod named by "fail" ends in an error; a disruption budget
// refuses the one named by "refuse".
func (w *World) actions(s statement) (string, error) {
	l, now := w.inLive(), w.now*second
	do, grace, fail, refuse := len(s.words) > 0, 30*second, map[string]bool{}, map[string]bool{}
	for _, o := range s.options {
		switch o.Key {
		case "grace":
			t, err := parseTimeout(o, false)
			if err != nil {
				return "", err
			}
			grace = t.Nanoseconds
		case "fail":
			fail[o.value()] = true
		case "refuse":
			refuse[o.value()] = true
		default:
			return "", fmt.Errorf("actions takes no %s", o.Key)
		}
	}
	var out strings.Builder
	e := l.ledger.PendingActions(now)
	for _, n := range e.Nominate {
		fmt.Fprintf(&out, "nominate %s: %q\n", n.Name, n.Node)
		if do {
			l.change(n.Name, now, func(p *ledger.Pod) { p.Nominated = n.Node })
			l.ledger.Nominated(n)
		}
	}
	for _, v := range e.Announce {
		fmt.Fprintf(&out, "announce %s, for %s in %s\n", v.Name, v.ForName, v.ForQueue)
		if do {
			l.change(v.Name, now, func(p *ledger.Pod) { p.Announced = now })
			l.ledger.Announced(v.UID, now)
		}
	}
	for _, v := range e.Evict {
		text := ""
		switch {
		case !do:
		case fail[v.Name] || refuse[v.Name]:
			text = ": " + map[bool]string{true: "refused", false: "failed"}[refuse[v.Name]]
			l.ledger.EvictionFailed(v.UID, refuse[v.Name], now)
		default:
			l.change(v.Name, now, func(p *ledger.Pod) { p.Terminating, p.Deadline = true, now+grace })
			l.ledger.Evicted(v.UID, now)
		}
		fmt.Fprintf(&out, "evict %s, for %s in %s%s\n", v.Name, v.ForName, v.ForQueue, text)
	}
	for _, v := range e.Withdraw {
		fmt.Fprintf(&out, "withdraw %s: %s\n", v.Name, v.Why)
		if do {
			l.change(v.Name, now, func(p *ledger.Pod) { p.Announced = 0 })
			l.ledger.Withdrawn(v.UID)
		}
	}
	if len(s.words) > 1 && out.Len() > 0 {
		return fmt.Sprintf("nominated %d, announced %d, evicted %d, withdrawn %d\n", len(e.Nominate), len(e.Announce), len(e.Evict), len(e.Withdraw)), nil
	}
	if e.Next != 0 {
		fmt.Fprintf(&out, "more at %s\n", clock(e.Next))
	}
	if out.Len() == 0 {
		return "nothing\n", nil
	}
	return out.String(), nil
}

// change edits a pod, and tells the ledger.
func (l *live) change(name string, now int64, edit func(*ledger.Pod)) {
	p := &l.pods[l.find(name)]
	edit(p)
	l.ledger.ObservePod(*p, now)
}
