package ledger

import (
	"github.com/fairway-scheduler/fairway/pkg/core/access"
)

// checkAccess looks at which pods depend on which answers.
func (c *checker) checkAccess() {
	members := map[*accessEntry]int{}
	for _, r := range c.byUID {
		if r.access == nil && r.Submitter == (access.Subject{}) {
			continue
		}
		var want *accessEntry
		if r.inRequest != notIn && r.asked != "" && r.Submitter != (access.Subject{}) {
			want = c.access.byQuestion[access.Question{Subject: r.Submitter, Queue: r.asked}]
			if want == nil {
				c.say("pod %s depends on an answer that nobody keeps", r.UID)
			}
		}
		if r.access != want || want != nil && !want.pods.has(r, ofAccess) {
			c.say("pod %s depends on another answer than it is listed under", r.UID)
		}
		members[r.access]++
		if _, blocked := r.mayNotSubmit(); blocked && r.InQueue() {
			c.say("pod %s is in its pod queue, and its user may not submit", r.UID)
		}
	}
	for _, e := range c.access.byQuestion { // each for itself: order does not matter
		if members[e] != len(e.pods) || len(e.pods) == 0 && e.answer == access.Unknown {
			c.say("%d pods depend on whether %s may submit to %s (%s), counted %d", members[e], e.User, e.Queue, e.answer, len(e.pods))
		}
	}
}
