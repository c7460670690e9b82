package demo

import (
	"encoding/json"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

func newObserver() *observer {
	store := func() cache.Store { return cache.NewStore(cache.MetaNamespaceKeyFunc) }
	return &observer{pods: store(), queues: store(), fresh: map[string]freshPod{}}
}

func TestCreatedPodsCountBeforeTheWatchShowsThem(t *testing.T) {
	o, now := newObserver(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	waiting := func() int {
		w, err := o.world(now)
		if err != nil {
			t.Fatal(err)
		}
		return w.waiting[busy]
	}
	at := &position{}
	first, second := at.next(submission{queue: busy}), at.next(submission{queue: busy})
	o.created(now, busy, []string{first.Name, second.Name})
	if n := waiting(); n != 2 {
		t.Errorf("%d wait, the watch shows nothing yet", n)
	}
	if err := o.pods.Add(first); err != nil {
		t.Fatal(err)
	}
	if n := waiting(); n != 2 {
		t.Errorf("%d wait, the watch shows one of two", n)
	}
	if err := o.pods.Delete(first); err != nil {
		t.Fatal(err)
	}
	if n := waiting(); n != 1 {
		t.Errorf("%d wait, one is gone again", n)
	}
	now = now.Add(freshFor + time.Second)
	if n := waiting(); n != 0 {
		t.Errorf("%d wait, the watch will never show the second", n)
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestObservedQueues(t *testing.T) {
	o := newObserver()
	for _, text := range []string{
		`{"metadata":{"name":"root.sometimes-busy"},"spec":{"weight":"2500m"}}`,
		`{"metadata":{"name":"root"}}`,
		`{"metadata":{"name":"root.busy"},"spec":{"weight":1},"status":{"fairShare":{"cpu":"50","memory":"200Gi"},
			"allocated":{"cpu":"180","memory":"720Gi"},"applications":{"pending":2,"running":3},"pods":{"pending":60,"running":90}}}`,
	} {
		if err := o.queues.Add(object(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := o.world(time.Time{})
	if err != nil || len(w.queues) != 3 || w.queues[0].Name != "root" || w.queues[1].Name != busy || w.queues[2].Weight != 2500 {
		t.Fatalf("got %+v, %v", w.queues, err)
	}
	q := w.queue(busy)
	if !q.FairShare.Equal(podSize(25)) || !q.Allocated.Equal(podSize(90)) || q.Pending != 60 || q.Running != 90 || q.ApplicationsPending+q.ApplicationsRunning != 5 {
		t.Errorf("got %+v", q)
	}
	if err := o.queues.Add(object(t, `{"metadata":{"name":"root.odd"},"spec":{"weight":{}}}`)); err != nil {
		t.Fatal(err)
	}
	if w, err := o.world(time.Time{}); err == nil || len(w.queues) != 4 {
		t.Errorf("%d queues, error %v: one that cannot be read hides no other, and is told", len(w.queues), err)
	}
}
