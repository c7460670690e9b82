package cli

import (
	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

const treeLong = `Show the queues: what each may have, has and asks for, how many applications and pods run and wait, its state, and what
is wrong with it. Amounts and counts of a queue include the queues below it.

STEADY-SHARE is a queue's part of the cluster if all queues had work, FAIR-SHARE its part now. On a terminal a bar shows
how much of the cluster (or of QUEUE) is allocated, with a mark at the fair share. "50c 200Gi" is 50 cores and 200 GiB;
-o wide, json and yaml have exact amounts of all resources, and what is in force with the queue that states it, such as
"90s (root)"; without a queue it is the default. SLOTS, ENTRIES and DRIVERS are what is used of maxRunningApplications,
maxApplications and maxDriverShare.

APPLICATIONS and STARTING count applications, RUNNING and PENDING pods; only queues with policy StateAware, and those
above them, have applications that are starting.

With --with, cells that would change show both values, and below stand the applications that would start, those that
no longer would, and the queues that would fall under their guarantee: they have less than they are guaranteed and ask
for, or their parent's steady fair share does not cover the guarantees in it.`

const treeExample = `  # All queues, or one and those below it
  kubectl fairway tree
  kubectl fairway tree root.analytics

  # Keep looking
  kubectl fairway tree --watch

  # From a file, for a tool
  kubectl get queues,nodes,pods -A -o yaml | kubectl fairway tree -f - -o json

  # What would this Queue change?
  kubectl fairway tree --with root.etl.yaml`

func newTree(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "tree [QUEUE]", Short: "Show queues with their shares, allocation and demand", Long: treeLong, Example: treeExample,
		Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: o.aboutQueue(func(w *world.World, top queue.Path) (report.Compared, error) {
			return w.Tree(top), nil
		}),
	}
	o.addFlags(c)
	o.addWatch(c)
	return c
}

// noArguments checks the arguments of a command that takes none. says is how the error begins.
func noArguments(says string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usagef("%s, and there is %q", says, args[0])
		}
		return nil
	}
}

// atMostOne checks the arguments of a command that takes one thing or none.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("one %s at most, and there are %d: %q", what, len(args), args)
		}
		return nil
	}
}
