package reason_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// reads says which fields and which kinds of details a code uses.
type reads struct {
	limit, used, asked, group bool
	kinds                     []reason.Details
}

func details(kinds ...reason.Details) []reason.Details { return kinds }

var readsOf = map[reason.Code]reads{
	reason.QueueNameInvalid:           {kinds: details(reason.Invalid{})},
	reason.QueueNotLeaf:               {kinds: details(reason.Child{})},
	reason.QueueNotReady:              {kinds: details(reason.Cause{})},
	reason.PlacementRejected:          {kinds: details(reason.Invalid{}, reason.Parent{})},
	reason.ReservationNotFound:        {kinds: details(reason.Reserved{})},
	reason.ReservationPending:         {kinds: details(reason.Reserved{})},
	reason.ReservationRejected:        {kinds: details(reason.Reserved{})},
	reason.ReservationNotStarted:      {kinds: details(reason.Reserved{})},
	reason.ReservationEnded:           {kinds: details(reason.Reserved{})},
	reason.ReservationCancelled:       {kinds: details(reason.Reserved{})},
	reason.QueueReserved:              {kinds: details(reason.Reserved{})},
	reason.ApplicationPriorityInvalid: {kinds: details(reason.Invalid{})},
	reason.ParentMissing:              {kinds: details(reason.Parent{})},
	reason.ParentHasPods:              {kinds: details(reason.Parent{})},
	reason.PolicyNotAllowed:           {kinds: details(reason.Policies{})},
	reason.PolicyBelowFair:            {kinds: details(reason.Policies{})},
	reason.FieldIgnored:               {kinds: details(reason.Ignored{})},
	reason.FairResourceNotAllowed:     {kinds: details(reason.FairResource{})},
	reason.QueueStopped:               {kinds: details(reason.Stop{})},
	reason.RunningBelowStopped:        {kinds: details(reason.Stop{})},
	reason.SchedulingGate:             {kinds: details(reason.Gate{})},
	reason.Parked:                     {kinds: details(reason.Answer{})},
	reason.BackOff:                    {group: true},
	reason.MaxResources:               {limit: true, used: true, asked: true, group: true, kinds: details(reason.MaxCapacity{})},
	reason.MaxPodResources:            {limit: true, asked: true},
	reason.MaxDriverShare:             {limit: true, used: true, asked: true, group: true},
	reason.UserMaxDriverShare:         {limit: true, used: true, asked: true, group: true, kinds: details(reason.UserShare{})},
	reason.UserLimit:                  {limit: true, used: true, asked: true, group: true, kinds: []reason.Details{reason.UserShare{}}},
	reason.OverLimit:                  {limit: true, used: true},
	reason.MaxRunningApplications:     {kinds: details(reason.Applications{})},
	reason.UserMaxRunningApplications: {kinds: details(reason.Applications{})},
	reason.MaxApplications:            {kinds: details(reason.Applications{})},
	reason.UserMaxApplications:        {kinds: details(reason.Applications{})},
	reason.WaitingForDriver:           {kinds: details(reason.Driver{})},
	reason.StateAware:                 {kinds: details(reason.Start{})},
	reason.PodGroupNotFound:           {group: true},
	reason.GangIncomplete:             {group: true, kinds: details(reason.Members{})},
	reason.GangTooLarge:               {asked: true, group: true, kinds: details(reason.Packing{}, reason.MinResources{})},
	reason.GangWaitsForRoom:           {group: true, kinds: details(reason.Packing{}, reason.MinResources{})},
	reason.BehindGang:                 {group: true, kinds: details(reason.Turn{})},
	reason.WaitingForRoom:             {asked: true, kinds: details(reason.Room{})},
	reason.WaitingForPreferredNodes:   {kinds: details(reason.Preferred{})},
	reason.Deleting:                   {kinds: details(reason.Leftovers{})},
	reason.Overcommitted:              {kinds: details(reason.Guarantees{}, reason.Divided{})},
	reason.MaxPodResourcesRaised:      {limit: true, asked: true, kinds: details(reason.Parent{})},
	reason.CapacityMissing:            {kinds: details(reason.Capacities{})},
	reason.CapacitySumInvalid:         {kinds: details(reason.Capacities{})},
	reason.MaxCapacityTooLow:          {kinds: details(reason.Capacities{})},
	reason.SpecInvalid:                {limit: true, kinds: details(reason.Guarantees{})},
	reason.BelowGuaranteed:            {used: true, asked: true, kinds: details(reason.Shortfall{})},
	reason.BelowFairShare:             {used: true, asked: true, kinds: details(reason.Shortfall{})},
}

// filled returns the kind with a different value in every field.
func filled(kind reason.Details) reason.Details {
	v := reflect.New(reflect.TypeOf(kind)).Elem()
	fill(v)
	return v.Interface().(reason.Details)
}

func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Type() == reflect.TypeFor[reason.Reason]():
			f.Set(reflect.ValueOf(reason.Reason{Code: reason.WaitingTurn, Queue: "root.other"}))
		case f.Kind() == reflect.Struct:
			fill(f)
		case f.Kind() == reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		default:
			f.SetInt(int64(i+2) * 3e9)
		}
	}
}

// A sentence contains the details of its code and nothing of another kind: each name means one thing.
func TestSentencesReadTheDetailsOfTheirKind(t *testing.T) {
	all := map[reflect.Type]reason.Details{}
	for _, r := range readsOf {
		for _, kind := range r.kinds {
			all[reflect.TypeOf(kind)] = kind
		}
	}
	for _, code := range reason.Codes() {
		has := readsOf[code]
		plain := reason.Reason{Code: code, Queue: "root.a", Resource: resource.CPU}
		if len(has.kinds) > 0 {
			plain.Details = has.kinds[0]
		}
		said := plain.Text()
		says := func(what string, want bool, edit func(*reason.Reason)) {
			t.Helper()
			r := plain
			if edit(&r); (r.Text() != said) != want {
				t.Errorf("%s says %s: %v, want %v: %s", code, what, !want, want, r.Text())
			}
		}
		says("a limit", has.limit, func(r *reason.Reason) { r.Limit = 7000 })
		says("what is used", has.used, func(r *reason.Reason) { r.Used = 7000 })
		says("what is asked for", has.asked, func(r *reason.Reason) { r.Asked = 7000 })
		says("a pod group", has.group, func(r *reason.Reason) { r.PodGroup = "ns/g" })
		for typ, kind := range all {
			own := false
			for _, k := range has.kinds {
				own = own || reflect.TypeOf(k) == typ
			}
			plain.Details = nil
			said = plain.Text()
			says(typ.Name(), own, func(r *reason.Reason) { r.Details = filled(kind) })
		}
	}
}

func TestAnErrorInASpecIsToldWithoutAResource(t *testing.T) {
	r := reason.Reason{Code: reason.SpecInvalid, Queue: "root.a", Details: reason.Invalid{Why: "no weight"}}
	if text := r.Text(); !strings.Contains(text, "no weight") {
		t.Errorf("got %s", text)
	}
}

func TestDetailsOfAnotherKindAreNone(t *testing.T) {
	r := reason.Reason{Code: reason.GangIncomplete, Details: reason.Members{Needed: 3, Exist: 2}}
	if n := reason.As[reason.Members](r); n.Needed != 3 || n.Exist != 2 {
		t.Errorf("got %+v", n)
	}
	if n := reason.As[reason.Packing](r); n != (reason.Packing{}) {
		t.Errorf("got %+v", n)
	}
	if n := reason.As[reason.Packing](reason.Reason{}); n != (reason.Packing{}) {
		t.Errorf("got %+v", n)
	}
	if r != (reason.Reason{Code: reason.GangIncomplete, Details: reason.Members{Needed: 3, Exist: 2}}) {
		t.Error("equal numbers differ")
	}
	if r == (reason.Reason{Code: reason.GangIncomplete, Details: reason.Members{Needed: 3, Exist: 1}}) {
		t.Error("other numbers are equal")
	}
}
