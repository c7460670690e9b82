package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger/internal/book"
)

// More classes than lanes: some share one. Closed classes and limits are still told from open ones, and the order stays.
func TestClassesThatShareALane(t *testing.T) {
	const classes = 3 * book.LaneCount
	f := newFixture(t, Options{Window: classes})
	f.ObserveNode(Node{Name: "node", Allocatable: amounts(10*classes, 10*classes), Usable: true})
	var fits, all []UID
	for i := range classes {
		leaf := queue.Path(fmt.Sprintf("root.q-%03d", i))
		uid := UID(fmt.Sprintf("p-%03d", i))
		f.ObserveQueue(queue.Declaration{Path: leaf, Spec: queue.DefaultSpec()})
		switch i % 3 {
		case 0: // its limit stops it
			f.ObserveQueue(queue.Declaration{Path: leaf, Spec: queue.Spec{Weight: 1000, Max: amounts(0, 4)}})
		case 1:
			all = append(all, uid)
		case 2:
			all, fits = append(all, uid), append(fits, uid)
		}
		p := Pod{UID: uid, Name: string(uid), Namespace: "default", Queue: string(leaf), Application: string(uid), Class: string(uid),
			Request: resource.Of(resource.Entry{Name: resource.CPU, Value: 1000})}
		f.ObservePod(p, f.now)
	}
	f.sound()
	f.wantPods(f.choose(), all...)
	for _, uid := range all {
		f.fail(uid, Refused)
	}
	for i := range all { // those of case 1 fit no node
		if !slices.Contains(fits, all[i]) {
			if r, ok := f.Choose(f.now); !ok || r.UID != all[i] {
				t.Fatalf("chose %q, want %s", r.UID, all[i])
			}
			f.fail(all[i], NoFit)
			continue
		}
		f.run(all[i])
	}
	f.wantPods(f.choose())
	f.ObserveQueue(queue.Declaration{Path: "root.q-000", Spec: queue.DefaultSpec()}) // the limit goes
	f.sound()
	f.wantPods(f.choose(), "p-000")
}
