// Package cli is the command line `kubectl fairway`.
//
// Input is arguments, files or a live cluster, and the reader's screen. Output is text and an exit code. Every
// command builds its own picture from API objects, with the same ledger as the scheduler, and never asks the
// scheduler. The package computes nothing: the ledger knows, pkg/picture explains, pkg/report prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// Environment is the environment of a command.
type Environment struct {
	In  io.Reader
	Out tty.Screen
	Err io.Writer
	Now func() time.Time
	// Version of this build, if the build set it.
	Version string
}

const program = "kubectl-fairway"

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, args []string, e Environment) int {
	e.Err = printing{e.Err}
	c := newRoot(e)
	c.SetArgs(args)
	failed, err := c.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	var usage usageError
	text := bounded(oneLine(err.Error()))
	if errors.As(err, &usage) {
		text += fmt.Sprintf("; see '%s --help'", failed.CommandPath())
	}
	fmt.Fprintf(e.Err, "%s: %s\n", program, text)
	return 1
}

// usageError is a command line that is not valid.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// mostText is how much of a text is shown that may quote what somebody wrote.
const mostText = 4096

func bounded(text string) string {
	if len(text) > mostText {
		return reason.Beginning(text, mostText) + "..."
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

const rootLong = `Show the queues of Fairway, and why pods wait.

Every command looks at the live cluster, or with -f at a file as "kubectl get ... -o yaml" writes it, and works with
the scheduler's own rules; it needs no running scheduler. With --with FILE it shows what Queues in
that file would change, before anybody applies them.

To use it as "kubectl fairway", put the program kubectl-fairway on the PATH. For completion in the shell see
"kubectl fairway completion --help"; for that of kubectl itself, put an executable file kubectl_complete-fairway on the
PATH that says

  #!/bin/sh
  exec kubectl-fairway __complete "$@"`

const rootExample = `  # All queues, as they stand
  kubectl fairway tree

  # Why does this pod not run?
  kubectl fairway why my-pod -n team-a

  # What would an edited queue change?
  kubectl fairway tree --with root.etl.yaml

  # The same from files, without a cluster
  kubectl get queues,placementpolicies,reservations,nodes,pods -A -o yaml > dump.yaml
  kubectl fairway tree -f dump.yaml`

func newRoot(e Environment) *cobra.Command {
	o := newOptions(e)
	c := &cobra.Command{
		Use:           program,
		Short:         "Show the queues of Fairway, and why pods wait",
		Long:          rootLong,
		Example:       rootExample,
		Version:       versionOf(e),
		SilenceErrors: true,
		SilenceUsage:  true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl fairway"},
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, sub := range c.Commands() {
				names = append(names, sub.Name())
			}
			return usagef("unknown command %q%s", args[0], suggestion(args[0], names))
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.SetIn(e.In)
	c.SetOut(e.Out.Out)
	c.SetErr(e.Err)
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.SetVersionTemplate(program + " {{.Version}}\n")
	c.SetUsageTemplate(usageTemplate(c.UsageTemplate()))
	o.cluster.AddFlags(c.PersistentFlags())
	c.AddCommand(newTree(o), newWhy(o), newOrder(o), newApps(o), newUsers(o), newAccess(o), newPreemption(o), newPlace(o), newReservations(o), newReserve(o), newImport(o), newConsole(o))
	return c
}

// usageTemplate removes kubectl's two dozen flags from the help of each command; the help of the program lists
// them.
func usageTemplate(template string) string {
	const heading, flags = "Global Flags:", "{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}"
	template = strings.Replace(template, heading+"\n"+flags, `The flags of kubectl that say which cluster, as whom and which namespace (--kubeconfig, --context, -n ...)
work here too: "{{.Root.CommandPath}} --help" lists them.`, 1)
	return template
}

func versionOf(e Environment) string {
	if e.Version != "" {
		return e.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
