package capacity

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// rule translates a property of a queue.
type rule struct {
	translate func(*translation, *declared, *setting)
	leaf      bool // it counts in queues without children only
}

// rules are the properties of a queue by name; those whose names have parts of their own are in patterns.
var rules map[string]*rule

// inOrder is the order in which the fields of a Queue are written. What is not in it has no field.
var inOrder = []string{
	"maximum-allocation-mb", "maximum-allocation-vcores", "maximum-allocation", "max-parallel-apps", "maximum-applications",
	"maximum-am-resource-percent", "minimum-user-limit-percent", "user-limit-factor", "ordering-policy", "state",
	"default-application-priority", "disable_preemption", "reservable", "reservation-window", "average-capacity", "instantaneous-max-capacity",
	"reservation-enforcement-window", "reservation-move-on-expiry", "acl_submit_applications", "acl_submit_reservations", "acl_administer_queue",
}

func init() {
	done := func(*translation, *declared, *setting) {} // translated elsewhere
	rules = map[string]*rule{
		"queues":                                        {translate: (*translation).queues},
		"capacity":                                      {translate: done},
		"maximum-capacity":                              {translate: done},
		"allow-zero-capacity-sum":                       {translate: skipped("it is about the check of the file")},
		"maximum-allocation-mb":                         {translate: (*translation).maximumAllocation},
		"maximum-allocation-vcores":                     {translate: (*translation).maximumAllocation},
		"maximum-allocation":                            {translate: (*translation).maximumAllocation},
		"max-parallel-apps":                             {translate: (*translation).maxParallelApps},
		"maximum-applications":                          {translate: (*translation).maximumApplications, leaf: true},
		"maximum-am-resource-percent":                   {translate: (*translation).maximumAMResourcePercent, leaf: true},
		"minimum-user-limit-percent":                    {translate: (*translation).minimumUserLimitPercent, leaf: true},
		"user-limit-factor":                             {translate: (*translation).userLimitFactor, leaf: true},
		"ordering-policy":                               {translate: (*translation).orderingPolicy},
		"ordering-policy.fair.enable-size-based-weight": {translate: unless("false", "applications of a queue have equal shares, whatever their size"), leaf: true},
		"state":                        {translate: (*translation).state},
		"default-application-priority": {translate: (*translation).defaultPriority, leaf: true},
		"disable_preemption":           {translate: (*translation).disablePreemption},
		"intra-queue-preemption.disable_preemption": {translate: skipped("between the applications of a queue, pods are preempted by pod priority only")},
		"acl_submit_applications":                   {translate: (*translation).aclSubmit},
		"acl_administer_queue":                      {translate: (*translation).aclAdminister},
		"acl_application_max_priority":              {translate: lost("RBAC does not restrict PriorityClasses; bound them by namespace, with a ResourceQuota whose scopeSelector names a PriorityClass")},
		"acl_administer_reservations":               {translate: ofReservable(lost(plan.AdministersReservations))},
		"acl_list_reservations":                     {translate: ofReservable(lost(plan.ListsReservations))},
		"acl_submit_reservations":                   {translate: ofReservable((*translation).aclReserve)},
		"reservable":                                {translate: (*translation).reservable},
		"reservation-window":                        {translate: reservationTime("window", 60)},
		"reservation-enforcement-window":            {translate: reservationTime("enforcementWindow", 0)},
		"reservation-move-on-expiry":                {translate: ofReservable((*translation).moveOnExpiry)},
		"average-capacity":                          {translate: reservationShare("averageShare")},
		"instantaneous-max-capacity":                {translate: reservationShare("instantaneousShare")},
		"reservation-agent":                         {translate: ofReservable(aboutReservations((*plan.Note).ReservationAgent))},
		"reservation-planner":                       {translate: ofReservable(aboutReservations((*plan.Note).ReservationPlanner))},
		"reservation-policy":                        {translate: ofReservable(aboutReservations((*plan.Note).ReservationPolicy))},
		"show-reservations-as-queues":               {translate: skipped("reservations that have begun are Queues, which everybody sees who sees queues")},
		"priority":                                  {translate: unless("0", "queues have no priorities")},
		"default-node-label-expression":             {translate: lost(noLabels)},
		"accessible-node-labels":                    {translate: unless("*", noLabels)},
		"maximum-application-lifetime":              {translate: unless("-1", noLifetime)},
		"default-application-lifetime":              {translate: unless("-1", noLifetime)},
		"auto-create-child-queue.enabled":           {translate: (*translation).autoCreate},
		"auto-queue-creation-v2.enabled":            {translate: (*translation).autoCreate},
		"auto-queue-creation.enabled":               {translate: (*translation).autoCreate},
	}
}

const (
	noLabels   = "queues have no parts of the nodes of their own; use taints, and node affinity in the pods"
	noLifetime = "state activeDeadlineSeconds in pods and Jobs"
)

func skipped(why string) func(*translation, *declared, *setting) {
	return func(_ *translation, _ *declared, s *setting) { s.note.Skip("%s", why) }
}

func lost(why string) func(*translation, *declared, *setting) {
	return func(_ *translation, _ *declared, s *setting) { s.note.Lose("%s", why) }
}

func aboutReservations(say func(*plan.Note)) func(*translation, *declared, *setting) {
	return func(_ *translation, _ *declared, s *setting) { say(s.note) }
}

// unless is lost unless the property has this value, which is the default.
func unless(byDefault, why string) func(*translation, *declared, *setting) {
	return func(_ *translation, _ *declared, s *setting) {
		if strings.EqualFold(strings.TrimSpace(s.Value), byDefault) {
			s.note.Skip("that is the default")
		} else {
			s.note.Lose("%s", why)
		}
	}
}

// patterns are the properties whose names have parts of their own: what they begin and end with.
var patterns = []struct {
	begin, end string
	rule       rule
}{
	{"user-settings.", ".weight", rule{translate: (*translation).userWeight, leaf: true}},
	{"accessible-node-labels.", "", rule{translate: lost(noLabels)}},
	{"leaf-queue-template.", "", rule{translate: (*translation).template}},
	{"auto-queue-creation-v2.template.", "", rule{translate: (*translation).template}},
	{"auto-queue-creation-v2.leaf-template.", "", rule{translate: (*translation).template}},
	{"auto-queue-creation-v2.parent-template.", "", rule{translate: lost("what is created begins with one template, for queues without children")}},
	{"auto-create-child-queue.", "", rule{translate: lost(noTemplate)}},
	{"auto-queue-creation-v2.", "", rule{translate: lost(noTemplate)}},
}

// ruleOf returns what translates a property of a queue, nil if no such property is known.
func ruleOf(property string) *rule {
	if r := rules[property]; r != nil {
		return r
	}
	for i, p := range patterns {
		if strings.HasPrefix(property, p.begin) && strings.HasSuffix(property, p.end) && len(property) >= len(p.begin)+len(p.end) {
			return &patterns[i].rule
		}
	}
	return nil
}

// queue translates what a queue states, and gives it the defaults of what it does not state.
func (t *translation) queue(d *declared) {
	done := map[string]bool{}
	for _, name := range inOrder {
		done[name] = true
		if s := d.stated[name]; s != nil {
			t.property(d, name, s)
		} else {
			t.unstated(d, name)
		}
	}
	for _, p := range t.config.Properties {
		name, ours := strings.CutPrefix(p.Name, prefix+d.yarn+".")
		if s := d.stated[name]; ours && s != nil && !done[name] {
			t.property(d, name, s)
		}
	}
	t.stateOf(d)
}

func (t *translation) property(d *declared, name string, s *setting) {
	r := ruleOf(name)
	if r.leaf && !d.leaf() {
		s.note.Skip("it counts in queues without children only, in YARN too")
		return
	}
	r.translate(t, d, s)
}

func (t *translation) queues(d *declared, s *setting) {
	if len(d.children) > 0 {
		s.note.Remark("a Queue for each of them")
	} else {
		s.note.Skip("it names no queue")
	}
}

// maximumAllocation translates the largest container of a queue.
func (t *translation) maximumAllocation(d *declared, s *setting) {
	name := strings.TrimSpace(s.note.Property)
	if name == "maximum-allocation" {
		r, err := value.ParseFair(s.Value)
		if err != nil {
			t.fail(s.Property, "%w", err)
			return
		}
		for _, e := range plan.Amounts(s.note, r) {
			d.object.SetKey(s.note, "maxPodResources", e.Key, e.Value)
		}
		return
	}
	n, err := value.Int(s.Value)
	if err != nil || n < 0 {
		t.fail(s.Property, "%q is not a whole number of at least 0", strings.TrimSpace(s.Value))
		return
	}
	resource, text := "cpu", value.Number(strings.TrimSpace(s.Value))
	if name == "maximum-allocation-mb" {
		resource, text = "memory", strings.TrimSpace(s.Value)+"Mi"
	}
	if p := t.config.Get("yarn.scheduler." + name); p != nil {
		if most, err := value.Int(p.Value); err == nil && n > most {
			t.fail(s.Property, "%d is more than %s, which is %d", n, p.Name, most)
			return
		}
	}
	d.object.SetKey(s.note, "maxPodResources", resource, text)
}

// disablePreemption translates whether pods of a queue may be preempted.
func (t *translation) disablePreemption(d *declared, s *setting) {
	forbids := boolean(s.Value)
	d.object.Set(s.note, "preemption.preemptible", !forbids)
	if !forbids && d.parent != nil && d.parent.mode.byWeight() && d.parent.forbidsPreemption() {
		s.note.Approximate("a queue above says false, and a queue with a weight cannot undo that")
	}
}

// forbidsPreemption reports whether the pods of a queue may not be preempted, by what it states or else the nearest queue above that does.
func (d *declared) forbidsPreemption() bool {
	for ; d != nil; d = d.parent {
		if s := d.stated["disable_preemption"]; s != nil {
			return boolean(s.Value)
		}
	}
	return false
}
