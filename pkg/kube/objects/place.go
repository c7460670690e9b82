package objects

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Problem is something wrong at a place of a file.
type Problem report.FileProblem

func (p *Problem) Error() string { return report.FileProblem(*p).String() }

var newline = []byte("\n")

// source counts the lines of what is read through it, and keeps the text of the object that is being read.
type source struct {
	from   io.Reader
	first  int    // the number of the first line of kept
	kept   []byte // what was read since the last call of forget
	before int64  // how many bytes were read before
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.kept = append(s.kept, p[:n]...)
	return n, err
}

// end is the offset of the end of what was read.
func (s *source) end() int64 { return s.before + int64(len(s.kept)) }

// forget drops the text before an offset.
func (s *source) forget(before int64) {
	s.first = s.line(before)
	s.kept = s.kept[before-s.before:]
	s.before = before
}

func (s *source) text(from, to int64) []byte { return s.kept[from-s.before : to-s.before] }

func (s *source) line(at int64) int { return s.first + bytes.Count(s.kept[:at-s.before], newline) }

// chunk is a text in which objects are: a document, or an item that is read by itself.
type chunk struct {
	line  int    // the number of its first line
	text  []byte // nil if it is not known
	depth int    // of the items that are being read, so many are around it
	tree  *yaml.Node
}

// lineOf returns the line of a field of the object that is being read, or of the nearest one around it.
func (r *reader) lineOf(field string) int {
	c := r.chunk
	if c == nil || c.text == nil {
		return r.line()
	}
	if c.tree == nil {
		c.tree = &yaml.Node{}
		if yaml.Unmarshal(c.text, c.tree) != nil || len(c.tree.Content) == 0 { // JSON is YAML
			c.tree = &yaml.Node{Content: []*yaml.Node{{Line: 1}}}
		}
	}
	n := c.tree.Content[0]
	line := n.Line
	path := ""
	for _, item := range r.items[min(c.depth, len(r.items)):] {
		path += fmt.Sprintf("items[%d].", item-1)
	}
	for path += field; n != nil && path != ""; {
		var at int
		if n, at, path = child(n, path); n != nil {
			line = at
		}
	}
	return c.line + line - 1
}

// line is where the text begins that is being read, 0 if that is not known.
func (r *reader) line() int {
	if r.chunk == nil {
		return 0
	}
	return r.chunk.line
}

// child goes one step down a path such as spec.rules[0].type, and returns the rest of the path. A name may have dots: of several that
// fit, the longest is meant.
func child(n *yaml.Node, path string) (to *yaml.Node, line int, rest string) {
	path = strings.TrimPrefix(path, ".")
	inBrackets, after, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
	bracket := strings.HasPrefix(path, "[")
	switch {
	case n.Kind == yaml.SequenceNode && bracket:
		if i, err := strconv.Atoi(inBrackets); err == nil && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line, after
		}
	case n.Kind == yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			left, begins := strings.CutPrefix(path, name)
			if bracket {
				left, begins = after, name == inBrackets
			}
			if begins && (left == "" || left[0] == '.' || left[0] == '[') && len(name) > longest {
				longest, to, line, rest = len(name), n.Content[i+1], n.Content[i].Line, left
			}
		}
	}
	return to, line, rest
}

// at says where in the stream the reader is.
func (r *reader) at(err error) error {
	if err == nil {
		return nil
	}
	return r.atField("", err)
}

// atField gives the line of a field of the object that is being read.
func (r *reader) atField(field string, err error) error {
	return &Problem{File: r.file, Line: r.lineOf(field), Message: fmt.Sprintf("%s: %v", r.place(), err)}
}

// typeError is how the decoder names the field of a wrong type.
var typeError = regexp.MustCompile(`Go struct field [A-Za-z]+\.([A-Za-z.]+) of type`)

// fieldIn returns the field that an error of the decoder names, else "". In lists it is the nearest field around it.
func fieldIn(err error) string {
	if found := typeError.FindStringSubmatch(err.Error()); found != nil {
		return found[1]
	}
	return ""
}

func (r *reader) place() string {
	place := fmt.Sprintf("document %d", r.document)
	for _, n := range r.items {
		place += fmt.Sprintf(", item %d", n)
	}
	return place
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// syntax places an error of the YAML parser, which counts lines from the first of the text.
func (r *reader) syntax(err error) error {
	p := &Problem{File: r.file, Line: r.line()}
	first := true
	text := lineNumber.ReplaceAllStringFunc(err.Error(), func(found string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(found, "line "))
		if n += r.line() - 1; first {
			first, p.Line = false, n
		}
		return "line " + strconv.Itoa(n)
	})
	p.Message = r.place() + ": " + strings.Join(strings.Fields(text), " ") // of several errors it makes lines
	return p
}

// judgeObject notes what the API server would refuse.
func (r *reader) judgeObject(h header, raw []byte) error {
	if r.judge == nil {
		return nil
	}
	faults, err := r.judge(h.Kind, h.APIVersion, raw)
	if err != nil {
		return fmt.Errorf("%v: %w", h, err)
	}
	before := len(r.problems)
	for _, f := range faults {
		r.note(h.String(), f.Field, f.Message)
	}
	slices.SortStableFunc(r.problems[before:], func(a, b Problem) int { return a.Line - b.Line })
	return nil
}

func (r *reader) note(object, field, message string) {
	r.problems = append(r.problems, Problem{File: r.file, Line: r.lineOf(field), Object: object, Field: field, Message: message})
}

// judgeList notes what is no part of a List: a misspelt field would hide all that is in it.
func (r *reader) judgeList(h header, rest []byte) error {
	if r.judge == nil {
		return nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(rest, &fields); err != nil {
		return r.at(err)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"apiVersion", "items", "kind", "metadata"}, name) {
			r.note(h.Kind, name, "there is no such field")
		}
	}
	if h.Kind == "List" && h.APIVersion != "v1" {
		r.note(h.Kind, "apiVersion", fmt.Sprintf("is %q; allowed is v1", h.APIVersion))
	}
	return nil
}
