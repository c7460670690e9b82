package objects

import (
	"encoding/json"
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
		queueA + podA: "overlay: Pod ns/a: only Queues and a PlacementPolicy are allowed here",
		node:          "overlay: Node n: only Queues and a PlacementPolicy are allowed here",
		class:         "overlay: DeviceClass gpu: only Queues and a PlacementPolicy are allowed here",
		jobA:          "overlay: Job ns/a: only Queues and a PlacementPolicy are allowed here",
		without:       "overlay: PriorityClass: only Queues and a PlacementPolicy are allowed here",
		budget:        "overlay: PodDisruptionBudget ns/a: only Queues and a PlacementPolicy are allowed here",
		podGroup:      "overlay: PodGroup ns/a: only Queues and a PlacementPolicy are allowed here",
		strings.Replace(queueA, `"1"`, `"-1"`, 1): "overlay: queue root.a: spec.weight: -1 is not between 0 and 1000000",
		strings.Replace(queueA, `"1"`, `{}`, 1):   "overlay: queue root.a: spec.weight: cannot be read",
		strings.Replace(queueA, "root.a", "A", 1): "overlay: queue A: metadata.name:",
	} {
		_, err := (&Set{}).With(mustRead(t, "overlay", overlay))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got: %v\nwant: %s", overlay, err, want)
		}
	}
	if _, err := (&Set{}).With(&Set{Pods: mustRead(t, "", podA).Pods}); err == nil || err.Error() != "Pod ns/a: only Queues and a PlacementPolicy are allowed here" {
		t.Errorf("without a stream: %v", err)
	}
}

const policy = `{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"PlacementPolicy","metadata":{"generation":3,"name":"default","uid":"up"},"spec":{"rules":[{"type":"Reject"}]},"status":{"observedGeneration":3}}`

func TestAPlacementPolicyIsReadAndReplaced(t *testing.T) {
	const other = `{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"PlacementPolicy","metadata":{"name":"default","uid":"of-another-cluster"},"spec":{"rules":[{"type":"Default"}]},"status":{"observedGeneration":7}}`
	of := func(s *Set) string {
		t.Helper()
		text, err := json.Marshal(s.PlacementPolicy.Object)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	with := func(before, overlay string) *Set {
		t.Helper()
		after, err := mustRead(t, "dump", before).With(mustRead(t, "overlay", overlay))
		if err != nil {
			t.Fatal(err)
		}
		return after
	}
	if got := of(with(queueA+policy, queueB)); got != policy {
		t.Errorf("not in the overlay: %s", got)
	}
	if got, want := of(with(queueA+policy, other)), strings.Replace(policy, "Reject", "Default", 1); got != want {
		t.Errorf("replaced: %s", got)
	}
	const fresh = `{"apiVersion":"scheduling.fairway.dev/v1alpha1","kind":"PlacementPolicy","metadata":{"name":"default","uid":"PlacementPolicy//default"},"spec":{"rules":[{"type":"Default"}]}}`
	if got := of(with(queueA, other)); got != fresh {
		t.Errorf("new: %s", got)
	}
	if got := mustRead(t, "dump", queueA); got.PlacementPolicy != nil {
		t.Error("a policy where there is none")
	}
	for stream, want := range map[string]string{
		strings.Replace(policy, `"default"`, `"other"`, 1): "dump:1: document 1: PlacementPolicy other: allowed as metadata.name is only default: there is one PlacementPolicy for the cluster",
		policy + other: "dump:1: document 2: PlacementPolicy default: uid is of-another-cluster here and up before: the stream holds two clusters, or one at two times; allowed is one picture of one cluster",
	} {
		if _, err := Read("dump", strings.NewReader(stream)); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := mustRead(t, "dump", queueA).With(mustRead(t, "overlay", strings.Replace(policy, `"Reject"`, `"User","create":false`, 1)))
	if want := "overlay:1: PlacementPolicy default: pods could get past the last rule, 1 (User), without a queue; end with Default or Reject"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
