package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fairway-scheduler/fairway/pkg/console"
	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/report"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

const consoleLong = `Show queues, applications, pods, nodes and preemption in a browser, as they change: what tree, apps, users, why and
preemption say.

It serves on loopback only, to those who have the address that it prints, with your own rights in the cluster. It changes
nothing. It ends with Ctrl-C, and the address with it.`

const consoleExample = `  # The live cluster
  kubectl fairway console --open

  # A dump
  kubectl get queues,placementpolicies,reservations,nodes,pods -A -o yaml > dump.yaml
  kubectl fairway console -f dump.yaml`

func newConsole(o *options) *cobra.Command {
	port, open := 0, false
	c := &cobra.Command{
		Use: "console", Short: "Show everything in a browser, as it changes", Long: consoleLong, Example: consoleExample,
		Args: noArguments("it shows the whole cluster and takes no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return usagef("--port %d: must be from 0 to 65535", port)
			}
			return o.console(c.Context(), port, open)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	o.addFileFlag(c)
	f.IntVar(&port, "port", port, "the `PORT` on loopback; 0 is any that is free")
	f.BoolVar(&open, "open", false, "open it in the browser")
	f.StringArrayVar(&o.schedulers, "scheduler-name", nil,
		"the schedulerName (`NAME`) of the pods that take part (may be repeated; default: fairway, and the names of all pods that show a condition of Fairway)")
	return c
}

func (o *options) console(ctx context.Context, port int, open bool) error {
	if err := o.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := o.consoleSource(ctx)
	if err != nil {
		return o.refuse(err)
	}
	at, err := console.Listen(port)
	if err != nil {
		return err
	}
	defer func() { _ = at.Close() }()
	s, err := console.New(source, at.Addr(), console.Options{Now: o.Now})
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out.Out, "The console is at %s\nAnyone who has this address can read what you can. Ctrl-C ends it.\n", s.URL())
	if open {
		done, err := openBrowser(s.URL())
		defer done()
		if err != nil {
			fmt.Fprintf(o.Err, "%s: opening the browser: %v\n", program, err)
		}
	}
	return s.Serve(ctx, at)
}

// consoleSource reads files at once. Of a cluster it begins to watch, and waits until all is there.
func (o *options) consoleSource(ctx context.Context) (console.Source, error) {
	if len(o.files) == 0 {
		w, err := cluster.Watch(ctx, o.cluster)
		return liveSource{o, w}, err
	}
	w, _, err := o.worlds(ctx)
	if err != nil {
		return nil, err
	}
	for i := range w.problems {
		fmt.Fprintln(o.Err, report.FileProblem(w.problems[i]).String())
	}
	return fileSource{o, w}, nil
}

// fileSource is what files say, at one moment.
type fileSource struct {
	*options
	is *asked
}

func (s fileSource) World(context.Context) (*world.World, []report.FileProblem, error) {
	return s.is.World, fileProblems(s.is.problems), nil
}

func (s fileSource) Changed() <-chan struct{} { return nil }

func (s fileSource) Name() string { return s.source() }

// liveSource is a cluster as its watches show it.
type liveSource struct {
	*options
	watch *cluster.Watcher
}

func (s liveSource) World(context.Context) (*world.World, []report.FileProblem, error) {
	set, err := s.watch.Set()
	if err != nil {
		return nil, nil, err
	}
	return s.newWorld(set, s.Now()), fileProblems(ofPolicy(set)), nil
}

func (s liveSource) Changed() <-chan struct{} { return s.watch.Changed() }

func (s liveSource) Events(ctx context.Context, kind, namespace, name string) (report.Events, error) {
	return s.watch.Events(ctx, kind, namespace, name)
}

func (s liveSource) Evicted(ctx context.Context) (report.Events, error) { return s.watch.Evicted(ctx) }

func (s liveSource) Name() string { return s.watch.Name() }

func fileProblems(problems []objects.Problem) (all []report.FileProblem) {
	for _, p := range problems {
		all = append(all, report.FileProblem(p))
	}
	return all
}
