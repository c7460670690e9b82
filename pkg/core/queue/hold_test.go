package queue

import (
	"reflect"
	"testing"
)

func TestEveryFieldOfAHoldIsCompared(t *testing.T) {
	full := func() Hold { return Hold{PodGroup: "ns/g", Pod: "ns/p", Nodes: []string{"a"}, Since: 1, Until: 2} }
	if !SameHolds([]Hold{full()}, []Hold{full()}) || SameHolds([]Hold{full()}, nil) {
		t.Error("equal ones differ, or one is like none")
	}
	for i := range reflect.TypeFor[Hold]().NumField() {
		other := full()
		reflect.ValueOf(&other).Elem().Field(i).SetZero()
		if SameHolds([]Hold{full()}, []Hold{other}) {
			t.Errorf("%s is not compared", reflect.TypeFor[Hold]().Field(i).Name)
		}
		if (Memory{Holds: []Hold{full()}}).Equal(Memory{Holds: []Hold{other}}) {
			t.Errorf("a memory does not compare %s", reflect.TypeFor[Hold]().Field(i).Name)
		}
	}
}
