package objects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustRead(t *testing.T, name, stream string) *Set {
	t.Helper()
	s, err := Read(name, strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	queueA = `{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"Queue","metadata":{"name":"root.a","uid":"ua","creationTimestamp":"2026-03-01T00:00:00Z","generation":4},"spec":{"weight":"1","max":{"cpu":"5"}},"status":{"policy":"Fair"}}`
	queueB = `{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"Queue","metadata":{"name":"root.b","uid":"ub"},"spec":{"weight":"1"}}`
)

func TestAnOverlayReplacesSpecsAndAddsQueues(t *testing.T) {
	before := mustRead(t, "dump", queueA+queueB+podA+node)
	overlay := mustRead(t, "overlay", `
{kind: Queue, apiVersion: scheduling.fairway.dev/v1alpha1, metadata: {name: root.a, uid: of-another-cluster, creationTimestamp: "2020-01-01T00:00:00Z"}, spec: {weight: "3"}, status: {policy: FIFO}}
---
{kind: Queue, apiVersion: scheduling.fairway.dev/v1alpha1, metadata: {name: root.c, uid: of-another-cluster, creationTimestamp: "2020-01-01T00:00:00Z"}, spec: {weight: "2"}, status: {policy: FIFO}}
---
{kind: Queue, apiVersion: scheduling.fairway.dev/v1alpha1, metadata: {name: root.b}}
`)
	after, err := before.With(overlay)
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{
			"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue",
			"metadata": map[string]any{"name": "root.a", "uid": "ua", "creationTimestamp": "2026-03-01T00:00:00Z", "generation": int64(4)},
			"spec":     map[string]any{"weight": "3"}, "status": map[string]any{"policy": "Fair"},
		},
		{"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue", "metadata": map[string]any{"name": "root.b", "uid": "ub"}},
		{
			"apiVersion": "scheduling.fairway.dev/v1alpha1", "kind": "Queue",
			"metadata": map[string]any{"name": "root.c", "uid": "Queue//root.c"}, "spec": map[string]any{"weight": "2"},
		},
	}
	var got []map[string]any
	for _, q := range after.Queues {
		got = append(got, q.Object)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(after.Pods) != 1 || len(after.Nodes) != 1 {
		t.Errorf("holds %v", names(after))
	}
	if diff := cmp.Diff(mustRead(t, "dump", queueA+queueB).Queues, before.Queues); diff != "" {
		t.Errorf("what was before has changed: %s", diff)
	}
}

func TestAnOverlayThatSaysNothingIsRefused(t *testing.T) {
	for overlay, want := range map[string]string{
		queueA + podA: "overlay: Pod ns/a: only Queues are allowed here",
		node:          "overlay: Node n: only Queues are allowed here",
		class:         "overlay: DeviceClass gpu: only Queues are allowed here",
		jobA:          "overlay: Job ns/a: only Queues are allowed here",
		without:       "overlay: PriorityClass: only Queues are allowed here",
		budget:        "overlay: PodDisruptionBudget ns/a: only Queues are allowed here",
		podGroup:      "overlay: PodGroup ns/a: only Queues are allowed here",
		strings.Replace(queueA, `"1"`, `"-1"`, 1): "overlay: queue root.a: spec.weight: -1 is not between 0 and 1000000",
		strings.Replace(queueA, `"1"`, `{}`, 1):   "overlay: queue root.a: spec.weight: cannot be read",
		strings.Replace(queueA, "root.a", "A", 1): "overlay: queue A: metadata.name:",
	} {
		_, err := (&Set{}).With(mustRead(t, "overlay", overlay))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got: %v\nwant: %s", overlay, err, want)
		}
	}
	if _, err := (&Set{}).With(&Set{Pods: mustRead(t, "", podA).Pods}); err == nil || err.Error() != "Pod ns/a: only Queues are allowed here" {
		t.Errorf("without a stream: %v", err)
	}
}
