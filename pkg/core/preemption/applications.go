package preemption

import (
	"cmp"
	"slices"
)

// SortApplications brings the applications into their order.
func (w *World) SortApplications() {
	slices.SortFunc(w.Applications, func(a, b Application) int { return compareToName(&a, b.Queue, b.Name) })
}

// ApplicationOf returns an application of a leaf.
func (w *World) ApplicationOf(leaf int, name string) (*Application, bool) {
	at, found := slices.BinarySearchFunc(w.Applications, leaf, func(a Application, leaf int) int { return compareToName(&a, leaf, name) })
	if !found {
		return nil, false
	}
	return &w.Applications[at], true
}

func compareToName(a *Application, leaf int, name string) int {
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
		if leaf.applications == nil {
			inside := w.Queues[a.Queue].Inside
			leaf.byAge, leaf.countsInside = inside.Policy.ByAge(), p.counted(inside)
		}
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
	slices.SortFunc(a.applications, func(x, y int32) int { return p.compareApplications(a, x, y) })
	rank := 0
	for i, at := range a.applications {
		x := &p.applications[at]
		if i > 0 && p.compareApplications(a, a.applications[i-1], at) != 0 {
			rank++
		}
		p.moved = p.moved || x.rank != rank
		x.rank = rank
	}
}

// compareApplications compares two applications of a leaf, the one that loses pods first in front.
func (p *picture) compareApplications(leaf *account, x, y int32) int {
	a, b := &p.applications[x], &p.applications[y]
	if leaf.byAge {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Submitted, a.Submitted), cmp.Compare(b.Name, a.Name))
	}
	most, _ := p.dominant(leaf.countsInside, a.usage)
	other, _ := p.dominant(leaf.countsInside, b.usage)
	return other.Compare(most)
}

// dominant is the largest part of the total that counted amounts are, and the index of that resource; never: they are nothing.
func (p *picture) dominant(counts []bool, amounts []int64) (most Share, which int) {
	which = never
	for i, v := range amounts {
		if !counts[i] || v <= 0 {
			continue
		}
		if s := (Share{Amount: v, Of: p.total[i]}); s.Compare(most) > 0 {
			most, which = s, i
		}
	}
	return most, which
}
