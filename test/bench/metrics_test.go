package main

import (
	"maps"
	"net/http/httptest"
	"testing"
)

const page = `# HELP scheduler_schedule_attempts_total [STABLE] Number of attempts to schedule pods, by the result.
# TYPE scheduler_schedule_attempts_total counter
scheduler_schedule_attempts_total{profile="fairway",result="error"} 3
scheduler_schedule_attempts_total{profile="fairway",result="scheduled"} 10000
scheduler_schedule_attempts_total{profile="odd \"one\", {x=\"y\"}",result="scheduled"} 1.5e+06 1395066363000
scheduler_schedule_attempts_total_created{profile="fairway",result="scheduled"} 1.7e+09
# TYPE scheduler_pending_pods gauge
scheduler_pending_pods{queue="active"} 7
# TYPE plain counter
plain 12
`

func TestCounterByAddsSeriesUp(t *testing.T) {
	for _, c := range []struct {
		name, label string
		want        map[string]float64
	}{
		{attemptsMetric, "result", map[string]float64{"error": 3, "scheduled": 1510000}},
		{attemptsMetric, "profile", map[string]float64{"fairway": 10003, `odd "one", {x="y"}`: 1.5e6}},
		{"plain", "result", map[string]float64{"": 12}},
		{"absent", "result", map[string]float64{}},
	} {
		got, err := counterBy([]byte(page), c.name, c.label)
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s by %s: %v, %v, want %v", c.name, c.label, got, err, c.want)
		}
	}
}

func TestBrokenMetricsAreErrors(t *testing.T) {
	for _, bad := range []string{`m{a="b" 1`, "m many", "m 1", "# TYPE m gauge\nm 1"} {
		if got, err := counterBy([]byte(bad+"\n"), "m", "a"); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

func TestBindOnlyAnswersAsASchedulerDoes(t *testing.T) {
	b := &binder{}
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		b.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		return answer.Code, answer.Body.String()
	}
	if code, _ := get("/readyz"); code != 503 {
		t.Errorf("ready before the pods are listed: %d", code)
	}
	b.synced.Store(true)
	b.bound.Store(42)
	if code, _ := get("/readyz"); code != 200 {
		t.Errorf("not ready: %d", code)
	}
	_, metrics := get("/metrics")
	if got, err := counterBy([]byte(metrics), attemptsMetric, "result"); err != nil || !maps.Equal(got, map[string]float64{"scheduled": 42}) {
		t.Errorf("%q: %v, %v", metrics, got, err)
	}
}
