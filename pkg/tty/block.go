package tty

import (
	"fmt"
	"io"
	"strings"
)

// ANSI sequences. Cursor moves are relative to where the block begins, so nothing needs to know what stands above it.
const (
	clearLine = "\x1b[K" // to its end
	clearDown = "\x1b[J" // from the cursor to the end of the screen
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
)

// Block is lines at the bottom of a terminal, redrawn in place. Each redraw is one write, so that nothing flickers.
type Block struct {
	Out   io.Writer
	Size  func() (width, height int)
	lines []string // what stands there now
}

// Say writes a line that stays, above the block.
func (b *Block) Say(line string) { b.write(b.up() + clearDown + line + "\n" + b.draw()) }

// Freeze makes the block a thing of the past: it stays, and lines come below it.
func (b *Block) Freeze() { b.lines = nil }

// Show draws the block anew. What does not fit the height is left out: what scrolled away could not be redrawn.
func (b *Block) Show(lines []string) {
	_, height := b.Size()
	up := b.up()
	b.lines = lines[:min(len(lines), max(height-1, 1))]
	b.write(up + b.draw() + clearDown)
}

// up moves to where the block begins; the cursor rests on the line below it.
func (b *Block) up() string {
	if len(b.lines) == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", len(b.lines))
}

func (b *Block) draw() string {
	var text strings.Builder
	text.WriteString(wrapOff) // a terminal that became narrower must not turn one line into two
	for _, line := range b.lines {
		text.WriteString(clearLine + line + "\n") // cleared after it, a line as wide as the terminal would lose its last character
	}
	text.WriteString(wrapOn)
	return text.String()
}

func (b *Block) write(text string) { _, _ = io.WriteString(b.Out, text) }
