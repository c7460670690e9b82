package reason

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// longestName is more than the name of any object of Kubernetes, and of any service account with its namespace.
	longestName = 340
	// longestText bounds a sentence that quotes what a user wrote.
	longestText = 4096
)

// Printable returns a text that does nothing to a terminal but show itself. Names, users and queue requests come from the creator of a pod,
// and could move the cursor, break a line or turn text around; each such character is shown as its code, such as \x1b. kubectl does the same
// since CVE-2021-25743.
func Printable(text string) string {
	if !strings.ContainsFunc(text, controls) {
		return text
	}
	var b strings.Builder
	for rest := text; rest != ""; {
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

// Name is a name in a sentence or a table. One with blanks or quotes is quoted, so that a reader sees where it ends; a very long one is cut.
func Name(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r == '"' || unicode.IsSpace(r) }) {
		return quoted(s)
	}
	return shown(s, longestName)
}

func quoted(s string) string { return `"` + strings.ReplaceAll(shown(s, longestName), `"`, `\"`) + `"` }

// shown is a printable text of at most so many bytes, with a note if it is cut.
func shown(text string, most int) string {
	if len(text) <= most {
		return Printable(text)
	}
	return Printable(Beginning(text, most)) + "... (" + strconv.Itoa(len(text)) + " bytes)"
}

// Beginning returns at most so many bytes from the beginning of a text, whole characters.
func Beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(most, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
