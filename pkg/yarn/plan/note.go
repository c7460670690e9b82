package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// Status is what became of a property.
type Status int

// From the best to the worst, so that the larger one counts.
const (
	Translated Status = iota
	// Approximated: the objects do nearly the same, and the note says what differs.
	Approximated
	// NotNeeded has no counterpart, and nothing is lost.
	NotNeeded
	// NotTranslated has no counterpart, and something is lost.
	NotTranslated
)

func (s Status) String() string {
	return [...]string{"translated", "approximated", "not needed", "not translated"}[s]
}

// Origin is where a property stands.
type Origin struct {
	File string
	Line int // 0: the property is not stated, and the default of YARN counts
	// Queue has the property; empty if it holds for all. It is YARN's name of it.
	Queue, Property, Value string
}

func (o Origin) place() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

func (o Origin) String() string {
	text := o.Property
	if value := strings.Join(strings.Fields(o.Value), " "); value != "" {
		if len(value) > 80 {
			value = value[:77] + "..."
		}
		text += " " + value
	}
	if o.Queue != "" {
		text = o.Queue + ": " + text
	}
	return text
}

// Note says what became of a property.
type Note struct {
	Origin
	Status Status
	// Fields are those that it set, as the report shows them.
	fields  []string
	queues  []int    // of how many queues each of them is; 0: of this one
	missing []string // fields that the CRD does not have
	reasons []string
}

// shows adds a field.
func (n *Note) shows(field string) {
	n.fields, n.queues = append(n.fields, field), append(n.queues, 0)
}

// spread adds a field that several queues have.
func (n *Note) spread(field string) {
	i := slices.Index(n.fields, field)
	if i < 0 {
		n.shows(field)
		i = len(n.fields) - 1
	}
	n.queues[i]++
}

func (n *Note) because(s Status, format string, args []any) *Note {
	n.Status = max(n.Status, s)
	if text := fmt.Sprintf(format, args...); !slices.Contains(n.reasons, text) {
		n.reasons = append(n.reasons, text)
	}
	return n
}

// Remark adds something that the reader should know, and changes nothing.
func (n *Note) Remark(format string, args ...any) *Note { return n.because(Translated, format, args) }

// Approximate says what differs.
func (n *Note) Approximate(format string, args ...any) *Note {
	return n.because(Approximated, format, args)
}

// Rounded writes a number with at most three decimals, and notes where something is lost.
func (n *Note) Rounded(r *big.Rat) string {
	text, exact := value.Rounded(r, 3)
	if !exact {
		n.Approximate("rounded to three decimals")
	}
	return text
}

// RoundedAboveZero is Rounded, but writes a number that is not 0 as at least 0.001.
func (n *Note) RoundedAboveZero(r *big.Rat) string {
	if text := n.Rounded(r); text != "0" || r.Sign() == 0 {
		return text
	}
	return "0.001"
}

// Skip says why nothing is needed.
func (n *Note) Skip(format string, args ...any) *Note { return n.because(NotNeeded, format, args) }

// Lose says why there is no counterpart.
func (n *Note) Lose(format string, args ...any) *Note { return n.because(NotTranslated, format, args) }

// String is a line of the report.
func (n *Note) String() string {
	text := fmt.Sprintf("%s: %s: %s", n.place(), n.Status, n.Origin)
	shown := slices.Clone(n.fields)
	for i, queues := range n.queues {
		switch queues {
		case 0:
		case 1:
			shown[i] += " of 1 queue"
		default:
			shown[i] += fmt.Sprintf(" of %d queues", queues)
		}
	}
	if len(shown) > 0 {
		text += " -> " + strings.Join(shown, ", ")
	}
	reasons := n.reasons
	if len(n.missing) > 0 {
		reasons = append(slices.Clone(reasons), "this version of Fairway has no field "+strings.Join(n.missing, ", "))
	}
	if len(reasons) > 0 {
		text += "; " + strings.Join(reasons, "; ")
	}
	return text
}
