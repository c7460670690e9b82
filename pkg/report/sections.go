package report

import "strings"

// Section is a part of a document as it is laid out on a page: a heading with a table, or with sentences.
type Section struct {
	Heading string
	Table   *Table
	Items   []string
	// None is what stands in the place of a table without rows; "": nothing.
	None string
}

// Paged is a document that can be laid out in sections.
type Paged interface {
	Document
	Sections(l Layout) []Section
}

// lines has the heading, then the table or the sentences. Without content there are none.
func (s Section) lines(l Layout) []string {
	switch {
	case s.Table == nil:
		return section(s.Heading, s.Items, l)
	case len(s.Table.Rows) == 0 && s.None != "":
		return []string{Clip("("+s.None+")", l.Width)}
	case len(s.Table.Rows) == 0:
		return nil
	case s.Heading == "":
		return s.Table.Lines(l.Width, l.Style)
	}
	return append([]string{"", l.Style.Bold(Clip(s.Heading, l.Width))}, s.Table.Lines(l.Width, l.Style)...)
}

func linesOf(sections []Section, l Layout) (lines []string) {
	for _, s := range sections {
		lines = append(lines, s.lines(l)...)
	}
	return lines
}

// Shown are the columns that say something, by index: all of a full table.
func (t Table) Shown() []int {
	kept, _ := t.fit(0)
	return kept
}

// Emphasised reports whether a row needs attention.
func (t Table) Emphasised(row int) bool { return t.colors[row] == yellow }

// Sections are those of a tree: its table, then what is wrong.
func (t Tree) Sections(l Layout) []Section {
	table := t.table(l)
	return append([]Section{{Table: &table}}, t.Remarks()...)
}

// Remarks are what a tree says below its table.
func (t Tree) Remarks() []Section {
	var wrong, held []string
	for _, q := range t.Queues {
		for _, h := range q.Holds {
			held = append(held, holdText(q.Name, h))
		}
		for _, p := range q.Problems {
			wrong = append(wrong, string(p.Code)+": "+p.Text())
		}
	}
	return []Section{{Heading: "Calculator:", Items: t.calculator()}, {Heading: "Held nodes:", Items: held}, {Heading: "Problems:", Items: wrong}, t.outside()}
}

// Rows is the table of some queues, with all columns of a tree.
func Rows(queues []Queue, l Layout) Table { return queueTable(queues, l, true) }

// Sections are those of applications.
func (as Applications) Sections(l Layout) []Section {
	table := as.table(l)
	return []Section{{Table: &table, None: "no applications"}}
}

// Sections are those of users.
func (us Users) Sections(l Layout) []Section {
	table := us.table(l)
	return []Section{{Table: &table, None: "no users"}}
}

// Sections are the starved queues and the announced pods.
func (s Starved) Sections(l Layout) []Section { return s.sections(s.queues(l), s.victims(l)) }

func (s Starved) sections(queues, victims Table) []Section {
	return []Section{{Table: &queues, None: "no queue is starved"}, {Heading: "Pods that are about to be evicted:", Table: &victims}}
}

// Sections are those of a plan.
func (p Plan) Sections(l Layout) []Section {
	if len(p.Plan.Claims) == 0 {
		claims := p.claims(l)
		return []Section{{Table: &claims, None: noClaims}}
	}
	return p.sections(l, p.claims(l), p.victims(l), p.ideal(l))
}

// Sections are, for each pod, what its block of lines has.
func (w Why) Sections(l Layout) (sections []Section) {
	for _, a := range w.Answers {
		s := sentencesOf(a, l)
		sections = append(sections, Section{Heading: s.head, Items: append([]string{s.about}, s.facts...)})
		for _, part := range append(heldBy(a), aheadOf(a)) {
			if len(part.Items) > 0 {
				sections = append(sections, part)
			}
		}
	}
	return sections
}

// Sections has one section: the releases, each with what decided.
func (o Order) Sections(l Layout) []Section {
	s := Section{None: noReleases}
	for _, line := range o.lines(l, nil) {
		s.Items = append(s.Items, strings.TrimSpace(line))
	}
	return []Section{s}
}
