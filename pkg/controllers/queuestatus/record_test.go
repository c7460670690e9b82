package queuestatus

import (
	"reflect"
	"slices"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/core/fairshare"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A field that the comparison forgot would leave statuses out of date, so every field is tried, also one that is added later.
func TestEveryFieldThatTheStatusShowsIsCompared(t *testing.T) {
	notShown := []string{"Active", "ApplicationsCompleting"}
	kind := reflect.TypeFor[ledger.QueueState]()
	for i := range kind.NumField() {
		var other ledger.QueueState
		switch field := reflect.ValueOf(&other).Elem().Field(i).Addr().Interface().(type) {
		case *queue.Path:
			*field = "root.a"
		case *queue.State:
			*field = queue.StateStopped
		case *int64:
			*field = 1
		case *[]queue.Path:
			*field = []queue.Path{"root.a"}
		case *queue.Limit:
			*field = queue.AtMost(1)
		case *queue.Spec:
			*field = queue.DefaultSpec()
		case *resource.List:
			*field = amounts(1, 1)
		case *bool:
			*field = true
		case *int:
			*field = 1
		case *fairshare.Absolute:
			field.Capacity = 1
		case *ledger.Starvation:
			*field = ledger.Starvation{Claiming: true}
		case **ledger.GateStatus:
			*field = &ledger.GateStatus{}
		case *queue.Effective:
			field.PolicyFrom = "root"
		case *[]queue.Hold:
			*field = []queue.Hold{{PodGroup: "ns/g"}}
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

func TestEveryFieldOfStartsIsCompared(t *testing.T) {
	full := func() *ledger.GateStatus {
		return &ledger.GateStatus{
			Timeout: 1, Percentile: 1, Starting: []ledger.StartingApplication{{Application: "a", Since: 1, Until: 2}},
			Memory: queue.Memory{Started: []string{"b"}, Starts: []int64{3}},
		}
	}
	if !sameStarts(full(), full()) || !sameStarts(nil, nil) || sameStarts(full(), nil) || sameStarts(nil, full()) {
		t.Error("equal ones differ, or one is like none")
	}
	for i := range reflect.TypeFor[ledger.GateStatus]().NumField() {
		other := full()
		reflect.ValueOf(other).Elem().Field(i).SetZero()
		if sameStarts(full(), other) {
			t.Errorf("%s is not compared", reflect.TypeFor[ledger.GateStatus]().Field(i).Name)
		}
	}
	later := full()
	later.Starting[0].Until++
	if sameStarts(full(), later) {
		t.Error("times are not compared")
	}
}

func TestEveryFieldOfAStarvationIsCompared(t *testing.T) {
	full := func() ledger.Starvation {
		return ledger.Starvation{BelowFairShareSince: 1, BelowGuaranteedSince: 2, FairShareDue: 3, GuaranteedDue: 4, Claiming: true, Owed: amounts(1, 1),
			FairShareDeclined: 5, GuaranteedDeclined: 6, FairShareClaims: true, GuaranteedClaims: true,
			FairShareOwed: amounts(1, 0), GuaranteedOwed: amounts(0, 1)}
	}
	if !sameStarvation(full(), full()) {
		t.Error("equal ones differ")
	}
	for i := range reflect.TypeFor[ledger.Starvation]().NumField() {
		other := full()
		reflect.ValueOf(&other).Elem().Field(i).SetZero()
		if sameStarvation(full(), other) {
			t.Errorf("%s is not compared", reflect.TypeFor[ledger.Starvation]().Field(i).Name)
		}
	}
}

// What a restart depends on goes before what changed at the same time or a little earlier, and not before everything for ever.
func TestWhatARestartDependsOnHasAHeadStart(t *testing.T) {
	with := func(since uint64, stored, desired *v1alpha1.QueueStarts) *record {
		return &record{since: since, status: v1alpha1.QueueStatus{Starts: stored}, desired: v1alpha1.QueueStatus{Starts: desired}}
	}
	none, one := &v1alpha1.QueueStarts{Timeout: "5m"}, &v1alpha1.QueueStarts{Started: []string{"a"}}
	urgent := with(5000, none, one)
	for name, tc := range map[string]struct {
		other *record
		first bool
	}{
		"another change of the same look":    {with(5000, nil, nil), true},
		"a change that is a little older":    {with(4001, none, nil), true},
		"a change that has waited for long":  {with(3999, none, none), false},
		"another of its kind, a look before": {with(4999, nil, one), false},
		"one that ends what is remembered":   {with(4999, one, nil), false},
		"what is remembered is written":      {with(4999, one, one), true},
		"a capacity in force, a look before": {&record{since: 4999, desired: v1alpha1.QueueStatus{Capacity: "5%"}}, false},
	} {
		if first := urgent.turn() < tc.other.turn(); first != tc.first {
			t.Errorf("%s: the urgent one goes first: %v", name, first)
		}
	}
}

// A clock that has a timeout goes before other changes, in both directions: one that is not stored begins again after a restart, and one that
// is stored although it is over begins too early when the queue is below again.
func TestClocksThatAreDueHaveAHeadStart(t *testing.T) {
	clock := func(since int, due bool) v1alpha1.QueueStatus {
		s := v1alpha1.QueueStatus{}
		if since > 0 {
			s.BelowFairShareSince, s.BelowGuaranteedSince = atSecond(since), atSecond(since)
		}
		if due {
			s.Preemption = &v1alpha1.QueuePreemptionStatus{FairShareDue: atSecond(since + 60)}
		}
		return s
	}
	claim := clock(1, true)
	claim.Preemption.ClaimOpen = true
	for name, tc := range map[string]struct {
		stored, desired v1alpha1.QueueStatus
		urgent          bool
	}{
		"begins":                    {clock(0, false), clock(1, true), true},
		"a claim opens":             {clock(1, true), claim, true},
		"a claim closes":            {claim, clock(0, false), true},
		"ends":                      {clock(1, true), clock(0, false), true},
		"begins again":              {clock(1, true), clock(2, true), true},
		"is written":                {clock(1, true), clock(1, true), false},
		"begins without a timeout":  {clock(0, false), clock(1, false), false},
		"gets a timeout":            {clock(1, false), clock(1, true), false},
		"nothing runs, and none is": {clock(0, false), clock(0, false), false},
	} {
		r := &record{since: 5000, status: tc.stored, desired: tc.desired}
		if urgent := r.turn() == 5000; urgent != tc.urgent {
			t.Errorf("a clock that %s: urgent is %v", name, urgent)
		}
	}
}
