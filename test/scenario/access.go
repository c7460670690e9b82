package scenario

import (
	"fmt"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/access"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// roles are what users were granted, and whether anybody answers questions about that.
type roles struct {
	yes    map[granted]bool
	silent bool
}

type granted struct {
	user string
	access.Grant
}

// check-access [silent] : from now on a pod needs the right of its user to submit to its queue. silent: the questions about that get no
// answer, and what was answered before is known no more.
func (w *World) checkAccess(s statement) (string, error) {
	if len(s.words) > 1 || len(s.words) == 1 && s.words[0] != "silent" {
		return "", fmt.Errorf("check-access takes nothing but silent")
	}
	l := w.inLive()
	if w.roles == nil {
		w.roles = &roles{yes: map[granted]bool{}}
	}
	w.roles.silent = len(s.words) == 1
	for i := range l.pods {
		l.pods[i] = w.submitted(l.pods[i])
		l.ledger.ObservePod(l.pods[i], w.now*second)
	}
	return "", nil
}

// submitted gives a pod its submitter, if access is checked.
func (w *World) submitted(p ledger.Pod) ledger.Pod {
	if w.roles != nil {
		p.Submitter = access.Subject{User: p.User}
	}
	return p
}

// grant USER VERB QUEUE gives a user a verb on a queue.
func (w *World) grant(s statement) (string, error) { return "", w.setGrant(s, true) }

// revoke USER VERB QUEUE takes it back.
func (w *World) revoke(s statement) (string, error) { return "", w.setGrant(s, false) }

func (w *World) setGrant(s statement, to bool) error {
	if w.roles == nil || len(s.words) != 3 {
		return fmt.Errorf("%s takes a user, a verb and a queue, after check-access", s.name)
	}
	p, err := queue.ParsePath(s.words[2])
	if err != nil {
		return err
	}
	w.roles.yes[granted{s.words[0], access.Grant{Queue: p, Verb: access.Verb(s.words[1])}}] = to
	return nil
}

// answerAccess answers what the ledger needs to know.
func (w *World) answerAccess() {
	if w.roles == nil {
		return
	}
	open, _ := w.live.ledger.AccessQuestions(0)
	slices.SortFunc(open, access.Question.Compare)
	for _, q := range open {
		answer, _ := access.Decide(access.Submit, q.Queue, func(g access.Grant) access.Answer {
			switch {
			case w.roles.silent:
				return access.Unknown
			case w.roles.yes[granted{q.User, g}]:
				return access.Yes
			}
			return access.No
		})
		w.live.ledger.ObserveAccess(q, answer, w.now*second)
	}
}
