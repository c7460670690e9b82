package report

import (
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Application is a row about an application.
type Application struct {
	Name, Queue, User string
	State             application.State
	// Held: it may not run now, for the reason in Reason.
	Held bool
	// Reason is why its oldest waiting pod waits; zero if none waits.
	Reason    reason.Reason
	FairShare resource.List
	Allocated resource.List
	Demand    resource.List
	Pending   int64 // pods that wait
	Running   int64 // pods that hold resources
	Priority  int32
	// Submitted and WaitingSince are creation times: of its oldest pod, and of its oldest waiting pod (0: none
	// waits).
	Submitted, WaitingSince int64
	// StartingSince is when it began to be Starting, StartingUntil when it leaves that state at the latest; 0
	// if it is not Starting.
	StartingSince, StartingUntil int64
}

// Applications are those of a queue and of the queues below it.
type Applications []Application

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (as Applications) MarshalJSON() ([]byte, error) {
	type wireApplication struct {
		Application string      `json:"application"`
		Queue       string      `json:"queue"`
		User        string      `json:"user"`
		State       string      `json:"state"`
		Reason      reason.Code `json:"reason"`
		Message     string      `json:"message"`
		amounts
		Pods         podCounts `json:"pods"`
		Submitted    string    `json:"submitted"`
		WaitingSince string    `json:"waitingSince"`
		Held         bool      `json:"held"`

		StartingSince string `json:"startingSince"`
		StartingUntil string `json:"startingUntil"`

		Priority int32 `json:"priority"`
	}
	rows := make([]wireApplication, len(as))
	for i, a := range as {
		rows[i] = wireApplication{a.Name, a.Queue, a.User, a.State.String(), a.Reason.Code, message(a.Reason),
			amounts{quantities(a.FairShare), quantities(a.Allocated), quantities(a.Demand)}, podCounts{a.Pending, a.Running}, timestamp(a.Submitted), timestamp(a.WaitingSince),
			a.Held, timestamp(a.StartingSince), timestamp(a.StartingUntil), a.Priority}
	}
	return marshal(struct {
		Applications []wireApplication `json:"applications"`
	}{rows})
}

func message(r reason.Reason) string {
	if r.Code == "" {
		return ""
	}
	return r.Text()
}

// Lines has a row for each application.
func (as Applications) Lines(l Layout) []string {
	return orNone(as.table(l), "no applications", l)
}

// Since has the rows of both.
func (as Applications) Since(before Document, l Layout) []string {
	b, _ := before.(Applications)
	return orNone(Compare(b.table(l), as.table(l), l.Style), "no applications", l)
}

func orNone(t Table, none string, l Layout) []string {
	if len(t.Rows) == 0 {
		return []string{"(" + none + ")"}
	}
	return t.Lines(l.Width, l.Style)
}

func (as Applications) table(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "APPLICATION"},
		{Title: "QUEUE", Rank: 1},
		{Title: "USER", Rank: 8},
		{Title: "STATE"},
		{Title: "FAIR-SHARE", Rank: 6},
		{Title: "ALLOCATED", Rank: 2},
		{Title: "DEMAND", Rank: 9},
		{Title: "RUNNING", Right: true, Rank: 7},
		{Title: "PENDING", Right: true, Rank: 5},
		{Title: "WAITING", Rank: 4, Usual: nothing},
		{Title: "REASON", Rank: 3, Usual: nothing},
	}}
	if l.Wide {
		t.Columns = append(t.Columns, Column{Title: "PRIORITY", Right: true}, Column{Title: "SUBMITTED"}, Column{Title: "STARTING-UNTIL"}, Column{Title: "MESSAGE"})
	}
	for i, a := range as {
		if a.Held {
			t.emphasise(i, yellow)
		}
		row := []string{reason.Name(a.Name), a.Queue, reason.Name(a.User), a.State.String(), l.amounts(a.FairShare), l.amounts(a.Allocated), l.amounts(a.Demand),
			strconv.FormatInt(a.Running, 10), strconv.FormatInt(a.Pending, 10), l.age(a.WaitingSince), orNothing(string(a.Reason.Code))}
		if l.Wide {
			row = append(row, strconv.FormatInt(int64(a.Priority), 10), timestamp(a.Submitted), orNothing(timestamp(a.StartingUntil)), orNothing(message(a.Reason)))
		}
		t.Keys = append(t.Keys, a.Queue+" "+a.Name)
		t.Rows = append(t.Rows, row)
	}
	return t
}

// User is a row about a user: sums over the user's applications.
type User struct {
	Name      string
	Queues    []string // in path order
	State     application.State
	FairShare resource.List
	Allocated resource.List
	Demand    resource.List
	Pending   int64
	Running   int64

	// ApplicationsHeld and ApplicationsPending count Accepted applications, ApplicationsRunning those that are
	// Running or Completing.
	ApplicationsHeld, ApplicationsPending, ApplicationsStarting, ApplicationsRunning int64

	WaitingSince int64

	// Limits are what the user has and may have in each of Queues.
	Limits []UserLimit
}

// UserLimit is what a user has in one queue and may have there.
type UserLimit struct {
	Queue     string
	Limited   bool // the queue limits its users
	Limit     resource.List
	Allocated resource.List
	Active    bool
	Weight    int64 // milli
	// Reason is why the limit holds pods of the user; zero if it does not.
	Reason reason.Reason
}

// Users are those with applications in a queue or in the queues below it.
type Users []User

// MarshalJSON returns the shape that tools rely on: keys may be added, none is renamed or left out.
func (us Users) MarshalJSON() ([]byte, error) {
	type counts struct {
		applicationCounts
		Held int64 `json:"held"`
	}
	type inQueue struct {
		Queue     string            `json:"queue"`
		Limit     map[string]string `json:"limit"` // empty: none
		Allocated map[string]string `json:"allocated"`
		Active    bool              `json:"active"`
		Weight    string            `json:"weight"`
		Reason    reason.Code       `json:"reason"`
		Message   string            `json:"message"`
	}
	type user struct {
		User  string `json:"user"`
		State string `json:"state"`
		amounts
		Applications counts    `json:"applications"`
		Pods         podCounts `json:"pods"`
		WaitingSince string    `json:"waitingSince"`
		Queues       []string  `json:"queues"`
		Limits       []inQueue `json:"limits"`
	}
	rows := make([]user, len(us))
	for i, u := range us {
		rows[i] = user{u.Name, u.State.String(), amounts{quantities(u.FairShare), quantities(u.Allocated), quantities(u.Demand)},
			counts{applicationCounts{u.ApplicationsPending, u.ApplicationsStarting, u.ApplicationsRunning}, u.ApplicationsHeld},
			podCounts{u.Pending, u.Running}, timestamp(u.WaitingSince), list(u.Queues), make([]inQueue, len(u.Limits))}
		for j, l := range u.Limits {
			rows[i].Limits[j] = inQueue{l.Queue, quantities(l.Limit), quantities(l.Allocated), l.Active, resource.Decimal(l.Weight), l.Reason.Code, message(l.Reason)}
		}
	}
	return marshal(struct {
		Users []user `json:"users"`
	}{rows})
}

// Lines has a row for each user.
func (us Users) Lines(l Layout) []string { return orNone(us.table(l), "no users", l) }

// Since has the rows of both.
func (us Users) Since(before Document, l Layout) []string {
	b, _ := before.(Users)
	return orNone(Compare(b.table(l), us.table(l), l.Style), "no users", l)
}

func (us Users) table(l Layout) Table {
	t := Table{Full: l.full(), Columns: []Column{
		{Title: "USER"},
		{Title: "STATE", Rank: 3},
		{Title: "FAIR-SHARE", Rank: 4},
		{Title: "ALLOCATED"},
		{Title: "DEMAND", Rank: 6},
		{Title: "APPLICATIONS", Right: true, Rank: 5},
		{Title: "HELD", Right: true, Rank: 3, Usual: "0"},
		{Title: "STARTING", Right: true, Rank: 6, Usual: "0"},
		{Title: "RUNNING", Right: true, Rank: 2},
		{Title: "PENDING", Right: true, Rank: 1},
		{Title: "WAITING", Rank: 2, Usual: nothing},
		{Title: "LIMITS", Rank: 5, Usual: nothing},
		{Title: "QUEUES", Rank: 7},
	}}
	for i, u := range us {
		all := u.ApplicationsHeld + u.ApplicationsPending + u.ApplicationsStarting + u.ApplicationsRunning
		if u.ApplicationsHeld == all {
			t.emphasise(i, yellow)
		}
		t.Keys = append(t.Keys, u.Name)
		t.Rows = append(t.Rows, []string{reason.Name(u.Name), u.State.String(), l.amounts(u.FairShare), l.amounts(u.Allocated), l.amounts(u.Demand),
			strconv.FormatInt(all, 10), strconv.FormatInt(u.ApplicationsHeld, 10), strconv.FormatInt(u.ApplicationsStarting, 10), strconv.FormatInt(u.Running, 10), strconv.FormatInt(u.Pending, 10),
			l.age(u.WaitingSince), u.limits(l), strings.Join(u.Queues, ",")})
	}
	return t
}

// limits are those of the queues that limit the user, with the name of the queue where there are several; those that hold pods
// of the user are marked.
func (u *User) limits(l Layout) string {
	var all []string
	for _, in := range u.Limits {
		if !in.Limited {
			continue
		}
		text := l.amounts(in.Limit)
		if len(u.Limits) > 1 {
			text = in.Queue + ": " + text
		}
		if in.Reason.Code != "" {
			text += " (reached)"
		}
		all = append(all, text)
	}
	return orNothing(strings.Join(all, "; "))
}
