package report

// Style says what the reader's terminal can show. The zero Style uses Unicode and no color.
type Style struct {
	// Color allows ANSI colors. They are around text, never instead of it: without them nothing is lost.
	Color bool
	// ASCII replaces drawing characters by plain ones.
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

// Bold makes text stand out, where that is possible.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// ellipsis stands for what was cut off.
func (s Style) ellipsis() string {
	if s.ASCII {
		return "~"
	}
	return "…"
}

// arrow stands between what was and what would be.
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
