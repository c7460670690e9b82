package cli

import (
	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

const appsLong = `Show the applications of QUEUE and below, or all: share, allocation, demand, pods, state, and since when the oldest pod waits.

An application's fair share is its part of its queue's: an even part among those that may run, or, under policies FIFO and
StateAware, all of it for the one that was submitted first. It is Accepted while no pod of it holds anything, Running when
one does, Completing when all that it still has is being deleted. In a queue with policy StateAware it is Starting at first:
until a pod that is no driver has a node. In any queue it is Starting if its driver waits while others have nodes. REASON is what
its oldest waiting pod waits for; -o wide has the sentence, and the priority of the application as it counts.`

const appsExample = `  # All applications, or those of one queue
  kubectl fairway apps
  kubectl fairway apps root.etl

  # What would run with another limit?
  kubectl fairway apps root.etl --with root.etl.yaml`

const usersLong = `Show the users with applications in QUEUE and below, or all: the sums over their applications.

A user is who the annotation fairway.dev/user of a pod names, else its service account. STATE is that of the application
that has come farthest. HELD and STARTING count applications, RUNNING and PENDING pods. LIMITS is what the user may use of
each queue that limits its users; "reached" where that holds pods.`

const usersExample = `  # Who uses the cluster?
  kubectl fairway users

  # Who uses one queue, with exact amounts?
  kubectl fairway users root.etl -o wide`

func newApps(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "apps [QUEUE]", Aliases: []string{"applications"}, Short: "Show applications with share, allocation and state",
		Long: appsLong, Example: appsExample, Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: o.aboutQueue(func(w *world.World, top queue.Path) (report.Compared, error) {
			return w.Applications(top), nil
		}),
	}
	o.addFlags(c)
	o.addWatch(c)
	return c
}

func newUsers(o *options) *cobra.Command {
	c := &cobra.Command{
		Use: "users [QUEUE]", Short: "Show users with share, allocation and state",
		Long: usersLong, Example: usersExample, Args: atMostOne("queue"), ValidArgsFunction: o.completeQueue,
		RunE: o.aboutQueue(func(w *world.World, top queue.Path) (report.Compared, error) {
			return w.Users(top), nil
		}),
	}
	o.addFlags(c)
	o.addWatch(c)
	return c
}
