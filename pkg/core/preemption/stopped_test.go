package preemption_test

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// A plan that takes nothing still says what is owed.
func TestAPlanThatIsNotMadeSaysWhatIsOwed(t *testing.T) {
	list := func(cpu, memory int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory})
	}
	w := preemption.World{
		Total: list(100, 100), Used: list(80, 10), Settings: preemption.DefaultSettings(),
		Queues: []preemption.Queue{{Path: "root", Parent: -1}, {Path: "root.a", Usage: list(10, 50)}},
		Claims: []preemption.Claim{{Queue: 1, Target: list(40, 40)}},
	}
	p := preemption.Make(w, nil)
	if p.Stopped != preemption.NotBusy || len(p.Claims) != 1 {
		t.Fatalf("got %+v", p)
	}
	if want := resource.Of(resource.Entry{Name: resource.CPU, Value: 30}); !p.Claims[0].Owed.Equal(want) {
		t.Errorf("owed %s, want %s", p.Claims[0].Owed, want)
	}
}

// A claim with more units than a round looks at is not paid when all of them have places.
func TestAClaimOfMoreThanARoundIsPaidInTheNext(t *testing.T) {
	w := document()
	w.Claims[0].More = true
	if p := preemption.Make(*w, &filters{}); p.Claims[0].Unpaid != reason.RoundSpent || len(p.Victims) != 130 {
		t.Errorf("unpaid %q with %d victims", p.Claims[0].Unpaid, len(p.Victims))
	}
	w.Claims[0].Units = nil
	if p := preemption.Make(*w, &filters{}); p.Claims[0].Unpaid != reason.RoundSpent || len(p.Victims) != 0 {
		t.Errorf("of none, unpaid %q with %d victims", p.Claims[0].Unpaid, len(p.Victims))
	}
}
