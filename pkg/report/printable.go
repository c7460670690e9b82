package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Printable returns lines that do nothing to a terminal but show text, whatever is in them (see reason.Printable). What the style itself uses
// stays. Tables and wrapped texts are printable before that, since what is shown of a character decides how wide it is.
func (s Style) Printable(lines []string) []string {
	printable := make([]string, len(lines))
	for i, line := range lines {
		printable[i] = s.printableLine(line)
	}
	return printable
}

func (s Style) printableLine(line string) string {
	var b strings.Builder
	for rest := line; rest != ""; {
		if n := s.ownSequence(rest); n > 0 {
			b.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		next := len(rest)
		if i := strings.IndexByte(rest[1:], '\x1b'); i >= 0 {
			next = i + 1
		}
		b.WriteString(reason.Printable(rest[:next]))
		rest = rest[next:]
	}
	return b.String()
}

// ownSequence returns the length of the sequence with which a line begins if the style uses it, else 0.
func (s Style) ownSequence(line string) int {
	if !s.Color {
		return 0
	}
	for _, code := range []string{"0", bold, green, yellow, cyan} {
		if sequence := "\x1b[" + code + "m"; strings.HasPrefix(line, sequence) {
			return len(sequence)
		}
	}
	return 0
}

// longestItem bounds what is shown of a text that quotes what users wrote.
const longestItem = 4096

// plain is a text as one line that is not too long.
func plain(text string) string {
	if len(text) > longestItem {
		text = strings.ToValidUTF8(text[:longestItem], "") + "..."
	}
	return reason.Printable(text)
}

// PrintableJSON returns JSON in which no string holds a character that a terminal may obey.
func PrintableJSON(text []byte) []byte {
	return escape(text, func(r rune) string {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	})
}

// PrintableYAML does the same for YAML, or JSON that a YAML parser reads. All such characters must be in double quotes.
func PrintableYAML(text []byte) []byte {
	return escape(text, func(r rune) string { return fmt.Sprintf(`\U%08x`, r) })
}

// escape writes characters as codes. wide is the code of one that needs more than 16 bits.
func escape(text []byte, wide func(rune) string) []byte {
	if !bytes.ContainsFunc(text, escaped) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case !escaped(r):
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString(wide(r))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// escaped says whether a character is written as its code. Lines end with a line feed, which stands between strings only.
func escaped(r rune) bool {
	return r != '\n' && (r == unicode.ReplacementChar || !unicode.IsGraphic(r))
}
