package capacity

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const noTemplate = "queues that placement creates begin with a weight, a policy, a default priority, a max and limits on applications, and have no other settings"

// autoCreate makes a queue one below which placement creates queues.
func (t *translation) autoCreate(d *declared, s *setting) {
	if !boolean(s.Value) {
		s.note.Remark("that is the default")
		return
	}
	s.note.Approximate("the queues are created by the PlacementPolicy, share by weight, and take in any number of applications")
	if !d.object.Has("children") {
		d.object.Set(s.note, "children.template", plan.Map{{Key: "policy", Value: "FIFO"}})
	}
}

var templates = []string{"leaf-queue-template.", "auto-queue-creation-v2.template.", "auto-queue-creation-v2.leaf-template."}

// template translates what queues begin with that are created.
func (t *translation) template(d *declared, s *setting) {
	if !d.creates() {
		s.note.Skip("no queue is created below this one")
		return
	}
	property := s.note.Property
	for _, begin := range templates {
		property = strings.TrimPrefix(property, begin)
	}
	set := func(field string, v any) { t.setTemplate(d, s, field, v) }
	switch property {
	case "max-parallel-apps":
		if n, ok := t.count(s); ok {
			set("maxRunningApplications", n)
		}
	case "maximum-am-resource-percent":
		if text, ok := t.part(s); ok {
			set("maxDriverShare", value.Number(text))
		}
	case "ordering-policy":
		switch strings.TrimSpace(s.Value) {
		case "fifo":
			set("policy", "FIFO")
		case "fair":
			set("policy", "Fair")
		default:
			s.note.Lose("Fairway has fifo and fair")
		}
	case "default-application-priority":
		if n, ok := t.priority(s); ok {
			set("defaultPriority", n)
		}
	case "capacity":
		text, isWeight := strings.CutSuffix(strings.TrimSpace(s.Value), "w")
		if _, err := value.Decimal(text); !isWeight || err != nil {
			s.note.Lose("queues that placement creates share by weight")
			return
		}
		set("weight", value.Number(text))
	default:
		s.note.Lose(noTemplate)
	}
}

// setTemplate sets a field of the template, which is one value with all its fields.
func (t *translation) setTemplate(d *declared, s *setting, field string, v any) {
	fields := plan.Map{{Key: "policy", Value: "FIFO"}}
	if before, ok := d.object.Value("children.template").(plan.Map); ok {
		fields = before
	}
	for i := range fields {
		if fields[i].Key == field {
			fields[i].Value = v
			d.object.Set(s.note, "children.template", fields)
			return
		}
	}
	d.object.Set(s.note, "children.template", append(fields, plan.Entry{Key: field, Value: v}))
}
