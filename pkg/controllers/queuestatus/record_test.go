package queuestatus

import (
	"reflect"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A field that the comparison forgot would leave statuses out of date, so every field is tried, also one that is added later.
func TestEveryFieldThatTheStatusShowsIsCompared(t *testing.T) {
	notShown := []string{"Leaf", "Active"}
	kind := reflect.TypeFor[ledger.QueueState]()
	for i := range kind.NumField() {
		var other ledger.QueueState
		switch field := reflect.ValueOf(&other).Elem().Field(i).Addr().Interface().(type) {
		case *queue.Path:
			*field = "root.a"
		case *queue.Spec:
			*field = queue.DefaultSpec()
		case *resource.List:
			*field = amounts(1, 1)
		case *bool:
			*field = true
		case *int:
			*field = 1
		case *[]reason.Reason:
			*field = []reason.Reason{{Code: reason.OverLimit}}
		default:
			t.Errorf("%s: a type that is new here", kind.Field(i).Name)
		}
		name := kind.Field(i).Name
		if same := sameState(ledger.QueueState{}, other); same != slices.Contains(notShown, name) {
			t.Errorf("%s: states that differ in it are the same: %v", name, same)
		}
	}
}
