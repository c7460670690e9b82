// bench measures kube-scheduler, Fairway and the limit of binding alone against each other: on one control plane, one after the other,
// several times over.
//
// In: flags, and the source tree it stands in (manifests, bin/tools; the schedulers are built from it). Out: progress on stderr, tables
// on stdout, everything as JSON in a file. It exits with an error when something broke, never because something was slow: that is for
// people to judge, on a machine that does nothing else.
//
// Every contestant is a process of its own, so that /proc tells its CPU time and memory. What is timed:
//
//   - backlog: all pods wait before the scheduler starts. From its first bind to its last, so that loading 10,000 pods and starting a
//     process (the same for all, and paid once) do not dilute the rate. When the first bind came, and the CPU time with the start
//     included, are reported beside it: nobody can move work to before the first bind unseen.
//   - streaming: the scheduler runs and is idle. From the first create to the last bind; the creators share the machine with everybody.
//
// CPU time counts until the process is idle after its last bind: events and statuses written late belong to the pods too.
//
// It uses /proc and runs on Linux only. It must not change anything outside its control plane, a temporary directory and bin/bench, and
// leaves no process behind, however it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends us at once, and the kernel our children
	}()
	err := command(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "fairway-bench: %v\n", err)
		os.Exit(1)
	}
}

// command is either the benchmark or, as a child of it, the contestant that only binds.
func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == bindOnlyName {
		return bindOnlyCommand(ctx, args[1:])
	}
	s, err := parseSettings(args, os.Stderr)
	if err != nil {
		return err
	}
	return benchmark(ctx, s)
}

// settings are what a run of the benchmark can be told.
type settings struct {
	Nodes       int      `json:"nodes"`
	Pods        int      `json:"pods"`
	Rounds      int      `json:"rounds"`
	Creators    int      `json:"creators"`
	Modes       []string `json:"modes"`
	Contestants []string `json:"contestants"`
	WarmUp      bool     `json:"warmUp"`

	contestants   []contestant
	jsonFile      string
	profiles      string
	kubeScheduler string
	fairway       string
}

func parseSettings(args []string, usage io.Writer) (settings, error) {
	var s settings
	var contestants, modes string
	flags := flag.NewFlagSet("fairway-bench", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.IntVar(&s.Nodes, "nodes", 1000, "how many nodes, of 32 CPUs, 128Gi and 110 pods each")
	flags.IntVar(&s.Pods, "pods", 10000, "how many pods, of 100m and 256Mi each, a run binds")
	flags.IntVar(&s.Rounds, "rounds", 2, "how often each contestant runs in each mode")
	flags.IntVar(&s.Creators, "creators", 16, "how many pods are being created at a time")
	flags.StringVar(&modes, "modes", "backlog,streaming", "which `modes` to run")
	flags.StringVar(&contestants, "contestants", "bind-only,stock,stock-5,fairway-1,fairway-100",
		"who runs, in this order: a `list` of bind-only, stock, stock-P (percentageOfNodesToScore: P), fairway-N (N queues)")
	flags.BoolVar(&s.WarmUp, "warmup", true, "let the first contestant run once for the control plane to become warm, and forget the result")
	flags.StringVar(&s.jsonFile, "json", "", "write everything measured to this `file`")
	flags.StringVar(&s.profiles, "pprof", "", "write a CPU profile of each scheduler to this `directory`; taking it costs the scheduler some speed")
	flags.StringVar(&s.kubeScheduler, "kube-scheduler", "", "the kube-scheduler `program` (default: built from the module this source tree pins)")
	flags.StringVar(&s.fairway, "fairway-scheduler", "", "the fairway-scheduler `program` (default: built from this source tree)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("flags only, not %q", flags.Arg(0))
	}
	if s.Nodes < 1 || s.Pods < 1 || s.Rounds < 1 || s.Creators < 1 {
		return s, errors.New("nodes, pods, rounds and creators are 1 or more")
	}
	if s.Pods > s.Nodes*podsPerNode {
		return s, fmt.Errorf("%d pods do not fit on %d nodes of %d pods: what cannot be placed is not measured here", s.Pods, s.Nodes, podsPerNode)
	}
	var err error
	if s.contestants, err = parseContestants(contestants); err != nil {
		return s, err
	}
	for _, c := range s.contestants {
		s.Contestants = append(s.Contestants, c.name)
	}
	s.Modes, err = parseModes(modes)
	return s, err
}
