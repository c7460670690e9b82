package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// slow is how long a test takes that gets a line of its own.
const slow = 5 * time.Second

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

type test struct{ pkg, name string }

// report turns events into lines for a person.
type report struct {
	out      io.Writer
	began    time.Time
	expected map[string]int // tests by package
	ended    map[string]int // packages that have ended, and how many of their tests had an end
	tests    map[string]int // top-level tests that have ended, of packages that have not
	running  map[test]time.Time
	said     map[test][]string // what tests that have not ended printed; a package is the test ""
}

func newReport(out io.Writer, expected map[string]int) *report {
	return &report{
		out: out, began: time.Now(), expected: expected, ended: map[string]int{}, tests: map[string]int{},
		running: map[test]time.Time{}, said: map[test][]string{},
	}
}

// see takes one event in.
func (r *report) see(e event, now time.Time) {
	top, _, sub := strings.Cut(e.Test, "/")
	t := test{e.Package, top}
	switch e.Action {
	case "build-output":
		r.print(e.Output)
	case "run", "cont":
		if !sub {
			r.running[t] = now
		}
	case "pause":
		if !sub {
			delete(r.running, t) // its turn comes when others have ended
		}
	case "output":
		r.hear(t, e.Output)
	case "pass", "skip", "fail":
		if !sub {
			r.end(t, e, now)
		}
	}
}

// hear keeps what a test prints until it is known whether the test fails. The last line of a package is shown at once.
func (r *report) hear(t test, output string) {
	verdict := t.name == "" && (strings.HasPrefix(output, "ok  \t") || strings.HasPrefix(output, "FAIL\t") || strings.HasPrefix(output, "?   \t"))
	if !verdict {
		r.said[t] = append(r.said[t], output)
		return
	}
	if !strings.HasPrefix(output, "ok") {
		r.print(r.said[t]...)
	}
	r.print(output)
	delete(r.said, t)
}

// end ends a top-level test or, without a name, a package.
func (r *report) end(t test, e event, now time.Time) {
	if e.Action == "fail" {
		r.print(r.said[t]...)
	}
	took := time.Duration(e.Elapsed * float64(time.Second)) // without subtests that ran in parallel
	if began, is := r.running[t]; is {
		took = max(took, now.Sub(began))
	}
	delete(r.said, t)
	delete(r.running, t)
	if t.name == "" {
		r.ended[t.pkg] = r.tests[t.pkg]
		delete(r.tests, t.pkg)
		for running := range r.running { // of a package that crashed, nobody tells their end
			if running.pkg == t.pkg {
				r.print(r.said[running]...)
				delete(r.said, running)
				delete(r.running, running)
			}
		}
		return
	}
	r.tests[t.pkg]++
	if took >= slow && e.Action == "pass" {
		r.print(fmt.Sprintf("    %s %s passed after %s\n", short(t.pkg), t.name, took.Round(time.Second/10)))
	}
}

// say prints how far the run is.
func (r *report) say(now time.Time) {
	done, all := 0, 0
	for pkg, n := range r.expected {
		all += n
		if _, ended := r.ended[pkg]; ended {
			done += n
		} else {
			done += min(r.tests[pkg], n)
		}
	}
	line := fmt.Sprintf("... %s: %d of %d packages, %d of %d tests done", now.Sub(r.began).Round(time.Second), len(r.ended), len(r.expected), done, all)
	oldest := slices.SortedFunc(maps.Keys(r.running), func(a, b test) int {
		return cmp.Or(r.running[a].Compare(r.running[b]), strings.Compare(a.name, b.name))
	})
	for i, t := range oldest {
		if i == 3 {
			line += fmt.Sprintf(" and %d more", len(oldest)-i)
			break
		}
		line += fmt.Sprintf("; %s %s for %s", short(t.pkg), t.name, now.Sub(r.running[t]).Round(time.Second))
	}
	r.print(line + "\n")
}

func (r *report) print(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(r.out, line)
	}
}

// short is the import path without the module.
func short(pkg string) string {
	if parts := strings.SplitN(pkg, "/", 4); len(parts) == 4 {
		return parts[3]
	}
	return pkg
}
