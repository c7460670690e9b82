package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/console/view"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// page is what one address shows at one moment, in all formats.
type page struct {
	title, section string
	blocks         []block
	json           json.Marshaler
	still          bool // it does not change: it is an answer to what was asked once
}

// block is a part of a page that is sent again when it changes. One with rows is sent row by row.
type block struct {
	id, template string
	data         any
	rows         []rowOf
	table        func() report.Table // all of it, for CSV; nil: it is no table
}

// rowOf is a row of a block: its template and what that shows.
type rowOf struct {
	key, template string
	data          any
}

//go:embed assets
var assets embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"tab": func(section, link, name string) choice {
		return choice{Name: name, Link: link, Chosen: section == link}
	},
	// The style sheet indents so many levels; deeper ones stand below the last.
	"deepest": func(level int) int { return min(level, 8) },
	// A mark is 6 wide and stays inside a bar of 1000.
	"mark": func(at int64) int64 { return min(at, 994) },
}).ParseFS(assets, "assets/*.html"))

// rendered is a block as HTML. What it is without its rows is in two parts, around them.
type rendered struct {
	id            string
	before, after string
	keys          []string
	rows          map[string]string
}

// rowsHere marks where the rows go. It is no text that a template can make of a value.
const rowsHere = "<rows>"

// inTemplate is what the template of a block sees.
type inTemplate struct {
	ID   string
	Data any
	Rows template.HTML
	CSV  bool
}

func (b *block) render() (r rendered, err error) {
	var text bytes.Buffer
	in := inTemplate{ID: b.id, Data: b.data, Rows: rowsHere, CSV: b.table != nil}
	if err := templates.ExecuteTemplate(&text, b.template, in); err != nil {
		return r, err
	}
	r.id, r.rows = b.id, make(map[string]string, len(b.rows))
	r.before, r.after, _ = strings.Cut(text.String(), rowsHere)
	for _, row := range b.rows {
		text.Reset()
		if err := templates.ExecuteTemplate(&text, row.template, row.data); err != nil {
			return r, err
		}
		r.keys = append(r.keys, row.key)
		r.rows[row.key] = text.String()
	}
	return r, nil
}

// html is the whole block.
func (r *rendered) html() string {
	var b strings.Builder
	b.WriteString(r.before)
	for _, key := range r.keys {
		b.WriteString(r.rows[key])
	}
	b.WriteString(r.after)
	return b.String()
}

func (p *page) render() (all []rendered, err error) {
	all = make([]rendered, len(p.blocks))
	for i := range p.blocks {
		if all[i], err = p.blocks[i].render(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add adds the sections of a document. Each is a block, also if it is empty now: it may have something later.
func (p *page) add(id string, d report.Paged, l report.Layout, r *http.Request, links ...view.Links) {
	wide := func(i int) func() report.Table {
		return func() report.Table { return *d.Sections(exact(l))[i].Table }
	}
	for i, s := range d.Sections(l) {
		name := id
		if i > 0 {
			name += "-" + itoa(i)
		}
		if s.Table == nil {
			p.blocks = append(p.blocks, block{id: name, template: "items", data: s})
			continue
		}
		var to view.Links
		if i < len(links) {
			to = links[i]
		}
		p.addTable(name, s, wide(i), r, to)
	}
}

func (p *page) addTable(id string, s report.Section, all func() report.Table, r *http.Request, links view.Links) {
	from := number(r, id)
	if r.Method != http.MethodGet { // an answer has no address of its own, and so no parts
		from, all = view.All, nil
	}
	t := view.TableOf(id, s, from, links)
	b := block{id: id, template: "table", table: all}
	for _, row := range t.Rows {
		b.rows = append(b.rows, rowOf{row.Key, "row", row})
	}
	b.data = tableData{t, parts(r, id, t)}
	p.blocks = append(p.blocks, b)
}

// tableData is a table with the addresses of the parts beside the one that is shown.
type tableData struct {
	view.Table
	Beside
}

// Beside are the addresses of the parts before and after the one that is shown, and of the whole as CSV.
type Beside struct{ Earlier, Later, Export string }

// parts are the addresses of other parts of a table. The first row of the tree is "from"; of another table it has the name of the table.
func parts(r *http.Request, key string, t view.Table) (b Beside) {
	if t.Before >= 0 {
		b.Earlier = with(r, key, itoa(t.Before))
	}
	if t.After >= 0 {
		b.Later = with(r, key, itoa(t.After))
	}
	if r.Method == http.MethodGet {
		b.Export = with(r, "format", "csv", "table", t.ID)
	}
	return b
}

// exact is the layout of all columns with exact amounts.
func exact(l report.Layout) report.Layout {
	l.Wide, l.Terminal = true, false
	return l
}

// addTableOf adds one table under a heading.
func (p *page) addTableOf(id, heading string, of func(report.Layout) report.Table, q question, links view.Links) {
	t := of(q.layout)
	p.addTable(id, report.Section{Heading: heading, Table: &t}, func() report.Table { return of(exact(q.layout)) }, q.Request, links)
}

// plainly is the layout of text that is shown as it is, in one line for each row.
func plainly(l report.Layout) report.Layout {
	l.Width = 0
	return l
}
