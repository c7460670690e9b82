package report

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
)

// Column is one column of a Table.
type Column struct {
	Title string
	// Right aligns the cells to the right, for numbers.
	Right bool
	// Rank orders the columns by importance: on a narrow screen the highest rank is dropped first. Columns of
	// rank 0 always stay.
	Rank int
	// Usual is the cell text that tells nothing. On a terminal, a column with no other text is left out.
	Usual string
}

// Table is a header and rows of text, one cell for each column. The first column names the subject of the row.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Keys identify the rows if the first cell does not. Compare needs them.
	Keys []string
	// Bars, if any, has one bar for each row, drawn at its end if there is room.
	Bars []Bar
	// Full tables keep the columns that tell nothing.
	Full bool

	colors map[int]string // by row
}

// emphasise gives a row a color.
func (t *Table) emphasise(row int, color string) {
	if t.colors == nil {
		t.colors = map[int]string{}
	}
	t.colors[row] = color
}

const (
	wideGap   = 3 // as in kubectl
	narrowGap = 2
	// leastName is how much of the first column always remains.
	leastName = 8
	// fairName is how much of the first column remains until all columns that may be dropped are dropped,
	// unless it is less than fairNamePercent of the width. Otherwise one deep path would drop all columns.
	fairName        = 24
	fairNamePercent = 40
	// mostBarCells is the length of the longest bar at the end of a row.
	mostBarCells = 40
	barTitle     = "USAGE"
	// mostCell is the widest cell of a column but the first.
	mostCell = 64
)

// Lines lays the table out in lines of at most width characters, the header first. A width of 0 or less is
// unlimited.
//
// If it does not fit, it drops in this order: space between columns, the beginnings of very long names in the
// first column (the end of a queue's path says most), columns by rank, more of the first column, and last the
// ends of lines.
func (t Table) Lines(width int, style Style) []string {
	t.Rows = t.printable(style)
	kept, gap := t.fit(width)
	widths := make([]int, len(kept))
	for i, column := range kept {
		widths[i] = t.width(column)
	}
	used := sum(widths) + gap*(len(kept)-1)
	if width > 0 && used > width {
		widths[0] = max(widths[0]-(used-width), min(widths[0], leastName))
	}
	bars := min(width-used-gap, mostBarCells)
	if len(t.Bars) == 0 || bars < leastCells {
		bars = 0
	}
	lines := make([]string, 0, len(t.Rows)+1)
	header := make([]string, len(t.Columns))
	for i, column := range t.Columns {
		header[i] = column.Title
	}
	space := strings.Repeat(" ", gap)
	for i, row := range append([][]string{header}, t.Rows...) {
		var line strings.Builder
		for i, column := range kept {
			if i > 0 {
				line.WriteString(space)
			}
			line.WriteString(t.cell(row[column], t.Columns[column].Right, widths[i], i == 0, style))
		}
		switch {
		case i == 0 && bars > 0:
			lines = append(lines, line.String()+space+barTitle)
		case bars > 0: // never cut: there is room
			lines = append(lines, style.paint(t.colors[i-1], line.String())+space+t.Bars[i-1].draw(int64(bars), style))
		default:
			lines = append(lines, style.paint(t.colors[i-1], Clip(line.String(), width)))
		}
	}
	return lines
}

// printable returns the rows as a terminal may show them. No cell but the first makes its column wider than mostCell where columns compete.
func (t Table) printable(style Style) [][]string {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]string, len(row))
		for j, text := range row {
			if text = plain(text); j > 0 && !t.Full {
				text = monospace.Truncate(text, mostCell, style.ellipsis())
			}
			rows[i][j] = text
		}
	}
	return rows
}

func (t Table) cell(text string, right bool, width int, name bool, style Style) string {
	if name {
		text = cutFront(text, width, style)
	}
	if right {
		return monospace.FillLeft(text, width)
	}
	return monospace.FillRight(text, width)
}

// fit chooses the columns to show, by index, and the space between them.
func (t Table) fit(width int) (kept []int, gap int) {
	total := 0
	for i := range t.Columns {
		if i > 0 && !t.Full && t.usual(i) {
			continue
		}
		kept = append(kept, i)
		if i == 0 {
			total = min(t.width(0), max(fairName, width*fairNamePercent/100))
			if len(t.Bars) > 0 {
				total += narrowGap + leastCells
			}
			continue
		}
		total += t.width(i)
	}
	for {
		for _, gap := range []int{wideGap, narrowGap} {
			if width <= 0 || total+gap*(len(kept)-1) <= width {
				return kept, gap
			}
		}
		last := 0
		for i, column := range kept {
			if t.Columns[column].Rank >= t.Columns[kept[last]].Rank {
				last = i
			}
		}
		if t.Columns[kept[last]].Rank == 0 {
			return kept, narrowGap
		}
		total -= t.width(kept[last])
		kept = append(kept[:last], kept[last+1:]...)
	}
}

// usual reports whether every cell of the column tells nothing.
func (t Table) usual(column int) bool {
	usual := t.Columns[column].Usual
	return usual != "" && !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[column] != usual && row[column] != "" })
}

func (t Table) width(column int) int {
	width := monospace.StringWidth(t.Columns[column].Title)
	for _, row := range t.Rows {
		width = max(width, monospace.StringWidth(row[column]))
	}
	return width
}

// monospace measures how many cells of a terminal a text takes. Characters that are wide only in East Asian
// fonts, such as our own arrows and bars, count as narrow in every locale.
var monospace = &runewidth.Condition{StrictEmojiNeutral: true}

// Clip cuts a line without colors to a width, and trims blanks at its end; a width of 0 or less is unlimited. What a terminal would obey is
// shown as text.
func Clip(line string, width int) string {
	line = reason.Printable(line)
	if width > 0 {
		line = monospace.Truncate(line, width, "")
	}
	return strings.TrimRight(line, " ")
}

func cutFront(text string, width int, style Style) string {
	return monospace.TruncatePrefix(text, width, style.ellipsis())
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}
