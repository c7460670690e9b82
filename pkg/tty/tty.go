// Package tty knows where output goes: a terminal of some size and abilities, or a file or pipe.
//
// Input is a file and the environment. Output is a Screen and, on a terminal, a Block of lines that is redrawn
// in place. The package must not know what the lines say.
package tty

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Screen is a destination of text.
type Screen struct {
	Out io.Writer
	// Terminal: it has a width, and a person reads it.
	Terminal bool
	// Redraw: the terminal supports the sequences that a Block and colors need.
	Redraw bool
	Style  report.Style
	// Size returns the size of a terminal; nil if it is not a terminal.
	Size func() (width, height int)
}

// The size of a terminal that does not tell its own.
const usualWidth, usualHeight = 80, 24

// Of returns the Screen of a file.
func Of(file *os.File, environment func(string) string) Screen {
	s := Screen{Out: file, Terminal: term.IsTerminal(int(file.Fd())), Style: styleFor(environment)}
	s.Redraw = s.Terminal && environment("TERM") != "dumb"
	s.Style.Color = s.Style.Color && s.Redraw
	if s.Terminal {
		s.Size = func() (int, int) {
			width, height, err := term.GetSize(int(file.Fd()))
			if err != nil || width <= 0 || height <= 0 {
				return usualWidth, usualHeight
			}
			return width, height
		}
	}
	return s
}

// Width returns the width of a terminal; 0 (unlimited) if it is not a terminal.
func (s Screen) Width() int {
	if s.Size == nil {
		return 0
	}
	width, _ := s.Size()
	return width
}

// styleFor respects NO_COLOR (any non-empty value) and the locale's character set.
func styleFor(environment func(string) string) report.Style {
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set decides
		if locale = environment(name); locale != "" {
			break
		}
	}
	locale = strings.ToLower(locale)
	utf8 := strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
	return report.Style{Color: environment("NO_COLOR") == "", ASCII: !utf8}
}
