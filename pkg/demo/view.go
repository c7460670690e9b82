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
	body    body
	hints   []string
}

// body is what a demo shows between title and hints.
type body interface {
	// table fits the width, 0 for any.
	table(width int, style report.Style) []string
	// chart is what only a terminal shows.
	chart(width int, style report.Style) []string
	// essence is the part of the content whose change makes the block worth printing again.
	essence() string
}

// lines is the block for a terminal: headline, table, bars, hints. Each line fits the width.
func (v view) lines(width int, style report.Style) []string {
	lines := []string{"", style.Bold(report.Clip(v.headline(), width)), ""}
	lines = append(lines, v.body.table(width, style)...)
	if chart := v.body.chart(width, style); len(chart) > 0 {
		lines = append(append(lines, ""), chart...)
	}
	if len(v.hints) > 0 {
		lines = append(lines, "")
	}
	for _, hint := range v.hints {
		lines = append(lines, report.Clip(hint, width))
	}
	return append(lines, "")
}

// plain is the block for a file or pipe.
func (v view) plain(width int, style report.Style) []string {
	return append([]string{report.Clip(v.headline(), width)}, v.body.table(width, style)...)
}

func (v view) headline() string { return fmt.Sprintf("%5.0fs  %s", v.elapsed.Seconds(), v.title) }

func (v view) essence() string { return v.title + v.body.essence() }

// queueRows are the queues of the demo of shares.
type queueRows []report.Queue

func (qs queueRows) table(width int, style report.Style) []string {
	if len(qs) == 0 {
		return []string{"(no queues yet)"}
	}
	return report.Queues(qs).Lines(width, style)
}

func (qs queueRows) chart(width int, style report.Style) []string {
	return report.Bars(qs.bars(), width, style)
}

// bars returns a bar for each leaf that has anything to show.
func (qs queueRows) bars() []report.Bar {
	var total resource.List
	for _, q := range qs {
		total = total.Max(q.SteadyFairShare) // that of the root, because shares only shrink downward
	}
	var bars []report.Bar
	for i, q := range qs {
		parent := i+1 < len(qs) && strings.HasPrefix(qs[i+1].Name, q.Name+".")
		if parent || q.FairShare.IsZero() && q.Allocated.IsZero() {
			continue
		}
		bars = append(bars, report.QueueBar(q, total))
	}
	return bars
}

// essence covers shares and allocations, not the steady flow of waiting pods.
func (qs queueRows) essence() string {
	var text strings.Builder
	for _, q := range qs {
		fmt.Fprint(&text, q.Name, q.Weight, q.FairShare, q.Allocated)
	}
	return text.String()
}
