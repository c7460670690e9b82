package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Document is something that can be shown as lines, or as JSON by its MarshalJSON.
type Document interface {
	json.Marshaler
	Lines(Layout) []string
}

// Compared is a document that can be shown beside an earlier state of itself.
type Compared interface {
	Document
	// Since shows both; before has the same type.
	Since(before Document, l Layout) []string
}

// Layout says how to lay a document out.
type Layout struct {
	// Width is the longest line; 0 is unlimited.
	Width int
	Style Style
	// Terminal: a person reads it on a screen. Trees are indented, there are bars, and columns that tell
	// nothing are left out. Otherwise every line is complete by itself.
	Terminal bool
	// Wide shows every column, and exact amounts of all resources.
	Wide bool
	// Now is the time from which ages are computed, in unix nanoseconds.
	Now int64
}

// full: tables keep the columns that tell nothing.
func (l Layout) full() bool { return l.Wide || !l.Terminal }

// amounts prints amounts for the layout.
func (l Layout) amounts(list resource.List) string {
	if !l.Wide {
		return Amounts(list)
	}
	if list.Len() == 0 {
		return "0"
	}
	return list.String()
}

// stated prints amounts; an absent resource is not 0 but not stated.
func (l Layout) stated(list resource.List) string {
	if list.Len() == 0 {
		return nothing
	}
	if l.Wide {
		return list.String()
	}
	words := make([]string, list.Len())
	for i := range words {
		switch e := list.At(i); e.Name {
		case resource.CPU:
			words[i] = shortCPU(e.Value) + "c"
		case resource.Memory:
			words[i] = shortBytes(e.Value)
		default:
			words[i] = resource.Format(e.Name, e.Value) + reason.Name(string(e.Name[strings.LastIndexByte(string(e.Name), '/')+1:]))
		}
	}
	return strings.Join(words, " ")
}

// age prints how long ago a time was, as kubectl does; the time 0 means never.
func (l Layout) age(since int64) string {
	if since == 0 {
		return nothing
	}
	return duration.HumanDuration(max(time.Duration(l.Now-since), 0))
}

// nothing is the text of an empty cell.
const nothing = "-"

// section is a heading and its items, each in as many lines as needed. Without items it is empty.
func section(heading string, items []string, l Layout) []string {
	if len(items) == 0 {
		return nil
	}
	lines := []string{"", l.Style.Bold(Clip(heading, l.Width))}
	for _, item := range items {
		lines = append(lines, Wrap(item, l.Width, "  ")...)
	}
	return lines
}

// Wrap breaks a text between words into lines of at most width characters. Every line is indented, all but the
// first by two more. Only a word longer than a line is cut.
func Wrap(text string, width int, indent string) []string {
	text = plain(text)
	if width <= 0 {
		return []string{indent + text}
	}
	var lines []string
	line, empty := indent, true
	for _, word := range words(text) {
		if !empty && monospace.StringWidth(line)+1+monospace.StringWidth(word) > width {
			lines = append(lines, Clip(line, width))
			line, empty = indent+"  ", true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return append(lines, Clip(line, width))
}

// words are the parts of a printable text between blanks. What is in quotes is one word: what users wrote begins no line.
func words(text string) (all []string) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		end := 0
		for end < len(text) && text[end] != ' ' {
			end += quotedLength(text[end:])
		}
		all, text = append(all, text[:end]), text[end:]
	}
	return all
}

// mostStray is how much may follow a quote that nothing closes. More is a quotation that was cut.
const mostStray = 340

// quotedLength is the length of what a text begins with: something in quotes, or one byte.
func quotedLength(text string) int {
	for i := 1; text[0] == '"' && i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	if text[0] == '"' && len(text) > mostStray {
		return len(text)
	}
	return 1
}

// What the JSON of all documents has in common. Keys are always present: {} and [] if empty.

// quantities prints amounts as canonical Kubernetes quantities, as the status of a Queue does.
func quantities(l resource.List) map[string]string {
	out := make(map[string]string, l.Len())
	for i := range l.Len() {
		e := l.At(i)
		out[string(e.Name)] = quantity(e.Name, e.Value)
	}
	return out
}

func quantity(n resource.Name, v int64) string {
	switch {
	case v != resource.Unlimited:
		return resource.Format(n, v)
	case n == resource.CPU:
		return strconv.FormatInt(v, 10) + "m"
	}
	return strconv.FormatInt(v, 10)
}

// timestamp is RFC 3339 in UTC; "" for a time that never was.
func timestamp(ns int64) string {
	if ns == 0 {
		return ""
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339)
}

type problem struct {
	Reason  reason.Code `json:"reason"`
	Message string      `json:"message"`
}

func problems(rs []reason.Reason) []problem {
	out := make([]problem, len(rs))
	for i, r := range rs {
		out[i] = problem{r.Code, r.Text()}
	}
	return out
}

type podCounts struct {
	Pending int64 `json:"pending"`
	Running int64 `json:"running"`
}

// amounts are what an application or a user should have, has, and wants.
type amounts struct {
	FairShare map[string]string `json:"fairShare"`
	Allocated map[string]string `json:"allocated"`
	Demand    map[string]string `json:"demand"`
}

type applicationCounts struct {
	Pending  int64 `json:"pending"`
	Starting int64 `json:"starting"`
	Running  int64 `json:"running"`
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return text.Bytes(), err
}

// list turns nil into an empty list.
func list[T any](items []T) []T { return append(make([]T, 0, len(items)), slices.Clip(items)...) }
