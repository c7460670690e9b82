package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

// completeWithin is how long a shell waits for names at most.
const completeWithin = 3 * time.Second

// complete offers the names of a world that begin with the typed text. Names that no API server would take could do anything to a shell.
func (o *options) complete(c *cobra.Command, typed string, names func(*world.World) []string) ([]string, cobra.ShellCompDirective) {
	if slices.Contains(o.files, "-") {
		return nil, cobra.ShellCompDirectiveNoFileComp // standard input belongs to the shell
	}
	ctx := c.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	set, _, err := o.readObjects(ctx)
	if err != nil {
		cobra.CompErrorln(reason.Printable(bounded(oneLine(err.Error()))))
		return nil, cobra.ShellCompDirectiveError
	}
	all := slices.DeleteFunc(names(o.newWorld(set, o.Now())), func(name string) bool { return !strings.HasPrefix(name, typed) || reason.Name(name) != name })
	return all, cobra.ShellCompDirectiveNoFileComp
}

func (o *options) completeQueue(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return o.complete(c, typed, (*world.World).QueueNames)
}

// completePod offers the pods that take part, in the namespace if one is given, without those already named.
func (o *options) completePod(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return o.complete(c, typed, func(w *world.World) []string {
		var names []string
		for _, p := range w.Pods() {
			if namespace := o.namespace(); (namespace == "" || p.Namespace == namespace) && !slices.Contains(args, p.Name) {
				names = append(names, p.Name)
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	})
}

// namespace returns the value of -n or, for a cluster, that of the kubeconfig; for a file, any ("").
func (o *options) namespace() string {
	if o.cluster.Namespace != nil && *o.cluster.Namespace != "" {
		return *o.cluster.Namespace
	}
	if len(o.files) > 0 {
		return ""
	}
	namespace, _, err := o.cluster.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return ""
	}
	return namespace
}
