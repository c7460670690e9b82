package resource

import (
	"cmp"
	"slices"
	"strings"
)

// Name is a Kubernetes resource name.
type Name string

// The resources that rules or formatting refer to by name.
const (
	CPU              Name = "cpu"               // in milli-cores
	Memory           Name = "memory"            // in bytes
	EphemeralStorage Name = "ephemeral-storage" // in bytes
)

// Entry is an amount of one resource.
type Entry struct {
	Name  Name
	Value int64
}

// List is a set of amounts, at most one for each resource. It is an immutable value: goroutines and snapshots
// may share it without a copy. The zero List is empty.
//
// What an absent resource means depends on the role, and the method says which: 0 in an amount, unlimited in a
// maximum.
type List struct {
	// Invariant: sorted by Name, names unique, never written after construction. It is a slice and not a map,
	// because decisions walk it and must always walk it in the same order.
	entries []Entry
}

// Of returns the list of these entries. Amounts of one resource are summed.
func Of(entries ...Entry) List {
	if len(entries) == 0 {
		return List{}
	}
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	out := sorted[:1]
	for _, e := range sorted[1:] {
		if last := &out[len(out)-1]; last.Name == e.Name {
			last.Value = SatAdd(last.Value, e.Value)
			continue
		}
		out = append(out, e)
	}
	return List{entries: out}
}

// OfSorted is Of for entries that are sorted by name, with unique names. It keeps the slice.
func OfSorted(entries []Entry) List { return List{entries: entries} }

// Get returns the amount of a resource, 0 when the list does not name it.
func (l List) Get(n Name) int64 {
	v, _ := l.Lookup(n)
	return v
}

// Lookup returns the amount of a resource, and whether the list names it.
func (l List) Lookup(n Name) (int64, bool) {
	// Lists have few entries: a linear search is faster than a binary one.
	for _, e := range l.entries {
		if e.Name == n {
			return e.Value, true
		}
	}
	return 0, false
}

// Len returns the number of resources named.
func (l List) Len() int { return len(l.entries) }

// At returns the i-th entry in name order.
func (l List) At(i int) Entry { return l.entries[i] }

// IsZero reports whether no amount differs from 0.
func (l List) IsZero() bool {
	for _, e := range l.entries {
		if e.Value != 0 {
			return false
		}
	}
	return true
}

// Add returns l+o over the resources of both.
func (l List) Add(o List) List { return l.combine(o, SatAdd) }

// Sub returns l-o over the resources of both. Amounts may become negative.
func (l List) Sub(o List) List { return l.combine(o, SatSub) }

// Min returns the smaller amount of each resource; an absent one is 0.
func (l List) Min(o List) List {
	return l.combine(o, func(a, b int64) int64 { return min(a, b) })
}

// Max returns the larger amount of each resource; an absent one is 0.
func (l List) Max(o List) List {
	return l.combine(o, func(a, b int64) int64 { return max(a, b) })
}

// CapBy returns l capped by limits, where a resource absent from limits is unlimited. (Min would read it as
// 0.)
func (l List) CapBy(limits List) List {
	if limits.Len() == 0 {
		return l
	}
	out := slices.Clone(l.entries)
	for i := range out {
		if limit, ok := limits.Lookup(out[i].Name); ok {
			out[i].Value = min(out[i].Value, limit)
		}
	}
	return List{entries: out}
}

// Equal reports whether both hold the same amounts; an absent one is 0.
func (l List) Equal(o List) bool {
	return l.every(o, func(a, b int64) bool { return a == b })
}

// Fits reports whether no amount is larger than the one in into; one that is absent there is 0.
func (l List) Fits(into List) bool {
	for _, e := range l.entries {
		if e.Value > into.Get(e.Name) {
			return false
		}
	}
	return true
}

// String returns the list as "cpu=1500m memory=20Gi"; an empty list is "".
func (l List) String() string {
	var b strings.Builder
	for i, e := range l.entries {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(e.Name))
		b.WriteByte('=')
		b.WriteString(Format(e.Name, e.Value))
	}
	return b.String()
}

// combine applies f to the amounts of every resource that either list names.
func (l List) combine(o List, f func(a, b int64) int64) List {
	out := make([]Entry, 0, len(l.entries)+len(o.entries))
	l.walk(o, func(n Name, a, b int64) bool {
		out = append(out, Entry{Name: n, Value: f(a, b)})
		return true
	})
	return List{entries: out}
}

func (l List) every(o List, holds func(a, b int64) bool) bool {
	all := true
	l.walk(o, func(_ Name, a, b int64) bool {
		all = holds(a, b)
		return all
	})
	return all
}

// walk visits, in name order and until visit returns false, every resource that
// either list names.
func (l List) walk(o List, visit func(n Name, a, b int64) bool) {
	i, j := 0, 0
	for i < len(l.entries) || j < len(o.entries) {
		var e, f Entry
		switch {
		case j == len(o.entries) || (i < len(l.entries) && l.entries[i].Name < o.entries[j].Name):
			e = l.entries[i]
			i++
		case i == len(l.entries) || o.entries[j].Name < l.entries[i].Name:
			f = o.entries[j]
			e.Name = f.Name
			j++
		default:
			e, f = l.entries[i], o.entries[j]
			i++
			j++
		}
		if !visit(e.Name, e.Value, f.Value) {
			return
		}
	}
}
