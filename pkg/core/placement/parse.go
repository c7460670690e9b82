package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Statement is a policy as it is written. Without rules, the booleans and the mappings stand for a list.
type Statement struct {
	Rules []RuleStatement
	// Mappings are those of the rule Mapping. Override: they also hold for pods that ask for a queue.
	Mappings []string
	Override bool
	// UserAsDefaultQueue and AllowUndeclaredQueues are YARN's user-as-default-queue and allow-undeclared-pools.
	// If only one is stated, the other is true, as it is there. Beside rules they have no effect.
	UserAsDefaultQueue, AllowUndeclaredQueues *bool
}

// RuleStatement is a rule as it is written.
type RuleStatement struct {
	Kind          string
	Create        *bool // true if not stated, except for Mapping
	Queue, Parent string
	Nested        *RuleStatement
}

// Parse returns the policy that a statement makes, or what is wrong with it: then the policy is not to be used.
// The errors are YARN's. A statement that says nothing makes the rules that hold without a policy.
func Parse(s Statement) (Policy, []error) {
	p := parser{override: s.Override, written: len(s.Mappings)}
	for _, text := range s.Mappings {
		m, err := ParseMapping(text)
		if err != nil {
			p.errors = append(p.errors, err)
			continue
		}
		p.mappings = append(p.mappings, m)
	}
	if s.Override && len(s.Mappings) == 0 {
		p.fail("override is for mappings, and there are none")
	}
	policy := Policy{Rules: p.standIn(s)}
	if len(s.Rules) > 0 {
		policy.Rules = p.rules(s.Rules)
		p.reach(policy.Rules)
		if len(s.Mappings) > 0 && !slices.ContainsFunc(policy.Rules, func(r Rule) bool { return r.Kind == Mapping }) {
			p.fail("there are mappings, but no rule Mapping that uses them")
		}
	}
	if len(p.errors) > 0 {
		return Policy{}, p.errors
	}
	return policy, nil
}

// parser gathers what is wrong with a statement.
type parser struct {
	mappings []QueueMapping
	written  int // mappings, with those that cannot be read
	override bool
	errors   []error
	unknown  bool // some rule could not be read, so that nothing can be said about the list
}

func (p *parser) fail(format string, args ...any) {
	p.errors = append(p.errors, fmt.Errorf(format, args...))
}

// standIn returns the rules that stand for the booleans and the mappings. Without any of them: what the pod asks
// for, which must exist, else root.default.
func (p *parser) standIn(s Statement) []Rule {
	rules := []Rule{{Kind: Specified, Missing: Refuse}}
	fallback := Rule{Kind: Default, Missing: Create, Queue: queue.Default}
	if len(p.mappings) > 0 {
		at := 1
		if p.override {
			at = 0
		}
		rules = slices.Insert(rules, at, Rule{Kind: Mapping, Mappings: p.mappings, Override: p.override})
	}
	if s.UserAsDefaultQueue == nil && s.AllowUndeclaredQueues == nil {
		return append(rules, fallback)
	}
	undeclared := creates(s.AllowUndeclaredQueues, true)
	for i := range rules {
		if rules[i].Kind == Specified {
			rules[i].Missing = undeclared
		}
	}
	if creates(s.UserAsDefaultQueue, true) != Create {
		return append(rules, fallback)
	}
	rules = append(rules, Rule{Kind: User, Missing: undeclared, Parent: queue.Root})
	if undeclared != Create {
		rules = append(rules, fallback)
	}
	return rules
}

func creates(stated *bool, unstated bool) Missing {
	if stated != nil && *stated || stated == nil && unstated {
		return Create
	}
	return TryNext
}

func (p *parser) rules(all []RuleStatement) []Rule {
	var rules []Rule
	for i, r := range all {
		at := fmt.Sprintf("rule %d", i+1)
		rule := p.rule(at, r)
		if rule.Kind == Default && rule.Queue == queue.Root {
			p.fail("%s (%s): %w", at, rule.Kind, errRootTakesNoPods)
		}
		rules = append(rules, rule)
	}
	return rules
}

// rule reads one rule; at says where it stands.
func (p *parser) rule(at string, s RuleStatement) Rule {
	kind, ok := kindOf(s.Kind)
	if !ok {
		p.unknown = true
		if s.Kind == "" {
			p.fail("%s has no type; it must be one of %s", at, strings.Join(kindNames[:], ", "))
		} else {
			p.fail("%s: there is no rule %q; the rules are %s", at, s.Kind, strings.Join(kindNames[:], ", "))
		}
		return Rule{}
	}
	at += " (" + kind.String() + ")"
	r := Rule{Kind: kind, Missing: creates(s.Create, kind != Mapping)}
	r.Parent = p.path(at, "parent", s.Parent, queue.Root, kind == User || kind == PrimaryGroup || kind == SecondaryGroupExistingQueue)
	r.Queue = p.path(at, "queue", s.Queue, queue.Default, kind == Default)
	if kind == Mapping {
		r.Mappings, r.Override = p.mappings, p.override
		if p.written == 0 {
			p.fail("%s: there are no mappings", at)
		}
	}
	r.Nested = p.nested(at, kind, s.Nested)
	return r
}

func kindOf(name string) (Kind, bool) {
	i := slices.IndexFunc(kindNames[:], func(k string) bool { return strings.EqualFold(k, name) })
	return Kind(max(i, 0)), i >= 0
}

// path reads a path that only some rules have.
func (p *parser) path(at, field, text string, unstated queue.Path, has bool) queue.Path {
	switch {
	case !has && text == "":
		return ""
	case !has:
		p.fail("%s: %s is not for this rule", at, field)
		return ""
	case text == "":
		return unstated
	}
	path, err := queue.ParseRequest(text)
	if err != nil {
		p.fail("%s: %s %q: %w", at, field, text, err)
	}
	return path
}

func (p *parser) nested(at string, kind Kind, s *RuleStatement) *Rule {
	switch {
	case kind != NestedUserQueue && s == nil:
		return nil
	case kind != NestedUserQueue:
		p.fail("%s: nested is only for the rule NestedUserQueue", at)
		return nil
	case s == nil:
		p.fail("%s must have a nested rule, which gives the queue above the user's", at)
		p.unknown = true
		return nil
	}
	r := p.rule(at+", nested", *s)
	switch r.Kind {
	case NestedUserQueue, Reject:
		p.fail("%s: the nested rule may not be %s", at, r.Kind)
	case Mapping:
		p.fail("%s: the nested rule may not be Mapping; a mapping may end with .%s instead", at, anyUser)
	}
	return &r
}

// reach checks that all rules can be reached, and that no pod gets past the last one.
func (p *parser) reach(rules []Rule) {
	if p.unknown {
		return
	}
	last := len(rules) - 1
	for i, r := range rules[:last] {
		if r.terminal() {
			p.fail("the rules after rule %d (%s) can never be reached, as it always gives a queue or rejects", i+1, r.Kind)
			return
		}
	}
	if r := rules[last]; !r.terminal() {
		p.fail("pods could get past the last rule, %d (%s), without a queue; end with Default or Reject", last+1, r.Kind)
	}
}
