package ledger

import (
	"math"
	"slices"

	"github.com/fairway-scheduler/fairway/pkg/core/application"
)

// line is the waiting pods of one class in one application, in their order. Most come in order and leave in order, so most are in a
// sorted run, and what comes between goes to a heap beside it. Pods that leave out of turn are not taken at once, but when they come to
// the front or outnumber the others: no pod needs to know its place, and a release touches the memory of no other pod.
//
// Invariant: the first of the run and the first of the heap are valid.
type line struct {
	class *class
	head  lineKey // of the first pod
	valid int
	run   []lineEntry // sorted, from first on
	first int
	heap  []lineEntry
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

func entryOf(r *record) lineEntry {
	e := lineEntry{record: r, lineKey: lineKey{int64(math.MaxInt32) - int64(r.Priority), r.Created}, listing: r.listing}
	if r.Role != application.Driver {
		e.urgency += 1 << 32
	}
	return e
}

func (n *line) push(r *record) {
	r.listing, r.listed = r.listing+1, true
	e := entryOf(r)
	n.valid++
	switch last := len(n.run) - 1; {
	case n.first > last || n.run[last].before(&e):
		n.run = append(n.run, e)
	case n.first > 0 && e.before(&n.run[n.first]): // back again
		n.first--
		n.run[n.first] = e
	default:
		n.heap = append(n.heap, e)
		n.up(len(n.heap) - 1)
	}
	n.settle()
}

func (n *line) remove(r *record) {
	r.listing, r.listed = r.listing+1, false
	n.valid--
	n.settle()
}

// next is the first pod. There is one.
func (n *line) next() *lineEntry {
	if n.first == len(n.run) || len(n.heap) > 0 && n.heap[0].before(&n.run[n.first]) {
		return &n.heap[0]
	}
	return &n.run[n.first]
}

// entries counts the valid ones and those that are not any more.
func (n *line) entries() int { return len(n.run) - n.first + len(n.heap) }

// settle restores the invariant, and looks at no pod where all entries are valid.
func (n *line) settle() {
	for n.entries() > n.valid && n.first < len(n.run) && !n.run[n.first].isValid() {
		n.run[n.first] = lineEntry{}
		n.first++
	}
	for n.entries() > n.valid && len(n.heap) > 0 && !n.heap[0].isValid() {
		last := len(n.heap) - 1
		n.heap[0], n.heap[last] = n.heap[last], lineEntry{}
		n.heap = n.heap[:last]
		n.down(0)
	}
	if n.entries() > 2*n.valid+8 {
		n.compact()
	}
	if n.first > 64 && n.first > len(n.run)/2 { // room in front is for pods that come back: a window of them
		n.run, n.first = slices.Delete(n.run, 0, n.first-64), 64
	}
	if n.valid > 0 {
		n.head = n.next().lineKey
	}
}

func (n *line) compact() {
	gone := func(e lineEntry) bool { return !e.isValid() }
	n.run, n.first = slices.DeleteFunc(slices.Delete(n.run, 0, n.first), gone), 0
	n.heap = slices.DeleteFunc(n.heap, gone)
	for i := len(n.heap)/2 - 1; i >= 0; i-- {
		n.down(i)
	}
}

func (n *line) up(i int) {
	q := n.heap
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
	q, top := n.heap, i
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
		a.lines = append(a.lines, l.spareLine(c))
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
		l.spare = append(l.spare, a.lines[i])
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

// spareLine makes a line, of the memory of one that has ended where there is one: in steady state nothing is allocated.
func (l *Ledger) spareLine(c *class) line {
	n := len(l.spare)
	if n == 0 {
		return line{class: c}
	}
	s := l.spare[n-1]
	l.spare = l.spare[:n-1]
	clear(s.run)
	clear(s.heap)
	return line{class: c, run: s.run[:0], heap: s.heap[:0]}
}

func (a *account) lineOf(c *class) int {
	for i := range a.lines {
		if a.lines[i].class == c {
			return i
		}
	}
	return out
}

// head is the application's next pod of the classes that were marked, in the lanes that are open down to here, and that no limit above the application stops.
func (l *Ledger) head(a *account, open lanes) *record {
	var first *line
	for i := range a.lines {
		n := &a.lines[i]
		c := n.class
		if c.mark != l.mark || open&c.lane() == 0 || (l.lanes.shared || c.driver) && l.stopsOnPath(a, c) ||
			len(l.keptOff) > 0 && l.isKeptOff(a, c) {
			continue
		}
		if first == nil || n.head.before(first.head) || n.head == first.head && n.next().before(first.next()) {
			first = n
		}
	}
	if first == nil {
		return nil
	}
	return first.next().record
}

// stopsOnPath reports whether a limit on the path admits no further pod of the class. The walk has asked already, but by lanes, which
// several classes may share, and of drivers what was so when their leaf was last looked at.
func (l *Ledger) stopsOnPath(a *account, c *class) bool {
	for ; a != nil && a != l.ceiling; a = a.parent {
		if l.stops(a, c) {
			return true
		}
	}
	return false
}
