package writing

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// The request names the object and its version, and has nothing else of it.
func TestApplyStatusStatesTheVersion(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"size": int64(1)}, "status": map[string]any{"old": true},
		"metadata": map[string]any{"namespace": "ns", "name": "a", "uid": "u", "resourceVersion": "7", "labels": map[string]any{"x": "y"}},
	}}
	answer := object.DeepCopy()
	answer.SetResourceVersion("8")
	things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"})
	var sent clienttesting.PatchActionImpl
	client.PrependReactor("patch", "things", func(a clienttesting.Action) (bool, runtime.Object, error) {
		sent, _ = a.(clienttesting.PatchActionImpl)
		return true, answer, nil
	})
	got, err := ApplyStatus(t.Context(), client.Resource(things).Namespace("ns"), schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}, object, map[string]any{"phase": "Done"})
	if err != nil || got.GetResourceVersion() != "8" {
		t.Fatal(got, err)
	}
	var body map[string]any
	if err := json.Unmarshal(sent.Patch, &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "status": map[string]any{"phase": "Done"},
		"metadata": map[string]any{"namespace": "ns", "name": "a", "resourceVersion": "7"},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	if sent.PatchType != types.ApplyPatchType || sent.Subresource != "status" || sent.Namespace != "ns" || sent.Name != "a" {
		t.Errorf("%+v", sent)
	}
	if options := sent.PatchOptions; options.FieldManager != FieldManager || options.Force == nil || !*options.Force {
		t.Errorf("%+v", options)
	}
}
