package report

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Bar is a line of a chart: which part of the whole is held, and a mark at the part that should be. Both in
// thousandths.
type Bar struct {
	Label      string
	Held, Mark int64
}

// QueueBar shows a queue's allocation and fair share as dominant shares of a total: of the resource that counts with
// the largest part that it holds (or should hold).
func QueueBar(q Queue, total resource.List) Bar {
	total = q.Calculator.Of(total)
	return Bar{Label: q.Name, Held: thousandths(q.Allocated, total), Mark: thousandths(q.FairShare, total)}
}

// thousandths is the largest part, over the resources of the total, that l is of it. It rounds down.
func thousandths(l, total resource.List) int64 {
	largest := int64(0)
	for i := range total.Len() {
		whole, part := total.At(i).Value, l.Get(total.At(i).Name)
		if whole <= 0 || part <= 0 {
			continue
		}
		part = min(part, whole) // after a node left, more than the whole may be held; the bar ends there
		high, low := bits.Mul64(uint64(part), 1000)
		quotient, _ := bits.Div64(high, low, uint64(whole)) // part <= whole, so the quotient is at most 1000
		largest = max(largest, int64(quotient))
	}
	return largest
}

// Gauge is what a queue has and should have of one resource, in thousandths of a total.
type Gauge struct {
	Resource                                                       resource.Name
	Allocated, Demand, FairShare, SteadyFairShare, Guaranteed, Max int64
	// Limited: the queue states a max of the resource. Else Max is all.
	Limited bool
}

// GaugeOf measures a queue by a resource; "" is its dominant one: of those that count, that of which it holds the largest part of the total, or, if it
// holds nothing, that of which its fair share is the largest part.
func GaugeOf(q Queue, total resource.List, n resource.Name) Gauge {
	if n == "" {
		n = dominant(q, q.Calculator.Of(total))
	}
	whole := total.Get(n)
	part := func(l resource.List) int64 {
		return thousandths(resource.Of(resource.Entry{Name: n, Value: l.Get(n)}), resource.Of(resource.Entry{Name: n, Value: whole}))
	}
	g := Gauge{
		Resource: n, Allocated: part(q.Allocated), Demand: part(q.Demand), FairShare: part(q.FairShare), SteadyFairShare: part(q.SteadyFairShare),
		Guaranteed: part(q.Guaranteed), Max: 1000,
	}
	if _, g.Limited = q.Max.Lookup(n); g.Limited {
		g.Max = part(q.Max)
	}
	return g
}

// IsOver reports whether a queue holds a larger part of some resource that counts than its fair share is of any. Unlike bars it does not round.
func (q Queue) IsOver(total resource.List) bool {
	total = q.Calculator.Of(total)
	held, heldOf := largestPart(q.Allocated, total)
	fair, fairOf := largestPart(q.FairShare, total)
	return held > 0 && resource.CompareFractions(held, heldOf, fair, fairOf) > 0
}

// largestPart is the largest part that a list is of a total: so much of so much.
func largestPart(l, total resource.List) (part, whole int64) {
	whole = 1
	for i := range total.Len() {
		e := total.At(i)
		if e.Value > 0 && resource.CompareFractions(l.Get(e.Name), e.Value, part, whole) > 0 {
			part, whole = l.Get(e.Name), e.Value
		}
	}
	return part, whole
}

func dominant(q Queue, total resource.List) (n resource.Name) {
	for _, l := range []resource.List{q.Allocated, q.FairShare, q.SteadyFairShare} {
		best := int64(0)
		for i := range total.Len() {
			e := total.At(i)
			if part := thousandths(l, resource.Of(e)); part > best {
				n, best = e.Name, part
			}
		}
		if n != "" {
			return n
		}
	}
	return resource.CPU
}

const (
	mostCells  = 100 // one cell for each percent; more cells show nothing more
	leastCells = 10
)

// Bars draws a chart in lines of at most width characters. If there is no room for bars, it shows only the
// numbers.
func Bars(bars []Bar, width int, style Style) []string {
	labels, texts, longest := 0, make([]string, len(bars)), 0
	for i, bar := range bars {
		texts[i] = percent(bar.Held) + ", share " + percent(bar.Mark)
		longest = max(longest, len(texts[i]))
		labels = max(labels, monospace.StringWidth(bar.Label))
	}
	cells := mostCells
	if width > 0 {
		cells = min(cells, width-labels-longest-2*narrowGap)
	}
	gap := strings.Repeat(" ", narrowGap)
	lines := make([]string, len(bars))
	for i, bar := range bars {
		label := monospace.FillRight(bar.Label, labels) + gap
		if cells < leastCells {
			lines[i] = Clip(label+texts[i], width)
			continue
		}
		lines[i] = label + bar.draw(int64(cells), style) + gap + texts[i]
	}
	return lines
}

func percent(thousandths int64) string {
	text := strconv.FormatInt(thousandths/10, 10) + "%"
	return strings.Repeat(" ", len("100%")-len(text)) + text
}

// draw colors the bar by its distance to the mark: green at it, cyan below, yellow above.
func (b Bar) draw(cells int64, style Style) string {
	full, empty, mark := style.barCells()
	color := green
	switch {
	case b.Held < b.Mark:
		color = cyan
	case b.Held > b.Mark:
		color = yellow
	}
	held := (b.Held*cells + 500) / 1000
	at := min(b.Mark*cells/1000, cells-1)
	run := func(from, to int64) string { // the cells from..to-1
		to = max(from, to)
		painted := min(max(held, from), to)
		return style.paint(color, strings.Repeat(full, int(painted-from))) + strings.Repeat(empty, int(to-painted))
	}
	return run(0, at) + style.Bold(mark) + run(at+1, cells)
}
