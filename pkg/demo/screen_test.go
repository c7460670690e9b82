package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// paper is a terminal without a bottom that supports only the sequences that we use.
type paper struct {
	t           *testing.T
	width       int
	lines       [][]rune
	row, column int // after a full line the column is width: the cursor stands on the last character
	noWrap      bool
}

var sequences = regexp.MustCompile(`^\x1b\[(\?7[lh]|[0-9]*[AKJm])`)

func (p *paper) Write(data []byte) (int, error) {
	for text := string(data); text != ""; {
		sequence := sequences.FindString(text)
		if sequence != "" {
			text = text[len(sequence):]
			p.obey(sequence)
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		p.put(r)
	}
	return len(data), nil
}

func (p *paper) obey(sequence string) {
	p.reach()
	parameter := sequence[2 : len(sequence)-1]
	switch sequence[len(sequence)-1] {
	case 'A':
		n, err := strconv.Atoi(parameter)
		if p.row -= n; err != nil || p.row < 0 {
			p.t.Fatalf("moved above the screen: %q", sequence)
		}
	case 'J':
		p.lines = p.lines[:p.row+1]
		p.erase()
	case 'K':
		p.erase()
	case 'l', 'h':
		p.noWrap = sequence[len(sequence)-1] == 'l'
	}
}

func (p *paper) reach() {
	for p.row >= len(p.lines) {
		p.lines = append(p.lines, nil)
	}
}

func (p *paper) erase() {
	line := p.lines[p.row]
	p.lines[p.row] = line[:min(len(line), p.column, p.width-1)]
}

func (p *paper) put(r rune) {
	switch r {
	case '\x1b':
		p.t.Fatal("an unknown sequence")
	case '\n': // the terminal driver adds the return
		p.row, p.column = p.row+1, 0
	case '\r':
		p.column = 0
	default:
		if p.column == p.width && p.noWrap {
			p.column--
		} else if p.column == p.width {
			p.row, p.column = p.row+1, 0
		}
		p.reach()
		line := p.lines[p.row]
		for len(line) <= p.column {
			line = append(line, ' ')
		}
		line[p.column] = r
		p.lines[p.row] = line
		p.column++
	}
}

func (p *paper) text() string {
	var lines []string
	for _, line := range p.lines {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func aView(allocated int) view {
	return view{title: contested.String(), elapsed: 12 * time.Second, hints: sharesHints("/tmp/x/kubeconfig", "bin/tools/kubectl", "bin/kubectl-fairway"), body: queueRows{
		{Name: "root", Weight: 1000, SteadyFairShare: podSize(100), FairShare: podSize(100), Allocated: podSize(100)},
		{Name: busy, Weight: 1000, SteadyFairShare: podSize(25), FairShare: podSize(25), Allocated: podSize(allocated), Pending: 60},
		{Name: "root.default"},
		{Name: sometimesBusy, Weight: 3000, SteadyFairShare: podSize(75), FairShare: podSize(75), Allocated: podSize(100 - allocated), Pending: 100},
	}}
}

func TestTheTableIsRedrawnInPlace(t *testing.T) {
	p := &paper{t: t, width: 80}
	screen := &terminal{Block: tty.Block{Out: p, Size: func() (int, int) { return p.width, 40 }}, style: report.Style{Color: true}}
	screen.say("one")
	screen.show(time.Time{}, aView(90))
	screen.say("two")
	screen.show(time.Time{}, aView(50))
	screen.show(time.Time{}, aView(25))
	want := "one\ntwo\n" + strings.Join(aView(25).lines(80, report.Style{}), "\n")
	if got := p.text(); got != strings.TrimRight(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	screen.say(strings.Repeat("long ", 50))
	screen.show(time.Time{}, aView(90))
	screen.freeze()
	screen.say("after")
	if got := p.text(); strings.Count(got, "NAME") != 1 || !strings.Contains(got, "long") || !strings.HasSuffix(got, "\nafter") {
		t.Errorf("got:\n%s", got)
	}
}

func TestATerminalThatBecomesNarrower(t *testing.T) {
	p := &paper{t: t, width: 80}
	screen := &terminal{Block: tty.Block{Out: p, Size: func() (int, int) { return 100, 40 }}} // the size was read a moment ago
	screen.show(time.Time{}, aView(90))
	screen.show(time.Time{}, aView(25))
	if got := p.text(); strings.Count(got, "NAME") != 1 || strings.Count(got, "\n") != len(aView(25).lines(100, report.Style{}))-2 {
		t.Errorf("got:\n%s", got)
	}
}

func TestALowTerminalShowsTheBeginning(t *testing.T) {
	p := &paper{t: t, width: 80}
	screen := &terminal{Block: tty.Block{Out: p, Size: func() (int, int) { return 80, 6 }}}
	screen.show(time.Time{}, aView(90))
	screen.show(time.Time{}, aView(25))
	if got := p.text(); strings.Count(got, "\n") > 4 || !strings.Contains(got, "the burst") {
		t.Errorf("got:\n%s", got)
	}
}

func TestTheBlockFitsTheWidth(t *testing.T) {
	for width := 1; width < 220; width++ {
		for _, line := range aView(90).lines(width, report.Style{ASCII: true}) {
			if len(line) > width {
				t.Fatalf("at %d: %q", width, line)
			}
		}
	}
	block := strings.Join(aView(90).lines(80, report.Style{}), "\n")
	for _, want := range []string{"STEADY-SHARE", "PENDING", "│", " 90%, share  25%", "edit queue root.busy", "bin/kubectl-fairway console --open"} {
		if !strings.Contains(block, want) {
			t.Errorf("no %q at 80 columns in:\n%s", want, block)
		}
	}
	if strings.Contains(block, "root.default  ░") || strings.Contains(block, "\x1b") {
		t.Errorf("an empty queue's bar, or color:\n%s", block)
	}
}

func TestPlainLinesAreFew(t *testing.T) {
	var out strings.Builder
	screen := &plainScreen{out: &out}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	blocks := func() int { return strings.Count(out.String(), "NAME") }
	screen.show(start, aView(90))
	screen.show(start.Add(time.Second), aView(80))
	if blocks() != 1 {
		t.Errorf("%d blocks within %s", blocks(), plainEvery)
	}
	screen.show(start.Add(plainEvery), aView(80))
	if blocks() != 2 {
		t.Errorf("%d blocks after a change", blocks())
	}
	same := aView(80)
	same.elapsed, same.body.(queueRows)[1].Pending = time.Hour, 59
	screen.show(start.Add(time.Minute), same)
	if blocks() != 2 {
		t.Errorf("%d blocks though only pods came and went", blocks())
	}
	for range 2 {
		same.title = "next"
		same.body.(queueRows)[1].Allocated = podSize(blocks())
		screen.show(start.Add(time.Duration(blocks())*time.Hour), same)
	}
	if n := strings.Count(out.String(), "export KUBECONFIG=/tmp/x/kubeconfig"); blocks() != 4 || n != 1 {
		t.Errorf("%d blocks, hints %d times", blocks(), n)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escape sequences in a file")
	}
}

func TestAFileGetsPlainLines(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, ok := openScreen(file, os.Getenv).(*plainScreen); !ok {
		t.Error("a file is taken for a terminal")
	}
}

func TestBarsAreOfLeaves(t *testing.T) {
	queues := slices.Insert(aView(90).body.(queueRows), 2, report.Queue{Name: busy + ".night", FairShare: podSize(25), Allocated: podSize(90)})
	var labels []string
	for _, bar := range queues.bars() {
		labels = append(labels, fmt.Sprint(bar.Label, bar.Held))
	}
	if want := []string{"root.busy.night900", "root.sometimes-busy100"}; !slices.Equal(labels, want) {
		t.Errorf("got %q, want %q", labels, want)
	}
}
