package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/fairway-scheduler/fairway/pkg/report"
)

// screen shows lines that stay and a block that is always the present one.
type screen interface {
	say(line string)
	show(now time.Time, v view)
	// freeze makes the block a thing of the past: it stays, and lines come below it.
	freeze()
}

// plainWidth is for files and pipes, whose reader's width is unknown.
const plainWidth = 80

// plainEvery is how often the block is printed again at most, where it cannot be redrawn in place.
const plainEvery = 2 * time.Second

// lockedScreen is for many goroutines: a component that ends by itself says so from one of its own.
type lockedScreen struct {
	mutex  sync.Mutex
	screen screen
}

func (l *lockedScreen) say(line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.screen.say(line)
}

func (l *lockedScreen) show(now time.Time, v view) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.screen.show(now, v)
}

func (l *lockedScreen) freeze() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.screen.freeze()
}

// openScreen chooses how to show things by what the file is.
func openScreen(file *os.File, environment func(string) string) screen {
	if !term.IsTerminal(int(file.Fd())) || environment("TERM") == "dumb" {
		return &plainScreen{out: file}
	}
	return &terminal{out: file, style: styleFor(environment), size: func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}}
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

// plainScreen prints the block anew when something changed, and not too often. Hints are printed once, when there are any.
type plainScreen struct {
	out    io.Writer
	title  string
	last   string
	when   time.Time
	hinted bool
}

func (p *plainScreen) say(line string) { fmt.Fprintln(p.out, line) }

func (p *plainScreen) show(now time.Time, v view) {
	if len(v.hints) > 0 && !p.hinted {
		p.hinted = true
		fmt.Fprintln(p.out, strings.Join(v.hints, "\n")+"\n")
	}
	essence := v.essence()
	if essence == p.last || now.Sub(p.when) < plainEvery && v.title == p.title {
		return
	}
	p.last, p.when, p.title = essence, now, v.title
	fmt.Fprintln(p.out, strings.Join(v.plain(plainWidth, report.Style{ASCII: true}), "\n")+"\n")
}

func (p *plainScreen) freeze() {}

// ANSI sequences. Cursor moves are relative to where the block begins, so nothing needs to know what stands above it.
const (
	clearLine = "\x1b[K" // to its end
	clearDown = "\x1b[J" // from the cursor to the end of the screen
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
)

// terminal redraws the block in place, at the bottom. Each redraw is one write, so that nothing flickers.
type terminal struct {
	out   io.Writer
	style report.Style
	size  func() (width, height int)
	block []string // what stands there now
}

func (t *terminal) say(line string) {
	t.write(t.up() + clearDown + line + "\n" + t.draw())
}

func (t *terminal) freeze() { t.block = nil }

func (t *terminal) show(_ time.Time, v view) {
	width, height := t.size()
	up := t.up()
	t.block = v.lines(width, t.style)
	if most := max(height-1, 1); len(t.block) > most { // what scrolled away cannot be redrawn
		t.block = t.block[:most]
	}
	t.write(up + t.draw() + clearDown)
}

// up moves to where the block begins; the cursor rests on the line below it.
func (t *terminal) up() string {
	if len(t.block) == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", len(t.block))
}

func (t *terminal) draw() string {
	var text strings.Builder
	text.WriteString(wrapOff) // a terminal that became narrower must not turn one line into two
	for _, line := range t.block {
		text.WriteString(clearLine + line + "\n") // cleared after it, a line as wide as the terminal would lose its last character
	}
	text.WriteString(wrapOn)
	return text.String()
}

func (t *terminal) write(text string) { _, _ = io.WriteString(t.out, text) }
