package placement

import (
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// specified gives the queue that the pod asks for, in exactly these letters.
func (r Rule) specified(s Submission, v view) answer {
	if !s.asks() {
		return pass(asksForNone)
	}
	p, err := queue.ParseRequest(s.Queue)
	if err != nil {
		return reject(invalid(s.Queue, err))
	}
	return r.give(v, p)
}

// user gives the queue that has the user's name.
func (r Rule) user(s Submission, v view) answer {
	own := v.below(r.Parent, s.User)
	return r.give(v, own.path, own)
}

// primaryGroup gives the queue that has the name of the user's first group. A user without groups is an error,
// as in YARN.
func (r Rule) primaryGroup(s Submission, v view) answer {
	groups := s.groups()
	if len(groups) == 0 {
		return reject(withoutGroups(s.User))
	}
	own := v.below(r.Parent, groups[0])
	return r.give(v, own.path, own)
}

// secondaryGroup gives the queue of the first group but the primary one that has a declared queue. It never
// creates one.
func (r Rule) secondaryGroup(s Submission, v view) answer {
	groups := s.groups()
	if len(groups) < 2 {
		return pass(oneGroup)
	}
	for _, g := range groups[1:] {
		own := v.below(r.Parent, g)
		if q, declared := v.find(own.path); declared && !q.Created {
			return answer{queue: own.path, names: []named{own}, outcome: string(own.path)}
		}
	}
	return pass(noGroupHasQueue(groups[1:]))
}

// nestedUser gives the queue that has the user's name below the queue that the nested rule gives. Below a leaf
// there is none.
func (r Rule) nestedUser(s Submission, v view) answer {
	parent := r.Nested.answer(s, v)
	switch {
	case parent.rejected.Code != "":
		return parent
	case parent.queue == "":
		return pass(nestedPasses(r.Nested.Kind, parent.outcome))
	case v.isLeaf(parent.queue):
		return pass(nestedPasses(r.Nested.Kind, parentIsLeaf(parent.queue)))
	}
	own := v.below(parent.queue, s.User)
	return r.give(v, own.path, append(parent.names, own)...)
}

func withoutGroups(user string) reason.Reason {
	return reason.Reason{Code: reason.PlacementRejected, Details: reason.Invalid{Why: noGroups(user)}}
}
