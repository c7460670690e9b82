package reservation

import (
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/resource"
)

// freeRoom is what may still be reserved over time.
type freeRoom struct{ table }

// free returns what may still be reserved, from one instant to another.
func (p Plan) free(from, to int64) *freeRoom {
	limit := p.limit()
	names := make([]resource.Name, limit.Len())
	for i := range names {
		names[i] = limit.At(i).Name
	}
	changes := make([]change, 0, 2*len(p.Accepted))
	for _, r := range p.Accepted {
		r.each(from, to, func(s Step) { changes = s.changes(changes) })
	}
	f := &freeRoom{sweep(names, changes, from)}
	for i := range f.starts {
		row := f.row(i)
		for j := range row {
			row[j] = resource.SatSub(limit.At(j).Value, row[j])
		}
	}
	return f
}

// freeEvery returns what may still be reserved in every period that begins at from or later: at each instant of the first one, the least of all.
func (p Plan) freeEvery(from, period int64) *freeRoom {
	end := max(from, p.lastChange()) + p.Policy.Period // from the last change on, the plan repeats itself
	all := p.free(from, end)
	cuts := make([]int64, 0, len(all.starts))
	for _, at := range all.starts { // the end needs no cut: what changes behind it has changed at the same time of the week before
		cuts = append(cuts, from+(at-from)%period)
	}
	slices.Sort(cuts)
	f := &freeRoom{table{names: all.names, starts: slices.Compact(cuts)}}
	f.values = make([]int64, len(f.starts)*len(f.names))
	for i := range f.values {
		f.values[i] = resource.Unlimited
	}
	for i, at := range all.starts {
		to := end
		if i+1 < len(all.starts) {
			to = all.starts[i+1]
		}
		f.lower(at, min(to, at+period), period, all.row(i))
	}
	return f
}

// lower makes what is free at most this much, from one instant to another, in every period.
func (f *freeRoom) lower(from, to, period int64, most []int64) {
	first := f.starts[0]
	for from < to {
		offset := (from - first) % period
		end := min(to-from+offset, period) // within this period
		for i := f.at(first + offset); i < len(f.starts) && f.starts[i] < first+end; i++ {
			for j, row := 0, f.row(i); j < len(row); j++ {
				row[j] = min(row[j], most[j])
			}
		}
		from += end - offset
	}
}

// fits returns how many gangs fit from one instant to another. If none does, it returns where the last step begins that has no room.
func (f *freeRoom) fits(gang []int64, from, to int64) (gangs, full int64) {
	gangs = resource.Unlimited
	for i := f.at(to - 1); ; i-- {
		for j, free := range f.row(i) {
			if gang[j] > 0 {
				gangs = min(gangs, max(free, 0)/gang[j])
			}
		}
		if gangs == 0 {
			return 0, f.starts[i]
		}
		if f.starts[i] <= from || i == 0 {
			return gangs, 0
		}
	}
}

// take reserves gangs from one instant to another.
func (f *freeRoom) take(gang []int64, gangs, from, to int64) {
	first, last := f.split(from), f.split(to)
	for i := first; i < last; i++ {
		row := f.row(i)
		for j := range row {
			row[j] -= gang[j] * gangs // so much is free
		}
	}
}

// amounts returns the list as a row.
func (t *table) amounts(l resource.List) []int64 {
	out := make([]int64, len(t.names))
	for i, n := range t.names {
		out[i] = l.Get(n)
	}
	return out
}

func (f *freeRoom) clone() *freeRoom {
	c := *f
	c.starts, c.values = slices.Clone(f.starts), slices.Clone(f.values)
	return &c
}
