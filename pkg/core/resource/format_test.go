package resource_test

import (
	"math"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// The expected spellings are those of Kubernetes' own quantities: the largest suffix
// that needs no fraction.
func TestFormatSpellsLikeKubernetes(t *testing.T) {
	for want, e := range map[string]resource.Entry{
		"0":                    {Name: resource.CPU, Value: 0},
		"1m":                   {Name: resource.CPU, Value: 1},
		"1500m":                {Name: resource.CPU, Value: 1500},
		"62":                   {Name: resource.CPU, Value: 62_000},
		"-2500m":               {Name: resource.CPU, Value: -2500},
		"1k":                   {Name: resource.CPU, Value: 1_000_000},
		"1023":                 {Name: resource.Memory, Value: 1023},
		"1Ki":                  {Name: resource.Memory, Value: 1024},
		"1025":                 {Name: resource.Memory, Value: 1025},
		"1536Mi":               {Name: resource.Memory, Value: 1536 << 20},
		"20Gi":                 {Name: resource.Memory, Value: 20 << 30},
		"-20Gi":                {Name: resource.Memory, Value: -20 << 30},
		"1Ti":                  {Name: resource.EphemeralStorage, Value: 1 << 40},
		"7Ei":                  {Name: resource.Memory, Value: 7 << 60},
		"64Mi":                 {Name: "hugepages-2Mi", Value: 64 << 20},
		"3":                    {Name: gpu, Value: 3},
		"1024":                 {Name: gpu, Value: 1024},
		"2k":                   {Name: gpu, Value: 2000},
		"-9223372036854775808": {Name: gpu, Value: math.MinInt64},
		"-8Ei":                 {Name: resource.Memory, Value: math.MinInt64},
		"unlimited":            {Name: resource.Memory, Value: resource.Unlimited},
		"500":                  {Name: resource.Memory, Value: 500},
		"200Gi":                {Name: resource.Memory, Value: 200 << 30},
		"97657Ki":              {Name: resource.Memory, Value: 97657 << 10},
		"100G":                 {Name: resource.Memory, Value: 100_000_000_000},
		"-1500M":               {Name: resource.Memory, Value: -1_500_000_000},
		"1000Gi":               {Name: resource.Memory, Value: 1000 << 30},
		"16k":                  {Name: resource.Memory, Value: 16_000},
	} {
		t.Run(want, func(t *testing.T) {
			if got := resource.Format(e.Name, e.Value); got != want {
				t.Errorf("Format(%s, %d) = %s", e.Name, e.Value, got)
			}
		})
	}
}

func TestAListIsSpelledInNameOrder(t *testing.T) {
	l := resource.Of(
		resource.Entry{Name: gpu, Value: 1},
		resource.Entry{Name: resource.Memory, Value: 20 << 30},
		resource.Entry{Name: resource.CPU, Value: 1500},
	)
	if got, want := l.String(), "cpu=1500m memory=20Gi nvidia.com/gpu=1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (resource.List{}).String(); got != "" {
		t.Errorf("an empty list is spelled %q", got)
	}
}

func TestDecimal(t *testing.T) {
	for milli, want := range map[int64]string{0: "0", 1000: "1", 250: "0.25", 1: "0.001", 3500: "3.5", 1_000_000_000: "1000000"} {
		if got := resource.Decimal(milli); got != want {
			t.Errorf("Decimal(%d) = %q, want %q", milli, got, want)
		}
	}
}
