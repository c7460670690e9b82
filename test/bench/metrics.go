package main

import (
	"bytes"
	"fmt"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// attemptsMetric counts scheduling attempts by their result: scheduled, unschedulable, error.
const attemptsMetric = "scheduler_schedule_attempts_total"

// counterBy reads a counter from a page in Prometheus' text format and sums its series by one label. A series appears on
// the page with its first count, so an absent counter is empty, not an error.
func counterBy(page []byte, name, label string) (map[string]float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	for _, series := range families[name].GetMetric() {
		if series.Counter == nil {
			return nil, fmt.Errorf("metric %s is no counter", name)
		}
		value := ""
		for _, pair := range series.GetLabel() {
			if pair.GetName() == label {
				value = pair.GetValue()
			}
		}
		sums[value] += series.GetCounter().GetValue()
	}
	return sums, nil
}
