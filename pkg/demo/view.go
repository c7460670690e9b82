package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// view is what the live table shows.
type view struct {
	title   string
	elapsed time.Duration
	queues  []report.Queue
	hints   []string
}

// lines is the block for a terminal: where we are, the table, bars, hints. Each fits the width.
func (v view) lines(width int, style report.Style) []string {
	lines := []string{"", style.Bold(report.Clip(v.headline(), width)), ""}
	lines = append(lines, v.table(width, style)...)
	if bars := v.bars(); len(bars) > 0 {
		lines = append(append(lines, ""), report.Bars(bars, width, style)...)
	}
	if len(v.hints) > 0 {
		lines = append(lines, "")
	}
	for _, hint := range v.hints {
		lines = append(lines, report.Clip(hint, width))
	}
	return append(lines, "")
}

// plain is the block for everything that is no terminal.
func (v view) plain(width int, style report.Style) []string {
	return append([]string{report.Clip(v.headline(), width)}, v.table(width, style)...)
}

func (v view) headline() string { return fmt.Sprintf("%5.0fs  %s", v.elapsed.Seconds(), v.title) }

func (v view) table(width int, style report.Style) []string {
	if len(v.queues) == 0 {
		return []string{"(no queues yet)"}
	}
	return report.Queues(v.queues).Lines(width, style)
}

// bars are of the leaves that have anything to show.
func (v view) bars() []report.Bar {
	var total resource.List
	for _, q := range v.queues {
		total = total.Max(q.SteadyFairShare) // root's, since shares only shrink downward
	}
	var bars []report.Bar
	for i, q := range v.queues {
		parent := i+1 < len(v.queues) && strings.HasPrefix(v.queues[i+1].Name, q.Name+".")
		if parent || q.FairShare.IsZero() && q.Allocated.IsZero() {
			continue
		}
		bars = append(bars, report.QueueBar(q, total))
	}
	return bars
}

// essence is what must differ for a block to be worth printing again: shares and allocations, not the steady flow of waiting pods.
func (v view) essence() string {
	var text strings.Builder
	fmt.Fprint(&text, v.title)
	for _, q := range v.queues {
		fmt.Fprint(&text, q.Name, q.Weight, q.FairShare, q.Allocated)
	}
	return text.String()
}
