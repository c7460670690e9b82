package config

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Element is an element of an XML file.
type Element struct {
	Name       string
	Attributes map[string]string
	// Text is what stands in the element before its first child. HasText: there is some, if only a blank.
	Text     string
	HasText  bool
	Children []*Element
	Line     int
}

// Error is a mistake in a file.
type Error struct {
	File string
	Line int // 0: the whole file
	Text string
}

func (e Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Parse reads a file and returns its top element.
func Parse(file string, r io.Reader) (*Element, error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset
	var top *Element
	var open []*Element
	for {
		line, _ := d.InputPos() // before the token: its beginning
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, syntaxError(file, line, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &Element{Name: token.Name.Local, Attributes: map[string]string{}, Line: line}
			for _, a := range token.Attr {
				e.Attributes[a.Name.Local] = a.Value
			}
			if len(open) > 0 {
				above := open[len(open)-1]
				above.Children = append(above.Children, e)
			} else if top == nil {
				top = e
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && len(open[len(open)-1].Children) == 0 {
				e := open[len(open)-1]
				e.Text, e.HasText = e.Text+string(token), true
			}
		}
	}
	if top == nil {
		return nil, Error{file, 0, "there is no XML element in the file"}
	}
	return top, nil
}

func syntaxError(file string, line int, err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return Error{file, syntax.Line, "not valid XML: " + syntax.Msg}
	}
	return Error{file, line, err.Error()}
}

// charset reads the encodings that administrators' files have beside UTF-8. In them a byte is the character of that number.
func charset(label string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "iso-8859-1", "latin1":
		return &latin1{from: input}, nil
	}
	return nil, fmt.Errorf("the encoding %s is not known; save the file as UTF-8", label)
}

type latin1 struct {
	from io.Reader
	rest []byte
}

func (l *latin1) Read(into []byte) (int, error) {
	if len(l.rest) == 0 {
		bytes := make([]byte, 4096)
		n, err := l.from.Read(bytes)
		if n == 0 {
			return 0, err
		}
		for _, b := range bytes[:n] {
			l.rest = append(l.rest, string(rune(b))...)
		}
	}
	n := copy(into, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
