package preemption

import (
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Who asks why nothing is taken is told what is owed all the same.
func TestAPlanThatIsNotMadeSaysWhatIsOwed(t *testing.T) {
	list := func(cpu, memory int64) resource.List {
		return resource.Of(resource.Entry{Name: resource.CPU, Value: cpu}, resource.Entry{Name: resource.Memory, Value: memory})
	}
	w := World{
		Total: list(100, 100), Used: list(80, 10), Settings: DefaultSettings(),
		Queues: []Queue{{Path: "root", Parent: -1}, {Path: "root.a", Usage: list(10, 50)}},
		Claims: []Claim{{Queue: 1, Target: list(40, 40)}},
	}
	p := Make(w, nil)
	if p.Stopped != NotBusy || len(p.Claims) != 1 {
		t.Fatalf("got %+v", p)
	}
	if want := resource.Of(resource.Entry{Name: resource.CPU, Value: 30}); !p.Claims[0].Owed.Equal(want) {
		t.Errorf("owed %s, want %s", p.Claims[0].Owed, want)
	}
}
