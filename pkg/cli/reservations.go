package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

const reservationsLong = `Show what is reserved in the reservable queues, over time and by whom. With QUEUE, only in that queue and those below it.

The timeline reaches a week ahead, or as far as anything is reserved that does not recur. START is when the allocation of
a reservation begins, or its next period; QUEUE is where its pods run, from a little before that until the end.`

const reservationsExample = `  # All reservations
  kubectl fairway reservations

  # Those of one queue, for a tool
  kubectl fairway reservations root.reports -o json`

func newReservations(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "reservations [QUEUE]", Short: "Show what is reserved, over time", Long: reservationsLong, Example: reservationsExample,
		Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: func(c *cobra.Command, args []string) error {
			d, w, err := o.reservations(c.Context(), args)
			if err != nil {
				return o.refuse(err)
			}
			return o.answer(d, w.Now, w.problems)
		},
	}
	o.addFileFlag(c)
	o.addOutputFlags(c)
	return c
}

const reserveLong = `Show where the Reservations in FILE would be put, or why they would not be accepted and with which deadline they would.
Nothing is reserved by asking: kubectl apply does that.`

const reserveExample = `  # Would it fit?
  kubectl fairway reserve --dry-run -f nightly.yaml`

func newReserve(o *options) *cobra.Command {
	var files []string
	var dry bool
	c := &cobra.Command{
		Use: "reserve --dry-run -f FILE", Short: "Show where a reservation would be put", Long: reserveLong, Example: reserveExample,
		Args: noArguments("it takes no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case !dry:
				return usagef("it only answers where a reservation would be put: say --dry-run; kubectl apply -f makes it")
			case len(files) == 0:
				return usagef("name a file with a Reservation: -f")
			}
			d, w, err := o.reserve(c.Context(), files)
			if err != nil {
				return o.refuse(err)
			}
			return o.answer(d, w.Now, w.problems)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&dry, "dry-run", false, "only show what would be")
	f.StringArrayVarP(&files, "filename", "f", nil, "the `FILE` with the Reservations (may be repeated)")
	f.StringArrayVar(&o.files, "objects", nil, "read the cluster from this `FILE` (may be repeated)")
	must(c.MarkFlagFilename("filename", "yaml", "yml", "json"))
	o.addOutputFlags(c)
	return c
}

func (o *options) reservations(ctx context.Context, args []string) (report.Document, *asked, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	w, _, err := o.worlds(ctx)
	if err != nil {
		return nil, nil, err
	}
	top, err := o.top(args, w)
	if err != nil {
		return nil, nil, err
	}
	return w.Reservations(top), w, nil
}

func (o *options) reserve(ctx context.Context, files []string) (report.Document, *asked, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	asked, problems, err := o.readFiles(files)
	if err = noAnswer(err, problems...); err != nil {
		return nil, nil, err
	}
	if len(asked.Reservations) == 0 {
		return nil, nil, errors.New("there is no Reservation in the file")
	}
	w, _, err := o.worlds(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, names := w.Objects.WithReservations(asked, w.Now)
	_, result, found := convert.Follow(w.Objects.Queues, all, w.Snapshot, w.Now)
	d := report.Reserve{Queue: map[string]queue.Path{}}
	for _, object := range found {
		d.Queue[object.Key()] = object.Queue
	}
	for _, key := range names {
		d.Reservations = append(d.Reservations, report.Reservation{Name: key, Status: result.Statuses[key]})
	}
	return d, w, nil
}
