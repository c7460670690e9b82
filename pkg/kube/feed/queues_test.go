package feed

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

func queueOf(name, uid string, weight any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"weight": weight}}}
	u.SetName(name)
	u.SetUID(types.UID(uid))
	return u
}

func deleted(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	at := metav1.NewTime(time.Unix(1000, 0))
	u.SetDeletionTimestamp(&at)
	return u
}

func TestDeletionIsHeardOfWhetherAQueueCanBeReadOrNot(t *testing.T) {
	f := &Feed{Ledger: ledger.New(ledger.Options{}), Kick: func() {}}
	h := f.Queues()
	for _, u := range []*unstructured.Unstructured{
		queueOf("root.good", "1", "2"), queueOf("root.turned", "2", "2"), queueOf("root.never", "3", map[string]any{}),
	} {
		h.OnAdd(u, true)
		if name := u.GetName(); name == "root.turned" {
			bad := queueOf(name, "2", "-2")
			h.OnUpdate(u, bad)
			u = bad
		}
		if qs, _ := f.Ledger.Leaving(); len(qs) != 0 {
			t.Errorf("%v are leaving before anybody deleted them", qs)
		}
		h.OnUpdate(u, deleted(u))
		want := []ledger.Leaving{{Path: queue.Path(u.GetName())}}
		if qs, _ := f.Ledger.Leaving(); !cmp.Equal(qs, want) {
			t.Errorf("leaving: %v, want %v", qs, want)
		}
		h.OnDelete(deleted(u))
	}
}

func TestAQueueMadeAgainWhileTheWatchWasBrokenStartsAfresh(t *testing.T) {
	f := &Feed{Ledger: ledger.New(ledger.Options{}), Kick: func() {}}
	h := f.Queues()
	old := deleted(queueOf("root.a", "1", "2"))
	h.OnAdd(old, true)
	h.OnUpdate(old, queueOf("root.a", "2", map[string]any{}))
	f.Ledger.Lead(1)
	for _, q := range f.Ledger.Snapshot().Queues {
		if q.Path == "root.a" && q.Declared {
			t.Errorf("what the old queue declared is in force: %+v", q)
		}
	}
	if qs, _ := f.Ledger.Leaving(); len(qs) != 0 {
		t.Errorf("leaving: %v", qs)
	}
}
