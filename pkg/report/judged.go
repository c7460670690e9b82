package report

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// FileProblem is something that the API server would refuse at a place of a file. Empty fields are not known.
type FileProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1; 0 if it is not known
	Object  string `json:"object"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Judged is a document about files, with what is wrong with these. Without a document there is nothing else to say.
type Judged struct {
	Document
	Problems []FileProblem
	// Inside: the lines begin with the problems. A screen that is drawn again and again shows nothing else.
	Inside bool
}

// MarshalJSON is that of the document with a key more. A document that is a list has it in each of its items.
func (j Judged) MarshalJSON() ([]byte, error) {
	text, err := marshal(list(j.Problems))
	if err != nil {
		return nil, err
	}
	with := append([]byte(`"problems":`), bytes.TrimSpace(text)...)
	if j.Document == nil {
		return append(append([]byte("{"), with...), '}'), nil
	}
	inner, err := j.Document.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return withKey(bytes.TrimSpace(inner), with)
}

// withKey adds a key to an object, or to each object of a list.
func withKey(text, key []byte) ([]byte, error) {
	if text[0] == '{' {
		text = bytes.TrimRight(bytes.TrimSuffix(text, []byte("}")), " \n")
		if len(text) > 1 {
			text = append(text, ',')
		}
		return append(append(text, key...), '}'), nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return nil, err
	}
	for i := range items {
		var err error
		if items[i], err = withKey(items[i], key); err != nil {
			return nil, err
		}
	}
	return marshal(items)
}

// Lines are those of the document.
func (j Judged) Lines(l Layout) []string {
	if !j.Inside || len(j.Problems) == 0 {
		return j.Document.Lines(l)
	}
	var lines []string
	for _, p := range j.Problems {
		lines = append(lines, Wrap(p.String(), l.Width, "")...)
	}
	return append(append(lines, ""), j.Document.Lines(l)...)
}

func (p FileProblem) String() string {
	text := p.File
	if p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line)
	}
	for _, part := range []string{p.Object, p.Field, p.Message} {
		switch {
		case part == "":
		case text == "":
			text = part
		default:
			text += ": " + part
		}
	}
	return text
}
