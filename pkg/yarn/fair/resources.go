package fair

import (
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// resources reads the amounts of a setting. what is for messages.
func (t *translation) resources(what string, s *setting) (plan.Map, value.Resources, bool) {
	r, err := value.ParseFair(s.text)
	if err != nil {
		t.fail(s.line, "%s%s: %w", what, s.note.Property, err)
		return nil, r, false
	}
	return plan.Amounts(s.note, r), r, true
}

func (t *translation) minResources(a *allocation, s *setting) {
	amounts, r, ok := t.resources(a.yarn+" ", s)
	if !ok {
		return
	}
	if r.Percent {
		s.note.Approximate("a percentage counts here; YARN reads it without an error and takes 0")
	}
	if a.parent == nil {
		s.note.Skip("root has the whole cluster")
		return
	}
	a.object.Set(s.note, "guaranteed", amounts)
}

func (t *translation) maxResources(a *allocation, s *setting) {
	if amounts, _, ok := t.resources(a.yarn+" ", s); ok {
		a.object.Set(s.note, "max", amounts)
	}
}

func (t *translation) maxContainerAllocation(a *allocation, s *setting) {
	if a.parent == nil {
		t.fail(s.line, "root maxContainerAllocation: it cannot be stated for root; yarn-site.xml has it as yarn.scheduler.maximum-allocation-mb and -vcores")
		return
	}
	if amounts, _, ok := t.resources(a.yarn+" ", s); ok {
		s.note.Remark("a queue may lower what a queue above it states, and not raise it")
		a.object.Set(s.note, "maxPodResources", amounts)
	}
}

func (t *translation) maxChildResources(a *allocation, s *setting) {
	amounts, _, ok := t.resources(a.yarn+" ", s)
	switch {
	case !ok:
	case !a.isParent():
		s.note.Skip("the queue has no children, and placement creates none below it")
	default:
		a.object.Set(s.note, "children.max", amounts)
	}
}
