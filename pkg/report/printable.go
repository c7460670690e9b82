package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns lines that do nothing to a terminal but show text. Names, users and queue requests come from
// the creator of a pod, and could move the cursor, change the title of the window or turn text around; each such
// character is shown as its code, such as \x1b. What the style itself uses stays. kubectl does the same since
// CVE-2021-25743.
func (s Style) Printable(lines []string) []string {
	printable := make([]string, len(lines))
	for i, line := range lines {
		printable[i] = s.printableLine(line)
	}
	return printable
}

func (s Style) printableLine(line string) string {
	if !strings.ContainsFunc(line, controls) {
		return line
	}
	var b strings.Builder
	for rest := line; rest != ""; {
		if n := s.ownSequence(rest); n > 0 {
			b.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		shown := rest[:size]
		if controls(r) {
			quoted := strconv.QuoteToASCII(shown)
			shown = quoted[1 : len(quoted)-1]
		}
		b.WriteString(shown)
		rest = rest[size:]
	}
	return b.String()
}

// controls says whether a terminal may do something else with a character than show it: control characters, marks
// of the direction of writing, separators of lines, and bytes that are no character.
func controls(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsGraphic(r) }

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
