package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/placement"
	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

const placeLong = `Show in which queue a pod of a user would go by the rules of the PlacementPolicy, and what each rule answers. Nothing is
created by asking.

The first group is the primary one; groups that begin with "system:" are the API server's own and have no queues. Write a
group with a comma in its name in double quotes.

Without a PlacementPolicy a pod goes in the queue that it asks for, and in root.default if it asks for none. If the policy
cannot be used, the last one that could be is in force, and a message says so.

The answer does not say whether the user may submit to the queue.`

const placeExample = `  # Where do the pods of alice go?
  kubectl fairway place --user alice --groups dev,ops

  # And if she asks for a queue?
  kubectl fairway place --user alice --groups dev,ops --queue root.etl

  # Where would they go with this PlacementPolicy?
  kubectl fairway place --user alice --groups dev,ops --with policy.yaml

  # The same from files, for a tool
  kubectl fairway place --user alice --groups dev,ops -f queues.yaml -f policy.yaml -o json`

func newPlace(o *options) *cobra.Command {
	var s placement.Submission
	c := &cobra.Command{
		Use: "place --user USER", Short: "Show in which queue a user's pods go, and by which rule", Long: placeLong, Example: placeExample,
		Args: noArguments("it takes no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if s.User == "" {
				return usagef("say whose pod it is: --user")
			}
			d, problems, err := o.place(c.Context(), s)
			if err != nil {
				return o.refuse(err)
			}
			return o.answer(d, o.Now(), problems)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&s.User, "user", "", "the `USER`, as the API server knows it")
	f.StringSliceVar(&s.Groups, "groups", nil, "the groups (`GROUP,...`) of the user, the primary one first")
	f.StringVar(&s.Queue, "queue", "", "the `QUEUE` that the pod asks for")
	o.addFileFlag(c)
	f.StringArrayVar(&o.with, "with", nil, "answer with the Queues and the PlacementPolicy in this `FILE` (may be repeated)")
	must(c.MarkFlagFilename("with", "yaml", "yml", "json"))
	o.addOutputFlags(c)
	return c
}

// place asks the policy in force.
func (o *options) place(ctx context.Context, s placement.Submission) (report.Place, []objects.Problem, error) {
	set, problems, err := o.placementObjects(ctx)
	if err != nil {
		return report.Place{}, nil, err
	}
	rules := convert.PlacementPolicy(set.PlacementPolicy)
	switch {
	case rules.Problem != nil && rules.Spec == nil:
		if len(problems) > 0 { // it is one of them
			return report.Place{}, nil, noAnswer(nil, problems...)
		}
		return report.Place{}, nil, fmt.Errorf("PlacementPolicy %s: %w", set.PlacementPolicy.GetName(), rules.Problem)
	case rules.Problem != nil:
		fmt.Fprintf(o.Err, "%s: PlacementPolicy %s: %s; the one before it is in force\n", program, set.PlacementPolicy.GetName(), oneLine(rules.Problem.Error()))
	}
	return report.Place{Decision: rules.Policy.Place(s, convert.QueuesForPlacement(set.Queues))}, problems, nil
}

func (o *options) placementObjects(ctx context.Context) (set *objects.Set, problems []objects.Problem, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if len(o.files) > 0 {
		set, problems, err = o.readObjects(ctx)
	} else {
		set, err = cluster.ReadPlacement(ctx, o.cluster)
	}
	if err != nil || len(o.with) == 0 {
		return set, problems, err
	}
	overlay, err := o.overlay()
	if err != nil {
		return nil, nil, err
	}
	set, err = set.With(overlay)
	return set, problems, noAnswer(err)
}
