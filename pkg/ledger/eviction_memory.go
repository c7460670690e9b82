package ledger

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
)

// evictionMemory knows which pods replace victims of earlier plans, so that claims which waited at that time exempt them. A restart forgets
// it.
type evictionMemory struct {
	preemption.EvictionMemory
	replacements []*record // that are not forgotten yet: see record.replacement
}

func (r *record) likeness() preemption.Likeness {
	return preemption.Likeness{Namespace: r.Namespace, Queue: r.Queue, Application: r.Application, Role: r.Role, Priority: r.Priority}
}

// arrives notes a new pod, and reports whether it replaces a victim.
func (m *evictionMemory) arrives(r *record) bool {
	if r.replacement = m.Arrives(r.likeness(), r.Request); r.replacement != (preemption.Replacement{}) {
		m.replacements = append(m.replacements, r)
		return true
	}
	return false
}

// noteEviction notes that a victim of a queue is gone or replaced: from now on the queue, and those above it, may lack what it had.
func (a *queueAccount) noteEviction(now int64) {
	for ; a != nil; a = a.parent {
		a.evictedAt = now
	}
}

// lookAtShares forgets the evictions after which a share has changed, and the replacements that exist no more.
func (m *evictionMemory) lookAtShares(now []preemption.Queue, pods map[UID]*record) {
	m.LookAtShares(now)
	m.replacements = slices.DeleteFunc(m.replacements, func(r *record) bool {
		if pods[r.UID] != r {
			return true
		}
		if !m.Forgot(r.replacement) {
			return false
		}
		r.replacement = preemption.Replacement{}
		r.touch()
		return true
	})
}
