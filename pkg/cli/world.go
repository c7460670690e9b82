package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/definitions"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/world"
)

// asked is the world that a command is about, and what is wrong with the files that it comes from.
type asked struct {
	*world.World
	problems []objects.Problem
}

// worlds reads the objects once. after is nil without --with.
func (o *options) worlds(ctx context.Context) (before, after *asked, err error) {
	overlay, err := o.overlay()
	if err != nil {
		return nil, nil, err
	}
	set, problems, err := o.readObjects(ctx, overlay)
	if err != nil {
		return nil, nil, err
	}
	now := o.now.Time
	if now.IsZero() && len(o.files) > 0 {
		now = set.Newest()
	}
	if now.IsZero() {
		now = o.Now()
	}
	o.warnOfSchedulers(set)
	before = &asked{o.newWorld(set, now), problems}
	if len(o.with) == 0 {
		return before, nil, nil
	}
	if set, err = set.With(overlay); err != nil {
		return nil, nil, noAnswer(err)
	}
	return before, &asked{World: o.newWorld(set, now)}, nil
}

// overlay reads the files of --with. Nothing in them may be wrong: the API server would take none of that, and nothing would change.
func (o *options) overlay() (*objects.Set, error) {
	if len(o.with) == 0 {
		return &objects.Set{}, nil
	}
	overlay, problems, err := o.readFiles(o.with)
	return overlay, noAnswer(err, problems...)
}

func (o *options) newWorld(set *objects.Set, now time.Time) *world.World {
	return world.New(set, o.schedulersOf(set), now)
}

// schedulersOf are the schedulerNames of the pods that take part.
func (o *options) schedulersOf(set *objects.Set) []string {
	if len(o.schedulers) > 0 {
		return o.schedulers
	}
	ours, _ := set.Schedulers()
	if !slices.Contains(ours, v1alpha1.SchedulerName) {
		ours = append([]string{v1alpha1.SchedulerName}, ours...)
	}
	return ours
}

// warnOfSchedulers names what may be more profiles of Fairway, whose pods do not take part.
func (o *options) warnOfSchedulers(set *objects.Set) {
	if _, likely := set.Schedulers(); len(o.schedulers) == 0 {
		for _, name := range likely {
			if name != v1alpha1.SchedulerName {
				fmt.Fprintf(o.Err, "%s: pods of scheduler %s have annotations of Fairway and do not take part here; if it is one of its profiles, name all: --scheduler-name\n", program, reason.Name(name))
			}
		}
	}
}

func (o *options) readObjects(ctx context.Context, with ...*objects.Set) (*objects.Set, []objects.Problem, error) {
	if len(o.files) == 0 {
		set, err := cluster.Read(ctx, o.cluster, with...)
		return set, nil, err
	}
	set, problems, err := o.readFiles(o.files)
	if err != nil {
		return nil, nil, noAnswer(err, problems...)
	}
	return set, append(problems, ofPolicy(set)...), nil
}

// readFiles reads files into one set, so that duplicates across files are found.
func (o *options) readFiles(names []string) (*objects.Set, []objects.Problem, error) {
	var all []objects.File
	for _, name := range names {
		if name == "-" {
			all = append(all, objects.File{Name: "standard input", From: o.In})
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		all = append(all, objects.File{Name: name, From: file})
	}
	return objects.ReadFiles(all, definitions.Judge)
}

// top is the queue that the arguments name, the root if they name none. It must exist in one of the worlds.
func (o *options) top(args []string, worlds ...*asked) (queue.Path, error) {
	if len(args) == 0 {
		return queue.Root, nil
	}
	p, err := queue.ParseRequest(args[0])
	if err != nil {
		return "", fmt.Errorf("queue %q: %w", args[0], err)
	}
	var names []string
	for _, w := range worlds {
		if w == nil {
			continue
		}
		if w.HasQueue(p) {
			return p, nil
		}
		names = append(names, w.QueueNames()...)
	}
	return "", fmt.Errorf("queue %s does not exist in %s%s", p, o.source(), suggestion(string(p), names))
}
