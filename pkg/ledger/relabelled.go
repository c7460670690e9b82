package ledger

import "github.com/fairway-scheduler/fairway/pkg/core/application"

// A pod is charged as a member of an application, with a role, for a user. From its release until it is bound or goes back, all three stay, whatever
// its labels say by then: they decided about slots, gates and driver shares, and the binding writes them on the pod. What the pod says meanwhile is
// kept here, and counts as soon as the pod waits again. (A pod that has a node counts as what its binding says: see convert.ApplicationOf.)

// identity is what a pod counts as.
type identity struct {
	application, user string
	role              application.Role
}

func (p *Pod) identity() identity { return identity{p.Application, p.User, p.Role} }

func (p *Pod) setIdentity(id identity) {
	p.Application, p.User, p.Role = id.application, id.user, id.role
}

// asCharged returns the pod as it counts: as what it was charged as, while it is being started.
func (r *record) asCharged(p Pod) Pod {
	r.relabelled = nil
	if says := p.identity(); r.state.inWindow() && p.Node == "" && says != r.identity() {
		r.relabelled = &says
		p.setIdentity(r.identity())
	}
	return p
}

// relabel makes a pod that waits again what it says of itself.
func (l *consequences) relabel(r *record) {
	if r.relabelled == nil || r.state != Waiting && r.state != Parked {
		return // or it is gone
	}
	p := r.Pod
	p.setIdentity(*r.relabelled)
	r.relabelled = nil
	l.revise(r, p)
	l.judge(r)
	l.revised(r)
}
