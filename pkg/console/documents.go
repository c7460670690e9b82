package console

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// documents are the JSON of a page that shows several: each as the command line prints it, under its name.
type documents []named

type named struct {
	name     string
	document json.Marshaler
}

// MarshalJSON implements json.Marshaler.
func (ds documents) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, d := range ds {
		text, err := d.document.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(`"` + d.name + `":`)
		b.Write(bytes.TrimSpace(text))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func headed(text string, d report.Paged) report.Paged { return headedDocument{d, text} }

// headedDocument is a document whose first section has another heading.
type headedDocument struct {
	report.Paged
	text string
}

// Sections implements report.Paged.
func (d headedDocument) Sections(l report.Layout) []report.Section {
	sections := slices.Clone(d.Paged.Sections(l))
	sections[0].Heading = d.text
	return sections
}
