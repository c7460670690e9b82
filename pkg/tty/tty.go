// Package tty knows what the reader looks at: a terminal of some size and abilities, or a file or pipe, of which neither is known.
//
// In: a file and the environment. Out: a Screen, and on a terminal a Block of lines that is redrawn in place. It must not know what the
// lines say.
package tty

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Screen is where text goes.
type Screen struct {
	Out io.Writer
	// Terminal: there is a width, and somebody who reads along.
	Terminal bool
	// Redraw: the terminal knows the sequences that a Block and colors need.
	Redraw bool
	Style  report.Style
	// Size of a terminal, nil of anything else.
	Size func() (width, height int)
}

// What a terminal that does not tell its size has.
const usualWidth, usualHeight = 80, 24

// Of looks at a file.
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

// Width is that of the terminal; 0, without limit, of anything else.
func (s Screen) Width() int {
	if s.Size == nil {
		return 0
	}
	width, _ := s.Size()
	return width
}

// styleFor respects NO_COLOR (any value but the empty one) and the locale's character set.
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
