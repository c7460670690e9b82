package placement

import (
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Decision is where a pod goes, or why nowhere.
type Decision struct {
	Queue queue.Path
	// Create are the queues that must be created for the pod, parents first; none if Queue exists.
	Create []NewQueue
	// Rule gave the queue. It is also set if what it gave cannot be used.
	Rule string
	// Rejected is why no queue takes the pod; its code is "" if one does. The answer may be another as soon as
	// queues or the policy change.
	Rejected reason.Reason
	Trace    []Step
}

// NewQueue is a queue to create.
type NewQueue struct {
	Path queue.Path
	For  string // the user or group whose name it has; "" if it bears nobody's
	// Parent: it is above another one of these, so it is to be a parent also when that one is gone.
	Parent bool
}

// Step is what one rule answered. The rules after the one that decided do not appear.
type Step struct {
	Rule    string
	Outcome string
}

// Place asks the rules in their order. The first that gives a queue decides, also if that queue takes no pods.
func (p Policy) Place(s Submission, queues Queues) Decision {
	v := view{queues}
	var d Decision
	for _, r := range p.Rules {
		a := r.answer(s, v)
		if a.decided() {
			d.Rule = r.Kind.String()
			d.settle(&a, v)
			d.Trace = append(d.Trace, Step{d.Rule, a.outcome})
			return d
		}
		d.Trace = append(d.Trace, Step{r.Kind.String(), a.outcome})
	}
	d.Rejected = reason.Reason{Code: reason.PlacementRejected, Details: reason.Invalid{Why: noRule}}
	return d
}

// answer is what one rule says. Without a queue and a reason it says nothing, and the next rule is asked.
type answer struct {
	queue    queue.Path
	names    []named // levels of the queue that bear the name of a user or group
	rejected reason.Reason
	outcome  string
}

// named is a queue that bears the name of a user or group.
type named struct {
	path queue.Path
	name string
}

func (a answer) decided() bool { return a.queue != "" || a.rejected.Code != "" }

func pass(outcome string) answer { return answer{outcome: outcome} }

func reject(r reason.Reason) answer { return answer{rejected: r, outcome: r.Text()} }

func (r Rule) answer(s Submission, v view) answer {
	switch r.Kind {
	case Specified:
		return r.specified(s, v)
	case User:
		return r.user(s, v)
	case PrimaryGroup:
		return r.primaryGroup(s, v)
	case SecondaryGroupExistingQueue:
		return r.secondaryGroup(s, v)
	case NestedUserQueue:
		return r.nestedUser(s, v)
	case Mapping:
		return r.mapping(s, v)
	case Default:
		return r.give(v, r.Queue)
	}
	return reject(reason.Reason{Code: reason.PlacementRejected, Details: reason.Invalid{Why: rejectsAll}})
}

// give returns the queue if the rule may give it.
func (r Rule) give(v view, p queue.Path, names ...named) answer {
	if _, err := queue.ParsePath(string(p)); err != nil {
		return reject(invalid(string(p), err))
	}
	q, declared := v.find(p)
	switch {
	case r.Missing == Create, declared && !q.Created, declared && r.Missing == Refuse:
		return answer{queue: p, names: names, outcome: string(p)}
	case r.Missing == Refuse:
		return reject(reason.Reason{Code: reason.QueueNotFound, Queue: string(p)})
	case declared:
		return pass(createdOnly(p))
	}
	return pass(missing(p))
}

// settle makes the decision of the answer of a rule: the queue must be a leaf, or it must be possible to create it.
func (d *Decision) settle(a *answer, v view) {
	d.Rejected = a.rejected
	if a.queue == "" {
		return
	}
	above := v.existing(a.queue)
	switch {
	case v.isParent(a.queue):
		child := v.queues.Find(a.queue).Child
		d.Rejected = reason.Reason{Code: reason.QueueNotLeaf, Queue: string(a.queue), Details: reason.Child{Path: string(child)}}
	case above != a.queue && !v.isParent(above):
		d.Rejected = reason.Reason{Code: reason.PlacementRejected, Queue: string(a.queue), Details: reason.Parent{Path: string(above)}}
	default:
		d.Queue = a.queue
		for _, p := range append(a.queue.Ancestors(), a.queue) {
			if len(p) > len(above) {
				d.Create = append(d.Create, NewQueue{Path: p, For: a.nameOf(p), Parent: p != a.queue})
			}
		}
		full, over := queue.Path(""), false
		if len(d.Create) > 0 {
			full, over = Planned(nil).over(d.Create, v.queues)
		}
		if !over {
			return
		}
		why := tooMany(a.queue, full, v.queues.Find(full).most(full).Most)
		d.Queue, d.Create, d.Rejected = "", nil, reason.Reason{Code: reason.PlacementRejected, Details: reason.Invalid{Why: why}}
	}
	a.outcome = d.Rejected.Text()
}

func (a answer) nameOf(p queue.Path) string {
	if i := slices.IndexFunc(a.names, func(n named) bool { return n.path == p }); i >= 0 {
		return a.names[i].name
	}
	return ""
}

// view is the declared queues as the rules see them.
type view struct{ queues Queues }

// find returns a queue, and whether it exists. The root always does.
func (v view) find(p queue.Path) (Queue, bool) {
	q := v.queues.Find(p)
	return q, q.Declared || p == queue.Root
}

// isParent reports whether a queue takes no pods because it is for child queues, or there are queues below it.
func (v view) isParent(p queue.Path) bool {
	q := v.queues.Find(p)
	return p == queue.Root || q.Parent || q.Child != ""
}

// isLeaf reports whether a queue exists and cannot be a parent.
func (v view) isLeaf(p queue.Path) bool {
	_, ok := v.find(p)
	return ok && !v.isParent(p)
}

// existing returns the queue, or the nearest one above it that exists.
func (v view) existing(p queue.Path) queue.Path {
	for {
		if _, ok := v.find(p); ok {
			return p
		}
		p = p.Parent()
	}
}

func invalid(name string, err error) reason.Reason {
	return reason.Reason{Code: reason.QueueNameInvalid, Queue: name, Details: reason.Invalid{Why: err.Error()}}
}

// groups returns the groups that have queues: those of the API server itself, which are the same for everybody or
// for a namespace, are left out, and so are repetitions.
func (s Submission) groups() []string {
	var all []string
	for _, g := range s.Groups {
		if g = strings.TrimSpace(g); g != "" && !strings.HasPrefix(g, systemGroups) && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

const systemGroups = "system:"
