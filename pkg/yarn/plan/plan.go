package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// Plan is the outcome of an import.
type Plan struct {
	Queues    []*Object
	Placement *Object
	access    []*Object
	notes     []*Note
	errors    []error
	grants    map[grant]*subjects
}

// Note adds a note about a property. It is Translated until something else is said.
func (p *Plan) Note(o Origin) *Note {
	n := &Note{Origin: o}
	p.notes = append(p.notes, n)
	return n
}

// Fail adds a mistake for which YARN would not load the file.
func (p *Plan) Fail(err error) { p.errors = append(p.errors, err) }

// Errors are all mistakes; with one there is nothing to apply.
func (p *Plan) Errors() []error { return p.errors }

// Queue adds a Queue.
func (p *Plan) Queue(path queue.Path) *Object {
	o := &Object{APIVersion: group, Kind: "Queue", Name: string(path)}
	p.Queues = append(p.Queues, o)
	return o
}

// Policy returns the PlacementPolicy, and adds it if there is none yet.
func (p *Plan) Policy() *Object {
	if p.Placement == nil {
		p.Placement = &Object{APIVersion: group, Kind: "PlacementPolicy", Name: "default"}
	}
	return p.Placement
}

// Finish leaves out what the schema does not have, and puts everything in its final order. It is called once, at the end.
func (p *Plan) Finish(s Schema) {
	p.addAccess()
	for _, o := range p.Objects() {
		o.prune(s)
	}
	slices.SortStableFunc(p.Queues, func(a, b *Object) int { return queue.ComparePaths(queue.Path(a.Name), queue.Path(b.Name)) })
	first := map[string]int{} // files in the order in which they are first named
	for i, n := range p.notes {
		if _, known := first[n.File]; !known {
			first[n.File] = i
		}
	}
	slices.SortStableFunc(p.notes, func(a, b *Note) int {
		switch {
		case a.File != b.File:
			return first[a.File] - first[b.File]
		case (a.Line == 0) != (b.Line == 0): // the defaults come last
			return b.Line - a.Line
		}
		return a.Line - b.Line
	})
}

// Objects are all objects, in the order in which they are written.
func (p *Plan) Objects() []*Object {
	all := slices.Clone(p.Queues)
	if p.Placement != nil {
		all = append(all, p.Placement)
	}
	return append(all, p.access...)
}

// Complete reports whether everything was translated that needs it.
func (p *Plan) Complete() bool {
	return !slices.ContainsFunc(p.notes, func(n *Note) bool { return n.Status == NotTranslated })
}

// Report says what became of each property, and how many there are of each kind.
func (p *Plan) Report() string {
	var text strings.Builder
	var counts [NotTranslated + 1]int
	for _, n := range p.notes {
		fmt.Fprintln(&text, n)
		counts[n.Status]++
	}
	parts := make([]string, len(counts))
	for s, count := range counts {
		parts[s] = fmt.Sprintf("%d %s", count, Status(s))
	}
	fmt.Fprintf(&text, "%d properties: %s\n", len(p.notes), strings.Join(parts, ", "))
	return text.String()
}
