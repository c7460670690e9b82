package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// measure is a column of the table.
type measure struct {
	Key    string
	head   string
	format string
	of     func(result) float64
	// ratio tells whether contestants are compared in it.
	ratio bool
}

var measures = []measure{
	{"podsPerSecond", "pods/s", "%.0f", func(r result) float64 { return r.PodsPerSecond }, true},
	{"cpuSecondsPer1000Pods", "CPU s/1000", "%.2f", func(r result) float64 { return r.CPUPer1000 }, true},
	{"cpuSecondsPer1000PodsWithStart", "with start", "%.2f", func(r result) float64 { return r.CPUPer1000WithStart }, true},
	{"peakMiB", "peak MiB", "%.0f", func(r result) float64 { return r.PeakMiB }, true},
	{"attemptsPerBind", "attempts/bind", "%.2f", func(r result) float64 { return r.AttemptsPerBind }, false},
	{"spread", "spread", "%.2f", func(r result) float64 { return r.Spread }, false},
	{"firstBindSeconds", "first bind s", "%.2f", func(r result) float64 { return r.FirstBindSeconds }, false},
	{"controlPlaneCPUSecondsPer1000Pods", "control plane CPU", "%.2f", func(r result) float64 { return r.ServersCPUPer1000 }, true},
}

// legend explains the columns.
const legend = `pods/s             backlog: from the first bind to the last; streaming: from the first create to the last bind
CPU s/1000         CPU seconds of the contestant per 1,000 pods, in that time and until it is idle again
with start         the same since the process started: what it loads and prepares before the first bind included
peak MiB           its largest resident memory
attempts/bind      scheduling attempts, failed ones included, for each pod bound
spread             standard deviation of the number of pods per node
first bind s       backlog: from the start of the process; streaming: from the first create
control plane CPU  CPU seconds of etcd and kube-apiserver per 1,000 pods in that time`

// modeSummary is what one mode showed over all rounds.
type modeSummary struct {
	Mode        string              `json:"mode"`
	Contestants []contestantSummary `json:"contestants"`
	Ratios      []ratio             `json:"ratios"`
}

type contestantSummary struct {
	Contestant string             `json:"contestant"`
	Measures   map[string]summary `json:"measures"`
}

// ratio compares two contestants in one measure: of their medians, and of what they showed in the same round.
type ratio struct {
	Contestant string    `json:"contestant"`
	Over       string    `json:"over"`
	Measure    string    `json:"measure"`
	OfMedians  float64   `json:"ofMedians"`
	PerRound   []float64 `json:"perRound"`
	Pairwise   summary   `json:"pairwise"`
	Goal       string    `json:"goal,omitempty"`
	Met        *bool     `json:"met,omitempty"`
}

// goal is what Fairway should reach against stock kube-scheduler with its defaults, judged by the ratio of the medians.
type goal struct {
	text string
	met  func(ratio float64) bool
}

var goals = map[string]goal{
	"podsPerSecond":         {"at least 0.95", func(ratio float64) bool { return ratio >= 0.95-rounding }},
	"cpuSecondsPer1000Pods": {"at most 1.10", func(ratio float64) bool { return ratio <= 1.10+rounding }},
}

// rounding is more than the error of binary fractions: a result exactly at a goal has reached it.
const rounding = 1e-9

func summarizeModes(s settings, results []result) []modeSummary {
	var modes []modeSummary
	for _, mode := range s.Modes {
		shown := map[string][]result{}
		for _, r := range results {
			if r.Mode == mode {
				shown[r.Contestant] = append(shown[r.Contestant], r)
			}
		}
		summary := modeSummary{Mode: mode}
		for _, c := range s.contestants {
			if runs := shown[c.name]; len(runs) > 0 {
				summary.Contestants = append(summary.Contestants, summarizeContestant(c.name, runs))
			}
		}
		for _, p := range pairs(s.contestants) {
			for _, m := range measures {
				if r, ok := compare(p, m, shown); ok && m.ratio {
					summary.Ratios = append(summary.Ratios, r)
				}
			}
		}
		modes = append(modes, summary)
	}
	return modes
}

func summarizeContestant(name string, runs []result) contestantSummary {
	c := contestantSummary{Contestant: name, Measures: map[string]summary{}}
	for _, m := range measures {
		c.Measures[m.Key] = summarize(valuesOf(m, runs))
	}
	return c
}

func valuesOf(m measure, runs []result) []float64 {
	var values []float64
	for _, run := range runs {
		values = append(values, m.of(run))
	}
	return values
}

// pairs are the comparisons that answer a question: Fairway with each stock scheduler, more queues with fewer, stock
// with fewer nodes with stock, and all with the limit.
func pairs(contestants []contestant) [][2]contestant {
	var found [][2]contestant
	add := func(over, under string, distinct bool) {
		for i, a := range contestants {
			for j, b := range contestants {
				if a.kind == over && b.kind == under && (distinct || i > j) {
					found = append(found, [2]contestant{a, b})
				}
			}
		}
	}
	add(fairwayName, stockName, true)
	add(fairwayName, fairwayName, false)
	add(stockName, stockName, false)
	add(stockName, bindOnlyName, true)
	add(fairwayName, bindOnlyName, true)
	return found
}

// compare is false where one of the two has nothing to show.
func compare(pair [2]contestant, m measure, shown map[string][]result) (ratio, bool) {
	over, under := shown[pair[0].name], shown[pair[1].name]
	if len(over) == 0 || len(under) == 0 {
		return ratio{}, false
	}
	r := ratio{Contestant: pair[0].name, Over: pair[1].name, Measure: m.Key}
	divisor := summarize(valuesOf(m, under)).Median
	if divisor == 0 {
		return ratio{}, false
	}
	r.OfMedians = summarize(valuesOf(m, over)).Median / divisor
	for _, a := range over {
		for _, b := range under {
			if a.Round == b.Round && m.of(b) != 0 {
				r.PerRound = append(r.PerRound, m.of(a)/m.of(b))
			}
		}
	}
	if len(r.PerRound) == 0 {
		return ratio{}, false
	}
	r.Pairwise = summarize(r.PerRound)
	if g, ok := goals[m.Key]; ok && pair[0].kind == fairwayName && pair[1].name == stockName {
		met := g.met(r.OfMedians)
		r.Goal, r.Met = g.text, &met
	}
	return r, true
}

func printReport(out io.Writer, r report) {
	s := r.Settings
	fmt.Fprintf(out, "%d nodes, %d pods, %d rounds, %.0f minutes; %d CPUs (%s), Linux %s, %s, load before %.1f\n",
		s.Nodes, s.Pods, s.Rounds, r.Minutes, r.Machine.CPUs, r.Machine.Model, r.Machine.Kernel, r.Machine.Go, r.Machine.Load)
	if s.profiles != "" {
		fmt.Fprintln(out, "Profiles were taken meanwhile, which cost the schedulers some speed: compare nothing with other runs.")
	}
	if n := disturbed(r.Results); n > 0 {
		fmt.Fprintf(out, "In %d of %d runs programs with no part in this had more than %.0f%% of the machine: "+
			"rates are too low, ratios noisy. Repeat it on a quiet machine.\n", n, len(r.Results), foreignLimit*100)
	}
	for _, mode := range r.Modes {
		fmt.Fprintf(out, "\n%s, median (lowest to highest)\n", mode.Mode)
		printMeasures(out, mode)
		if len(mode.Ratios) > 0 {
			fmt.Fprintf(out, "\n%s, ratio of the medians; median of the ratios of each round (lowest to highest)\n", mode.Mode)
			printRatios(out, mode)
		}
	}
	fmt.Fprintf(out, "\n%s\n", legend)
	for _, failure := range r.Failures {
		fmt.Fprintf(out, "\nBROKE: %s\n", failure)
	}
}

func newTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }

func printMeasures(out io.Writer, mode modeSummary) {
	table := newTable(out)
	defer table.Flush()
	head := []string{"contestant"}
	for _, m := range measures {
		head = append(head, m.head)
	}
	fmt.Fprintln(table, strings.Join(head, "\t"))
	for _, c := range mode.Contestants {
		row := []string{c.Contestant}
		for _, m := range measures {
			row = append(row, c.Measures[m.Key].text(m.format))
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
}

func printRatios(out io.Writer, mode modeSummary) {
	table := newTable(out)
	defer table.Flush()
	head := []string{"ratio"}
	for _, m := range measures {
		if m.ratio {
			head = append(head, m.head)
		}
	}
	fmt.Fprintln(table, strings.Join(append(head, "goal"), "\t"))
	for i := 0; i < len(mode.Ratios); {
		a := mode.Ratios[i]
		row, verdicts := map[string]string{}, []string{}
		for ; i < len(mode.Ratios) && mode.Ratios[i].Contestant == a.Contestant && mode.Ratios[i].Over == a.Over; i++ {
			b := mode.Ratios[i]
			row[b.Measure] = ratioText(b)
			if b.Met != nil {
				verdicts = append(verdicts, verdict(b))
			}
		}
		line := []string{a.Contestant + " / " + a.Over}
		for _, m := range measures {
			if m.ratio {
				line = append(line, row[m.Key])
			}
		}
		fmt.Fprintln(table, strings.Join(append(line, strings.Join(verdicts, ", ")), "\t"))
	}
}

func ratioText(r ratio) string {
	ofMedians, pairwise := fmt.Sprintf("%.2f", r.OfMedians), r.Pairwise.text("%.2f")
	if ofMedians == pairwise {
		return ofMedians
	}
	return ofMedians + "; " + pairwise
}

func verdict(r ratio) string {
	word := "missed"
	if *r.Met {
		word = "met"
	}
	for _, m := range measures {
		if m.Key == r.Measure {
			return fmt.Sprintf("%s %s: %s", m.head, r.Goal, word)
		}
	}
	return word
}

// text is the median with the lowest and the highest, or the value alone where the rounds agree.
func (s summary) text(format string) string {
	median, low, high := fmt.Sprintf(format, s.Median), fmt.Sprintf(format, s.Min), fmt.Sprintf(format, s.Max)
	if low == median && high == median {
		return median
	}
	return fmt.Sprintf("%s (%s-%s)", median, low, high)
}
