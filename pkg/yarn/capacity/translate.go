package capacity

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/yarn/config"
	"github.com/fairway-scheduler/fairway/pkg/yarn/plan"
	"github.com/fairway-scheduler/fairway/pkg/yarn/site"
	"github.com/fairway-scheduler/fairway/pkg/yarn/value"
)

const prefix = "yarn.scheduler.capacity."

// translation is one run.
type translation struct {
	file   string
	config *config.Configuration
	// hasSite: there was a yarn-site.xml, so that what it does not state is known to have its default.
	hasSite bool
	plan    *plan.Plan
	names   plan.Names
	root    *declared
	all     []*declared // root first, parents before their children
	system  map[string]*setting
	// defaults are notes about defaults of YARN that differ from those here.
	defaults map[string]*plan.Note
}

// Translate translates the configuration of a capacity-scheduler.xml, read after yarn-site.xml if there is one.
func Translate(file string, c *config.Configuration, hasSite bool) *plan.Plan {
	t := &translation{
		file: file, config: c, hasSite: hasSite, plan: &plan.Plan{}, system: map[string]*setting{}, defaults: map[string]*plan.Note{},
	}
	t.load()
	t.assign()
	if len(t.plan.Errors()) > 0 {
		return t.plan
	}
	for _, d := range t.all {
		d.object = t.plan.Queue(d.path)
	}
	t.scheduler()
	for _, d := range t.all {
		t.share(d)
	}
	for _, d := range t.all {
		t.queue(d)
	}
	t.placement()
	t.preemption()
	return t.plan
}

func (t *translation) fail(p *config.Property, format string, args ...any) {
	t.plan.Fail(config.Error{File: p.File, Line: p.Line, Text: p.Name + ": " + fmt.Errorf(format, args...).Error()})
}

func (t *translation) failAt(line int, format string, args ...any) {
	t.plan.Fail(config.Error{File: t.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// unknown says which variables stay as they are.
func unknown(n *plan.Note, p *config.Property) {
	for _, name := range p.Unknown {
		n.Remark("${%s} is not known here", name)
	}
}

// byDefault is the note about a default of YARN.
func (t *translation) byDefault(property, text string) *plan.Note {
	n := t.defaults[property]
	if n == nil {
		n = t.plan.Note(plan.Origin{File: t.file, Property: property, Value: text}).Remark("not stated, and the default of YARN")
		t.defaults[property] = n
	}
	return n
}

// number reads a number with a fraction.
func (t *translation) number(s *setting) (*big.Rat, bool) {
	r, err := value.Decimal(s.Value)
	if err != nil {
		t.fail(s.Property, "%w", err)
	}
	return r, err == nil
}

// count reads a whole number of at least 0; a negative one is 0.
func (t *translation) count(s *setting) (int64, bool) {
	n, err := value.Int(s.Value)
	if err != nil {
		t.fail(s.Property, "%w", err)
		return 0, false
	}
	if n < 0 {
		s.note.Remark("a negative number lets nothing in, as 0 does")
	}
	return max(n, 0), true
}

// part reads a fraction between 0 and 1 in steps of 0.001.
func (t *translation) part(s *setting) (string, bool) {
	r, ok := t.number(s)
	if !ok {
		return "", false
	}
	switch {
	case r.Sign() < 0:
		r = new(big.Rat)
		s.note.Approximate("less than 0 is 0")
	case r.Cmp(big.NewRat(1, 1)) > 0:
		r = big.NewRat(1, 1)
		s.note.Approximate("more than 1 is 1")
	}
	return s.note.Rounded(r), true
}

// scheduler translates what counts for all queues, and what yarn-site.xml says.
func (t *translation) scheduler() {
	common := site.Site{Plan: t.plan, Config: t.config, Root: t.root.object, Scheduler: "CapacityScheduler"}
	common.Each(func(p *config.Property) bool {
		key, ours := strings.CutPrefix(p.Name, prefix)
		if ours && (key == "root" || strings.HasPrefix(key, "root.")) {
			return true // see assign
		}
		rule, known := systemRule(p.Name)
		if !known && !ours {
			return false
		}
		n := t.plan.Note(plan.Origin{File: p.File, Line: p.Line, Property: p.Name, Value: p.Value})
		if !known {
			n.Lose("it is no property of the Capacity Scheduler that is known here")
			return true
		}
		unknown(n, p)
		s := &setting{Property: p, note: n}
		t.system[p.Name] = s
		if rule != nil {
			rule(t, s)
		}
		return true
	})
	if t.system[prefix+"resource-calculator"] == nil {
		t.root.object.Set(t.byDefault("resource-calculator", "DefaultResourceCalculator"), "resourceCalculator", "Memory")
	}
	if t.hasSite && t.system[maxPriority] == nil {
		t.root.object.Set(t.byDefault(maxPriority, "0"), "maxPriority", int64(0))
	}
}
