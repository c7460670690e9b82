package objects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// wholeUpTo is the size up to which a YAML document is parsed as a whole. The tree that a YAML parser builds is about 25
// times the size of the text.
const wholeUpTo = 1 << 20

// blank is a document without content.
var blank = regexp.MustCompile(`\A(?:\s|[#%].*\n)*\z`)

// yamlStream reads the documents between lines of `---` with apimachinery's reader, as kubectl does. That reader, like
// every YAML parser for Go, keeps a whole document in memory. So the items of a large List are read before they get
// there.
func (r *reader) yamlStream(s *source) error {
	lines := bufio.NewReaderSize(s, r.whole+headSize)
	documents := utilyaml.NewYAMLReader(lines) // reads line by line, and not ahead
	for {
		s.forget(s.end() - int64(lines.Buffered()))
		list, err := r.largeList(lines, s.first)
		if err != nil {
			return err
		}
		line := s.line(s.end() - int64(lines.Buffered()))
		var text []byte
		if list == nil || list.more {
			text, err = documents.Read()
		}
		var syntax utilyaml.YAMLSyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &syntax):
			r.document++
			r.chunk = &chunk{line: s.line(s.end()-int64(lines.Buffered())) - 1}
			return r.at(syntax)
		case err != nil:
			return err
		}
		if first, after, _ := bytes.Cut(text, []byte("\n")); bytes.HasPrefix(first, []byte("---")) {
			text, line = after, line+1
		}
		// A parser would ignore what follows the end of a document.
		for i, one := range bytes.Split(text, []byte("\n...")) {
			if i == 0 && list != nil {
				err = list.end(one)
			} else {
				err = r.yamlWhole(one, line)
			}
			if err != nil {
				return err
			}
			line += bytes.Count(one, newline) + 1
		}
	}
}

// yamlWhole reads a document whose first line has this number.
func (r *reader) yamlWhole(text []byte, line int) error {
	if blank.Match(text) {
		return nil
	}
	if isJSON(text) {
		s := &source{from: bytes.NewReader(text), first: line}
		more, err := r.jsonObjects(json.NewDecoder(s), s)
		if err == nil && more {
			err = r.at(errors.New("something follows the object that is none"))
		}
		return err
	}
	r.document++
	r.chunk = &chunk{line: line, text: text}
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return r.syntax(err)
	}
	if string(raw) == "null" {
		return nil
	}
	return r.jsonObject(json.NewDecoder(bytes.NewReader(raw)), nil)
}
