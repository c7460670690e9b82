package application_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

func capped(most int32) application.Priorities {
	return application.Priorities{Capped: true, Most: most}
}

func asks(value int32) application.AskedPriority {
	return application.AskedPriority{Asked: true, Value: value}
}

func TestPriorities(t *testing.T) {
	type (
		rule = application.Priorities
		pod  = application.PodPriority
	)
	for name, tc := range map[string]struct {
		rule                 rule
		pod                  pod
		ofPod, ofApplication int32
	}{
		"nothing is stated":                   {rule{}, pod{}, 0, 0},
		"a PriorityClass, without a cap":      {rule{}, pod{Value: 1000, Classed: true}, 1000, 1000},
		"a PriorityClass up to the cap":       {capped(100), pod{Value: 100, Classed: true}, 100, 100},
		"a PriorityClass above the cap":       {capped(100), pod{Value: 1000, Classed: true}, 100, 100},
		"below 0":                             {capped(100), pod{Value: -5, Classed: true}, -5, -5},
		"a cap of 0, as in YARN":              {capped(0), pod{Value: 7, Classed: true}, 0, 0},
		"a cap below 0":                       {capped(-3), pod{}, -3, -3},
		"the default of the leaf":             {rule{Default: 10}, pod{}, 10, 10},
		"a default above the cap":             {rule{Default: 10, Capped: true, Most: 4}, pod{}, 4, 4},
		"a PriorityClass of 0 is stated":      {rule{Default: 10}, pod{Classed: true}, 0, 0},
		"a number without a class is stated":  {rule{Default: 10}, pod{Value: 3}, 3, 3},
		"asked, up to the cap":                {capped(100), pod{Application: asks(100)}, 0, 100},
		"asked above the cap":                 {capped(100), pod{Application: asks(101)}, 0, 100},
		"asked less than its class":           {capped(100), pod{Value: 50, Classed: true, Application: asks(-20)}, 50, -20},
		"asked more than its class":           {capped(100), pod{Value: 50, Classed: true, Application: asks(60)}, 50, 60},
		"asked more, without a cap":           {rule{}, pod{Application: asks(5)}, 0, 0},
		"asked more than the default, no cap": {rule{Default: 10}, pod{Application: asks(11)}, 10, 10},
		"asked less than the default, no cap": {rule{Default: 10}, pod{Application: asks(5)}, 10, 5},
		"asked 0 below a class, no cap":       {rule{}, pod{Value: 50, Classed: true, Application: asks(0)}, 50, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.rule.OfPod(tc.pod); got != tc.ofPod {
				t.Errorf("the pod has %d, want %d", got, tc.ofPod)
			}
			if got := tc.rule.OfApplication(tc.pod); got != tc.ofApplication {
				t.Errorf("the application has %d, want %d", got, tc.ofApplication)
			}
		})
	}
}

// The twin keeps all numbers that bound a priority, and takes the smallest.
func TestPrioritiesEqualTheirTwin(t *testing.T) {
	values := rapid.SampledFrom([]int32{math.MinInt32, -7, -1, 0, 1, 7, math.MaxInt32})
	rapid.Check(t, func(t *rapid.T) {
		p := application.PodPriority{Value: values.Draw(t, "value"), Classed: rapid.Bool().Draw(t, "classed"),
			Application: application.AskedPriority{Asked: rapid.Bool().Draw(t, "asked"), Value: values.Draw(t, "asked value")}}
		r := application.Priorities{Default: values.Draw(t, "default"), Capped: rapid.Bool().Draw(t, "capped"), Most: values.Draw(t, "most")}
		own := []int32{p.Value}
		if p == (application.PodPriority{Application: p.Application}) {
			own = []int32{r.Default}
		}
		asked := slices.Clone(own)
		if p.Application.Asked {
			asked = append(asked, p.Application.Value)
		}
		if r.Capped {
			own, asked = append(own, r.Most), append(asked, r.Most)
			if p.Application.Asked {
				asked = []int32{p.Application.Value, r.Most}
			}
		}
		if got, want := r.OfPod(p), slices.Min(own); got != want {
			t.Errorf("%+v under %+v: the pod has %d, want %d", p, r, got, want)
		}
		if got, want := r.OfApplication(p), slices.Min(asked); got != want {
			t.Errorf("%+v under %+v: the application has %d, want %d", p, r, got, want)
		}
	})
}

func TestParseAskedPriority(t *testing.T) {
	for text, want := range map[string]application.AskedPriority{
		"": {}, "0": {Asked: true}, "7": {Asked: true, Value: 7}, "-2147483648": {Asked: true, Value: -2147483648}, "2147483647": {Asked: true, Value: 2147483647},
	} {
		if got, ok := application.ParseAskedPriority(text); !ok || got != want {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"high", "1.5", "1e3", " 1", "2147483648", "-2147483649", "99999999999999999999"} {
		if got, ok := application.ParseAskedPriority(text); ok || got != (application.AskedPriority{}) {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
}
