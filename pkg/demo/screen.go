package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// screen shows lines that stay and a block that is always up to date.
type screen interface {
	say(line string)
	show(now time.Time, v view)
	// freeze ends the block: it stays, and later lines come below it.
	freeze()
}

// plainWidth is the width for files and pipes, whose reader's width is unknown.
const plainWidth = 80

// plainEvery is how often the block is printed again at most, if it cannot be redrawn in place.
const plainEvery = 2 * time.Second

// lockedScreen may be used by many goroutines: a component that ends by itself says so from its own.
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

// openScreen chooses the screen by the kind of file.
func openScreen(file *os.File, environment func(string) string) screen {
	s := tty.Of(file, environment)
	if !s.Redraw {
		return &plainScreen{out: file}
	}
	return &terminal{Block: tty.Block{Out: s.Out, Size: s.Size}, style: s.Style}
}

// plainScreen prints the block again when something changed, but not too often. Hints are printed once, when
// there are any.
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

// terminal redraws the block in place, at the bottom.
type terminal struct {
	tty.Block
	style report.Style
}

func (t *terminal) say(line string) { t.Say(line) }

func (t *terminal) freeze() { t.Freeze() }

func (t *terminal) show(_ time.Time, v view) {
	width, _ := t.Size()
	t.Show(v.lines(width, t.style))
}
