package report

// Style says what the reader's terminal supports. The zero Style uses Unicode and no color.
type Style struct {
	// Color allows ANSI colors. They only emphasise text: without them no information is lost.
	Color bool
	// ASCII replaces drawing characters with plain ones.
	ASCII bool
}

// Colors by their ANSI codes.
const (
	bold   = "1"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold emphasises text, if colors are allowed.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// ellipsis replaces what was cut off.
func (s Style) ellipsis() string {
	if s.ASCII {
		return "~"
	}
	return "…"
}

// arrow separates the earlier value from the later one.
func (s Style) arrow() string {
	if s.ASCII {
		return " -> "
	}
	return " → "
}

func (s Style) barCells() (full, empty, mark string) {
	if s.ASCII {
		return "#", ".", "|"
	}
	return "█", "░", "│"
}
