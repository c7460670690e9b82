// Package world is all that is known of a cluster at one moment, and the answers that every face of Fairway gives about it: the command line
// and the console ask the same functions, so they say the same.
//
// Input is a set of API objects, the schedulers whose pods take part, and the time. Output is documents of pkg/report. It builds its own
// ledger, as the scheduler would, and never asks the scheduler.
//
// The package reads no file and no cluster, knows no clock, and prints nothing.
package world

import (
	"cmp"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/kube/feed"
	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
	"github.com/fairway-scheduler/fairway/pkg/picture"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// World is the objects, and the picture that the ledger makes of them. It answers one question at a time: questions are rehearsed on its ledger.
type World struct {
	Objects    *objects.Set
	Schedulers []string // whose pods take part
	Now        time.Time
	Snapshot   ledger.Snapshot

	unplaced []ledger.Unplaced
	ledger   *ledger.Ledger

	// See details.
	detailed bool
	states   []ledger.ApplicationState
	users    []ledger.UserState
	pods     []ledger.PodState
	apps     report.Applications
	nodes    report.Nodes
	answers  *picture.Picture
}

// New makes the picture of a set of objects. schedulers are the schedulerNames of the pods that take part.
func New(set *objects.Set, schedulers []string, now time.Time) *World {
	l := feed.Rebuild(set, schedulers, now, ledger.Options{})
	l.LookAtStarvation(now.UnixNano()) // as the scheduler does every second; the clocks of Queue.status go on
	return &World{Objects: set, Schedulers: schedulers, Now: now, ledger: l, Snapshot: l.Snapshot(), unplaced: l.Unplaced()}
}

// Picture takes over the ledger; everything else that is needed is read from the ledger before.
func (w *World) Picture() *picture.Picture {
	if w.answers == nil {
		w.details()
		w.answers = picture.New(w.ledger)
	}
	return w.answers
}

// details reads applications and pods from the ledger, which not every question needs.
func (w *World) details() {
	if !w.detailed {
		w.detailed, w.states, w.pods, w.users = true, w.ledger.Applications(), w.ledger.Pods(), w.ledger.Users()
		w.apps = w.applications()
		w.nodes = w.nodesWithHolds()
	}
}

func (w *World) nodesWithHolds() (nodes report.Nodes) {
	held := map[string]string{}
	for _, q := range w.Snapshot.Queues {
		for _, h := range q.Holds {
			for _, name := range h.Nodes {
				held[name] = cmp.Or(h.PodGroup, h.Pod)
			}
		}
	}
	for _, n := range w.ledger.Nodes() {
		nodes = append(nodes, report.Node{NodeState: n, HeldFor: held[n.Name]})
	}
	return nodes
}

// Pods are those that take part and have not ended.
func (w *World) Pods() []ledger.PodState {
	w.details()
	return w.pods
}

// QueueNames are the names of all queues in the picture.
func (w *World) QueueNames() []string {
	names := make([]string, len(w.Snapshot.Queues))
	for i, q := range w.Snapshot.Queues {
		names[i] = string(q.Path)
	}
	return names
}

// HasQueue reports whether the picture has a queue of that name.
func (w *World) HasQueue(p queue.Path) bool {
	for _, q := range w.Snapshot.Queues {
		if q.Path == p {
			return true
		}
	}
	return false
}

// Tree is a queue and those below it.
func (w *World) Tree(top queue.Path) report.Tree { return report.NewTree(w.Snapshot, w.unplaced, top) }

// Order is the next n releases of pods in or below a queue.
func (w *World) Order(top queue.Path, n int) report.Order {
	return report.NewOrder(w.Picture(), w.Picture().Order(top, n))
}
