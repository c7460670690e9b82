// Package app builds fairway-scheduler: upstream's kube-scheduler command with Fairway in it.
//
// It sets the scheduler up as upstream's app.Setup does, with three differences: the pod informer goes through
// the turnstile, binds carry the queue, and NextPod, SchedulePod and FailureHandler are wrapped. Everything else, from
// flags to leader election, is upstream's. A Kubernetes upgrade touches only this package, pkg/app/whatif, pkg/plugin and
// pkg/turnstile/factory.go.
package app

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
	kubeapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// NewCommand returns the fairway-scheduler command. All flags of kube-scheduler work; without --config the defaults are Default's.
func NewCommand() *cobra.Command {
	opts := options.NewOptions()
	cmd := &cobra.Command{
		Use:   "fairway-scheduler",
		Short: "Kubernetes scheduler with a tree of weighted queues that share the cluster fairly",
		Long: `fairway-scheduler is kube-scheduler with Fairway in it: pods with "schedulerName: fairway" wait in Queues, and are
scheduled in the order in which the queues are entitled to the cluster. Without --config it runs one profile, "fairway".`,
		Args: cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return opts.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			return run(cmd, opts)
		},
	}
	verflag.AddFlags(opts.Flags.FlagSet("global"))
	globalflag.AddGlobalFlags(opts.Flags.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, fs := range opts.Flags.FlagSets {
		cmd.Flags().AddFlagSet(fs)
	}
	cols, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, *opts.Flags, cols)
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json") // the flag exists
	return cmd
}

func run(cmd *cobra.Command, opts *options.Options) error {
	verflag.PrintAndExitIfRequested()
	gate := opts.ComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(opts.Logs, gate); err != nil {
		return err
	}
	cliflag.PrintFlags(cmd.Flags())

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := server.SetupSignalHandler()
	go func() {
		<-stop
		cancel()
	}()
	s, err := Setup(ctx, opts, Options{})
	if err != nil {
		return err
	}
	if mutable, ok := gate.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	opts.ComponentGlobalsRegistry.AddMetrics()
	return kubeapp.Run(ctx, s.Config, s.Scheduler)
}
