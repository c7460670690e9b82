package tty

import (
	"fmt"
	"io"
	"strings"
)

// ANSI sequences. Cursor moves are relative to the beginning of the block, so the text above it does not
// matter.
const (
	clearLine = "\x1b[K" // to its end
	clearDown = "\x1b[J" // from the cursor to the end of the screen
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
)

// Block is lines at the bottom of a terminal that are redrawn in place. Each redraw is a single write, so that
// nothing flickers.
type Block struct {
	Out   io.Writer
	Size  func() (width, height int)
	lines []string // on the screen now
}

// Say writes a line that stays, above the block.
func (b *Block) Say(line string) { b.write(b.up() + clearDown + line + "\n" + b.draw()) }

// Freeze ends the block: it stays, and later lines come below it.
func (b *Block) Freeze() { b.lines = nil }

// Show redraws the block. Lines beyond the terminal's height are left out, because lines that scrolled away
// could not be redrawn.
func (b *Block) Show(lines []string) {
	_, height := b.Size()
	up := b.up()
	b.lines = lines[:min(len(lines), max(height-1, 1))]
	b.write(up + b.draw() + clearDown)
}

// up moves the cursor from the line below the block to its beginning.
func (b *Block) up() string {
	if len(b.lines) == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", len(b.lines))
}

func (b *Block) draw() string {
	var text strings.Builder
	text.WriteString(wrapOff) // a terminal that became narrower must not wrap lines
	for _, line := range b.lines {
		text.WriteString(clearLine + line + "\n") // clearing after the text would erase the last character of a line as wide as the terminal
	}
	text.WriteString(wrapOn)
	return text.String()
}

func (b *Block) write(text string) { _, _ = io.WriteString(b.Out, text) }
