package cli

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// printing is a stream of lines that a terminal may show, whatever they quote.
type printing struct{ to io.Writer }

func (p printing) Write(text []byte) (int, error) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = reason.Printable(line)
	}
	if _, err := io.WriteString(p.to, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// special finds the codes of characters in JSON.
var special = regexp.MustCompile(`\\[bfnrtuU]`)

// printableYAML converts JSON that is printable. A string with a character that a terminal may obey, or with several lines, is written in double quotes with
// codes for these.
func printableYAML(text []byte) ([]byte, error) {
	plain, err := yaml.JSONToYAML(text)
	if err != nil || !special.Match(text) {
		return plain, err
	}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(plain, &document); err != nil {
		return nil, err
	}
	quote(&document)
	var out bytes.Buffer
	e := yamlv3.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&document); err != nil {
		return nil, err
	}
	return report.PrintableYAML(out.Bytes()), nil
}

func quote(n *yamlv3.Node) {
	if n.Kind == yamlv3.ScalarNode && reason.Printable(n.Value) != n.Value {
		n.Style = yamlv3.DoubleQuotedStyle
	}
	for _, inner := range n.Content {
		quote(inner)
	}
}
