package fair

import (
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// topLevel are the elements below <allocations> that have a text, each with what translates it.
var topLevel = map[string]func(*translation, *setting){
	"userMaxAppsDefault":                  (*translation).userMaxAppsDefault,
	"queueMaxAppsDefault":                 (*translation).queueMaxAppsDefault,
	"queueMaxAMShareDefault":              (*translation).queueMaxAMShareDefault,
	"queueMaxResourcesDefault":            (*translation).queueMaxResourcesDefault,
	"defaultQueueSchedulingPolicy":        (*translation).defaultQueueSchedulingPolicy,
	"defaultQueueSchedulingMode":          (*translation).defaultQueueSchedulingPolicy,
	"defaultFairSharePreemptionThreshold": (*translation).ofRoot,
	"defaultFairSharePreemptionTimeout":   (*translation).ofRoot,
	"fairSharePreemptionTimeout":          (*translation).ofRoot,
	"defaultMinSharePreemptionTimeout":    (*translation).ofRoot,
	"reservation-agent":                   func(_ *translation, s *setting) { s.note.ReservationAgent() },
	"reservation-planner":                 func(_ *translation, s *setting) { s.note.ReservationPlanner() },
	"reservation-policy":                  func(_ *translation, s *setting) { s.note.ReservationPolicy() },
}

// topInOrder is the order in which they are translated.
var topInOrder = []string{
	"userMaxAppsDefault", "queueMaxAppsDefault", "queueMaxAMShareDefault", "queueMaxResourcesDefault", "defaultQueueSchedulingPolicy",
	"defaultFairSharePreemptionThreshold", "defaultFairSharePreemptionTimeout", "fairSharePreemptionTimeout", "defaultMinSharePreemptionTimeout",
	"reservation-agent", "reservation-planner", "reservation-policy",
}

// byDefaults are the values of a queue that states none.
type byDefaults struct {
	apps, share, resources, policy *setting
	maxApps                        int64
	driverShare, policyName        string
	max                            plan.Map
}

const unlimitedApps = 1<<31 - 1

// defaults reads what counts for all queues. What root has for all others is translated with root.
func (t *translation) defaults() {
	t.unstated = byDefaults{maxApps: unlimitedApps, policyName: policyFair}
	for _, name := range topInOrder {
		if s := t.tops.texts[name]; s != nil {
			topLevel[name](t, s)
		}
	}
	for _, e := range t.tops.users {
		for _, field := range e.Children {
			n := t.note(field.Line, "user "+e.Attributes["name"], field.Name, field.Text)
			if field.Name != "maxRunningApps" {
				n.Lose("it is no element of a user that is known here")
				continue
			}
			if _, err := value.Int(field.Text); err != nil {
				t.fail(field.Line, "user %s maxRunningApps: %w", e.Attributes["name"], err)
			}
			n.Lose("Fairway has one number for all users, users.maxRunningApplications of root")
		}
	}
	if t.unstated.policy == nil {
		n := t.note(0, "", "defaultQueueSchedulingPolicy", "fair")
		n.Remark("not stated, and the default of YARN")
		t.unstated.policy = &setting{note: n}
	}
}

func (t *translation) userMaxAppsDefault(s *setting) {
	if n, ok := t.applications(s); ok {
		t.root.object.Set(s.note, "users.maxRunningApplications", n)
	}
}

// applications reads a number of applications.
func (t *translation) applications(s *setting) (int64, bool) {
	n, err := value.Int(s.text)
	if err != nil {
		t.fail(s.line, "%s: %w", s.note.Property, err)
		return 0, false
	}
	if n < 0 {
		s.note.Remark("a negative number lets nothing run, as 0 does")
	}
	return max(n, 0), true
}

func (t *translation) queueMaxAppsDefault(s *setting) {
	if n, ok := t.applications(s); ok {
		t.unstated.apps, t.unstated.maxApps = s, n
		s.note.Remark("root has it, too, as in YARN: there it is a limit for all queues together")
	}
}

func (t *translation) queueMaxAMShareDefault(s *setting) {
	if share, ok := t.driverShare("", s); ok {
		t.unstated.share, t.unstated.driverShare = s, share
	}
}

func (t *translation) queueMaxResourcesDefault(s *setting) {
	if amounts, _, ok := t.resources("", s); ok {
		t.unstated.resources, t.unstated.max = s, amounts
	}
}

func (t *translation) defaultQueueSchedulingPolicy(s *setting) {
	policy := t.policyOf("", s)
	if policy == policyFIFO {
		t.fail(s.line, "%s: it cannot be fifo", s.note.Property)
	}
	if policy != "" {
		t.unstated.policy, t.unstated.policyName = s, policy
	}
}

// rootDefaults are the elements at the top that are properties of root, unless root states its own.
var rootDefaults = map[string][]string{
	"fairSharePreemptionThreshold": {"defaultFairSharePreemptionThreshold"},
	"fairSharePreemptionTimeout":   {"defaultFairSharePreemptionTimeout", "fairSharePreemptionTimeout"},
	"minSharePreemptionTimeout":    {"defaultMinSharePreemptionTimeout"},
}

// ofRoot says of an element at the top why it does not count. If it does, it is translated with root.
func (t *translation) ofRoot(s *setting) {
	for property, names := range rootDefaults {
		for i, name := range names {
			switch {
			case t.tops.texts[name] != s:
			case t.root.stated[property] != nil:
				s.note.Skip("root states %s itself", property)
			case i > 0 && t.tops.texts[names[0]] != nil:
				s.note.Skip("%s is stated, too, and counts", names[0])
			}
		}
	}
}

// byDefault gives a queue what it does not state.
func (t *translation) byDefault(a *allocation, property string) {
	if a.parent == nil {
		for _, name := range rootDefaults[property] {
			if s := t.tops.texts[name]; s != nil {
				properties[property](t, a, s)
				return
			}
		}
	}
	d := t.unstated
	switch property {
	case "maxResources":
		if d.resources != nil {
			a.object.SetDefault(d.resources.note, "max", d.max)
		}
	case "maxRunningApps":
		if d.maxApps != unlimitedApps {
			a.object.SetDefault(d.apps.note, "maxRunningApplications", d.maxApps)
		}
	case "maxAMShare":
		if d.share != nil && !a.isParent() {
			a.object.SetDefault(d.share.note, "maxDriverShare", value.Number(d.driverShare))
		}
	case "schedulingPolicy":
		a.policy = d.policyName
		if a.inherited() == policyFair {
			a.policy = policyFair
		}
		if a.policy != a.inherited() {
			a.object.SetDefault(d.policy.note, "policy", a.policy)
		}
	case "maxChildResources":
		t.createdChildren(a)
	}
}

// createdChildren gives a parent what the queues begin with that placement creates below it.
func (t *translation) createdChildren(a *allocation) {
	if !t.creates || !a.isParent() {
		return
	}
	d := t.unstated
	if d.resources != nil && a.stated["maxChildResources"] == nil {
		a.object.SetDefault(d.resources.note, "children.max", d.max)
	}
	if d.maxApps != unlimitedApps {
		a.object.SetDefault(d.apps.note, "children.template.maxRunningApplications", d.maxApps)
	}
	if d.share != nil {
		a.object.SetDefault(d.share.note, "children.template.maxDriverShare", value.Number(d.driverShare))
	}
	if d.policyName == policyFair && a.policy != policyFair {
		a.object.SetDefault(d.policy.note, "children.template.policy", policyFair)
	}
}
