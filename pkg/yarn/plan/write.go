package plan

import (
	"bytes"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Write writes the objects as kubectl apply reads them. A comment says from which property a field comes.
func (p *Plan) Write(w io.Writer) error {
	for i, o := range p.Objects() {
		var text bytes.Buffer
		if i > 0 {
			text.WriteString("---\n")
		}
		if o.Comment != "" {
			fmt.Fprintf(&text, "# %s\n", o.Comment)
		}
		e := yaml.NewEncoder(&text)
		e.SetIndent(2)
		if err := e.Encode(o.node()); err != nil {
			return fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
		if _, err := w.Write(text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (o *Object) node() *yaml.Node {
	top := &yaml.Node{Kind: yaml.MappingNode}
	top.Content = append(top.Content, scalar("apiVersion"), scalar(o.APIVersion), scalar("kind"), scalar(o.Kind))
	metadata := child(top, "metadata")
	metadata.Content = append(metadata.Content, scalar("name"), scalar(o.Name))
	for _, f := range o.fields {
		at := top
		for _, name := range f.path[:len(f.path)-1] {
			at = child(at, name)
		}
		value := nodeOf(f.value)
		key := scalar(f.path[len(f.path)-1])
		if value.Kind == yaml.ScalarNode || value.Style == yaml.FlowStyle {
			value.LineComment = f.comment
		} else {
			key.HeadComment = f.comment
		}
		at.Content = append(at.Content, key, value)
	}
	return top
}

// child is the map below a key; it is made if there is none.
func child(at *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(at.Content); i += 2 {
		if at.Content[i].Value == name {
			at.Content[i+1].Style = 0
			return at.Content[i+1]
		}
	}
	below := &yaml.Node{Kind: yaml.MappingNode}
	at.Content = append(at.Content, scalar(name), below)
	return below
}

func scalar(value any) *yaml.Node {
	n := &yaml.Node{}
	if err := n.Encode(value); err != nil {
		panic(err) // of text, numbers and booleans there is no error
	}
	return n
}

func nodeOf(value any) *yaml.Node {
	switch v := value.(type) {
	case Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		plain := true
		for _, e := range v {
			below := nodeOf(e.Value)
			plain = plain && below.Kind == yaml.ScalarNode
			n.Content = append(n.Content, scalar(e.Key), below)
		}
		if plain {
			n.Style = yaml.FlowStyle
		}
		return n
	case List:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		plain := true
		for _, e := range v {
			below := nodeOf(e)
			plain = plain && below.Kind == yaml.ScalarNode
			n.Content = append(n.Content, below)
		}
		if plain && len(v) < 4 {
			n.Style = yaml.FlowStyle
		}
		return n
	}
	return scalar(value)
}
