package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// createdQueue is a queue that placement created.
type createdQueue struct {
	path queue.Path
	name string // of the user or group it is for; "" for nobody's
}

// placement [userAsDefaultQueue=BOOL] [allowUndeclaredQueues=BOOL] [override=BOOL] begins a new policy.
func (w *World) setPlacement(s statement) (string, error) {
	var p placement.Statement
	for _, o := range s.options {
		yes, err := strconv.ParseBool(o.value())
		if err != nil {
			return "", fmt.Errorf("%s: %q is neither true nor false", o.Key, o.value())
		}
		switch o.Key {
		case "userAsDefaultQueue":
			p.UserAsDefaultQueue = &yes
		case "allowUndeclaredQueues":
			p.AllowUndeclaredQueues = &yes
		case "override":
			p.Override = yes
		default:
			return "", fmt.Errorf("a placement policy has no %s", o.Key)
		}
	}
	w.placement = p
	return "", nil
}

// rule TYPE [create=BOOL] [queue=PATH] [parent=PATH] [nested=TYPE] [nested.create=BOOL ...] adds a rule to the policy.
func (w *World) addRule(s statement) (string, error) {
	kind, err := s.word("type")
	if err != nil {
		return "", err
	}
	r := placement.RuleStatement{Kind: kind}
	for _, o := range s.options {
		to, key := &r, o.Key
		if name, nested := strings.CutPrefix(key, "nested."); nested && r.Nested != nil {
			to, key = r.Nested, name
		}
		switch key {
		case "create":
			yes, err := strconv.ParseBool(o.value())
			if err != nil {
				return "", fmt.Errorf("%s: %q is neither true nor false", o.Key, o.value())
			}
			to.Create = &yes
		case "queue":
			to.Queue = o.value()
		case "parent":
			to.Parent = o.value()
		case "nested":
			to.Nested = &placement.RuleStatement{Kind: o.value()}
		default:
			return "", fmt.Errorf("a rule has no %s", o.Key)
		}
	}
	w.placement.Rules = append(w.placement.Rules, r)
	return "", nil
}

// mapping of=u:USER:QUEUE adds a mapping to the policy.
func (w *World) addMapping(s statement) (string, error) {
	for _, o := range s.options {
		w.placement.Mappings = append(w.placement.Mappings, o.value())
	}
	return "", nil
}

// created PATH [for=NAME] says that placement created a queue.
func (w *World) setCreated(s statement) (string, error) {
	name, err := s.word("path")
	if err != nil {
		return "", err
	}
	c := createdQueue{path: queue.Path(name)}
	for _, o := range s.options {
		c.name = o.value()
	}
	w.created = append(w.created, c)
	return "", nil
}

// place user=NAME [groups=(A, B)] [queue=PATH] [trace] prints where a pod of the user goes, or what is wrong with the policy.
func (w *World) place(s statement) (string, error) {
	var pod placement.Submission
	for _, o := range s.options {
		switch o.Key {
		case "user":
			pod.User = o.value()
		case "groups":
			pod.Groups = o.Vals
		case "queue":
			pod.Queue = o.value()
		default:
			return "", fmt.Errorf("place takes no %s", o.Key)
		}
	}
	policy, problems := placement.Parse(w.placement)
	var out strings.Builder
	for _, problem := range problems {
		fmt.Fprintf(&out, "not in force: %v\n", problem)
	}
	if problems != nil {
		return out.String(), nil
	}
	tree := placement.Tree{}
	for _, q := range w.queues {
		tree.Declare(q.Path, placement.Queue{Parent: q.Parent, MaxCreated: q.MaxCreated})
	}
	for _, c := range w.created {
		tree.Declare(c.path, placement.Queue{Created: true, For: c.name})
	}
	d := policy.Place(pod, tree)
	if len(s.words) > 0 {
		for _, step := range d.Trace {
			fmt.Fprintf(&out, "  %s: %s\n", step.Rule, step.Outcome)
		}
	}
	if d.Rejected.Code != "" {
		fmt.Fprintf(&out, "rejected: %s: %s\n", d.Rejected.Code, d.Rejected.Text())
		return out.String(), nil
	}
	fmt.Fprintf(&out, "%s by %s", d.Queue, d.Rule)
	for i, c := range d.Create {
		out.WriteString([]string{", creates ", ", "}[min(i, 1)] + string(c.Path))
		if c.For != "" {
			out.WriteString(" for " + c.For)
		}
	}
	return out.String() + "\n", nil
}
