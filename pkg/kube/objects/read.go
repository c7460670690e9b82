package objects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Read reads a stream of YAML documents or JSON objects, single ones or Lists, as kubectl writes them. name is what errors call the stream.
//
// A List is read item by item, since that of a large cluster is larger than everything a command keeps of it. The stream
// decoders of apimachinery and the resource builder of cli-runtime keep a whole List in memory, and its tree is about 25
// times the size of a YAML text. An empty stream is an empty set.
//
// Objects may be written by hand. A missing uid is made from kind, namespace and name; a missing namespace is "default";
// an object without a creation time is created when the picture is made (see feed.Rebuild). Nothing else is filled in:
// objects are read as an API server stores them.
func Read(name string, from io.Reader) (*Set, error) {
	set, _, err := ReadFiles([]File{{name, from}}, nil)
	return set, err
}

// File is a stream and what errors call it.
type File struct {
	Name string
	From io.Reader
}

// Fault is something that the API server would refuse in an object.
type Fault struct {
	Field   string // such as spec.max
	Message string
}

// Judge returns the faults of an object as it is written. The error is not about the object.
type Judge func(kind, apiVersion string, raw []byte) ([]Fault, error)

// ReadFiles reads files into one set, and returns what judge finds in their objects, with its place. Of such an object the set has what can
// be read. After an error nothing can be: it is the last of the problems, too.
func ReadFiles(files []File, judge Judge) (*Set, []Problem, error) {
	return readFiles(files, judge, wholeUpTo)
}

func readFiles(files []File, judge Judge, whole int) (*Set, []Problem, error) {
	r := &reader{set: &Set{}, seen: map[key]int{}, whole: whole, judge: judge}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		r.file, r.document = f.Name, 0
		if err := r.stream(bufio.NewReaderSize(f.From, 1<<16)); err != nil {
			var placed *Problem
			if !errors.As(err, &placed) {
				placed = &Problem{File: f.Name, Message: err.Error()}
			}
			return nil, append(r.problems, *placed), placed
		}
	}
	r.set.stream = strings.Join(names, ", ")
	return r.set, r.problems, nil
}

// reader is one run of ReadFiles.
type reader struct {
	set      *Set
	seen     map[key]int // places of objects in the slices of the set
	file     string
	document int    // number of the document that is being read
	items    []int  // numbers of the items that are being read, one per level of Lists
	guess    string // kind of the object before
	whole    int    // a YAML document of more bytes is read item by item
	judge    Judge  // nil: objects are not judged
	chunk    *chunk // the text that is being read
	problems []Problem
}

// maxLevels bounds Lists in Lists; kubectl writes one level.
const maxLevels = 8

var errCut = errors.New("the stream ends in the middle of an object: is it cut off?")

// stream tells JSON from YAML. JSON objects may be followed by YAML, but not the other way round: what follows a first `---` is split into
// documents at such lines.
func (r *reader) stream(from *bufio.Reader) error {
	head, err := from.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return errors.New("the stream is UTF-16; only UTF-8 can be read")
	case bytes.Equal(head, []byte("\xef\xbb\xbf")): // a byte order mark
		if _, err := from.Discard(len(head)); err != nil {
			return err
		}
	}
	head, err = from.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	s := &source{from: from, first: 1}
	if !isJSON(head) {
		return r.yamlStream(s)
	}
	d := json.NewDecoder(s)
	if more, err := r.jsonObjects(d, s); err != nil || !more {
		return err
	}
	return r.yamlStream(&source{from: io.MultiReader(d.Buffered(), from), first: s.line(d.InputOffset())})
}

// isJSON tells a JSON object from a mapping in YAML's flow style, whose keys are not quoted.
func isJSON(text []byte) bool {
	text, braced := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	text = bytes.TrimLeft(text, " \t\r\n")
	return braced && (len(text) == 0 || text[0] == '"' || text[0] == '}')
}

// jsonObjects reads objects until the stream ends. more: something other than an object follows.
func (r *reader) jsonObjects(d *json.Decoder, s *source) (more bool, err error) {
	for d.More() {
		var next [1]byte
		if n, _ := d.Buffered().Read(next[:]); n == 1 && next[0] != '{' {
			return true, nil
		}
		r.document++
		if err := r.jsonObject(d, s); err != nil {
			return false, err
		}
	}
	// More is false at the end and after an error; Token tells which.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		r.chunk = &chunk{line: s.line(d.InputOffset())}
		return false, r.at(err)
	}
	return false, nil
}

// jsonObject reads one object. Only its end tells whether it is a List: kubectl sorts `items` before `kind`. s is what d reads, nil for
// what is in a chunk already.
func (r *reader) jsonObject(d *json.Decoder, s *source) error {
	begin := d.InputOffset()
	if s != nil {
		r.chunk = &chunk{line: s.line(begin)}
	}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return r.at(orCut(err, fmt.Errorf("%v is not an object; allowed are %s", t, allowed())))
	}
	var rest bytes.Buffer // the object without its items
	rest.WriteByte('{')
	var l list
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return r.at(orCut(err, nil))
		}
		if name == "items" {
			if err := r.jsonItems(d, s, &l); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return r.at(orCut(err, nil))
		}
		switch name { // what is no string is found at the end
		case "kind":
			_ = json.Unmarshal(value, &l.kind)
		case "apiVersion":
			_ = json.Unmarshal(value, &l.apiVersion)
		}
		if rest.Len() > 1 {
			rest.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return r.at(err)
		}
		rest.Write(quoted)
		rest.WriteByte(':')
		rest.Write(value)
	}
	if _, err := d.Token(); err != nil {
		return r.at(orCut(err, nil))
	}
	rest.WriteByte('}')
	if s != nil {
		if !l.items {
			r.chunk.text = s.text(begin, d.InputOffset())
		}
		defer func() { s.forget(d.InputOffset()) }()
	}
	return r.end(&l, rest.Bytes())
}

func (r *reader) jsonItems(d *json.Decoder, s *source, l *list) error {
	if s != nil {
		defer func(of *chunk) { r.chunk = of }(r.chunk)
	}
	l.items = true
	t, err := d.Token()
	switch {
	case err != nil:
		return r.at(orCut(err, nil))
	case t == nil: // as Go writes a list of nothing
		return nil
	case t != json.Delim('['):
		return r.at(fmt.Errorf("items is %v; allowed is a list of objects", t))
	}
	var raw json.RawMessage
	for d.More() {
		if err := d.Decode(&raw); err != nil {
			r.items = append(r.items, l.count+1)
			return r.at(orCut(err, nil))
		}
		if s != nil {
			end := d.InputOffset()
			r.chunk = &chunk{line: s.line(end - int64(len(raw))), text: raw, depth: len(r.items) + 1}
			s.forget(end)
		}
		if err := r.item(l, raw); err != nil {
			return err
		}
	}
	_, err = d.Token()
	if err != nil {
		return r.at(orCut(err, nil))
	}
	return nil
}

// orCut returns an error about a stream that is cut off here, if it is; otherwise err, or other if err is nil.
func orCut(err, other error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case err != nil:
		return err
	}
	return other
}

// list is an object while it is read: a List, or anything else.
type list struct {
	items      bool   // it has a field of that name
	kind       string // "" until it is known
	apiVersion string // likewise
	count      int
	unnamed    []unnamed // items that leave out their kind, while that of the List is not known
}

type unnamed struct {
	raw []byte
	in  *chunk
}

// item reads one item, which is valid only until item returns. Typed clients write lists whose items leave out their
// kind.
func (r *reader) item(l *list, raw []byte) error {
	l.count++
	if len(r.items) == maxLevels {
		return r.at(fmt.Errorf("there are %d levels of Lists in Lists; allowed are %d", maxLevels+1, maxLevels))
	}
	r.items = append(r.items, l.count)
	defer func() { r.items = r.items[:len(r.items)-1] }()
	of := strings.TrimSuffix(l.kind, "List")
	if r.guessed(raw, of) {
		return nil
	}
	h, err := headerOf(raw)
	if err != nil {
		return r.at(err)
	}
	switch {
	case h.Kind == "" && (l.kind == "" || l.apiVersion == ""):
		in := *r.chunk
		in.text = bytes.Clone(in.text)
		l.unnamed = append(l.unnamed, unnamed{bytes.Clone(raw), &in})
		return nil
	case h.Kind == "" && of != "":
		h.Kind, h.APIVersion = of, l.apiVersion
	case isList(h):
		return r.jsonObject(json.NewDecoder(bytes.NewReader(raw)), nil)
	}
	return r.object(h, raw)
}

// end takes in an object after its items were read; rest is the object without them.
func (r *reader) end(l *list, rest []byte) error {
	h, err := headerOf(rest)
	if err != nil {
		return r.at(err)
	}
	switch {
	case l.items && h.Kind == "":
		return r.at(errors.New("there are items, but no kind: allowed is List; is the stream cut off?"))
	case !isList(h) && l.items:
		return r.at(fmt.Errorf("kind %s has items; allowed in a List only", h.Kind))
	case !isList(h):
		return r.object(h, rest)
	}
	of := strings.TrimSuffix(h.Kind, "List")
	if of != "" {
		if err := (header{Kind: of, APIVersion: h.APIVersion}).known(); err != nil {
			return r.at(err)
		}
	}
	if err := r.judgeList(h, rest); err != nil {
		return err
	}
	l.kind, l.apiVersion = h.Kind, h.APIVersion
	unnamed := l.unnamed
	if n := len(unnamed); n > 0 && (of == "" || n < l.count) {
		return r.at(fmt.Errorf("%d items have no kind; allowed are %s", n, allowed()))
	}
	l.unnamed, l.count = nil, l.count-len(unnamed)
	for _, u := range unnamed {
		r.chunk = u.in
		if err := r.item(l, u.raw); err != nil {
			return err
		}
	}
	return nil
}
