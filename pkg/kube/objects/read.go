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
func Read(name string, from io.Reader) (*Set, error) { return read(name, from, wholeUpTo) }

func read(name string, from io.Reader, whole int) (*Set, error) {
	r := &reader{set: &Set{stream: name}, seen: map[key]int{}, whole: whole}
	if err := r.stream(bufio.NewReaderSize(from, 1<<16)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r.set, nil
}

// reader is one run of Read.
type reader struct {
	set      *Set
	seen     map[key]int // places of objects in the slices of the set
	document int         // number of the document that is being read
	items    []int       // numbers of the items that are being read, one per level of Lists
	guess    string      // kind of the object before
	whole    int         // a YAML document of more bytes is read item by item
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
	if !isJSON(head) {
		return r.yamlStream(from)
	}
	d := json.NewDecoder(from)
	if more, err := r.jsonObjects(d); err != nil || !more {
		return err
	}
	return r.yamlStream(bufio.NewReader(io.MultiReader(d.Buffered(), from)))
}

// isJSON tells a JSON object from a mapping in YAML's flow style, whose keys are not quoted.
func isJSON(text []byte) bool {
	text, braced := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	text = bytes.TrimLeft(text, " \t\r\n")
	return braced && (len(text) == 0 || text[0] == '"' || text[0] == '}')
}

// jsonObjects reads objects until the stream ends. more: something other than an object follows.
func (r *reader) jsonObjects(d *json.Decoder) (more bool, err error) {
	for d.More() {
		var next [1]byte
		if n, _ := d.Buffered().Read(next[:]); n == 1 && next[0] != '{' {
			return true, nil
		}
		r.document++
		if err := r.jsonObject(d); err != nil {
			return false, err
		}
	}
	// More is false at the end and after an error; Token tells which.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return false, r.at(err)
	}
	return false, nil
}

// jsonObject reads one object. Only its end tells whether it is a List: kubectl sorts `items` before `kind`.
func (r *reader) jsonObject(d *json.Decoder) error {
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
			if err := r.jsonItems(d, &l); err != nil {
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
	return r.end(&l, rest.Bytes())
}

func (r *reader) jsonItems(d *json.Decoder, l *list) error {
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
	unnamed    [][]byte // items that leave out their kind, while that of the List is not known
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
		l.unnamed = append(l.unnamed, bytes.Clone(raw))
		return nil
	case h.Kind == "" && of != "":
		h.Kind, h.APIVersion = of, l.apiVersion
	case isList(h):
		return r.jsonObject(json.NewDecoder(bytes.NewReader(raw)))
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
	l.kind, l.apiVersion = h.Kind, h.APIVersion
	unnamed := l.unnamed
	if n := len(unnamed); n > 0 && (of == "" || n < l.count) {
		return r.at(fmt.Errorf("%d items have no kind; allowed are %s", n, allowed()))
	}
	l.unnamed, l.count = nil, l.count-len(unnamed)
	for _, raw := range unnamed {
		if err := r.item(l, raw); err != nil {
			return err
		}
	}
	return nil
}

// at says where in the stream the reader is.
func (r *reader) at(err error) error {
	if err == nil {
		return nil
	}
	place := fmt.Sprintf("document %d", r.document)
	for _, n := range r.items {
		place += fmt.Sprintf(", item %d", n)
	}
	return fmt.Errorf("%s: %w", place, err)
}
