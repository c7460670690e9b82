package feed

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/fairway-scheduler/fairway/pkg/kube/objects"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// Rebuild makes a ledger of a set of objects, as the scheduler's own is made by its informers. schedulers are the schedulerNames that are ours.
func Rebuild(s *objects.Set, schedulers []string, now time.Time, o ledger.Options) *ledger.Ledger {
	f := &Feed{
		Ledger: ledger.New(o), Ours: func(name string) bool { return slices.Contains(schedulers, name) },
		Gate: func(*v1.Pod) string { return "" }, Now: now.UnixNano, Kick: func() {}, Classes: &Classes{},
	}
	for _, q := range s.Queues {
		f.observeQueue(q)
	}
	for _, n := range s.Nodes {
		f.Nodes().OnAdd(n, true)
	}
	for _, p := range s.Pods {
		f.ObservePod(p)
	}
	return f.Ledger
}
