package view

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/console/history"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// Chart is the course of a queue as lines in a field of Width by Height, of the resource that is dominant at the end.
type Chart struct {
	Resource resource.Name
	Lines    []Line
}

// Line is one of the lines. Points are in the form of SVG.
type Line struct{ Class, Points string }

// The size of the field.
const (
	Width  = 1000
	Height = 200
)

// NewChart draws a course of at least two moments; less shows nothing.
func NewChart(c history.Course) Chart {
	if len(c) < 2 || c[0].At == c[len(c)-1].At {
		return Chart{}
	}
	last := c[len(c)-1]
	out := Chart{Resource: report.GaugeOf(last.Queue, last.Cluster, "").Resource}
	began, took := c[0].At, last.At-c[0].At
	for _, line := range []struct {
		class string
		value func(report.Gauge) int64
	}{
		{"demand", func(g report.Gauge) int64 { return g.Demand }},
		{"fair", func(g report.Gauge) int64 { return g.FairShare }},
		{"allocated", func(g report.Gauge) int64 { return g.Allocated }},
	} {
		points := make([]string, len(c))
		for i, m := range c {
			x := int64(float64(m.At-began) / float64(took) * Width)
			y := Height - line.value(report.GaugeOf(m.Queue, m.Cluster, out.Resource))*Height/1000
			points[i] = strconv.FormatInt(x, 10) + "," + strconv.FormatInt(y, 10)
		}
		out.Lines = append(out.Lines, Line{line.class, strings.Join(points, " ")})
	}
	return out
}
