package reason_test

import (
	"reflect"
	"testing"

	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// reads says which amounts and which kinds of numbers a code uses.
type reads struct {
	limit, used, asked bool
	kinds              []reason.Numbers
}

var numbersOf = map[reason.Code]reads{
	reason.MaxResources:               {limit: true, used: true, asked: true},
	reason.MaxPodResources:            {limit: true, asked: true},
	reason.MaxDriverShare:             {limit: true, used: true, asked: true},
	reason.OverLimit:                  {limit: true, used: true},
	reason.MaxRunningApplications:     {kinds: []reason.Numbers{reason.Applications{}}},
	reason.UserMaxRunningApplications: {kinds: []reason.Numbers{reason.Applications{}}},
	reason.StateAware:                 {kinds: []reason.Numbers{reason.Start{}}},
	reason.GangIncomplete:             {kinds: []reason.Numbers{reason.Members{}}},
	reason.GangTooLarge:               {asked: true, kinds: []reason.Numbers{reason.Packing{}, reason.MinResources{}}},
	reason.GangWaitsForRoom:           {kinds: []reason.Numbers{reason.Packing{}, reason.MinResources{}}},
	reason.BehindGang:                 {kinds: []reason.Numbers{reason.Turn{}}},
	reason.WaitingForRoom:             {asked: true, kinds: []reason.Numbers{reason.Room{}}},
	reason.Deleting:                   {kinds: []reason.Numbers{reason.Leftovers{}}},
	reason.Overcommitted:              {kinds: []reason.Numbers{reason.Guarantees{}}},
	reason.SpecInvalid:                {limit: true, kinds: []reason.Numbers{reason.Guarantees{}}},
	reason.BelowGuaranteed:            {used: true, asked: true, kinds: []reason.Numbers{reason.Shortfall{}}},
	reason.BelowFairShare:             {used: true, asked: true, kinds: []reason.Numbers{reason.Shortfall{}}},
}

// filled returns the kind with a different value in every number.
func filled(kind reason.Numbers) reason.Numbers {
	v := reflect.New(reflect.TypeOf(kind)).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i+2) * 3e9)
	}
	return v.Interface().(reason.Numbers)
}

// A sentence contains the numbers of its code and no number of another kind: each name means one thing.
func TestSentencesReadTheNumbersOfTheirKind(t *testing.T) {
	all := map[reflect.Type]reason.Numbers{}
	for _, r := range numbersOf {
		for _, kind := range r.kinds {
			all[reflect.TypeOf(kind)] = kind
		}
	}
	for _, code := range reason.Codes() {
		has := numbersOf[code]
		plain := reason.Reason{Code: code, Queue: "root.a", Other: "b", Resource: resource.CPU}
		if len(has.kinds) > 0 {
			plain.Numbers = has.kinds[0]
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
		for typ, kind := range all {
			own := false
			for _, k := range has.kinds {
				own = own || reflect.TypeOf(k) == typ
			}
			plain.Numbers = nil
			said = plain.Text()
			says(typ.Name(), own, func(r *reason.Reason) { r.Numbers = filled(kind) })
		}
	}
}

func TestNumbersOfAnotherKindAreNone(t *testing.T) {
	r := reason.Reason{Code: reason.GangIncomplete, Numbers: reason.Members{Needed: 3, Exist: 2}}
	if n := reason.As[reason.Members](r); n.Needed != 3 || n.Exist != 2 {
		t.Errorf("got %+v", n)
	}
	if n := reason.As[reason.Packing](r); n != (reason.Packing{}) {
		t.Errorf("got %+v", n)
	}
	if n := reason.As[reason.Packing](reason.Reason{}); n != (reason.Packing{}) {
		t.Errorf("got %+v", n)
	}
	if r != (reason.Reason{Code: reason.GangIncomplete, Numbers: reason.Members{Needed: 3, Exist: 2}}) {
		t.Error("equal numbers differ")
	}
	if r == (reason.Reason{Code: reason.GangIncomplete, Numbers: reason.Members{Needed: 3, Exist: 1}}) {
		t.Error("other numbers are equal")
	}
}
