package reservation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// Interpreter says how the requests of a definition belong together.
type Interpreter uint8

// The interpreters.
const (
	All        Interpreter = iota // all requests, in any order or at the same time
	Any                           // the first request that fits
	Order                         // one after the other
	OrderNoGap                    // one after the other, each with all its pods together, and the next when the one before ends
)

var interpreterNames = [...]string{"All", "Any", "Order", "OrderNoGap"}

// String returns the name of the interpreter.
func (i Interpreter) String() string { return interpreterNames[i] }

// ParseInterpreter reads the name of an interpreter.
func ParseInterpreter(name string) (Interpreter, error) {
	i := slices.Index(interpreterNames[:], name)
	if i < 0 {
		return All, fmt.Errorf("%q is not one of %s", name, strings.Join(interpreterNames[:], ", "))
	}
	return Interpreter(i), nil
}

// ordered reports whether requests come one after the other.
func (i Interpreter) ordered() bool { return i == Order || i == OrderNoGap }

// Definition says what is to be reserved.
type Definition struct {
	Arrival, Deadline int64 // between which instants
	Interpreter       Interpreter
	Requests          []Request
	Recurrence        int64 // seconds from one period to the next; 0 for once
}

// Request is room for equal pods.
type Request struct {
	Pods        int64
	Resources   resource.List // of each pod
	Duration    int64         // in seconds, of each pod
	Concurrency int64         // the pods of one gang: only whole gangs have room, and different gangs may have it at different times
}

// gangs is how many gangs the request has.
func (r Request) gangs() int64 { return r.Pods / r.Concurrency }

// gang is what one gang needs.
func (r Request) gang() resource.List { return times(r.Resources, r.Concurrency) }

// wholeRequests makes each request one gang where gangs at different times would leave gaps.
func (d Definition) wholeRequests() Definition {
	if d.Interpreter == OrderNoGap {
		d.Requests = slices.Clone(d.Requests)
		for i := range d.Requests {
			d.Requests[i].Concurrency = d.Requests[i].Pods
		}
	}
	return d
}

// Equal reports whether both ask for the same.
func (d Definition) Equal(o Definition) bool {
	return d.Arrival == o.Arrival && d.Deadline == o.Deadline && d.Interpreter == o.Interpreter && d.Recurrence == o.Recurrence &&
		slices.EqualFunc(d.Requests, o.Requests, func(a, b Request) bool {
			return a.Pods == b.Pods && a.Duration == b.Duration && a.Concurrency == b.Concurrency && a.Resources.Equal(b.Resources)
		})
}

// shortest is the least time that the definition can take: all its durations in order, the longest of All, the shortest of Any.
func (d Definition) shortest() int64 {
	var out int64
	for i, r := range d.Requests {
		switch {
		case d.Interpreter.ordered():
			out = resource.SatAdd(out, r.Duration)
		case i == 0:
			out = r.Duration
		case d.Interpreter == Any:
			out = min(out, r.Duration)
		default:
			out = max(out, r.Duration)
		}
	}
	return out
}

// window is the time in which the definition is placed first. What recurs begins with its first period that is not too late by now.
func (d Definition) window(now int64) (from, to int64) {
	from, to = d.Arrival, d.Deadline
	if late := now + d.shortest() - to; d.Recurrence > 0 && late > 0 {
		periods := (late + d.Recurrence - 1) / d.Recurrence
		from, to = from+periods*d.Recurrence, to+periods*d.Recurrence
	}
	return max(from, now), to
}

// times returns the list n times.
func times(l resource.List, n int64) resource.List {
	entries := make([]resource.Entry, l.Len())
	for i := range entries {
		e := l.At(i)
		entries[i] = resource.Entry{Name: e.Name, Value: resource.SatMul(e.Value, n)}
	}
	return resource.OfSorted(entries)
}
