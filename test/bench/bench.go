package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// patience with runs that break: one may be bad luck, more are a broken machine or program, and each costs up to stallLimit.
const maxFailures = 3

// report is all there is to tell, and what the JSON file holds.
type report struct {
	Started  time.Time     `json:"started"`
	Minutes  float64       `json:"minutes"`
	Machine  machine       `json:"machine"`
	Settings settings      `json:"settings"`
	Results  []result      `json:"results"`
	Modes    []modeSummary `json:"modes"`
	Failures []string      `json:"failures,omitempty"`
}

// benchmark runs everything and prints what came out. The error says what broke.
func benchmark(ctx context.Context, s settings) (err error) {
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%6.1fs  "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	}
	r := report{Started: began.UTC().Truncate(time.Second), Settings: s}
	if r.Machine, err = describeMachine(); err != nil {
		return err
	}
	// Files that cannot be written are better known before a quarter of an hour than after.
	if s.profiles != "" {
		if err := os.MkdirAll(s.profiles, 0o700); err != nil {
			return err
		}
	}
	if s.jsonFile != "" {
		if err := os.WriteFile(s.jsonFile, nil, 0o600); err != nil {
			return err
		}
	}
	// client-go logs that a watch we end was ended. What matters comes back as an error.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	warnBusy(r.Machine, say)
	root, err := sourceTree()
	if err != nil {
		return err
	}
	p, err := buildPrograms(ctx, root, s, say)
	if err != nil {
		return err
	}
	say("starting etcd and kube-apiserver")
	w, err := startWorld(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.cluster.Stop()) }()
	b := &bench{settings: s, programs: p, world: w, say: say}
	if b.client, err = childClient(w.config); err != nil {
		return err
	}
	say("creating %d nodes", s.Nodes)
	if err := w.furnish(ctx, root, s.Nodes); err != nil {
		return err
	}
	errRuns := b.runAll(ctx, &r)
	r.Minutes = time.Since(began).Minutes()
	r.Modes = summarizeModes(s, r.Results)
	printReport(os.Stdout, r)
	if s.jsonFile != "" {
		errRuns = errors.Join(errRuns, writeJSON(s.jsonFile, r))
	}
	return errRuns
}

func warnBusy(m machine, say func(string, ...any)) {
	if m.Load > float64(m.CPUs)/2 {
		say("this machine is busy (load %.1f on %d CPUs): rates will be low and ratios noisy", m.Load, m.CPUs)
	}
}

// foreignLimit is how much of the machine others may have before a run is not to be trusted.
const foreignLimit = 0.05

func disturbed(results []result) (n int) {
	for _, r := range results {
		if r.Foreign > foreignLimit {
			n++
		}
	}
	return n
}

// runAll runs the contestants in turns. A run that breaks is noted, and the others go on.
func (b *bench) runAll(ctx context.Context, r *report) error {
	s := b.settings
	plan := order(s)
	if s.WarmUp {
		say := b.say
		say("warming up")
		if _, err := b.run(ctx, s.contestants[0], backlog, 0); err != nil {
			return fmt.Errorf("warming up: %w", err)
		}
	}
	for i, t := range plan {
		if err := b.world.settle(ctx); err != nil {
			return err
		}
		name := fmt.Sprintf("%d/%d round %d %s %s", i+1, len(plan), t.round, t.mode, t.contestant.name)
		b.say("%s ...", name)
		result, err := b.run(ctx, t.contestant, t.mode, t.round)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.say("%s broke: %v", name, err)
			r.Failures = append(r.Failures, fmt.Sprintf("%s: %v", name, err))
			if len(r.Failures) == maxFailures {
				return fmt.Errorf("%d runs broke: giving up", maxFailures)
			}
			continue
		}
		b.say("%s: %.0f pods/s, %.2f CPU s per 1,000 pods, %.0f MiB, %.2f attempts per bind", name,
			result.PodsPerSecond, result.CPUPer1000, result.PeakMiB, result.AttemptsPerBind)
		r.Results = append(r.Results, result)
	}
	if len(r.Failures) > 0 {
		return fmt.Errorf("%d of %d runs broke", len(r.Failures), len(plan))
	}
	return nil
}

// turn is one run to be.
type turn struct {
	contestant contestant
	mode       string
	round      int
}

// order plans the runs: all contestants in each round, in turns, so that what changes on the machine during a quarter of an hour meets
// them all. Every second round runs backwards. A machine that becomes slower and slower (a growing etcd, heat) would otherwise be
// a disadvantage in every round for those that come later in the list, and no number of rounds would show it.
func order(s settings) []turn {
	var turns []turn
	for round := 1; round <= s.Rounds; round++ {
		contestants := slices.Clone(s.contestants)
		if round%2 == 0 {
			slices.Reverse(contestants)
		}
		for _, mode := range s.Modes {
			for _, c := range contestants {
				turns = append(turns, turn{c, mode, round})
			}
		}
	}
	return turns
}

func writeJSON(path string, r report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o600)
}
