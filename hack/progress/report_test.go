package main

import (
	"strings"
	"testing"
	"time"
)

const module = "example.com/of/module/"

func TestAReportShowsVerdictsFailuresAndProgress(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, map[string]int{module + "a": 3, module + "b": 4})
	a, b := module+"a", module+"b"
	at := func(seconds int) time.Time { return r.began.Add(time.Duration(seconds) * time.Second) }
	for i, e := range []event{
		{Action: "run", Package: a, Test: "TestGood"},
		{Action: "output", Package: a, Test: "TestGood", Output: "quiet\n"},
		{Action: "run", Package: a, Test: "TestGood/sub"},
		{Action: "fail", Package: a, Test: "TestGood/sub", Elapsed: 9},
		{Action: "pass", Package: a, Test: "TestGood", Elapsed: 6.04},
		{Action: "run", Package: a, Test: "TestBad"},
		{Action: "output", Package: a, Test: "TestBad/sub", Output: "why\n"},
		{Action: "fail", Package: a, Test: "TestBad", Elapsed: 1},
		{Action: "output", Package: a, Output: "FAIL\t" + a + "\t7s\n"},
		{Action: "fail", Package: a},
		{Action: "run", Package: b, Test: "TestPaused"},
		{Action: "pause", Package: b, Test: "TestPaused"},
		{Action: "pass", Package: b, Test: "TestShort", Elapsed: 1},
		{Action: "run", Package: b, Test: "TestLong"},
	} {
		r.see(e, at(i))
	}
	r.say(at(20))
	r.see(event{Action: "output", Package: b, Test: "TestLong", Output: "panic: where\n"}, at(21))
	r.see(event{Action: "output", Package: b, Output: "noise\n"}, at(21))
	r.see(event{Action: "output", Package: b, Output: "FAIL\t" + b + "\t8s\n"}, at(21))
	r.see(event{Action: "fail", Package: b}, at(21))
	want := `    a TestGood passed after 6s
why
FAIL	example.com/of/module/a	7s
... 20s: 1 of 2 packages, 4 of 7 tests done; b TestLong for 7s
noise
FAIL	example.com/of/module/b	8s
panic: where
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}

func TestCountTests(t *testing.T) {
	n, err := countTests([]string{"-count=1", "."})
	if err != nil || len(n) != 1 {
		t.Fatal(n, err)
	}
	for pkg, tests := range n {
		if !strings.HasSuffix(pkg, "hack/progress") || tests != 2 {
			t.Errorf("%d tests in %s", tests, pkg)
		}
	}
}
