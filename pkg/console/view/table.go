package view

import (
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Table is a part of a table: so many rows from the first one that the reader chose.
type Table struct {
	ID, Heading, None string
	Columns           []Column
	Rows              []Row
	From, Total       int
	// Before and After are the first rows of the parts beside this one; -1: there is none.
	Before, After int
}

// Column is the head of a column.
type Column struct {
	Title string
	Right bool
}

// Row is a row. Key names it among those of its table, also when it changes.
type Row struct {
	Key        string
	Emphasised bool
	Cells      []Cell
}

// Cell is a text that may lead to a page.
type Cell struct {
	Text, Link string
	Right      bool
}

// Links says where a cell leads, by the row and the title of its column; "": nowhere.
type Links func(row int, title string) string

// PerPart is how many rows a part of a table has.
const PerPart = 200

// TableOf is the part of a table that begins at a row. Columns that say nothing are left out.
func TableOf(id string, s report.Section, from int, links Links) Table {
	t := Table{ID: id, Heading: strings.TrimSuffix(s.Heading, ":"), None: s.None, Total: len(s.Table.Rows)}
	var to int
	t.From, to, t.Before, t.After = part(from, t.Total)
	shown := s.Table.Shown()
	for _, c := range shown {
		t.Columns = append(t.Columns, Column{s.Table.Columns[c].Title, s.Table.Columns[c].Right})
	}
	for i := t.From; i < to; i++ {
		row := Row{Key: s.Table.Rows[i][0], Emphasised: s.Table.Emphasised(i)}
		if len(s.Table.Keys) > 0 {
			row.Key = s.Table.Keys[i]
		}
		for _, c := range shown {
			column := s.Table.Columns[c]
			cell := Cell{Text: s.Table.Rows[i][c], Right: column.Right}
			if links != nil {
				cell.Link = links(i, column.Title)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// All is the place of the first row if the whole table is wanted.
const All = -1

// part bounds a part of so many rows in all.
func part(from, total int) (first, end, before, after int) {
	if from == All {
		return 0, total, -1, -1
	}
	if from >= total {
		from = (total - 1) / PerPart * PerPart
	}
	from = max(from, 0)
	end, before, after = min(from+PerPart, total), -1, -1
	if from > 0 {
		before = max(from-PerPart, 0)
	}
	if end < total {
		after = end
	}
	return from, end, before, after
}

// First and Last number the rows of the part from 1.
func (t Table) First() int { return t.From + 1 }

// Last is the number of the last row.
func (t Table) Last() int { return t.From + len(t.Rows) }

// ApplicationLinks leads from a table of applications.
func ApplicationLinks(as report.Applications) Links {
	return func(row int, title string) string {
		switch a := as[row]; title {
		case "APPLICATION":
			return ApplicationLink(a.Queue, a.Name)
		case "QUEUE":
			return QueueLink(a.Queue)
		}
		return ""
	}
}

// PodLinks leads from a table of pods.
func PodLinks(ps report.Pods) Links {
	return func(row int, title string) string {
		switch p := ps[row]; title {
		case "POD":
			return PodLink(p.Namespace, p.Name)
		case "APPLICATION":
			if p.Leaf != "" {
				return ApplicationLink(string(p.Leaf), p.Application)
			}
		}
		return ""
	}
}

// StarvedLinks leads from a table of starved queues, VictimLinks from one of announced pods.
func StarvedLinks(s report.Starved) Links {
	return func(row int, title string) string {
		if title == "QUEUE" {
			return QueueLink(s.Queues[row].Queue)
		}
		return ""
	}
}

// VictimLinks leads from a table of announced pods.
func VictimLinks(s report.Starved) Links {
	return func(row int, title string) string {
		switch v := s.Victims[row]; title {
		case "POD":
			return PodLink(v.Pod.Namespace, v.Pod.Name)
		case "QUEUE":
			return QueueLink(string(v.Pod.Leaf))
		case "FOR-QUEUE":
			if v.ForQueue != "" {
				return QueueLink(v.ForQueue)
			}
		case "FOR":
			if namespace, name, ok := strings.Cut(v.For, "/"); ok {
				return PodLink(namespace, name)
			}
		}
		return ""
	}
}

// NameLinks leads from columns whose cells are names as they are: queues, and pods as namespace/name.
func NameLinks(t *report.Table) Links {
	at := map[string]int{}
	for i, c := range t.Columns {
		at[c.Title] = i
	}
	return func(row int, title string) string {
		text := t.Rows[row][at[title]]
		switch title {
		case "QUEUE":
			return QueueLink(text)
		case "POD", "FOR":
			if namespace, name, ok := strings.Cut(text, "/"); ok {
				return PodLink(namespace, name)
			}
		}
		return ""
	}
}
