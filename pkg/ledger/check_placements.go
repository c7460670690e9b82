package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/placement"
)

// checkPlacements asks the rules about every unbound pod by itself.
func (c *checker) checkPlacements() {
	p, members := &c.placements, 0
	upToDate := !p.changed && p.asOf == c.queues.declarationsSeen
	for _, r := range c.byUID {
		if r.inRequest == notIn {
			if r.submission != nil {
				c.say("pod %s asks for no queue and has a submission", r.Name)
			}
			continue
		}
		if (r.submission != nil) != (p.inForce && r.Reservation == nil) {
			c.say("pod %s has a submission: %v", r.Name, r.submission != nil)
		}
		if v := r.verdictFor(); v.asked != r.asked {
			c.say("pod %s asks for %q, should for %q", r.Name, r.asked, v.asked)
		}
		if r.submission == nil {
			continue
		}
		members++
		if !r.submission.pods.has(r, ofSubmission) {
			c.say("pod %s is not where its submission has it", r.Name)
		}
		if !upToDate {
			continue
		}
		want := submission{Submission: placement.Submission{User: r.User, Groups: r.Groups, Queue: r.Pod.Queue}}
		fresh := placements{policy: p.policy, tree: c.queues.forPlacement()}
		if fresh.place(&want); want.verdict != r.submission.verdict {
			c.say("pod %s is placed by %+v, should be by %+v", r.Name, r.submission.verdict, want.verdict)
		}
	}
	for _, s := range p.bySubmission { // a sum: order does not matter
		members -= len(s.pods)
	}
	if members != 0 {
		c.say("submissions have %d pods too few", members)
	}
}
