// fairway-demo starts a control plane on this machine, with Fairway as its scheduler and simulated nodes, and shows how two queues come to
// their fair shares, what the gate of policy StateAware does against a storm of drivers, what preemption does for a queue that starves, or what the
// users of two teams may do. Ctrl-C ends everything it started.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends us at once, and the kernel our children
	}()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "fairway-demo: %v\n", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	options := demo.Options{Out: os.Stdout}
	c := &cobra.Command{
		Use:   "fairway-demo",
		Short: "Show on a local control plane how two queues come to their fair shares",
		Long: "Starts a control plane on this machine (loopback and a temporary directory only), with Fairway as its scheduler\n" +
			"and simulated nodes, and shows how two queues come to their fair shares; with --driver-storm, what many drivers at\n" +
			"once do to a queue with and without the gate of policy StateAware; with --preemption, how long the shares take\n" +
			"with and without preemption; with --teams, what the users of two teams may do, and where their pods go. Ctrl-C ends everything it started.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			c.SilenceUsage = true // what fails from here on is no matter of usage
			return demo.Run(c.Context(), options)
		},
	}
	c.Flags().BoolVar(&options.DriverStorm, "driver-storm", false, "show a storm of Spark drivers, without a gate and with it")
	c.Flags().BoolVar(&options.Preemption, "preemption", false, "show how long shares take to arrive, without preemption and with it")
	c.Flags().BoolVar(&options.Teams, "teams", false, "show two teams: what each user may do, where pods go, and what is refused")
	c.Flags().BoolVar(&options.Once, "once", false, "end when all that is shown has come true, with an error if that does not come true")
	c.Flags().DurationVar(&options.Deadline, "deadline", 3*time.Minute, "with --once, how long that may take after the burst or after the drivers were submitted, and each scene of --teams")
	c.Flags().StringVar(&options.Root, "root", "", "`folder` with the source tree (default: found above the working directory or this program)")
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}
