package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// series are all series of all scrapes, sorted by their labels. They are a queryable storage.
type series []*storage.SeriesEntry

// read reads the scrapes, which are to come in order of time.
func read(scrapes []Scrape) (series, error) {
	c := collection{}
	for i := range scrapes {
		if err := c.add(&scrapes[i]); err != nil {
			return nil, fmt.Errorf("scrape %d: %w", i, err)
		}
	}
	var all series
	for _, one := range c {
		all = append(all, storage.NewListSeries(one.labels, one.samples))
	}
	slices.SortFunc(all, func(a, b *storage.SeriesEntry) int { return labels.Compare(a.Lset, b.Lset) })
	return all, nil
}

// collection is the series by the text of their labels.
type collection map[string]*struct {
	labels  labels.Labels
	samples []chunks.Sample
}

func (c collection) add(s *Scrape) error {
	up := 1.0
	if s.Down {
		up = 0
	}
	if err := c.note(s, labels.FromStrings(model.MetricNameLabel, "up"), up); err != nil || s.Down {
		return err
	}
	p := textparse.NewPromParser([]byte(s.Text), labels.NewSymbolTable(), false)
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, value := p.Series()
		var ls labels.Labels
		p.Labels(&ls)
		if err := c.note(s, ls, value); err != nil {
			return err
		}
	}
}

func (c collection) note(s *Scrape, ls labels.Labels, value float64) error {
	b := labels.NewBuilder(ls)
	for name, v := range s.Labels {
		b.Set(name, v)
	}
	ls = b.Labels()
	one := c[ls.String()]
	if one == nil {
		one = &struct {
			labels  labels.Labels
			samples []chunks.Sample
		}{labels: ls}
		c[ls.String()] = one
	}
	if n := len(one.samples); n > 0 && one.samples[n-1].T() >= s.Time {
		return fmt.Errorf("%s has a sample at %d already: no page has a series twice, and scrapes come in order of time", ls, one.samples[n-1].T())
	}
	one.samples = append(one.samples, sample{s.Time, value})
	return nil
}

type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// Querier implements storage.Queryable.
func (s series) Querier(int64, int64) (storage.Querier, error) { return querier{series: s}, nil }

type querier struct {
	storage.LabelQuerier // nobody asks for names of labels
	series               series
}

func (q querier) Close() error { return nil }

func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	found := &set{next: -1}
	for _, one := range q.series {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(one.Lset.Get(m.Name)) }) {
			found.series = append(found.series, one)
		}
	}
	return found
}

type set struct {
	series series
	next   int
}

func (s *set) Next() bool                        { s.next++; return s.next < len(s.series) }
func (s *set) At() storage.Series                { return s.series[s.next] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }
