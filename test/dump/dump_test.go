package dump

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// Both formats say the same, hold what was asked for, and pods are as long as real ones.
func TestBothFormatsSayTheSame(t *testing.T) {
	size := Size{Queues: 12, Nodes: 3, Pods: 30}
	var lists [2]map[string]any
	for i, format := range []Format{YAML, JSON} {
		var text bytes.Buffer
		if err := Write(&text, size, format); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text.Bytes(), &lists[i]); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if each := text.Len() / size.Pods; each < 3000 {
			t.Errorf("%s: %d bytes for each pod", format, each)
		}
	}
	for i, item := range lists[0]["items"].([]any) {
		if diff := cmp.Diff(item, lists[1]["items"].([]any)[i]); diff != "" {
			t.Fatal(diff)
		}
	}
	count := map[string]int{}
	for _, item := range lists[0]["items"].([]any) {
		count[item.(map[string]any)["kind"].(string)]++
	}
	if want := map[string]int{"Queue": 1 + 2 + 12, "Node": 3, "Pod": 30}; !cmp.Equal(count, want) {
		t.Errorf("holds %v, want %v", count, want)
	}
}
