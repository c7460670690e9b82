package fair

import (
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const (
	day  = 24 * 3600
	year = 366 * day
)

func (t *translation) fairSharePreemptionTimeout(a *allocation, s *setting) {
	t.timeout(a.object, "fairShareTimeout", a.yarn+" ", s)
}

func (t *translation) minSharePreemptionTimeout(a *allocation, s *setting) {
	t.timeout(a.object, "guaranteedTimeout", a.yarn+" ", s)
}

// timeout states a timeout, which YARN has in seconds.
func (t *translation) timeout(o *plan.Object, field, what string, s *setting) {
	seconds, err := value.Long(s.text)
	switch {
	case err != nil:
		t.fail(s.line, "%s%s: %w", what, s.note.Property, err)
		return
	case seconds < 1:
		s.note.Approximate("the shortest timeout is 1s")
		seconds = 1
	case seconds > year:
		s.note.Approximate("more than a year is never")
		o.Set(s.note, "preemption."+field, "never")
		return
	case seconds > day:
		s.note.Approximate("the longest timeout is 24h")
		seconds = day
	}
	if threshold := o.Value("preemption." + field); threshold == "never" {
		s.note.Skip("with a threshold of 0 the queue is never starved")
		return
	}
	o.Set(s.note, "preemption."+field, value.Duration(seconds))
	t.timeouts = true
}

func (t *translation) fairSharePreemptionThreshold(a *allocation, s *setting) {
	t.threshold(a.object, a.yarn+" ", s)
}

// threshold states a threshold; with 0 no queue is ever starved.
func (t *translation) threshold(o *plan.Object, what string, s *setting) {
	part, err := value.Decimal(s.text)
	if err != nil {
		t.fail(s.line, "%s%s: %w", what, s.note.Property, err)
		return
	}
	if part.Sign() <= 0 {
		s.note.Approximate("with 0 the queue is never starved, which is a timeout of never")
		o.Set(s.note, "preemption.fairShareTimeout", "never")
		return
	}
	if part.Cmp(big.NewRat(1, 1)) > 0 {
		part = big.NewRat(1, 1)
		s.note.Remark("more than 1 is 1, as in YARN")
	}
	text := s.note.RoundedAboveZero(part)
	o.Set(s.note, "preemption.fairShareThreshold", value.Number(text))
}

func (t *translation) allowPreemptionFrom(a *allocation, s *setting) {
	text := strings.TrimSpace(s.text)
	if strings.EqualFold(text, "true") {
		s.note.Remark("that is the default")
		return
	}
	if !strings.EqualFold(text, "false") {
		s.note.Remark("every word but true is false, as in YARN")
	}
	a.object.Set(s.note, "preemption.preemptible", false)
}
