package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
)

func TestSummaries(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   summary
	}{
		{[]float64{7}, summary{7, 7, 7}},
		{[]float64{3, 1}, summary{2, 1, 3}},
		{[]float64{9, 1, 2}, summary{2, 1, 9}},
		{[]float64{4, 1, 3, 100}, summary{3.5, 1, 100}},
	} {
		if got := summarize(c.values); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestSummarizeLeavesItsArgumentAlone(t *testing.T) {
	values := []float64{3, 1, 2}
	summarize(values)
	if values[0] != 3 || values[1] != 1 {
		t.Errorf("sorted in place: %v", values)
	}
}

func TestDeviation(t *testing.T) {
	for _, c := range []struct {
		counts []int
		want   float64
	}{
		{nil, 0},
		{[]int{5, 5, 5}, 0},
		{[]int{0, 10}, 5},
		{[]int{2, 4, 4, 4, 5, 5, 7, 9}, 2},
	} {
		if got := deviation(c.counts); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.counts, got, c.want)
		}
	}
}

// sample has two rounds that disagree by a factor, as on a machine that was busy during the first.
func sample(t *testing.T) (settings, []result) {
	t.Helper()
	s, err := parseSettings(strings.Fields("-contestants bind-only,stock,stock-5,fairway-1,fairway-100 -modes streaming"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, round int, rate, cpu float64) result {
		return result{Contestant: name, Mode: streaming, Round: round, PodsPerSecond: rate, CPUPer1000: cpu, CPUPer1000WithStart: cpu + 1, PeakMiB: 100, AttemptsPerBind: 1}
	}
	return s, []result{
		run("bind-only", 1, 500, 0.25), run("bind-only", 2, 1000, 0.25),
		run("stock", 1, 100, 2), run("stock", 2, 300, 2),
		run("stock-5", 1, 200, 1), run("stock-5", 2, 400, 1),
		run("fairway-1", 1, 98, 2.1), run("fairway-1", 2, 306, 2.3),
		run("fairway-100", 2, 150, 3), // its first round broke
	}
}

func find(t *testing.T, modes []modeSummary, contestant, over, measure string) ratio {
	t.Helper()
	for _, r := range modes[0].Ratios {
		if r.Contestant == contestant && r.Over == over && r.Measure == measure {
			return r
		}
	}
	t.Fatalf("no ratio of %s to %s in %s", contestant, over, measure)
	return ratio{}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestRatiosOfMediansAndOfRounds(t *testing.T) {
	modes := summarizeModes(sample(t))
	r := find(t, modes, "fairway-1", "stock", "podsPerSecond")
	if !near(r.OfMedians, 202.0/200) || len(r.PerRound) != 2 || !near(r.PerRound[0], 0.98) || !near(r.PerRound[1], 1.02) || !near(r.Pairwise.Median, 1) {
		t.Errorf("%+v", r)
	}
	if r.Met == nil || !*r.Met {
		t.Errorf("a ratio of 1.01 meets %q: %v", r.Goal, r.Met)
	}
	// Medians of 2.2 and 2: exactly the goal, however binary fractions round.
	r = find(t, modes, "fairway-1", "stock", "cpuSecondsPer1000Pods")
	if !near(r.OfMedians, 1.1) || r.Met == nil || !*r.Met {
		t.Errorf("%+v", r)
	}
	// A round that broke on one side takes no part in the comparison of rounds.
	r = find(t, modes, "fairway-100", "stock", "podsPerSecond")
	if !near(r.OfMedians, 150.0/200) || len(r.PerRound) != 1 || !near(r.PerRound[0], 0.5) || r.Met == nil || *r.Met {
		t.Errorf("%+v", r)
	}
	if r = find(t, modes, "fairway-1", "stock-5", "podsPerSecond"); r.Met != nil {
		t.Errorf("the goal is against stock with its defaults: %+v", r)
	}
	if r = find(t, modes, "fairway-100", "fairway-1", "cpuSecondsPer1000Pods"); !near(r.OfMedians, 3/2.2) || r.Met != nil {
		t.Errorf("%+v", r)
	}
	find(t, modes, "stock-5", "stock", "peakMiB")
	find(t, modes, "stock", "bind-only", "podsPerSecond")
	for _, r := range modes[0].Ratios {
		if r.Measure == "attemptsPerBind" || r.Measure == "spread" {
			t.Errorf("a ratio of %s says nothing", r.Measure)
		}
	}
}

func TestReportShowsEverything(t *testing.T) {
	s, results := sample(t)
	results[2].Foreign = 0.5
	r := report{Settings: s, Results: results, Modes: summarizeModes(s, results), Failures: []string{"fairway-100: it fell over"}}
	var out bytes.Buffer
	printReport(&out, r)
	for _, want := range []string{
		"In 1 of 9 runs programs with no part in this had more than 5% of the machine",
		"streaming, median (lowest to highest)",
		"pods/s", "CPU s/1000", "peak MiB", "attempts/bind", "spread",
		"202 (98-306)",
		"fairway-1 / stock ", "1.01; 1.00 (0.98-1.02)", "pods/s at least 0.95: met", "pods/s at least 0.95: missed", "CPU s/1000 at most 1.10: missed",
		"BROKE: fairway-100: it fell over",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), backlog+", median") {
		t.Errorf("a mode that was not asked for:\n%s", out.String())
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"podsPerSecond":306`, `"ofMedians":`, `"perRound":[`, `"median":202`, `"failures":[`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is missing in %s", want, data)
		}
	}
}
