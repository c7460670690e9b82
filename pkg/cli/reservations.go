package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/reservations"
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
			return o.answer(d, w.now, w.problems)
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
			return o.answer(d, w.now, w.problems)
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

// follow has the scheduler's follower look at the world once, with these Reservations.
func (w *world) follow(all []*unstructured.Unstructured) (*reservations.Follower, reservations.Result, []reservations.Object) {
	var queues []*v1alpha1.Queue
	for _, u := range w.objects.Queues {
		if q, err := convert.DecodeQueue(u); err == nil {
			queues = append(queues, q)
		}
	}
	var found []reservations.Object
	for _, u := range all {
		found = append(found, convert.ReservationObject(u))
	}
	f := reservations.New()
	return f, f.Step(w.now.UnixNano(), convert.Plans(queues, w.snapshot), found), found
}

func (o *options) reservations(ctx context.Context, args []string) (report.Document, *world, error) {
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
	f, result, found := w.follow(w.objects.Reservations)
	now := w.now.Unix()
	of := map[queue.Path][]report.Reservation{}
	d := report.Reservations{}
	for _, object := range found {
		plan, planned := f.Plan(object.Queue)
		r := report.Reservation{Name: object.Key(), User: object.User, Status: result.Statuses[object.Key()]}
		for _, accepted := range plan.Accepted {
			if accepted.Name == r.Name {
				r.Now = accepted.At(now)
			}
		}
		switch {
		case !top.Contains(object.Queue):
		case planned:
			of[object.Queue] = append(of[object.Queue], r)
		default:
			d.Others = append(d.Others, r)
		}
	}
	for _, path := range f.Queues() {
		if plan, _ := f.Plan(path); top.Contains(path) {
			d.Plans = append(d.Plans, report.ReservationPlan{Queue: path, Capacity: plan.Capacity, Timeline: plan.Booked(now, plan.Until(now)), Reservations: of[path]})
		}
	}
	return d, w, nil
}

func (o *options) reserve(ctx context.Context, files []string) (report.Document, *world, error) {
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
	names := map[string]bool{}
	_, result, found := w.follow(w.withReservations(asked, names))
	d := report.Reserve{Queue: map[string]queue.Path{}}
	for _, object := range found {
		d.Queue[object.Key()] = object.Queue
	}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		d.Reservations = append(d.Reservations, report.Reservation{Name: key, Status: result.Statuses[key]})
	}
	return d, w, nil
}

// withReservations are those of the world and those that are asked for, which are created now or, if they are there, changed now.
func (w *world) withReservations(asked *objects.Set, names map[string]bool) (all []*unstructured.Unstructured) {
	for _, u := range asked.Reservations {
		names[u.GetNamespace()+"/"+u.GetName()] = true
	}
	before := map[string]*unstructured.Unstructured{}
	for _, u := range w.objects.Reservations {
		if key := u.GetNamespace() + "/" + u.GetName(); names[key] {
			before[key] = u
		} else {
			all = append(all, u)
		}
	}
	for _, u := range asked.Reservations {
		key := u.GetNamespace() + "/" + u.GetName()
		is := before[key].DeepCopy()
		if is == nil {
			is = u.DeepCopy()
			unstructured.RemoveNestedField(is.Object, "status")
			is.SetGeneration(1)
			is.SetCreationTimestamp(metav1.NewTime(w.now))
		} else {
			is.Object["spec"] = u.Object["spec"]
			is.SetGeneration(is.GetGeneration() + 1)
		}
		all = append(all, is)
	}
	return all
}
