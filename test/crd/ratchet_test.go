package crd

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// A Queue that was stored before there was a rule can still be changed, and its status written, until the field is put right; then it stays right.
func TestAQueueThatIsOlderThanARuleCanBeChanged(t *testing.T) {
	ctx := needCluster(t)
	old := map[string]string{
		"root.starters": `{policy: FIFO, maxStarting: 2, startingTimeout: 5m}`,
		"root.resource": `{fairResource: cpu}`,
		"root.children": `{children: {}, maxDriverShare: "0.3", users: {shareFactor: 2}}`,
		"root":          `{guaranteed: {cpu: 4}, maxDriverShare: "0.3"}`,
	}
	restore := withoutRules(ctx, t)
	for name, spec := range old {
		if _, err := create(ctx, t, object(t, name, spec)); err != nil {
			restore()
			t.Fatal(err)
		}
	}
	restore()
	merge := func(name, patch string, subresources ...string) error {
		_, err := raw.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
		return err
	}
	for name := range old {
		for what, err := range map[string]error{
			"another field":  merge(name, `{"spec":{"maxRunningApplications":7}}`),
			"a finalizer":    merge(name, `{"metadata":{"labels":{"a":"b"}}}`),
			"the status":     merge(name, `{"status":{"observedGeneration":3,"applications":{},"pods":{}}}`, "status"),
			"the same again": merge(name, `{"spec":{"maxRunningApplications":8}}`),
		} {
			if err != nil {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
	for name, c := range map[string]struct{ right, wrong string }{
		"root.starters": {`{"spec":{"maxStarting":null}}`, `{"spec":{"maxStarting":2}}`},
		"root.resource": {`{"spec":{"policy":"Fair"}}`, `{"spec":{"policy":"FIFO"}}`},
		"root.children": {`{"spec":{"maxDriverShare":null,"users":null}}`, `{"spec":{"maxDriverShare":"0.3"}}`},
		"root":          {`{"spec":{"guaranteed":null}}`, `{"spec":{"guaranteed":{"cpu":1}}}`},
	} {
		if err := merge(name, c.right); err != nil {
			t.Errorf("%s: put right: %v", name, err)
		}
		if err := merge(name, c.wrong); !apierrors.IsInvalid(err) {
			t.Errorf("%s: wrong again: %v", name, err)
		}
	}
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// withoutRules takes the rules with optionalOldSelf out of the definition of Queue until the function that it returns is called. Each change is waited
// for with a Queue that breaks one of them.
func withoutRules(ctx context.Context, t *testing.T) (restore func()) {
	t.Helper()
	client, err := dynamic.NewForConfig(cluster.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	crds := client.Resource(definitions)
	const name = "queues.scheduling.fairway.dev"
	shipped, err := crds.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(edit func(any) any, refused bool) {
		now, err := crds.Get(context.WithoutCancel(ctx), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		now.Object["spec"] = edit(shipped.DeepCopy().Object["spec"])
		if _, err := crds.Update(context.WithoutCancel(ctx), now, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		probe := object(t, "root.probe", `{maxStarting: 2}`)
		err = wait.PollUntilContextTimeout(context.WithoutCancel(ctx), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := raw.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return (err != nil) == refused, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(dropRules, false)
	return func() { put(func(spec any) any { return spec }, true) }
}

// dropRules returns a part of a definition without the rules that have optionalOldSelf.
func dropRules(part any) any {
	switch part := part.(type) {
	case map[string]any:
		for key, value := range part {
			part[key] = dropRules(value)
		}
	case []any:
		kept := make([]any, 0, len(part))
		for _, item := range part {
			rule, is := item.(map[string]any)
			if _, has := rule["optionalOldSelf"]; !is || !has {
				kept = append(kept, dropRules(item))
			}
		}
		return kept
	}
	return part
}
