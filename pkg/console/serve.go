package console

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// problem is why there is no page.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

func notFound(text string) error { return &problem{http.StatusNotFound, text} }

// serve answers for one address, in the format that is asked for.
func (c *Console) serve(build builder) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "events" {
			c.stream(w, r, build)
			return
		}
		m := c.moments.current()
		p, err := c.build(m, r, build)
		if err != nil {
			c.refuse(w, err)
			return
		}
		switch format := r.URL.Query().Get("format"); format {
		case "":
			err = c.writePage(w, r, m, p)
		case "json":
			err = writeJSON(w, p.json)
		case "csv":
			err = writeCSV(w, p, r.URL.Query().Get("table"))
		default:
			err = &problem{http.StatusBadRequest, "There is no format " + format + ": json and csv are known."}
		}
		if err != nil {
			c.refuse(w, err)
		}
	}
}

// build makes the page, while nobody else asks about the moment.
func (c *Console) build(m *moment, r *http.Request, build builder) (page, error) {
	said := c.eventsFor(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	return build(question{said: said, Request: r, moment: m, console: c, layout: report.Layout{Terminal: true, Now: m.world.Now.UnixNano()}})
}

func (c *Console) refuse(w http.ResponseWriter, err error) {
	var p *problem
	if !errors.As(err, &p) {
		p = &problem{http.StatusInternalServerError, err.Error()}
	}
	c.fail(w, p.status, p.text)
}

// fail answers with a page that says why there is no other.
func (c *Console) fail(w http.ResponseWriter, status int, text string) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "problem", text); err != nil {
		http.Error(w, text, status)
		return
	}
	w.Header().Set("Content-Type", htmlType)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

const htmlType = "text/html; charset=utf-8"

// pageData is what the template of a page sees.
type pageData struct {
	Title, Section, Source, Now, Stale, JSON string
	Number                                   uint64
	Still                                    bool
	Problems                                 []report.FileProblem
	Blocks                                   []blockData
}

type blockData struct {
	ID   string
	HTML template.HTML
}

func (c *Console) writePage(w http.ResponseWriter, r *http.Request, m *moment, p page) error {
	all, err := p.render()
	if err != nil {
		return err
	}
	data := pageData{
		Title: p.title, Section: p.section, Source: c.moments.source.Name(), Now: clock(m), Stale: m.stale, Number: m.number, Problems: m.problems, Still: p.still,
		JSON: with(r, "format", "json"),
	}
	for i := range all {
		data.Blocks = append(data.Blocks, blockData{all[i].id, template.HTML(all[i].html())}) //nolint:gosec // html/template has made it
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", htmlType)
	_, _ = w.Write(b.Bytes())
	return nil
}

func clock(m *moment) string { return clockText(m.world.Now.UnixNano()) }

func clockText(ns int64) string { return time.Unix(0, ns).Local().Format(time.DateTime) }

func writeJSON(w http.ResponseWriter, d json.Marshaler) error {
	text, err := d.MarshalJSON()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "    "); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(report.PrintableJSON(b.Bytes()))
	return nil
}

// writeCSV writes a table of the page, the first one if none is named. A cell that a spreadsheet would take for a formula begins with a quote.
func writeCSV(w http.ResponseWriter, p page, id string) error {
	for _, b := range p.blocks {
		if b.table == nil || id != "" && b.id != id {
			continue
		}
		t := b.table()
		var text bytes.Buffer
		out := csv.NewWriter(&text)
		row := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			row[i] = c.Title
		}
		_ = out.Write(row)
		for _, cells := range t.Rows {
			for i, cell := range cells {
				row[i] = harmless(cell)
			}
			_ = out.Write(row)
		}
		out.Flush()
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "fairway-" + b.id + ".csv"}))
		_, _ = w.Write(text.Bytes())
		return nil
	}
	return notFound("There is no such table on this page.")
}

func harmless(cell string) string {
	if len(cell) > 1 && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// asset serves a file of the pages. Only embedded files have names here.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(name)]
	text, err := fs.ReadFile(assets, "assets/"+name)
	if kind == "" || err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text)
}

// with is the address of the request with other values for some keys.
func with(r *http.Request, pairs ...string) string {
	q := r.URL.Query()
	for _, key := range []string{"format", "since", "table"} {
		q.Del(key)
	}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return r.URL.Path + "?" + q.Encode()
}

// without is the address of the request without a key.
func without(r *http.Request, key string) string {
	r = r.Clone(r.Context())
	q := r.URL.Query()
	q.Del(key)
	r.URL.RawQuery = q.Encode()
	return with(r)
}

func number(r *http.Request, key string) int {
	n, err := strconv.Atoi(r.URL.Query().Get(key))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

func itoa(n int) string { return strconv.Itoa(n) }
