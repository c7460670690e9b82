package objects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
func (r *reader) yamlStream(from io.Reader) error {
	lines := bufio.NewReaderSize(from, r.whole+headSize)
	documents := utilyaml.NewYAMLReader(lines) // reads line by line, and not ahead
	for {
		list, err := r.largeList(lines)
		if err != nil {
			return err
		}
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
			return r.at(syntax)
		case err != nil:
			return err
		}
		if first, after, _ := bytes.Cut(text, []byte("\n")); bytes.HasPrefix(first, []byte("---")) {
			text = after // so that lines are counted from the document's first
		}
		// A parser would ignore what follows the end of a document.
		for i, one := range bytes.Split(text, []byte("\n...")) {
			if i == 0 && list != nil {
				err = list.end(one)
			} else {
				err = r.yamlWhole(one)
			}
			if err != nil {
				return err
			}
		}
	}
}

func (r *reader) yamlWhole(text []byte) error {
	if blank.Match(text) {
		return nil
	}
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
