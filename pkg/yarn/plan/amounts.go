package plan

import "github.com/fairway-scheduler/fairway/pkg/yarn/value"

// Amounts are amounts of resources as a field has them. The note says what was changed.
func Amounts(n *Note, r value.Resources) Map {
	for _, change := range r.Changes {
		n.Approximate("%s", change)
	}
	for _, lost := range r.Lost {
		n.Lose("%s", lost)
	}
	m := Map{}
	for _, a := range r.Amounts {
		m = append(m, Entry{a.Name, value.Number(a.Text)})
	}
	return m
}
