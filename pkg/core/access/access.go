// Package access decides who may submit to a queue and who may administer it, from what the cluster's authorizer grants.
//
// In: a user with groups, the path of a queue, and what is known of each grant. Out: yes, no, or which grant to ask about next. A grant on a queue
// counts for all queues below it, and `administer` implies `submit` and `reserve`. The package asks nobody: adapters do.
package access

import (
	"cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Verb is what somebody wants to do with a queue, as roles name it.
type Verb string

// The verbs on queues.scheduling.fairway.dev that roles may grant beside those of Kubernetes.
const (
	// Submit: run pods in the queue.
	Submit Verb = "submit"
	// Reserve: reserve capacity of the queue.
	Reserve Verb = "reserve"
	// Administer: all of that, and create, change and delete the queues below it.
	Administer Verb = "administer"
)

// Subject is a user with groups, as the API server knows them. It compares with ==: see NewSubject.
type Subject struct {
	User   string
	Groups string // as JoinGroups writes them, in order and each once
}

// Compare orders subjects.
func (s Subject) Compare(o Subject) int {
	return cmp.Or(cmp.Compare(s.User, o.User), cmp.Compare(s.Groups, o.Groups))
}

// Question is whether a subject may submit to a queue.
type Question struct {
	Subject
	Queue queue.Path
}

// Compare orders questions.
func (q Question) Compare(o Question) int {
	return cmp.Or(q.Subject.Compare(o.Subject), queue.ComparePaths(q.Queue, o.Queue))
}

// Answer is what is known of a question or of a grant.
type Answer uint8

// Until somebody answers, it is Unknown.
const (
	Unknown Answer = iota
	Yes
	No
)

func (a Answer) String() string { return [...]string{"unknown", "yes", "no"}[a] }

// Grant is what a role may give on one queue.
type Grant struct {
	Queue queue.Path
	Verb  Verb
}

// Decide answers whether a subject may do this with a queue. of says what is known of each grant. A grant on any level suffices. With Yes
// comes the grant that suffices. Unknown means that too little is known, and with it comes the grant to ask about: first those of the verb
// itself, then those of the verb that implies it; of each verb first those on high levels, since they decide about other queues, too.
func Decide(verb Verb, p queue.Path, of func(Grant) Answer) (Answer, Grant) {
	var next Grant
	for _, v := range verbsFor(verb) {
		for _, level := range append(p.Ancestors(), p) {
			g := Grant{level, v}
			switch of(g) {
			case Yes:
				return Yes, g
			case Unknown:
				if next == (Grant{}) {
					next = g
				}
			case No:
			}
		}
	}
	if next != (Grant{}) {
		return Unknown, next
	}
	return No, Grant{}
}

// verbsFor returns the verbs of which each suffices.
func verbsFor(v Verb) []Verb {
	if v == Administer {
		return []Verb{Administer}
	}
	return []Verb{v, Administer}
}
