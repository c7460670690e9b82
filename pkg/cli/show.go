package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/tty"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

// viewer makes the document that a command shows of a world.
type viewer func(w *world.World) (report.Compared, error)

// queueViewer is the viewer of a command about a queue and the queues below it.
type queueViewer func(w *world.World, top queue.Path) (report.Compared, error)

// aboutQueue runs a command that takes at most one queue.
func (o *options) aboutQueue(view queueViewer) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return o.show(c.Context(), func(before, after *asked) (viewer, error) {
			top, err := o.top(args, before, after)
			return func(w *world.World) (report.Compared, error) { return view(w, top) }, err
		})
	}
}

// show writes the document, once or, with a watch, repeatedly.
func (o *options) show(ctx context.Context, choose func(before, after *asked) (viewer, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	look := func() (shown, error) {
		before, after, err := o.worlds(ctx)
		if err != nil {
			return shown{}, err
		}
		view, err := choose(before, after)
		if err != nil {
			return shown{problems: before.problems}, err
		}
		d, err := compared(view, before, after)
		return shown{d, before.Now, before.problems}, err
	}
	s, err := look()
	switch {
	case o.watch && ctx.Err() != nil:
		return nil
	case err != nil:
		return o.refuse(err, s.problems...)
	case !o.watch:
		return o.answer(s.document, s.now, s.problems)
	}
	return o.showAgain(ctx, s, look)
}

// shown is a document, its time, and what is wrong with the files that it is about.
type shown struct {
	document report.Document
	now      time.Time
	problems []objects.Problem
}

// showAgain looks again and again.
func (o *options) showAgain(ctx context.Context, s shown, look func() (shown, error)) error {
	block := tty.Block{Out: o.Out.Out, Size: o.Out.Size}
	var told []objects.Problem
	for {
		d := judged(s.document, s.problems)
		if d.Inside = o.Out.Redraw; !d.Inside && !slices.Equal(told, s.problems) {
			fmt.Fprint(o.Err, (&refused{problems: s.problems}).lines())
			told = s.problems
		}
		if err := o.printAgain(&block, d, s.now); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // Ctrl-C ends a watch
		case <-time.After(o.interval):
		}
		switch next, err := look(); {
		case ctx.Err() != nil:
			return nil
		case err != nil: // the cluster may come back; until then the last picture stays
			if o.Out.Redraw {
				s.document = stale{s.document, err}
				break
			}
			fmt.Fprintf(o.Err, "%s: %s\n", program, oneLine(err.Error()))
		default:
			s = next
		}
	}
}

// compared shows one world, or two side by side.
func compared(view viewer, before, after *asked) (report.Document, error) {
	if after == nil {
		return view(before.World)
	}
	is, err := view(before.World)
	if err != nil {
		return nil, err
	}
	would, err := view(after.World)
	return report.Comparison{Before: is, After: would, Changes: world.Changes(before.World, after.World)}, err
}

// stale is the last picture, if there is no newer one.
type stale struct {
	report.Document
	why error
}

func (s stale) Lines(l report.Layout) []string {
	if older, ok := s.Document.(stale); ok {
		s.Document = older.Document
	}
	lines := report.Wrap("no newer picture: "+oneLine(s.why.Error()), l.Width, "")
	return append(append(lines, ""), s.Document.Lines(l)...)
}

func (o *options) print(d report.Document, now time.Time) error {
	text, err := o.render(d, now)
	if err == nil {
		_, err = o.Out.Out.Write(text)
	}
	return err
}

// printAgain redraws in place if possible, and otherwise appends.
func (o *options) printAgain(block *tty.Block, d report.Document, now time.Time) error {
	text, err := o.render(d, now)
	if err != nil {
		return err
	}
	if !o.Out.Redraw {
		separator := "\n"
		if o.output.value == "yaml" {
			separator = "---\n"
		}
		_, err = o.Out.Out.Write(append(text, separator...))
		return err
	}
	heading := fmt.Sprintf("%s, every %s", now.Local().Format("15:04:05"), o.interval)
	lines := append([]string{heading, ""}, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	if _, height := block.Size(); len(lines) >= height && height > 2 {
		left := len(lines) - height + 2
		lines = append(lines[:height-2], fmt.Sprintf("(%d more lines; a taller terminal shows them, or a queue as argument fewer)", left))
	}
	block.Show(lines)
	return nil
}

func (o *options) render(d report.Document, now time.Time) ([]byte, error) {
	if !o.forPrograms() {
		l := o.layout(now)
		return []byte(strings.Join(l.Style.Printable(d.Lines(l)), "\n") + "\n"), nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	if o.output.value == "json" {
		return report.PrintableJSON(text.Bytes()), nil
	}
	return printableYAML(report.PrintableYAML(text.Bytes()))
}
