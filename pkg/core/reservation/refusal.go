package reservation

import (
	"strconv"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
	"github.com/fairway-scheduler/fairway/pkg/core/reason"
	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Code says why a definition was refused.
type Code string

// The codes. Each says which fields of the Refusal it uses.
const (
	NoRequests         Code = "NoRequests"
	RequestInvalid     Code = "RequestInvalid"     // Asked is below Limit
	PodsNotWholeGangs  Code = "PodsNotWholeGangs"  // Asked pods are not a multiple of Limit, the concurrency
	ResourcesInvalid   Code = "ResourcesInvalid"   // Asked of Resource is below 0, or no amount is above 0
	GangTooLarge       Code = "GangTooLarge"       // a gang asks for Asked of Resource, the plan has Limit
	RecurrenceInvalid  Code = "RecurrenceInvalid"  // Asked seconds do not divide Limit
	RecurrenceTooShort Code = "RecurrenceTooShort" // Asked seconds are less than Limit, from arrival to deadline
	DeadlinePassed     Code = "DeadlinePassed"     // To is not after From, the present
	DeadlineTooFar     Code = "DeadlineTooFar"     // To is after Limit
	WindowTooShort     Code = "WindowTooShort"     // Asked seconds do not fit between From and To
	NoRoom             Code = "NoRoom"             // Limit of Asked gangs, each Gang, have room for Duration between From and To
	TooManySteps       Code = "TooManySteps"       // there is room only in more than Limit pieces
	AverageExceeded    Code = "AverageExceeded"    // User would have Asked of Resource on average between From and To, and may have Limit
)

// Refusal says which field of a definition stands in the way, what is allowed, and with which deadline it would fit. The zero one is no refusal.
type Refusal struct {
	Code         Code
	Field        string
	Resource     resource.Name
	Asked, Limit int64
	From, To     int64
	Duration     int64
	Gang         resource.List
	User         string
	Fits         int64 // the deadline with which it would fit; 0 if none was found
	Searched     int64 // the last deadline that was looked at; 0 if no deadline helps
}

// mayFitLater reports whether a later deadline may help.
func (r Refusal) mayFitLater() bool {
	switch r.Code {
	case DeadlinePassed, WindowTooShort, NoRoom, TooManySteps, AverageExceeded:
		return true
	}
	return false
}

// Text returns the sentence.
func (r Refusal) Text() string {
	text := r.Field + ": " + r.why()
	switch {
	case r.Fits > 0:
		text += "; it fits with deadline " + instant(r.Fits)
	case r.Searched > 0:
		text += "; no deadline was found with which it fits, up to " + instant(r.Searched)
	}
	return text
}

func (r Refusal) why() string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	amount := func(n int64) string { return resource.Format(r.Resource, n) + " " + string(r.Resource) }
	between := " between " + instant(r.From) + " and " + instant(r.To)
	switch r.Code {
	case NoRequests:
		return "there must be at least one"
	case RequestInvalid:
		return "must be at least 1, not " + number(r.Asked)
	case PodsNotWholeGangs:
		less := ""
		if below := r.Asked / r.Limit * r.Limit; below > 0 {
			less = number(below) + " or "
		}
		return "must be a multiple of concurrency, which is " + number(r.Limit) + ": " + less + number((r.Asked/r.Limit+1)*r.Limit) + ", not " + number(r.Asked)
	case ResourcesInvalid:
		if r.Resource == "" {
			return "an amount must be above 0"
		}
		return "must be at least 0, not " + amount(r.Asked)
	case GangTooLarge:
		return "the pods that run at the same time need " + amount(r.Asked) + ", and at most " + amount(r.Limit) + " may be reserved"
	case RecurrenceInvalid:
		return "must divide " + span(r.Limit) + ", and " + span(r.Asked) + " does not"
	case RecurrenceTooShort:
		return span(r.Asked) + " is less than the " + span(r.Limit) + " from arrival to deadline, so periods would overlap"
	case DeadlinePassed:
		return instant(r.To) + " is not after the present, " + instant(r.From)
	case DeadlineTooFar:
		return instant(r.To) + " is too far ahead: it may be at most " + instant(r.Limit)
	case WindowTooShort:
		return "the requests take " + span(r.Asked) + ", and" + between + " there are " + span(max(r.To-r.From, 0))
	case NoRoom:
		return number(r.Limit) + " of " + number(r.Asked) + " times " + r.Gang.String() + " have room for " + span(r.Duration) + between
	case TooManySteps:
		return "there is room only in more than " + number(r.Limit) + " pieces" + between
	case AverageExceeded:
		return "user " + reason.Name(r.User) + " would have " + amount(r.Asked) + " on average" + between + ", and may have at most " + amount(r.Limit)
	}
	return ""
}

// Text returns the sentence.
func (d Dropped) Text() string {
	amount := func(n int64) string { return resource.Format(d.Resource, n) + " " + string(d.Resource) }
	return "at " + instant(d.At) + " at most " + amount(d.Limit) + " may be reserved, and reservations have " + amount(d.Booked) +
		"; of those that have some, this one was accepted last"
}

// instant spells a time as the API does.
func instant(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// span spells a duration.
func span(seconds int64) string { return application.Duration(seconds * int64(time.Second)) }
