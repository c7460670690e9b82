package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"sigs.k8s.io/yaml"
)

// headSize is how far into a List its first item is looked for.
const headSize = 4 << 10

// listHead is how a List in block style begins: keys at the left margin, the last of which is items, and the dash of the first item.
var listHead = regexp.MustCompile(`\A((?:---[ \t]*(?:#.*)?\r?\n|[#%].*\n|\s*\n)*` +
	`(?:[A-Za-z]+:.*\n(?:[^-.\n].*\n|\n)*?)?items: *\r?\n(?: *(?:#.*)?\r?\n)*)( *)-\s`)

// yamlList is a List that is read item by item. In YAML, the entries of a block sequence begin with a dash in one
// column, and everything inside an entry is indented deeper, also the lines of texts.
type yamlList struct {
	r    *reader
	list list
	rest []byte // the document without its items
	dash int    // the column of the dashes
	line int    // the number of the next line
	more bool   // keys follow the items
}

// largeList reads the items of a List that begins here and is too large to be parsed as a whole. It returns nil for
// everything else: that is parsed as a whole, also a List in another style, whatever memory it takes. line is the number of the next line.
func (r *reader) largeList(lines *bufio.Reader, line int) (*yamlList, error) {
	head, err := peek(lines, headSize)
	if err != nil || !bytes.HasPrefix(head, []byte("items:")) && !bytes.Contains(head, []byte("\nitems:")) {
		return nil, err // found without the expression, which takes a fifth of the time of a document
	}
	match := listHead.FindSubmatch(head)
	if match == nil {
		return nil, nil
	}
	begin := len(match[0])
	head, err = peek(lines, max(r.whole+1, begin))
	if err != nil || len(head) <= r.whole || bytes.Contains(head[begin:], []byte("\n---")) {
		return nil, err
	}
	l := &yamlList{r: r, list: list{items: true}, dash: len(match[2]), line: line + bytes.Count(match[1], newline)}
	r.chunk = &chunk{line: line}
	l.rest = append(bytes.Clone(head[:len(match[1])]), " []\n"...)
	if _, err := lines.Discard(len(match[1])); err != nil {
		return nil, err
	}
	r.document++
	return l, l.read(lines)
}

// peek is Peek for which the end of the stream is no error.
func peek(lines *bufio.Reader, n int) ([]byte, error) {
	head, err := lines.Peek(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, err
}

// read reads up to the end of the items.
func (l *yamlList) read(lines *bufio.Reader) error {
	var item []byte // with a space for its dash, which makes it a document of its own
	of, begun := l.r.chunk, l.line
	defer func() { l.r.chunk = of }()
	for {
		head, err := peek(lines, l.dash+len("---"))
		if err != nil {
			return err
		}
		inside, begins := l.classify(head)
		if !inside && item != nil {
			l.r.chunk = &chunk{line: begun, text: item, depth: len(l.r.items) + 1}
			if err := l.item(item); err != nil {
				return err
			}
		}
		if !inside && !begins {
			return l.after(lines, head)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if begins {
			line[l.dash] = ' '
			item, begun = item[:0], l.line
		}
		l.line++
		item = append(item, line...)
	}
}

// classify returns whether a line is inside an item, and whether it begins one. It looks at the beginning of the line.
func (l *yamlList) classify(head []byte) (inside, begins bool) {
	text := bytes.TrimLeft(head, " ")
	indent := len(head) - len(text)
	switch {
	case len(head) == 0:
	case len(text) == 0, indent > l.dash, bytes.IndexByte([]byte("\r\n#"), text[0]) >= 0:
		inside = true
	case indent == l.dash && text[0] == '-':
		begins = len(text) == 1 || bytes.IndexByte([]byte(" \r\n"), text[1]) >= 0
	}
	return inside, begins
}

// after handles what follows the items: a key, a document, or the end.
func (l *yamlList) after(lines *bufio.Reader, head []byte) error {
	switch {
	case len(head) == 0, bytes.HasPrefix(head, []byte("---")):
		return nil
	case bytes.IndexByte([]byte(" \t-"), head[0]) >= 0:
		line, _ := lines.ReadBytes('\n')
		l.r.chunk = &chunk{line: l.line}
		return l.r.at(fmt.Errorf("after item %d: a line that belongs neither to items nor to what follows them: %.60q", l.list.count, line))
	}
	l.more = true
	return nil
}

func (l *yamlList) item(text []byte) error {
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		l.r.items = append(l.r.items, l.list.count+1)
		return l.r.syntax(err)
	}
	return l.r.item(&l.list, raw)
}

// end takes in the keys that follow the items.
func (l *yamlList) end(text []byte) error {
	raw, err := yaml.YAMLToJSONStrict(append(l.rest, text...))
	if err != nil {
		return l.r.at(fmt.Errorf("beside its items: %w", err)) // the lines of the two parts are not those of the file
	}
	return l.r.end(&l.list, raw)
}
