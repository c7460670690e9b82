package ledger

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// placements owns which queue unbound pods ask for by the rules of the placement policy. It hears of the policy (observe), of unbound pods
// (join, quit), of the queues that placement created and that are empty (noteEmpty), and of the declared queues, when settle finds that they changed (placeAgain). It says what a pod asks for (verdictFor).
//
// A pod that names a reservation asks for what that gives. Another asks for what the rules give for its user, groups and request, as of
// the last step at which the policy or the queues had changed. As long as the rules are those without a policy there are no submissions,
// and a pod asks for the queue that it names. A charge never moves.
type placements struct {
	policy       placement.Policy
	inForce      bool // with other rules than those without a policy
	changed      bool // the policy has changed since the last look
	asOf         uint64
	tree         placement.Tree // the declared queues, as of the last look
	bySubmission map[submissionKey]*submission
	// emptySince is when queues that placement created were first seen empty: see placement_actions.go.
	emptySince map[queue.Path]int64
}

// submission is what pods of the same user, groups and request have in common: what the rules say.
type submission struct {
	placement.Submission
	verdict
	create []placement.NewQueue // those that are to be created for it
	key    submissionKey
	pods   roster // unbound pods
}

// submissionKey is equal for pods of the same user, groups and request, and for no others: names of users and groups are the API server's, and have no NUL.
type submissionKey struct{ user, queue, groups string }

// verdict is what the rules say to the pods.
type verdict struct {
	asked    queue.Path    // the queue about which the tree is asked; "" if there is none
	rejected reason.Reason // why they give none. With asked, the reason of the tree counts, unless that queue does not exist
	creating bool          // the queue does not exist yet
}

// ObservePlacementPolicy takes in what the placement policy puts in force. Pods that wait are placed again at the next step.
func (l *Ledger) ObservePlacementPolicy(p placement.Policy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.placements.observe(p)
	l.version++
}

// observe takes in a policy. It counts from the next look on.
func (p *placements) observe(policy placement.Policy) { p.policy, p.changed = policy, true }

// join enters an unbound pod under its submission.
func (p *placements) join(r *record) {
	if !p.inForce || r.Reservation != nil {
		return
	}
	key := submissionKey{r.User, r.Pod.Queue, strings.Join(r.Groups, "\x00")}
	s := p.bySubmission[key]
	if s == nil {
		s = &submission{key: key, Submission: placement.Submission{User: r.User, Groups: r.Groups, Queue: r.Pod.Queue}}
		p.place(s)
		p.bySubmission[key] = s
	}
	r.submission = s
	s.pods.add(r, ofSubmission)
}

func (p *placements) quit(r *record) {
	s := r.submission
	if s == nil {
		return
	}
	s.pods.remove(r, ofSubmission)
	r.submission = nil
	if len(s.pods) == 0 {
		delete(p.bySubmission, s.key)
	}
}

// place asks the rules. If they refuse a queue because it has children or does not exist, the pod still asks for that queue: the tree knows
// which queues are in force, and gives the reason.
func (p *placements) place(s *submission) {
	d := p.policy.Place(s.Submission, p.tree)
	s.create, s.verdict = d.Create, verdict{asked: d.Queue, rejected: d.Rejected, creating: len(d.Create) > 0}
	switch d.Rejected.Code {
	case reason.QueueNotLeaf, reason.QueueNotFound:
		s.asked = queue.Path(d.Rejected.Queue)
	}
}

// verdictFor is what holds for an unbound pod.
func (r *record) verdictFor() verdict {
	if r.submission != nil {
		return r.submission.verdict
	}
	if r.Reservation != nil && r.Reservation.Code != "" {
		return verdict{rejected: *r.Reservation}
	}
	p, err := queue.ParseRequest(r.Pod.Queue)
	if err != nil {
		return verdict{rejected: reason.Reason{Code: reason.QueueNameInvalid, Queue: r.Pod.Queue, Details: reason.Invalid{Why: err.Error()}}}
	}
	return verdict{asked: p}
}

// blocks says what of the verdict blocks a pod to which the tree says why.
func (v *verdict) blocks(why reason.Reason) reason.Reason {
	switch {
	case v.asked == "":
		return v.rejected
	case why.Code == reason.QueueNotFound && v.rejected.Code != "":
		return v.rejected
	case v.creating && why.Code == reason.QueueNotFound:
		why.Code = reason.CreatingQueue
	}
	return why
}

// placeAgain asks the rules again if the policy or the declared queues have changed, and moves the unbound pods to which they say something else now,
// the oldest first.
func (l *settled) placeAgain() {
	p := &l.placements
	if !p.changed && (!p.inForce || p.asOf == l.queues.declarationsSeen) {
		return
	}
	move := p.look(&l.queues, &l.requests)
	slices.SortFunc(move, func(a, b *record) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.UID, b.UID)) })
	if len(move) > 0 {
		l.access.placedAgain()
	}
	l.applications.moveBegins()
	for _, r := range move {
		if v := r.verdictFor(); v.asked != r.asked {
			l.askAgain(r)
		} else {
			l.effects.judgeLater(r) // only what keeps it waiting is something else
		}
	}
	l.settleApplications()
	l.applications.moveEnds()
	l.applications.roundLater()
	l.drain()
}

// look takes in the policy and the declared queues, and asks the rules about every submission. It returns the pods to which they say something else.
func (p *placements) look(queues *queueTree, pods *requests) (move []*record) {
	was := p.inForce
	p.inForce = len(p.policy.Rules) > 0 && !p.policy.Plain()
	p.changed, p.asOf, p.tree = false, queues.declarationsSeen, nil
	if p.inForce {
		p.tree = queues.forPlacement()
	}
	if was && p.inForce {
		for _, s := range p.bySubmission { // each for itself: order does not matter
			before := s.verdict
			if p.place(s); s.verdict != before {
				move = append(move, s.pods...)
			}
		}
		return move
	}
	for _, r := range pods.unbound {
		before := r.verdictFor()
		p.quit(r)
		p.join(r)
		if r.verdictFor() != before {
			move = append(move, r)
		}
	}
	return move
}

// askAgain enters an unbound pod under the queue that it asks for now. If it is charged, it stays where it is charged, and that queue counts only if its
// attempt fails.
func (l *settled) askAgain(r *record) {
	leaf, s, blockedBy := r.leaf, r.state, r.blockedBy
	r.formerApp = r.app
	l.set(r, nil, s, blockedBy) // out of its pod queue, with its old class
	l.unask(r)
	l.ask(r)
	switch {
	case s.charged():
		l.set(r, leaf, s, blockedBy)
	case s == Parked:
		l.rejudgeParked(r)
	case s == Waiting:
		l.wait(r, l.now)
	}
	l.effects.settleLater(r.formerApp)
	r.formerApp = nil
	l.effects.reviewLater(r.group)
}

// forPlacement is what the rules see of the declared queues. Of a Queue that cannot be read only the name counts.
func (t *queueTree) forPlacement() placement.Tree {
	ds := make([]queue.Declaration, 0, len(t.declared)+len(t.unreadable))
	for p, d := range t.declared {
		if _, unreadable := t.unreadable[p]; !unreadable {
			ds = append(ds, d)
		}
	}
	for p := range t.unreadable {
		if _, err := queue.ParsePath(string(p)); err == nil {
			ds = append(ds, queue.Declaration{Path: p})
		}
	}
	return placement.TreeOf(ds) // in whatever order
}
