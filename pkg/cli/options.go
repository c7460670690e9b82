package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// options are the flags that commands share.
type options struct {
	Environment
	cluster    *cluster.Flags
	files      []string
	with       []string
	now        moment
	schedulers []string
	output     choice
	color      choice
	watch      bool
	interval   time.Duration
}

func newOptions(e Environment) *options {
	return &options{
		Environment: e, cluster: cluster.NewFlags(),
		output: choice{"table", []string{"table", "wide", "json", "yaml"}},
		color:  choice{"auto", []string{"auto", "always", "never"}},
	}
}

// choice is a flag with a few allowed values.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return errors.New("must be one of " + strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

func (c *choice) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return c.allowed, cobra.ShellCompDirectiveNoFileComp
}

// moment is a flag whose value is a time.
type moment struct{ time.Time }

func (m *moment) Type() string { return "time" }

func (m *moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339)
}

func (m *moment) Set(value string) (err error) {
	if m.Time, err = time.Parse(time.RFC3339, value); err != nil {
		return errors.New("must be a time as in 2026-01-31T15:04:05Z")
	}
	return nil
}

// addFlags adds the flags that all commands share.
func (o *options) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	o.addFileFlag(c)
	f.StringArrayVar(&o.with, "with", nil, "show what the Queues in this `FILE` would change (may be repeated)")
	f.Var(&o.now, "now", "the time to look at, as in 2026-01-31T15:04:05Z (default: of a file its newest time, of a cluster the present)")
	f.StringArrayVar(&o.schedulers, "scheduler-name", nil,
		"the schedulerName (`NAME`) of the pods that take part (may be repeated; default: fairway, and the names of all pods that show a condition of Fairway)")
	must(c.MarkFlagFilename("with", "yaml", "yml", "json"))
	o.addOutputFlags(c)
}

func (o *options) addFileFlag(c *cobra.Command) {
	c.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "read objects from this `FILE`, or - for standard input, instead of the cluster (may be repeated)")
	must(c.MarkFlagFilename("filename", "yaml", "yml", "json"))
}

func (o *options) addOutputFlags(c *cobra.Command) {
	c.Flags().VarP(&o.output, "output", "o", "table fits the screen; wide has every column and exact amounts")
	c.Flags().Var(&o.color, "color", "auto: on a terminal, unless NO_COLOR is set")
	must(c.RegisterFlagCompletionFunc("output", o.output.complete))
	must(c.RegisterFlagCompletionFunc("color", o.color.complete))
}

// addWatch adds the flags for repeated output.
func (o *options) addWatch(c *cobra.Command) {
	c.Flags().BoolVarP(&o.watch, "watch", "w", false, "look again and again, until Ctrl-C")
	c.Flags().DurationVar(&o.interval, "interval", 2*time.Second, "with --watch, how often to look")
}

// must panics on an error that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// check refuses flags that contradict each other.
func (o *options) check() error {
	stdin := 0
	for _, name := range slices.Concat(o.files, o.with) {
		if name == "-" {
			stdin++
		}
	}
	switch {
	case stdin > 1:
		return usagef("standard input (-) can be read only once")
	case stdin > 0 && o.watch:
		return usagef("--watch cannot look at standard input again; name a file")
	case o.watch && o.interval <= 0:
		return usagef("--interval %s: must be more than 0", o.interval)
	}
	return nil
}

// layout is how to show something at this time.
func (o *options) layout(now time.Time) report.Layout {
	l := report.Layout{Width: o.Out.Width(), Style: o.Out.Style, Terminal: o.Out.Terminal, Wide: o.output.value == "wide", Now: now.UnixNano()}
	if l.Wide {
		l.Width = 0
	}
	if o.color.value != "auto" {
		l.Style.Color = o.color.value == "always"
	}
	return l
}

// source names where the objects come from, for messages.
func (o *options) source() string {
	if len(o.files) == 0 {
		return "the cluster"
	}
	return strings.Join(o.files, ", ")
}
