package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Who was evicted is mostly made anew by its owner. If the new pod finds room that nobody who claims can use, it is no victim of those who waited then,
// while no share changes: one eviction for one state of the shares. Who is starved only later, since it asks for more, may take it. Pods have no
// identity beyond their own, so a new one replaces the first victim that was like it.

// likeness is what a pod that replaces another shares with it, beside the request.
type likeness struct {
	namespace, queue, application string
	role                          application.Role
	priority                      int32
}

func (r *record) likeness() likeness {
	return likeness{r.Namespace, r.Queue, r.Application, r.Role, r.Priority}
}

// goneVictim has not been replaced yet.
type goneVictim struct {
	request resource.List
	at      int64
	looks   uint64
}

// putBack is what is remembered of evictions. A restart forgets it.
type putBack struct {
	gone     map[likeness][]goneVictim // in the order in which they went
	replaced []*record                 // those in their place: see record.replaces
	looks    uint64                    // at the shares
	shares   []preemption.Queue        // as they were last
}

// leaves notes that a victim leaves.
func (l *Ledger) leaves(v *record) {
	b := &l.preempting.putBack
	if v.victim == nil {
		return
	}
	if b.gone == nil {
		b.gone = map[likeness][]goneVictim{}
	}
	b.gone[v.likeness()] = append(b.gone[v.likeness()], goneVictim{v.Request, l.now, b.looks})
}

// arrives notes a new pod, which may be in the place of a victim.
func (l *Ledger) arrives(r *record) {
	b := &l.preempting.putBack
	if len(b.gone) == 0 {
		return
	}
	like := r.likeness()
	i := slices.IndexFunc(b.gone[like], func(g goneVictim) bool { return g.request.Equal(r.Request) })
	if i < 0 {
		return
	}
	r.replaces, r.replacesAt = b.gone[like][i].at, b.gone[like][i].looks
	b.replaced = append(b.replaced, r)
	b.keep(like, slices.Delete(b.gone[like], i, i+1))
}

func (b *putBack) keep(like likeness, left []goneVictim) {
	if b.gone[like] = left; len(left) == 0 {
		delete(b.gone, like)
	}
}

// lookAtShares forgets the evictions since which a share has changed. Between two looks nobody knows which came first, the eviction or the change: such
// an eviction is remembered.
func (l *Ledger) lookAtShares(now []preemption.Queue) {
	b := &l.preempting.putBack
	defer func() {
		b.shares = now
		b.looks++
	}()
	if len(b.gone)+len(b.replaced) == 0 {
		return
	}
	b.replaced = slices.DeleteFunc(b.replaced, func(r *record) bool { return l.pods[r.UID] != r })
	if slices.EqualFunc(b.shares, now, func(a, b preemption.Queue) bool { return a.Path == b.Path && a.Entitlement.Equal(b.Entitlement) }) {
		return
	}
	for like, gone := range b.gone { // each for itself
		b.keep(like, slices.DeleteFunc(gone, func(g goneVictim) bool { return g.looks < b.looks }))
	}
	b.replaced = slices.DeleteFunc(b.replaced, func(r *record) bool {
		over := r.replacesAt < b.looks
		if over {
			r.replaces = 0
			l.touch(r)
		}
		return over
	})
}
