package convert

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func TestSummary(t *testing.T) {
	for name, tc := range map[string]struct {
		pairs []string
		want  string
	}{
		"nothing":                            {nil, "0"},
		"nothing of something":               {[]string{"cpu", "0", "memory", "0"}, "0"},
		"whole cores and memory":             {[]string{"cpu", "50", "memory", "200Gi"}, "50c 200Gi"},
		"half a core":                        {[]string{"cpu", "500m", "memory", "512Mi"}, "0.5c 512Mi"},
		"hundredths of a core":               {[]string{"cpu", "50m", "memory", "1Gi"}, "0.05c 1Gi"},
		"tenths, rounded down":               {[]string{"cpu", "12590m", "memory", "1700Mi"}, "12.5c 1.6Gi"},
		"large clusters":                     {[]string{"cpu", "12345", "memory", "48Ti"}, "12kc 48Ti"},
		"next to a thousand of a unit":       {[]string{"cpu", "9999", "memory", "1000Gi"}, "9999c 0.9Ti"},
		"memory alone":                       {[]string{"memory", "1Gi"}, "0c 1Gi"},
		"bytes":                              {[]string{"memory", "512"}, "0c 512"},
		"devices follow":                     {[]string{"cpu", "64", "memory", "1Ti", "nvidia.com/gpu", "8"}, "64c 1Ti 8gpu"},
		"devices of which there are none":    {[]string{"cpu", "64", "memory", "1Ti", "nvidia.com/gpu", "0"}, "64c 1Ti"},
		"what else a node has is left out":   {[]string{"cpu", "64", "memory", "1Ti", "ephemeral-storage", "9Ti", "hugepages-1Gi", "4Gi"}, "64c 1Ti"},
		"not more than two kinds of devices": {[]string{"cpu", "1", "a.com/a", "1", "b.com/b", "2", "c.com/c", "3"}, "1c 0 1a 2b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Summary(Amounts(amounts(tc.pairs...))); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSummaryIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Up to a million cores and 999 PiB, and whatever arithmetic may leave behind: it must at least not panic.
		cpu := rapid.Int64Range(0, 1_000_000_000).Draw(t, "cpu")
		memory := rapid.Int64Range(0, 999<<50).Draw(t, "memory")
		s := Summary(resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory}))
		if len(s) > 11 {
			t.Fatalf("%q has %d characters", s, len(s))
		}
		Summary(resource.Of(
			resource.Entry{Name: resource.CPU, Value: rapid.Int64().Draw(t, "any cpu")},
			resource.Entry{Name: resource.Memory, Value: rapid.SampledFrom([]int64{math.MinInt64, -1, math.MaxInt64}).Draw(t, "any memory")},
		))
	})
}
