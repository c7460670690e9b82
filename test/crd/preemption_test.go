package crd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

const (
	wantThreshold = `must be a number above 0, up to 1, with at most three decimals, such as "0.5" or 500m`
	wantNotZero   = "a queue is never below 0 of its fair share; to switch preemption off for a queue, leave fairShareTimeout unset or set it to never"
	wantOrNever   = "must be a duration from 1s to 24h in hours, minutes and seconds, such as 90s, 5m or 1h30m, or the word never"
	wantInterval  = "must be a duration from 1s to 1h in hours, minutes and seconds, such as 3s or 1m30s"
	wantWait      = "must be a duration from 0s to 1h in hours, minutes and seconds, such as 15s or 1m30s"
	wantOfRoot    = "spec.preemption: Invalid value: observeOnly, utilizationThreshold, interval, maxWaitBeforeKill, totalPerRound, maxIgnoredOverCapacity and " +
		"naturalTerminationFactor hold over all queues, so they can be stated in the queue root only"
)

func TestRefusalsOfPreemption(t *testing.T) {
	cases := map[string]refusal{}
	refuse := func(queue, field, value, want string) {
		cases[field+" "+value] = refusal{queue, fmt.Sprintf("{preemption: {%s: %s}}", field, value), []string{fmt.Sprintf("spec.preemption.%s: Invalid value: %s: %s", field, value, want)}}
	}
	for _, value := range []string{`"1.001"`, `2`, `"1001m"`, `"-0.5"`, `-1`, `"0.0001"`, `"50%"`, `"half"`, `""`} {
		refuse("root.a", "fairShareThreshold", value, wantThreshold)
		refuse("root", "utilizationThreshold", value, `must be a number from 0 to 1 with at most three decimals, such as "0.8" or 800m`)
		refuse("root", "maxIgnoredOverCapacity", value, `must be a number from 0 to 1 with at most three decimals, such as "0.1" or 100m`)
		refuse("root", "totalPerRound", value, `must be a number above 0, up to 1, with at most three decimals, such as "0.1" or 100m`)
		refuse("root", "naturalTerminationFactor", value, `must be a number above 0, up to 1, with at most three decimals, such as "0.2" or 200m`)
	}
	for _, value := range []string{`0`, `"0"`, `"0.0"`, `"0.000"`, `".0"`, `"0m"`, `"000m"`} {
		refuse("root.a", "fairShareThreshold", value, wantNotZero)
		refuse("root", "totalPerRound", value, `must be a number above 0, up to 1, with at most three decimals, such as "0.1" or 100m`)
		refuse("root", "naturalTerminationFactor", value, `must be a number above 0, up to 1, with at most three decimals, such as "0.2" or 200m`)
	}
	for _, value := range []string{`""`, `"0s"`, `"24h1s"`, `"1441m"`, `"500ms"`, `"-5m"`, `"1.5h"`, `"30s5m"`, `"60"`, `"Never"`, `"off"`} {
		refuse("root.a", "fairShareTimeout", value, wantOrNever)
		refuse("root.a", "guaranteedTimeout", value, wantOrNever)
	}
	for _, value := range []string{`""`, `"1h1s"`, `"61m"`, `"1h30m"`, `"500ms"`, `"-5s"`, `"3"`, `"never"`} {
		refuse("root", "interval", value, wantInterval)
		refuse("root", "maxWaitBeforeKill", value, wantWait)
	}
	refuse("root", "interval", `"0s"`, wantInterval)
	long := `"` + strings.Repeat("1", 32) + `s"`
	for _, field := range []string{"fairShareTimeout", "guaranteedTimeout", "interval", "maxWaitBeforeKill"} {
		cases[field+", longer than any"] = refusal{"root", fmt.Sprintf("{preemption: {%s: %s}}", field, long),
			[]string{fmt.Sprintf("spec.preemption.%s: Too long: may not be more than 32 bytes", field), unchecked}}
	}
	for field, value := range map[string]string{
		"observeOnly": "false", "utilizationThreshold": "1", "interval": "3s", "maxWaitBeforeKill": "0s",
		"totalPerRound": "1", "maxIgnoredOverCapacity": "0", "naturalTerminationFactor": "1",
	} {
		for _, name := range []string{"root.a", "root.root"} {
			cases[field+" of "+name] = refusal{name, fmt.Sprintf("{preemption: {%s: %s}}", field, value), []string{wantOfRoot}}
		}
	}
	checkRefusals(t, cases)
}

func TestAcceptedPreemption(t *testing.T) {
	checkAccepted(t, map[string]acceptance{
		"nothing stated":               {"root.a", `{preemption: {}}`, "weight=1000"},
		"a threshold and its timeout":  {"root.a", `{preemption: {fairShareThreshold: "0.5", fairShareTimeout: 60s}}`, "weight=1000 threshold=500 fair-share=1m0s"},
		"the smallest threshold":       {"root.a", `{preemption: {fairShareThreshold: "0.001"}}`, "weight=1000 threshold=1"},
		"the smallest in milli":        {"root.a", `{preemption: {fairShareThreshold: 1m}}`, "weight=1000 threshold=1"},
		"the whole fair share":         {"root.a", `{preemption: {fairShareThreshold: 1}}`, "weight=1000 threshold=1000"},
		"the whole, with decimals":     {"root.a", `{preemption: {fairShareThreshold: "1.000"}}`, "weight=1000 threshold=1000"},
		"the shortest timeouts":        {"root.a", `{preemption: {fairShareTimeout: 1s, guaranteedTimeout: 1s}}`, "weight=1000 fair-share=1s guaranteed=1s"},
		"the longest timeouts":         {"root.a", `{preemption: {fairShareTimeout: 24h, guaranteedTimeout: 86400s}}`, "weight=1000 fair-share=24h0m0s guaranteed=24h0m0s"},
		"switched off":                 {"root.a", `{preemption: {fairShareTimeout: never, guaranteedTimeout: never}}`, "weight=1000 fair-share=never guaranteed=never"},
		"not preemptible":              {"root.a", `{preemption: {preemptible: false}}`, "weight=1000 not-preemptible"},
		"preemptible":                  {"root.a", `{preemption: {preemptible: true}}`, "weight=1000 preemptible"},
		"root may state what all can":  {"root", `{preemption: {fairShareTimeout: 5m, preemptible: false}}`, "weight=1000 fair-share=5m0s not-preemptible"},
		"root observes":                {"root", `{preemption: {observeOnly: true}}`, "weight=1000 observe-only"},
		"root observes no more":        {"root", `{preemption: {observeOnly: false}}`, "weight=1000"},
		"root, the least of all":       {"root", `{preemption: {utilizationThreshold: 0, interval: 1s, maxWaitBeforeKill: 0s, totalPerRound: 1m, maxIgnoredOverCapacity: 0, naturalTerminationFactor: "0.001"}}`, "weight=1000 utilization=0 interval=1s wait=0s per-round=1 ignored=0 termination=1"},
		"root, the most of all":        {"root", `{preemption: {utilizationThreshold: 1, interval: 1h, maxWaitBeforeKill: 60m, totalPerRound: 1, maxIgnoredOverCapacity: "1.0", naturalTerminationFactor: 1}}`, "weight=1000 utilization=1000 interval=1h0m0s wait=1h0m0s per-round=1000 ignored=1000 termination=1000"},
		"root, YARN's Capacity values": {"root", `{preemption: {utilizationThreshold: "0.8", interval: 3s, maxWaitBeforeKill: 15s, totalPerRound: "0.1", maxIgnoredOverCapacity: "0.1", naturalTerminationFactor: "0.2"}}`, "weight=1000 utilization=800 interval=3s wait=15s per-round=100 ignored=100 termination=200"},
	})
}

// spellPreemption is the part of spell for spec.preemption.
func spellPreemption(p queue.Preemption) (out []string) {
	limit := func(name string, l queue.Limit) {
		if l.Stated {
			out = append(out, fmt.Sprintf("%s=%d", name, l.Most))
		}
	}
	timeout := func(name string, t queue.Timeout) {
		switch {
		case t.Never:
			out = append(out, name+"=never")
		case t.Stated:
			out = append(out, name+"="+time.Duration(t.Nanoseconds).String())
		}
	}
	flag := func(name string, set bool) {
		if set {
			out = append(out, name)
		}
	}
	limit("threshold", p.FairShareThreshold)
	timeout("fair-share", p.FairShareTimeout)
	timeout("guaranteed", p.GuaranteedTimeout)
	flag("not-preemptible", p.Preemptible == queue.PreemptibleNo)
	flag("preemptible", p.Preemptible == queue.PreemptibleYes)
	flag("observe-only", p.ObserveOnly)
	limit("utilization", p.UtilizationThreshold)
	timeout("interval", p.Interval)
	timeout("wait", p.MaxWaitBeforeKill)
	limit("per-round", p.TotalPerRound)
	limit("ignored", p.MaxIgnoredOverCapacity)
	limit("termination", p.NaturalTerminationFactor)
	return out
}
