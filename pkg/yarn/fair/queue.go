package fair

import (
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

// properties are the elements of a queue, each with what translates it.
var properties map[string]func(*translation, *allocation, *setting)

func init() {
	properties = map[string]func(*translation, *allocation, *setting){
		"weight":                       (*translation).weight,
		"minResources":                 (*translation).minResources,
		"maxResources":                 (*translation).maxResources,
		"maxChildResources":            (*translation).maxChildResources,
		"maxContainerAllocation":       (*translation).maxContainerAllocation,
		"maxRunningApps":               (*translation).maxRunningApps,
		"maxAMShare":                   (*translation).maxAMShare,
		"schedulingPolicy":             (*translation).schedulingPolicy,
		"schedulingMode":               nil,
		"aclSubmitApps":                (*translation).aclSubmitApps,
		"aclAdministerApps":            (*translation).aclAdministerApps,
		"minSharePreemptionTimeout":    (*translation).minSharePreemptionTimeout,
		"fairSharePreemptionTimeout":   (*translation).fairSharePreemptionTimeout,
		"fairSharePreemptionThreshold": (*translation).fairSharePreemptionThreshold,
		"allowPreemptionFrom":          (*translation).allowPreemptionFrom,
		"reservation":                  (*translation).reservation,
		"aclAdministerReservations":    ofReservable(func(_ *translation, _ *allocation, s *setting) { s.note.Lose(plan.AdministersReservations) }),
		"aclListReservations":          ofReservable(func(_ *translation, _ *allocation, s *setting) { s.note.Lose(plan.ListsReservations) }),
		"aclSubmitReservations":        ofReservable((*translation).aclReserve),
	}
	properties["schedulingMode"] = properties["schedulingPolicy"] // its older name
}

// inOrder is the order in which the fields of a Queue are written.
var inOrder = []string{
	"weight", "minResources", "maxResources", "maxContainerAllocation", "maxRunningApps", "maxAMShare", "schedulingPolicy",
	"fairSharePreemptionThreshold", "fairSharePreemptionTimeout", "minSharePreemptionTimeout", "allowPreemptionFrom", "maxChildResources",
	"aclSubmitApps", "aclAdministerApps", "reservation", "aclAdministerReservations", "aclListReservations", "aclSubmitReservations",
}

// queue translates what a queue states, and gives it the defaults of what it does not state.
func (t *translation) queue(a *allocation) {
	for _, name := range inOrder {
		if s := a.stated[name]; s != nil {
			properties[name](t, a, s)
			continue
		}
		t.byDefault(a, name)
	}
	if a.stated["maxChildResources"] != nil {
		t.createdChildren(a)
	}
	if a.isParent() && len(a.children) == 0 && !a.object.Has("children") {
		a.object.Set(nil, "children", plan.Map{}) // type="parent"
	}
}

var million = big.NewRat(1_000_000, 1)

func (t *translation) weight(a *allocation, s *setting) {
	w, err := value.Decimal(s.text)
	switch {
	case isNotFinite(s.text):
		s.note.Lose("it is not a finite number")
		return
	case err != nil:
		t.fail(s.line, "%s weight: %w", a.yarn, err)
		return
	case w.Sign() < 0:
		w = new(big.Rat)
		s.note.Approximate("a negative weight is 0: in YARN it behaves like that")
	case w.Cmp(million) > 0:
		w = million
		s.note.Approximate("the largest weight is 1000000")
	}
	if a.parent == nil {
		s.note.Skip("root has no siblings")
		return
	}
	text := s.note.RoundedAboveZero(w)
	a.object.Set(s.note, "weight", value.Number(text))
}

// isNotFinite reports whether Java reads a text as a number that is none.
func isNotFinite(text string) bool {
	switch strings.TrimLeft(strings.TrimSpace(text), "+-") {
	case "NaN", "Infinity":
		return true
	}
	return false
}

func (t *translation) maxRunningApps(a *allocation, s *setting) {
	n, err := value.Int(s.text)
	if err != nil {
		t.fail(s.line, "%s maxRunningApps: %w", a.yarn, err)
		return
	}
	if n < 0 {
		n = 0
		s.note.Remark("a negative number lets nothing run, as 0 does")
	}
	a.object.Set(s.note, "maxRunningApplications", n)
}

func (t *translation) maxAMShare(a *allocation, s *setting) {
	text, ok := t.driverShare(a.yarn+" ", s)
	switch {
	case !ok:
	case a.isParent():
		s.note.Skip("it counts in queues without children only, in YARN too")
	default:
		a.object.Set(s.note, "maxDriverShare", value.Number(text))
	}
}

// driverShare reads a share of drivers. what is for messages.
func (t *translation) driverShare(what string, s *setting) (string, bool) {
	share, err := value.Decimal(s.text)
	if err != nil {
		t.fail(s.line, "%s%s: %w", what, s.note.Property, err)
		return "", false
	}
	one := big.NewRat(1, 1)
	switch {
	case new(big.Rat).Add(share, one).Sign() == 0:
		s.note.Remark("-1 is no limit")
		return "1", true
	case share.Sign() < 0:
		s.note.Approximate("with a negative share nothing starts in YARN; here one application may always start where nothing runs")
		return "0", true
	case share.Cmp(one) > 0:
		s.note.Remark("more than 1 is 1, as in YARN")
		return "1", true
	}
	return s.note.Rounded(share), true
}

// reservation makes a queue reservable, with the settings that YARN gives to all of them: those that a Queue has if it states none.
func (t *translation) reservation(a *allocation, s *setting) {
	if a.parent == nil {
		s.note.Lose("root is not for pods; declare a queue below it")
		return
	}
	a.object.Set(s.note, "reservable", true)
	s.note.Reservable(a.stated["aclSubmitReservations"] != nil)
}

// ofReservable translates a property that says something of reservable queues only.
func ofReservable(translate func(*translation, *allocation, *setting)) func(*translation, *allocation, *setting) {
	return func(t *translation, a *allocation, s *setting) {
		if a.stated["reservation"] != nil && a.parent != nil {
			translate(t, a, s)
		} else {
			s.note.Skip(plan.NotReservable)
		}
	}
}

func (t *translation) aclReserve(a *allocation, s *setting) {
	t.plan.Grant(s.note, "reserve", a.path, list(s))
}
