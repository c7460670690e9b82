package capacity

import (
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const proportional = ".ProportionalCapacityPreemptionPolicy"

// preemption translates the monitor. It has no timeouts, so the shortest are stated; where it is off, nothing is.
func (t *translation) preemption() {
	enable, policies := t.system[monitor+"enable"], t.system[monitor+"policies"]
	on := enable != nil && boolean(enable.Value)
	if policies != nil {
		on = on && strings.Contains(policies.Value, proportional)
		switch {
		case strings.TrimSpace(policies.Value) == "" || strings.HasSuffix(policies.Value, proportional) && !strings.Contains(policies.Value, ","):
			policies.note.Remark("see %senable", monitor)
		default:
			policies.note.Lose("of the monitors, Fairway has preemption between queues")
		}
	}
	if enable != nil && !on {
		enable.note.Remark("nothing is preempted: no timeout is stated")
	}
	for _, p := range t.config.Properties {
		key, ours := strings.CutPrefix(p.Name, preemptionKeys)
		if !ours {
			continue
		}
		s := t.system[p.Name]
		switch {
		case !on:
			s.note.Skip("%senable is not true, so nothing is preempted", monitor)
		case knobs[key] != nil:
			knobs[key](t, s)
		case strings.HasPrefix(key, "intra-queue-preemption.") || strings.HasPrefix(key, "preemption-to-balance-queue-after-satisfied."):
			unless("false", "there is no such preemption")(t, t.root, s)
		case key == "select_based_on_reserved_containers":
			unless("false", "nodes are held for large pods by other rules")(t, t.root, s)
		default:
			s.note.Lose("it is no property of the monitor that is known here")
		}
	}
	if !on {
		return
	}
	root := t.root.object
	root.Set(enable.note, "preemption.fairShareThreshold", int64(1))
	root.Set(enable.note, "preemption.fairShareTimeout", "1s")
	root.Set(enable.note, "preemption.guaranteedTimeout", "1s")
	root.Set(enable.note, "preemption.utilizationThreshold", int64(0))
	enable.note.Approximate("YARN waits for no timeout, and 1s is the shortest")
	for _, knob := range []struct{ key, field, text string }{
		{"total_preemption_per_round", "totalPerRound", "0.1"},
		{"max_ignored_over_capacity", "maxIgnoredOverCapacity", "0.1"},
		{"natural_termination_factor", "naturalTerminationFactor", "0.2"},
	} {
		if t.system[preemptionKeys+knob.key] == nil {
			root.Set(t.byDefault(preemptionKeys+knob.key, knob.text), "preemption."+knob.field, knob.text)
		}
	}
}

var knobs = map[string]func(*translation, *setting){
	"observe_only": func(t *translation, s *setting) {
		t.root.object.Set(s.note, "preemption.observeOnly", boolean(s.Value))
	},
	"monitoring_interval":        time("interval", 1),
	"max_wait_before_kill":       time("maxWaitBeforeKill", 0),
	"total_preemption_per_round": positive("totalPerRound"),
	"max_ignored_over_capacity": func(t *translation, s *setting) {
		if text, ok := t.part(s); ok {
			t.root.object.Set(s.note, "preemption.maxIgnoredOverCapacity", value.Number(text))
		}
	},
	"natural_termination_factor": positive("naturalTerminationFactor"),
}

// time translates milliseconds.
func time(field string, least int64) func(*translation, *setting) {
	return func(t *translation, s *setting) {
		ms, err := value.Long(s.Value)
		if err != nil {
			t.fail(s.Property, "%w", err)
			return
		}
		seconds, exact := value.Seconds(ms, least, 3600)
		if !exact {
			s.note.Approximate("whole seconds from %s to 1h", value.Duration(least))
		}
		t.root.object.Set(s.note, "preemption."+field, value.Duration(seconds))
	}
}

// positive translates a fraction that must not be 0 here.
func positive(field string) func(*translation, *setting) {
	return func(t *translation, s *setting) {
		r, ok := t.number(s)
		if !ok {
			return
		}
		if r.Cmp(big.NewRat(1, 1000)) < 0 {
			s.note.Approximate("with 0 nothing is ever preempted: what would be preempted is shown, and nothing is evicted")
			t.root.object.Set(s.note, "preemption.observeOnly", true)
			return
		}
		if text, ok := t.part(s); ok {
			t.root.object.Set(s.note, "preemption."+field, value.Number(text))
		}
	}
}
