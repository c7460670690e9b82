package cli

import (
	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

const preemptionLong = `Show the queues that are starved: below their guarantee, or below fairShareThreshold of their fair share, while they ask
for more; since when, when preemption is due, and what is owed to those for whom it is. Then the pods that are about to be
evicted: those that show the condition DisruptionTarget of Fairway.

With --plan, show what would be taken now, for whom and why. The plan is made as if the timeouts of all queues that are below
had passed; a queue without a timeout in force has no claim. Pods that are leaving count as gone; those that are only
announced are among the first that go. Nothing is evicted by looking.

A plan made here judges taints, node selectors, node affinity, room, and the PodDisruptionBudgets that it is given (a
cluster's own, or those in FILE). It does not judge affinity between pods, topology spread, ports or volumes: the scheduler
does, and may choose other pods, or none.`

const preemptionExample = `  # Who is starved, and which pods are about to go?
  kubectl fairway preemption

  # What would be taken now?
  kubectl fairway preemption --plan

  # What would a timeout in this Queue make of it?
  kubectl fairway preemption --plan --with root.yaml

  # The same from files, for a tool
  kubectl get queues,nodes,pods,poddisruptionbudgets -A -o yaml > dump.yaml
  kubectl fairway preemption --plan -f dump.yaml -o json`

func newPreemption(o *options) *cobra.Command {
	plan := false
	c := &cobra.Command{
		Use: "preemption", Short: "Show starved queues, and what would be taken for them", Long: preemptionLong, Example: preemptionExample,
		Args: noArguments("it is about all queues and takes no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.show(c.Context(), func(before, _ *asked) (viewer, error) {
				if plan { // of other queues than those meant, it would name other pods
					return func(w *world.World) (report.Compared, error) { return w.Plan(), nil }, noAnswer(nil, before.problems...)
				}
				return func(w *world.World) (report.Compared, error) { return w.Starved(), nil }, nil
			})
		},
	}
	o.addFlags(c)
	o.addWatch(c)
	c.Flags().BoolVar(&plan, "plan", false, "show what would be taken now")
	return c
}
