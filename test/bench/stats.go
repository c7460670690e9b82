package main

import (
	"math"
	"slices"
)

// summary is what is told of the rounds of one measure.
type summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// summarize needs at least one value.
func summarize(values []float64) summary {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return summary{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// deviation is the standard deviation of counts over a whole population, not over a sample of it.
func deviation(counts []int) float64 {
	if len(counts) == 0 {
		return 0
	}
	var sum, squares float64
	for _, count := range counts {
		sum += float64(count)
	}
	mean := sum / float64(len(counts))
	for _, count := range counts {
		squares += (float64(count) - mean) * (float64(count) - mean)
	}
	return math.Sqrt(squares / float64(len(counts)))
}
