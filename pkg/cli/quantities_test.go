package cli

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/kube/convert"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

// The tree and Queue.status print amounts with the same letters.
func TestQuantitiesAreThoseOfQueueStatus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []resource.Entry
		for _, name := range []resource.Name{resource.CPU, resource.Memory, resource.EphemeralStorage, "hugepages-2Mi", "example.com/gpu"} {
			if rapid.Bool().Draw(t, "has "+string(name)) {
				value := rapid.OneOf(rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(0, 5000), rapid.Map(rapid.Int64Range(0, 1<<20), func(n int64) int64 { return n << 20 }),
					rapid.SampledFrom([]int64{0, 999, 1000, 1023, 1024, resource.Unlimited})).Draw(t, string(name))
				entries = append(entries, resource.Entry{Name: name, Value: value})
			}
		}
		list := resource.Of(entries...)
		text, err := report.Tree{Cluster: list}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Cluster map[string]string }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for name, quantity := range convert.ResourceList(list) {
			want[string(name)] = quantity.String()
		}
		if diff := cmp.Diff(want, got.Cluster); diff != "" {
			t.Fatalf("(-status +tree):\n%s", diff)
		}
	})
}
