package invariant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// asked sums up what the pods of a unit ask for that the claim places.
func (r *replay) asked(c *preemption.Payment, u *preemption.Unit) (sum resource.List) {
	for _, a := range u.Pods {
		if by, placed := r.payments[a.UID]; placed && &r.p.Claims[by] == c {
			sum = sum.Add(a.Request)
		}
	}
	return sum
}

// owed lists the resources that the unit, charged already, asks for and of which the queue is not above the
// amounts that it is owed: devices first, then by name.
func (r *replay) owed(q int, c *preemption.Payment, u *preemption.Unit, due resource.List) []resource.Name {
	var devices, others []resource.Name
	asked := r.asked(c, u)
	for i := range due.Len() {
		e := due.At(i)
		switch {
		case asked.Get(e.Name) <= 0 || r.usage[q].Get(e.Name) > e.Value || !r.w.Queues[q].Rule.Counts(e.Name):
		case strings.Contains(string(e.Name), "/"):
			devices = append(devices, e.Name)
		default:
			others = append(others, e.Name)
		}
	}
	return append(devices, others...)
}

// paysGuarantee checks that a unit asks for something that its queue lacks of its guarantee, and no more of it.
func (r *replay) paysGuarantee(c *preemption.Payment, u *preemption.Unit) []string {
	if len(r.owed(c.Queue, c, u, c.Target)) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("claim of %s: %s asks for nothing that it lacks of its guarantee: with it, it uses (%s) of (%s)",
		r.name(c.Queue), u.Pods[0].UID, r.usage[c.Queue], c.Target)}
}

func (r *replay) lacksToo(q, from int, c *preemption.Payment, u *preemption.Unit) bool {
	return c.Kind == preemption.BelowGuaranteed && len(r.owed(q, c, u, r.guaranteed(q, from))) > 0
}

// guarantees checks, when the victims of a unit are gone, that their queues have what they are guaranteed of what
// the victims hold: of the resource that the unit pays, and of all that come before it.
func (r *replay) guarantees(c *preemption.Payment, u *preemption.Unit, staying string) []string {
	if len(r.owed(c.Queue, c, u, c.Target)) == 0 {
		return nil // said already
	}
	var out []string
	for _, a := range u.Pods {
		for _, v := range r.victims[a.UID] {
			if r.stays(v.UID, staying) {
				continue
			}
			from := r.commonAncestor(v.Queue, v.ForQueue)
			pays := r.owed(c.Queue, c, u, r.target(c, from))
			if len(pays) == 0 {
				out = append(out, fmt.Sprintf("victim %s: nothing of the guarantee of %s that is covered is owed", v.UID, r.name(c.Queue)))
				continue
			}
			device, held := strings.Contains(string(pays[0]), "/"), r.runs[v.UID].Request
			for _, q := range r.below(v) {
				due := r.guaranteed(q, from)
				for i := range due.Len() {
					n := due.At(i).Name
					before := n <= pays[0]
					if is := strings.Contains(string(n), "/"); is != device {
						before = is
					}
					if before && r.w.Queues[q].Rule.Counts(n) && held.Get(n) > 0 && r.usage[q].Get(n) < due.At(i).Value {
						out = append(out, fmt.Sprintf("victim %s: for a guarantee of %s, queue %s is left with %s %s of the %s that it is guaranteed", v.UID,
							pays[0], r.name(q), resource.Format(n, r.usage[q].Get(n)), n, resource.Format(n, due.At(i).Value)))
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
