package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Each case is the content of one file, or of several that are read one after the other, with a line --- between them.
func TestConfiguration(t *testing.T) {
	datadriven.RunTest(t, "testdata/configuration.txt", func(t *testing.T, d *datadriven.TestData) string {
		var files []File
		for i, text := range strings.Split(d.Input, "\n---\n") {
			if d.Cmd == "properties" {
				text = "<configuration>" + text + "</configuration>"
			}
			files = append(files, File{fmt.Sprintf("%c.xml", 'a'+i), strings.NewReader(text)})
		}
		c, err := Read(files...)
		if err != nil {
			return "error: " + err.Error()
		}
		var out strings.Builder
		for _, p := range c.Properties {
			fmt.Fprintf(&out, "%s:%d %s=%q", p.File, p.Line, p.Name, p.Value)
			if len(p.Unknown) > 0 {
				fmt.Fprintf(&out, " unknown %v", p.Unknown)
			}
			out.WriteByte('\n')
		}
		for _, s := range c.Shadowed {
			fmt.Fprintf(&out, "%s:%d %s=%q does not count: %s:%d final=%t\n", s.File, s.Line, s.Name, s.Value, s.By.File, s.By.Line, s.Final)
		}
		for _, e := range c.Ignored {
			fmt.Fprintln(&out, "ignored:", e)
		}
		return out.String()
	})
}

// Lines are those where an element begins, whatever stands before.
func TestElements(t *testing.T) {
	top, err := Parse("f.xml", strings.NewReader("<?xml version='1.0' encoding='ISO-8859-1'?>\n<!-- a\nb -->\n<a>\n  <b c=\"d\"\n     e=\"f\">g\xe9<h/>i</b>\n</a>"))
	if err != nil {
		t.Fatal(err)
	}
	b := top.Children[0]
	if top.Line != 4 || b.Line != 5 || b.Attributes["e"] != "f" || b.Text != "gé" || b.Children[0].HasText {
		t.Errorf("read as %+v and %+v", top, b)
	}
}

func TestUnknownEncoding(t *testing.T) {
	_, err := Parse("f.xml", strings.NewReader("<?xml version='1.0' encoding='EBCDIC-US'?>\n<a/>"))
	if err == nil || !strings.Contains(err.Error(), "the encoding EBCDIC-US is not known; save the file as UTF-8") {
		t.Error(err)
	}
}
