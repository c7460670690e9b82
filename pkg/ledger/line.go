package ledger

import (
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// line is the waiting pods of one class in one application, in their order: a binary heap from which pods that leave out of turn are
// not taken at once, but when they come to its head or outnumber the others. So no pod needs to know its place, and moving entries
// touches nothing but the heap. Invariant: the first entry is valid.
type line struct {
	class *class
	head  lineKey // of the first entry
	valid int
	queue []lineEntry
}

// lineKey is what a line compares, kept beside the record; records are spread over the memory.
type lineKey struct {
	urgency int64
	created int64
}

type lineEntry struct {
	*record
	lineKey
	listing uint32 // the entry is valid while this is its record's
}

func (e *lineEntry) isValid() bool { return e.listing == e.record.listing }

// before: inside an application drivers first, then pod priority, then creation (semantics of the order inside an application).
func (e *lineEntry) before(o *lineEntry) bool {
	if e.lineKey != o.lineKey {
		return e.lineKey.before(o.lineKey)
	}
	return e.UID < o.UID
}

func (k lineKey) before(o lineKey) bool {
	if k.urgency != o.urgency {
		return k.urgency < o.urgency
	}
	return k.created < o.created
}

func (n *line) push(r *record) {
	r.listing, r.listed = r.listing+1, true
	e := lineEntry{record: r, lineKey: lineKey{int64(math.MaxInt32) - int64(r.Priority), r.Created}, listing: r.listing}
	if r.Role != application.Driver {
		e.urgency += 1 << 32
	}
	n.queue = append(n.queue, e)
	n.valid++
	n.up(len(n.queue) - 1)
	n.head = n.queue[0].lineKey
}

func (n *line) remove(r *record) {
	r.listing, r.listed = r.listing+1, false
	n.valid--
	for len(n.queue) > n.valid && !n.queue[0].isValid() {
		last := len(n.queue) - 1
		n.queue[0], n.queue[last] = n.queue[last], lineEntry{}
		n.queue = n.queue[:last]
		n.down(0)
	}
	if len(n.queue) > 2*n.valid+8 {
		n.queue = slices.DeleteFunc(n.queue, func(e lineEntry) bool { return !e.isValid() })
		for i := len(n.queue)/2 - 1; i >= 0; i-- {
			n.down(i)
		}
	}
	if n.valid > 0 {
		n.head = n.queue[0].lineKey
	}
}

func (n *line) up(i int) {
	q := n.queue
	e := q[i]
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(&q[p]) {
			break
		}
		q[i], i = q[p], p
	}
	q[i] = e
}

// down lets the hole at i sink to the bottom and the entry rise from there: it comes from the bottom, so it mostly stays there.
func (n *line) down(i int) {
	q, top := n.queue, i
	if i >= len(q) {
		return
	}
	e := q[i]
	for c := 2*i + 1; c < len(q); c = 2*i + 1 {
		if c+1 < len(q) && q[c+1].before(&q[c]) {
			c++
		}
		q[i], i = q[c], c
	}
	for i > top {
		p := (i - 1) / 2
		if !e.before(&q[p]) {
			break
		}
		q[i], i = q[p], p
	}
	q[i] = e
}

// enlist puts a waiting pod into its line. The caller refreshes the application.
func (l *Ledger) enlist(r *record) {
	a, c := r.app, r.class
	i := a.lineOf(c)
	if i == out {
		i = len(a.lines)
		a.lines = append(a.lines, line{class: c, queue: l.spareLine()})
		a.lanes |= c.lane()
	}
	a.lines[i].push(r)
	if c.listed++; c.listed == 1 {
		c.inOffered = len(l.offered)
		l.offered = append(l.offered, c)
	}
}

// delist takes a pod out of its line. The caller refreshes the application.
func (l *Ledger) delist(r *record) {
	a, c := r.app, r.class
	i := a.lineOf(c)
	a.lines[i].remove(r)
	if a.lines[i].valid == 0 {
		l.spare = append(l.spare, a.lines[i].queue)
		a.lines = slices.Delete(a.lines, i, i+1)
		a.lanes = 0
		for j := range a.lines {
			a.lanes |= a.lines[j].class.lane()
		}
	}
	if c.listed--; c.listed == 0 {
		last := l.offered[len(l.offered)-1]
		l.offered[c.inOffered], last.inOffered = last, c.inOffered
		l.offered = l.offered[:len(l.offered)-1]
	}
}

// spareLine hands out the memory of a line that has ended: in steady state nothing is allocated.
func (l *Ledger) spareLine() []lineEntry {
	n := len(l.spare)
	if n == 0 {
		return nil
	}
	s := l.spare[n-1]
	l.spare = l.spare[:n-1]
	return s
}

func (a *account) lineOf(c *class) int {
	for i := range a.lines {
		if a.lines[i].class == c {
			return i
		}
	}
	return out
}

// head is the application's next pod of the classes that were marked and that no limit above the application stops.
func (a *account) head(mark uint64) *record {
	var first *line
	for i := range a.lines {
		n := &a.lines[i]
		if n.class.mark != mark || a.stops(n.class) {
			continue
		}
		if first == nil || n.head.before(first.head) || n.head == first.head && n.queue[0].before(&first.queue[0]) {
			first = n
		}
	}
	if first == nil {
		return nil
	}
	return first.queue[0].record
}

// stops reports whether a limit on the path admits no further pod of the class. The walk has asked already, but by lanes.
func (a *account) stops(c *class) bool {
	for ; a != nil; a = a.parent {
		if a.over(c) {
			return true
		}
	}
	return false
}
