package fair

import (
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/site"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const (
	prefix        = "yarn.scheduler.fair."
	preemptionKey = prefix + "preemption"
	oneByOne      = "pods are scheduled one by one, as soon as there is room, at the size that they ask for"
)

// notNeeded are properties that have no meaning here, each with the reason.
var notNeeded = map[string]string{
	"allocation.file": "it names the file", "eventlog.dir": "it is about logs", "event-log.enabled": "it is about logs",
	"assignmultiple": oneByOne, "max.assign": oneByOne, "dynamic.max.assign": oneByOne, "update-interval-ms": oneByOne,
	"continuous-scheduling-enabled": oneByOne, "continuous-scheduling-sleep-ms": oneByOne, "reservable-nodes": oneByOne,
	"waitTimeBeforeNextStarvationCheck": "a claim stays open until it is paid",
}

func (t *translation) siteNote(p *config.Property) *plan.Note {
	return t.plan.Note(plan.Origin{File: p.File, Line: p.Line, Property: p.Name, Value: p.Value})
}

// boolean reads a boolean as Hadoop does: every other word is the default.
func boolean(text string, byDefault bool) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true
	case "false":
		return false
	}
	return byDefault
}

// scheduler translates what yarn-site.xml says, but for what placement has read.
func (t *translation) scheduler() {
	if t.site == nil {
		return
	}
	rulesCount := t.tops.placement != nil && len(t.tops.placement.Children) > 0
	common := site.Site{Plan: t.plan, Config: t.site, Root: t.root.object, Scheduler: "FairScheduler", Lists: true}
	common.Each(func(p *config.Property) bool {
		switch p.Name {
		case preemptionKey, preemptionKey + ".cluster-utilization-threshold", prefix + "preemptionInterval", prefix + "waitTimeBeforeKill":
			return true // see preemption
		case userAsDefaultQueue, allowUndeclaredPools:
			if rulesCount {
				t.siteNote(p).Skip("it does not count beside a queuePlacementPolicy, in YARN too")
			}
			return true
		case prefix + "sizebasedweight":
			if boolean(p.Value, false) {
				t.siteNote(p).Lose("applications of a queue have equal shares, whatever their size")
			} else {
				t.siteNote(p).Skip("that is the default")
			}
			return true
		}
		key, ours := strings.CutPrefix(p.Name, prefix)
		if !ours {
			return false
		}
		if why := notNeeded[key]; why != "" {
			t.siteNote(p).Skip("%s", why)
		} else if strings.HasPrefix(key, "locality.threshold.") || strings.HasPrefix(key, "locality-delay-") {
			t.locality(p)
		} else if key == "am.preemption" || strings.HasPrefix(key, "am.preemption.") {
			t.driversLast(p)
		} else {
			t.siteNote(p).Lose("it is no property of the Fair Scheduler that is known here")
		}
		return true
	})
}

// locality: here a pod waits for the nodes that it prefers for a number of opportunities, which is an argument of the scheduler. -1 is off in YARN.
func (t *translation) locality(p *config.Property) {
	argument := "nodeLocalityDelay"
	if strings.Contains(p.Name, "rack") {
		argument = "rackLocalityDelay"
	}
	switch {
	case strings.HasPrefix(strings.TrimSpace(p.Value), "-1"):
		t.siteNote(p).Skip("that is the default; no pod waits that names no preferred nodes")
	case strings.HasSuffix(p.Name, "-ms"):
		t.siteNote(p).Lose("a delay counts opportunities here, and no time; state %s in the configuration of the scheduler", argument)
	default:
		t.siteNote(p).Lose("state %s in the configuration of the scheduler, as a number of opportunities: this part of the number of nodes", argument)
	}
}

func (t *translation) driversLast(p *config.Property) {
	if boolean(p.Value, true) {
		t.siteNote(p).Skip("drivers go last")
	} else {
		t.siteNote(p).Approximate("drivers go last, but they go; preemptible: false protects those of a queue with everything else in it")
	}
}

// preemption states what counts for all queues. Where YARN does not preempt, nothing is evicted here either.
func (t *translation) preemption() {
	root := t.root.object
	on := t.site.Get(preemptionKey)
	switch {
	case on != nil && boolean(on.Value, false):
		n := t.siteNote(on)
		if t.timeouts {
			n.Remark("a timeout is enough here")
		} else {
			n.Remark("no queue has a timeout, so nothing is preempted, in YARN too")
		}
	case !t.timeouts:
		if on != nil {
			t.siteNote(on).Skip("no queue has a timeout")
		}
	case on != nil:
		root.Set(t.siteNote(on).Remark("what would be preempted is shown, and nothing is evicted"), "preemption.observeOnly", true)
	default:
		n := t.note(0, "", preemptionKey, "false").Approximate("not stated, and the default of YARN; what would be preempted is shown, and nothing is evicted")
		root.Set(n, "preemption.observeOnly", true)
	}
	t.time(prefix+"preemptionInterval", "interval", 1)
	t.time(prefix+"waitTimeBeforeKill", "maxWaitBeforeKill", 0)
	if p := t.site.Get(preemptionKey + ".cluster-utilization-threshold"); p != nil {
		t.utilization(p)
	}
}

// time states a time of yarn-site.xml, which has milliseconds.
func (t *translation) time(property, field string, least int64) {
	p := t.site.Get(property)
	if p == nil {
		return
	}
	n := t.siteNote(p)
	ms, err := value.Long(p.Value)
	if err != nil {
		t.plan.Fail(config.Error{File: p.File, Line: p.Line, Text: property + ": " + err.Error()})
		return
	}
	seconds, exact := value.Seconds(ms, least, 3600)
	if !exact {
		n.Approximate("whole seconds from %s to 1h", value.Duration(least))
	}
	t.root.object.Set(n, "preemption."+field, value.Duration(seconds))
}

func (t *translation) utilization(p *config.Property) {
	n := t.siteNote(p)
	part, err := value.Decimal(p.Value)
	if err != nil {
		t.plan.Fail(config.Error{File: p.File, Line: p.Line, Text: p.Name + ": " + err.Error()})
		return
	}
	switch {
	case part.Sign() < 0:
		part = new(big.Rat)
		n.Approximate("the least is 0")
	case part.Cmp(big.NewRat(1, 1)) > 0:
		part = big.NewRat(1, 1)
		n.Remark("more than 1 is never reached, and neither is more than 1 exceeded")
	}
	text := n.Rounded(part)
	t.root.object.Set(n, "preemption.utilizationThreshold", value.Number(text))
}
