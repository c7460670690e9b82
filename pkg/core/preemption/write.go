package preemption

// guardQueues marks the queues that lose victims to a claim: later claims must leave them at their entitlement too, as far as that is covered for the
// outermost of the claims that take from them.
func (p *planner) guardQueues(o *activeClaim) {
	for _, u := range o.placed {
		for _, s := range u.assignments {
			for _, id := range s.victims {
				for _, v := range p.evictionUnits[id].pods {
					leaf := p.pods[v].Queue
					for q := leaf; p.queues[q].depth > o.lowestCommonAncestor[leaf]; q = p.queues[q].parent {
						p.queues[q].guard(o.lowestCommonAncestor[leaf])
					}
				}
			}
		}
	}
}

func (a *account) guard(from int) {
	if !a.guarded || from < a.guardedFrom {
		a.guarded, a.guardedFrom = true, from
	}
}

// writePlan writes the plan down. The picture goes back to the start and takes the victims again one by one, so that each is written with
// the surplus as it was just before.
func (p *planner) writePlan() {
	p.unplaceAll()
	for i, o := range p.paid {
		for _, u := range o.placed {
			p.chargeUnit(u.unit, true)
			pays := p.paidBy(o, u.unit)
			for j, s := range u.assignments {
				a := &u.unit.pods[j]
				out := &p.plan.Claims[i]
				out.Nominations = append(out.Nominations, Nomination{UID: a.UID, Queue: a.Queue, Node: p.nodes[s.node].index, Pays: pays})
				for _, id := range s.victims {
					p.writeVictims(o, a, id)
				}
			}
		}
	}
}

func (p *planner) writeVictims(o *activeClaim, a *claimant, id int32) {
	for _, v := range p.evictionUnits[id].pods {
		victim := &p.pods[v]
		above := p.childOfPath(o, victim.Queue)
		surplus := p.surplus(above)
		with := ""
		if len(p.evictionUnits[id].pods) > 1 {
			with = victim.Gang
		}
		p.plan.Victims = append(p.plan.Victims, Victim{
			UID: victim.UID, Queue: victim.Queue, Node: p.nodes[victim.node].index, For: a.UID, ForQueue: o.Queue,
			Above: above, Resource: surplus.Resource, Surplus: surplus.Amount, With: with,
		})
		p.plan.Taken = p.plan.Taken.Add(victim.Request)
		p.take(victim, true)
	}
}
