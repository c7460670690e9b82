package main

import (
	"fmt"
	"strconv"
	"strings"
)

// attemptsMetric counts scheduling attempts by their result: scheduled, unschedulable, error.
const attemptsMetric = "scheduler_schedule_attempts_total"

// counterBy reads a counter from a page in Prometheus' text format and adds its series up by one label. Series that nobody has counted in
// yet are not on the page, so a counter that is absent is empty, not an error.
func counterBy(page, name, label string) (map[string]float64, error) {
	sums := map[string]float64{}
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' {
			continue // another metric, maybe one whose name only begins alike
		}
		labels, rest, err := parseLabels(rest)
		if err != nil {
			return nil, fmt.Errorf("metric %q: %w", line, err)
		}
		fields := strings.Fields(rest) // the value, and maybe a timestamp
		if len(fields) == 0 {
			return nil, fmt.Errorf("metric %q has no value", line)
		}
		value, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return nil, fmt.Errorf("metric %q: %w", line, err)
		}
		sums[labels[label]] += value
	}
	return sums, nil
}

// parseLabels reads {a="b",c="d"}, which may be absent, and returns what follows.
func parseLabels(text string) (labels map[string]string, rest string, err error) {
	labels = map[string]string{}
	rest, ok := strings.CutPrefix(text, "{")
	if !ok {
		return labels, text, nil
	}
	for !strings.HasPrefix(rest, "}") {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, "", fmt.Errorf("no label in %q", rest)
		}
		// Prometheus quotes as Go does, but with fewer escapes.
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return nil, "", fmt.Errorf("label %s: no value in %q", key, after)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, "", fmt.Errorf("label %s: %w", key, err)
		}
		labels[strings.TrimSpace(key)] = value
		rest = strings.TrimLeft(after[len(quoted):], ", ")
	}
	return labels, rest[1:], nil
}
