package fair

import (
	"fmt"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
)

var rules = map[string]string{
	"specified": "Specified", "user": "User", "primaryGroup": "PrimaryGroup", "secondaryGroupExistingQueue": "SecondaryGroupExistingQueue",
	"nestedUserQueue": "NestedUserQueue", "default": "Default", "reject": "Reject",
}

const (
	userAsDefaultQueue   = "yarn.scheduler.fair.user-as-default-queue"
	allowUndeclaredPools = "yarn.scheduler.fair.allow-undeclared-pools"
)

// placement translates the rules, or the booleans that stand for rules.
func (t *translation) placement() {
	policy := t.tops.placement
	if policy == nil || len(policy.Children) == 0 {
		if policy != nil {
			t.note(policy.Line, "", policy.Name, "").Skip("without a rule it is ignored, in YARN too")
		}
		t.builtInRules()
		return
	}
	statement := placement.Statement{}
	var all plan.List
	for i, e := range policy.Children {
		stated, written, ok := t.rule(e, fmt.Sprintf("rule %d", i+1))
		if !ok {
			return
		}
		statement.Rules = append(statement.Rules, stated)
		all = append(all, written)
	}
	if _, problems := placement.Parse(statement); len(problems) > 0 {
		for _, problem := range problems {
			t.fail(policy.Line, "queuePlacementPolicy: %w", problem)
		}
		return
	}
	t.plan.Policy().SetQuietly(nil, "rules", all)
}

// rule reads one rule, for the check and for the object.
func (t *translation) rule(e *config.Element, at string) (placement.RuleStatement, plan.Map, bool) {
	name := strings.TrimSpace(e.Attributes["name"])
	kind := rules[name]
	n := t.note(e.Line, "", strings.TrimSpace("rule "+name), spellAttributes(e))
	switch {
	case name == "":
		t.fail(e.Line, "%s has no name", at)
		return placement.RuleStatement{}, nil, false
	case kind == "":
		t.fail(e.Line, "%s: there is no rule %q", at, name)
		return placement.RuleStatement{}, nil, false
	}
	stated := placement.RuleStatement{Kind: kind}
	written := plan.Map{{Key: "type", Value: kind}}
	if text, ok := e.Attributes["create"]; ok && text != "" && !strings.EqualFold(text, "true") && kind != "Reject" && kind != "SecondaryGroupExistingQueue" {
		no := false
		stated.Create = &no
		written = append(written, plan.Entry{Key: "create", Value: false})
		if !strings.EqualFold(text, "false") {
			n.Remark("every word but true is false, as in YARN")
		}
	}
	if text := strings.TrimSpace(e.Attributes["queue"]); text != "" && kind == "Default" {
		stated.Queue = string(t.pathOf(text))
		written = append(written, plan.Entry{Key: "queue", Value: stated.Queue})
	}
	t.mayCreate(kind, stated)
	if kind == "NestedUserQueue" {
		nested, below, ok := t.nested(e, at)
		if !ok {
			return stated, nil, false
		}
		stated.Nested = &nested
		written = append(written, plan.Entry{Key: "nested", Value: below})
	} else if len(e.Children) > 0 {
		n.Skip("the rules in it are ignored, in YARN too")
	}
	n.Remark("rule %s of the PlacementPolicy", kind)
	return stated, written, true
}

// nested reads the rule in a nestedUserQueue; of several YARN takes the last.
func (t *translation) nested(e *config.Element, at string) (placement.RuleStatement, plan.Map, bool) {
	if len(e.Children) == 0 {
		t.fail(e.Line, "%s: nestedUserQueue needs a rule in it", at)
		return placement.RuleStatement{}, nil, false
	}
	last := len(e.Children) - 1
	for _, before := range e.Children[:last] {
		t.note(before.Line, "", "rule "+before.Attributes["name"], spellAttributes(before)).Skip("the last rule in nestedUserQueue counts, in YARN too")
	}
	rule := e.Children[last]
	if name := rule.Attributes["name"]; name == "reject" || name == "nestedUserQueue" {
		t.fail(rule.Line, "%s: the rule in nestedUserQueue cannot be %s", at, name)
		return placement.RuleStatement{}, nil, false
	}
	return t.rule(rule, at+", the rule in it")
}

func spellAttributes(e *config.Element) string {
	var parts []string
	for _, name := range []string{"create", "queue"} {
		if text, ok := e.Attributes[name]; ok {
			parts = append(parts, name+"="+text)
		}
	}
	return strings.Join(parts, " ")
}

// mayCreate notes whether a rule may create queues.
func (t *translation) mayCreate(kind string, r placement.RuleStatement) {
	switch kind {
	case "Specified", "User", "PrimaryGroup", "NestedUserQueue":
		t.creates = t.creates || r.Create == nil
	}
}

// pathOf returns the path of a queue that the file names; "root." may be left out.
func (t *translation) pathOf(yarn string) queue.Path {
	if yarn != "root" && !strings.HasPrefix(yarn, "root.") {
		yarn = "root." + yarn
	}
	if path, ok := t.names.Of(yarn); ok {
		return path
	}
	above, name, below := cutLast(yarn)
	if !below {
		return queue.Root
	}
	return t.pathOf(above) + "." + queue.Path(placement.Label(name))
}

func cutLast(path string) (above, name string, ok bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// builtInRules states the booleans that count without rules. Both are true if they are not stated.
func (t *translation) builtInRules() {
	policy := t.plan.Policy()
	for _, b := range []struct{ property, field string }{
		{userAsDefaultQueue, "userAsDefaultQueue"}, {allowUndeclaredPools, "allowUndeclaredQueues"},
	} {
		yes := true
		if p := t.site.Get(b.property); p != nil {
			n := t.siteNote(p)
			yes = boolean(p.Value, true)
			policy.Set(n, b.field, yes)
		} else {
			policy.Set(t.note(0, "", b.property, "true").Remark("not stated, and the default of YARN"), b.field, yes)
		}
		t.creates = t.creates || yes && b.property == allowUndeclaredPools
	}
}
