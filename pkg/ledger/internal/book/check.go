package book

import "fmt"

// Check returns what is wrong with the order, nothing if it is sound. name says how a competitor is called.
func (o Order[T]) Check(name func(T) string) (wrong []string) {
	for i := range o {
		e := &o[i]
		below := e.own
		for j := 2*i + 1; j <= 2*i+2 && j < len(o); j++ {
			below |= o[j].below
		}
		say := func(format string, args ...any) {
			wrong = append(wrong, name(e.owner)+" "+fmt.Sprintf(format, args...))
		}
		switch {
		case int(e.index) != i:
			say("is not where it thinks it is in the order")
		case e.rank != e.key.Rank():
			say("has an old rank in the order")
		case e.below != below:
			say("knows of lanes %b from itself down, they add up to %b", e.below, below)
		case i > 0 && e.Before(&o[(i-1)/2]):
			say("is before the one above it")
		}
	}
	return wrong
}

// Check returns what is wrong with a queue that has pods, "" if it is sound.
func (q *PodQueue[P]) Check() string {
	valid := 0
	for i := q.first; i < len(q.run); i++ {
		if q.run[i].isValid() {
			valid++
		}
		if i > q.first && q.run[i].Before(&q.run[i-1]) {
			return "has a run out of order"
		}
	}
	for i := range q.heap {
		if q.heap[i].isValid() {
			valid++
		}
		if i > 0 && q.heap[i].Before(&q.heap[(i-1)/2]) {
			return "has a heap out of order"
		}
	}
	switch {
	case valid == 0 || valid != q.valid:
		return fmt.Sprintf("has %d pods and counts %d", valid, q.valid)
	case !q.next().isValid() || q.next().Key != q.head:
		return "begins with a pod that left it"
	case q.entries() > 2*valid+8:
		return fmt.Sprintf("has %d entries for %d pods", q.entries(), valid)
	}
	return ""
}
