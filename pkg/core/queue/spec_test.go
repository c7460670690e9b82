package queue_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

func cpu(cores int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: cores * 1000})
}

func memory(gi int64) resource.List {
	return resource.Of(resource.Entry{Name: resource.Memory, Value: gi << 30})
}

func TestPolicyNames(t *testing.T) {
	for name, want := range map[string]queue.Policy{
		"DominantResourceFairness": queue.DominantResourceFairness,
		"Fair":                     queue.Fair,
		"FIFO":                     queue.FIFO,
		"fifo":                     queue.FIFO, // any case, as in YARN
		"":                         queue.Unstated,
	} {
		if got, err := queue.ParsePolicy(name); err != nil || got != want {
			t.Errorf("%q: got %v, %v", name, got, err)
		}
	}
	for p := queue.DominantResourceFairness; p <= queue.FIFO; p++ {
		if back, err := queue.ParsePolicy(p.String()); err != nil || back != p {
			t.Errorf("%v is not read back: %v, %v", p, back, err)
		}
	}
	_, err := queue.ParsePolicy("drf")
	if want := `policy "drf" is not one of DominantResourceFairness, Fair, FIFO, StateAware`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := queue.Policy(9).String(); got != "Policy(9)" {
		t.Errorf("got %s", got)
	}
}

func TestSpecsAreEqualWhenTheyMeanTheSame(t *testing.T) {
	zero := resource.Of(resource.Entry{Name: resource.CPU})
	with := func(change func(*queue.Spec)) queue.Spec {
		s := queue.DefaultSpec()
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		other queue.Spec
		want  bool
	}{
		"the same":                    {queue.DefaultSpec(), true},
		"another weight":              {with(func(s *queue.Spec) { s.Weight = 0 }), false},
		"another policy":              {with(func(s *queue.Spec) { s.Policy = queue.Fair }), false},
		"a guarantee":                 {with(func(s *queue.Spec) { s.Guaranteed = cpu(1) }), false},
		"a guarantee of 0 is none":    {with(func(s *queue.Spec) { s.Guaranteed = zero }), true},
		"a max of 0 is a max":         {with(func(s *queue.Spec) { s.Max = zero }), false},
		"a max of unlimited is none":  {with(func(s *queue.Spec) { s.Max = unlimited() }), true},
		"a max in one resource":       {with(func(s *queue.Spec) { s.Max = memory(1) }), false},
		"unlimited and an actual max": {with(func(s *queue.Spec) { s.Max = unlimited().Add(memory(1)) }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := queue.DefaultSpec().Equal(c.other); got != c.want {
				t.Errorf("got %t", got)
			}
			if got := c.other.Equal(queue.DefaultSpec()); got != c.want {
				t.Errorf("the other way round: %t", got)
			}
		})
	}
}

func unlimited() resource.List {
	return resource.Of(resource.Entry{Name: resource.CPU, Value: resource.Unlimited})
}
