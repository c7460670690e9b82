package preemption

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// EvictionMemory remembers the victims that left, and which new pods replace them, for as long as no share changes. A claim that waited
// already when a victim left exempts the victim's replacement: one eviction for one state of the shares (see Claim.Exempts). The zero
// EvictionMemory remembers nothing.
//
// Pods have no identity beyond their own, so a new pod replaces the first victim that was like it.
type EvictionMemory struct {
	left   []departure // not replaced yet, in the order in which they left
	alike  map[Likeness]int
	looks  uint64 // at the shares, so far
	forgot uint64 // what happened before this look is forgotten
	shares []Queue
}

// Likeness is what a pod has in common with a victim that it replaces, beside the request.
type Likeness struct {
	Namespace, Queue, Application string
	Role                          application.Role
	Priority                      int32
}

type departure struct {
	like    Likeness
	request resource.List
	Replacement
}

// Replacement says which eviction a pod makes up for. The zero Replacement: none.
type Replacement struct {
	// At is when the victim left, unix nanoseconds.
	At   int64
	look uint64 // the number of looks at the shares before that
}

// Leaves notes a victim that leaves.
func (m *EvictionMemory) Leaves(like Likeness, request resource.List, now int64) {
	if m.alike == nil {
		m.alike = map[Likeness]int{}
	}
	m.alike[like]++
	m.left = append(m.left, departure{like, request, Replacement{now, m.looks}})
}

// Arrives returns what a new pod replaces. No other pod replaces the same victim.
func (m *EvictionMemory) Arrives(like Likeness, request resource.List) Replacement {
	if m.alike[like] == 0 {
		return Replacement{}
	}
	i := slices.IndexFunc(m.left, func(d departure) bool { return d.like == like && d.request.Equal(request) })
	if i < 0 {
		return Replacement{}
	}
	is := m.left[i].Replacement
	m.drop(i, i+1)
	return is
}

func (m *EvictionMemory) drop(from, to int) {
	for _, d := range m.left[from:to] {
		if m.alike[d.like]--; m.alike[d.like] == 0 {
			delete(m.alike, d.like)
		}
	}
	m.left = slices.Delete(m.left, from, to)
}

// LookAtShares forgets the evictions before the last look if a share has changed since then. Evictions between two looks are remembered: it
// is unknown whether the share changed before them or after.
func (m *EvictionMemory) LookAtShares(now []Queue) {
	if !slices.EqualFunc(m.shares, now, func(a, b Queue) bool { return a.Path == b.Path && a.Entitlement.Equal(b.Entitlement) }) {
		m.forgot = m.looks
		from := slices.IndexFunc(m.left, func(d departure) bool { return !m.Forgot(d.Replacement) })
		if from < 0 {
			from = len(m.left)
		}
		m.drop(0, from)
	}
	m.shares = now
	m.looks++
}

// Forgot reports whether a share has changed since the eviction.
func (m *EvictionMemory) Forgot(r Replacement) bool { return r.look < m.forgot }

// Unreplaced is how many victims have left and were not replaced.
func (m *EvictionMemory) Unreplaced() int { return len(m.left) }
