package preemption

import (
	"cmp"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// SortApplications brings the applications into their order.
func (w *World) SortApplications() {
	slices.SortFunc(w.Applications, func(a, b Application) int { return compareApplications(&a, b.Queue, b.Name) })
}

// ApplicationOf returns an application of a leaf.
func (w *World) ApplicationOf(leaf int, name string) (*Application, bool) {
	at, found := slices.BinarySearchFunc(w.Applications, leaf, func(a Application, leaf int) int { return compareApplications(&a, leaf, name) })
	if !found {
		return nil, false
	}
	return &w.Applications[at], true
}

func compareApplications(a *Application, leaf int, name string) int {
	return cmp.Or(cmp.Compare(a.Queue, leaf), cmp.Compare(a.Name, name))
}

// pictureApplication is an application in the picture.
type pictureApplication struct {
	*Application
	usage []int64
	rank  int // in its leaf: 0 loses pods first
}

// applicationKey names an application.
type applicationKey struct {
	queue int
	name  string
}

func (p *picture) buildApplications(w *World) {
	if len(w.Applications) == 0 {
		return
	}
	p.applications = make([]pictureApplication, len(w.Applications))
	p.applicationsAt = make(map[applicationKey]int32, len(w.Applications))
	for i := range w.Applications {
		a := &w.Applications[i]
		p.applications[i] = pictureApplication{Application: a, usage: p.dense(a.Usage, 0)}
		p.applicationsAt[applicationKey{a.Queue, a.Name}] = int32(i)
		leaf := &p.queues[a.Queue]
		leaf.applications, leaf.stale = append(leaf.applications, int32(i)), true
	}
}

func (p *picture) applicationOf(c *Candidate) int32 {
	if at, known := p.applicationsAt[applicationKey{c.Queue, c.Application}]; known {
		return at
	}
	return never
}

func (p *picture) applicationRank(at int32) int {
	if at == never {
		return len(p.applications)
	}
	return p.applications[at].rank
}

// rankApplications ranks the applications of a leaf: the last in the order of the leaf loses pods first. Under Fair and
// DominantResourceFairness that is the one which has most, since all have equal shares; those that have equally much have the same rank.
func (p *picture) rankApplications(leaf int) {
	a := &p.queues[leaf]
	a.stale = false
	compare := p.compareUsage
	if a.inside.Policy.ByAge() {
		compare = p.compareAge
	}
	slices.SortFunc(a.applications, func(x, y int32) int { return compare(a.inside, &p.applications[x], &p.applications[y]) })
	rank := 0
	for i, at := range a.applications {
		x := &p.applications[at]
		if i > 0 && compare(a.inside, &p.applications[a.applications[i-1]], x) != 0 {
			rank++
		}
		p.moved = p.moved || x.rank != rank
		x.rank = rank
	}
}

func (p *picture) compareUsage(rule queue.Rule, a, b *pictureApplication) int {
	return p.dominant(rule, b.usage).Compare(p.dominant(rule, a.usage))
}

func (p *picture) compareAge(_ queue.Rule, a, b *pictureApplication) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Submitted, a.Submitted), cmp.Compare(b.Name, a.Name))
}

// dominant is the largest part of the total that amounts are.
func (p *picture) dominant(rule queue.Rule, amounts []int64) Share {
	var most Share
	for i, v := range amounts {
		if s := (Share{Amount: v, Of: p.total[i]}); v > 0 && rule.Counts(p.names[i]) && s.Compare(most) > 0 {
			most = s
		}
	}
	return most
}
