package turnstile

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Owners change one by one, and there may be as many as pods, so an owner's pods are found without a look at
// all others. They are linked through their passages: a set for each owner would take more memory than
// everything else in the turnstile.

// ReobserveOwned shows the observer every pod of ours that the owner controls, bound ones too, as if it had
// changed, because what the owner says about its pods changed.
func (t *Turnstile) ReobserveOwned(owner types.UID) {
	t.delivery.Lock()
	first := t.owned[owner]
	for p := first; p != nil; {
		t.observer.ObservePod(p.newest)
		if p = p.behind; p == first {
			break
		}
	}
	t.delivery.Unlock()
	if first != nil {
		t.observer.Changed()
	}
}

// follow links the pod with the other pods of its owner. The owner in its newest object may differ: pods are
// orphaned and adopted.
func (t *Turnstile) follow(p *passage) {
	var owner types.UID
	if c := metav1.GetControllerOfNoCopy(p.newest); c != nil && p.ours {
		owner = c.UID
	}
	if owner == p.owner {
		return
	}
	t.disown(p)
	if owner == "" {
		return
	}
	p.owner, p.before, p.behind = owner, p, p
	if first := t.owned[owner]; first != nil {
		p.before, p.behind = first.before, first
		p.before.behind, first.before = p, p
		return
	}
	t.owned[owner] = p
}

func (t *Turnstile) disown(p *passage) {
	if p.owner == "" {
		return
	}
	p.before.behind, p.behind.before = p.behind, p.before
	switch {
	case p.behind == p:
		delete(t.owned, p.owner)
	case t.owned[p.owner] == p:
		t.owned[p.owner] = p.behind
	}
	p.owner, p.before, p.behind = "", nil, nil
}
