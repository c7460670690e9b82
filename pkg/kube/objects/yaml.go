package objects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"

	"sigs.k8s.io/yaml"
)

// wholeUpTo is the size from which a YAML document is read item by item. The tree that a YAML parser builds is some twenty times the text.
const wholeUpTo = 1 << 20

// yamlStream reads documents between lines that begin with `---`.
func (r *reader) yamlStream(from *bufio.Reader) error {
	d := &yamlDocument{r: r}
	var line []byte
	for {
		var ended error
		if line, ended = nextLine(from, line[:0]); ended != nil && !errors.Is(ended, io.EOF) {
			return ended
		}
		content, begins := separator(line)
		if begins {
			if err := d.finish(); err != nil {
				return err
			}
			d = &yamlDocument{r: r, text: d.text[:0]}
		}
		if err := d.add(content); err != nil {
			return err
		}
		if ended != nil {
			return d.finish()
		}
	}
}

// nextLine reads a line of any length, with its end, into to.
func nextLine(from *bufio.Reader, to []byte) ([]byte, error) {
	for {
		part, err := from.ReadSlice('\n')
		to = append(to, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return to, err
		}
	}
}

// separator reports whether a document ends before this line, and returns what of the line belongs to the one that begins.
func separator(line []byte) (content []byte, begins bool) {
	for _, mark := range []string{"---", "..."} {
		if after, ok := bytes.CutPrefix(line, []byte(mark)); ok && (len(after) == 0 || bytes.IndexByte([]byte(" \t\r\n"), after[0]) >= 0) {
			if isBlank(after) { // lines are counted from the next
				return nil, true
			}
			return after, true
		}
	}
	return line, false
}

// yamlDocument is one document while it is read, line by line. A small one is parsed as a whole. A large one is taken apart where that is
// certain to give the same: where the mapping at the left margin has a line `items:`, and below it a block sequence, whose entries YAML tells
// by a dash in one column and by nothing else. All that is inside an entry must be indented deeper, also the lines of texts, whatever
// they hold. What does not look like that is parsed as a whole, whatever memory it takes.
type yamlDocument struct {
	r     *reader
	text  []byte // the document, or, once it is taken apart, all but its items
	shape shape

	list  list
	below bool   // the line belongs to the items
	dash  int    // column of the dashes, -1 before the first
	entry []byte // with a space for its dash, which makes it a document of its own
}

func (d *yamlDocument) add(line []byte) error {
	if d.shape == apart {
		return d.part(line)
	}
	d.text = append(d.text, line...)
	if isBlank(line) || d.shape == empty && line[0] == '%' {
		return nil
	}
	d.shape = d.shape.with(line)
	if d.shape != entries || len(d.text) <= d.r.whole {
		return nil
	}
	d.shape = apart
	d.r.document++
	text := d.text
	d.text = nil
	for line := range bytes.Lines(text) {
		if err := d.part(line); err != nil {
			return err
		}
	}
	return nil
}

// shape is what the lines so far look like.
type shape uint8

const (
	empty   shape = iota
	mapping       // begins with a key at the left margin
	items         // and has the line `items:`
	entries       // and below it an entry
	apart         // and is taken apart
	other         // anything else; it may have anything at the left margin
)

func (s shape) with(line []byte) shape {
	_, dash := dashIn(line)
	switch {
	case s == empty && !isKey(line):
		return other
	case (s == empty || s == mapping) && isItems(line):
		return items
	case s == empty:
		return mapping
	case s == items && dash:
		return entries
	case s == items:
		return other
	}
	return s
}

func isBlank(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

func isItems(line []byte) bool { return string(bytes.TrimRight(line, " \r\n")) == "items:" }

// isKey reports whether the line begins with a word and a colon.
func isKey(line []byte) bool {
	word, value, ok := bytes.Cut(line, []byte(":"))
	letters := bytes.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
	return ok && len(word) > 0 && letters && (len(value) == 0 || bytes.IndexByte([]byte(" \r\n"), value[0]) >= 0)
}

// dashIn returns the column of the dash that begins an entry.
func dashIn(line []byte) (column int, ok bool) {
	after := bytes.TrimLeft(line, " ")
	if len(after) == 0 || after[0] != '-' || len(after) > 1 && bytes.IndexByte([]byte(" \r\n"), after[1]) < 0 {
		return 0, false
	}
	return len(line) - len(after), true
}

// part takes in a line of a document that is taken apart.
func (d *yamlDocument) part(line []byte) error {
	if !d.below {
		if !isItems(line) {
			d.text = append(d.text, line...)
			return nil
		}
		if d.list.items {
			return d.r.at(errors.New(`yaml: key "items" is there twice`))
		}
		d.below, d.list.items, d.dash = true, true, -1
		return nil
	}
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	column, dash := dashIn(line)
	switch {
	case isBlank(line), d.dash >= 0 && indent > d.dash:
		d.entry = append(d.entry, line...)
	case dash && (d.dash < 0 || d.dash == column):
		if err := d.flush(); err != nil {
			return err
		}
		d.dash = column
		d.entry = append(d.entry[:0], line...)
		d.entry[column] = ' '
	case indent == 0 && line[0] != '\t':
		d.below = false
		if err := d.flush(); err != nil {
			return err
		}
		return d.part(line)
	default:
		return d.r.at(fmt.Errorf("after item %d: a line that belongs neither to items nor to what follows them: %.60q", d.list.count+1, line))
	}
	return nil
}

// flush takes in the entry that ends.
func (d *yamlDocument) flush() error {
	if d.dash < 0 {
		return nil
	}
	raw, err := yaml.YAMLToJSONStrict(d.entry)
	if err != nil {
		d.r.items = append(d.r.items, d.list.count+1)
		return d.r.at(fmt.Errorf("%w (counted from the first line of the item; in documents of more than %d bytes, items are read one by one)", err, d.r.whole))
	}
	return d.r.item(&d.list, raw)
}

func (d *yamlDocument) finish() error {
	switch {
	case d.shape == empty:
		return nil
	case d.shape != apart:
		return d.r.yamlWhole(d.text)
	}
	if d.below {
		if err := d.flush(); err != nil {
			return err
		}
	}
	rest, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return d.r.at(fmt.Errorf("beside its items: %w", err))
	}
	return d.r.end(&d.list, rest)
}

func (r *reader) yamlWhole(text []byte) error {
	if isJSON(text) {
		more, err := r.jsonObjects(json.NewDecoder(bytes.NewReader(text)))
		if err == nil && more {
			err = r.at(errors.New("something follows the object that is none"))
		}
		return err
	}
	r.document++
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return r.at(fmt.Errorf("%w (counted from the first line of the document)", err))
	}
	if string(raw) == "null" {
		return nil
	}
	return r.jsonObject(json.NewDecoder(bytes.NewReader(raw)))
}
