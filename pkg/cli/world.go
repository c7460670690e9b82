package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/cluster"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// world is all that is known at one moment: the objects, and the picture that the ledger makes of them.
type world struct {
	objects  *objects.Set
	now      time.Time
	ledger   *ledger.Ledger
	snapshot ledger.Snapshot
	unplaced []ledger.Unplaced

	// See details.
	detailed bool
	states   []ledger.ApplicationState
	users    []ledger.UserState
	pods     []ledger.PodState
	apps     report.Applications
	answers  *picture.Picture
}

// worlds reads the objects once. after is nil without --with.
func (o *options) worlds(ctx context.Context) (before, after *world, err error) {
	overlay := &objects.Set{}
	if len(o.with) > 0 {
		if overlay, err = o.readFiles(o.with); err != nil {
			return nil, nil, err
		}
	}
	set, err := o.readObjects(ctx, overlay)
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
	before = o.newWorld(set, now)
	if len(o.with) == 0 {
		return before, nil, nil
	}
	if set, err = set.With(overlay); err != nil {
		return nil, nil, err
	}
	return before, o.newWorld(set, now), nil
}

func (o *options) newWorld(set *objects.Set, now time.Time) *world {
	l := feed.Rebuild(set, o.schedulers, now, ledger.Options{})
	l.LookAtStarvation(now.UnixNano()) // as the scheduler does every second; the clocks of Queue.status go on
	return &world{objects: set, now: now, ledger: l, snapshot: l.Snapshot(), unplaced: l.Unplaced()}
}

// picture takes over the ledger; everything else that is needed must be read from the ledger before.
func (w *world) picture() *picture.Picture {
	if w.answers == nil {
		w.details()
		w.answers = picture.New(w.ledger)
	}
	return w.answers
}

// details reads applications and pods from the ledger, which not every command needs.
func (w *world) details() {
	if !w.detailed {
		w.detailed, w.states, w.pods, w.users = true, w.ledger.Applications(), w.ledger.Pods(), w.ledger.Users()
		w.apps = w.applications()
	}
}

func (o *options) readObjects(ctx context.Context, with ...*objects.Set) (*objects.Set, error) {
	if len(o.files) == 0 {
		return cluster.Read(ctx, o.cluster, with...)
	}
	return o.readFiles(o.files)
}

// readFiles reads files as one stream, so that duplicates across files are found.
func (o *options) readFiles(names []string) (*objects.Set, error) {
	var all []io.Reader
	for _, name := range names {
		if name == "-" {
			all = append(all, o.In, strings.NewReader("\n---\n"))
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		all = append(all, file, strings.NewReader("\n---\n"))
	}
	label := strings.Join(names, ", ")
	if label == "-" {
		label = "standard input"
	}
	return objects.Read(label, io.MultiReader(all[:len(all)-1]...))
}

// queueNames are the names of all queues in the picture.
func (w *world) queueNames() []string {
	names := make([]string, len(w.snapshot.Queues))
	for i, q := range w.snapshot.Queues {
		names[i] = string(q.Path)
	}
	return names
}

func (w *world) hasQueue(p queue.Path) bool {
	for _, q := range w.snapshot.Queues {
		if q.Path == p {
			return true
		}
	}
	return false
}

// top is the queue that the arguments name, the root if they name none. It must exist in one of the worlds.
func (o *options) top(args []string, worlds ...*world) (queue.Path, error) {
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
		if w.hasQueue(p) {
			return p, nil
		}
		names = append(names, w.queueNames()...)
	}
	return "", fmt.Errorf("queue %s does not exist in %s%s", p, o.source(), suggestion(string(p), names))
}
