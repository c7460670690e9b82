package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// sent is a write and who sent it.
type sent struct {
	write
	by *front
}

// sender is one process of one replica.
type sender struct {
	by  *front
	run int
}

func (s *sent) sender() sender { return sender{s.by, s.run} }

// frontFor makes the front of one replica.
func (w *world) frontFor(name string) *front {
	w.t.Helper()
	f := newFront(w.t, w.kubeconfig(), name)
	w.fronts = append(w.fronts, f)
	return f
}

// sent returns all writes of all replicas, in the order in which they came.
func (w *world) sent() []sent {
	var all []sent
	for _, f := range w.fronts {
		for _, x := range f.all() {
			all = append(all, sent{x, f})
		}
	}
	slices.SortStableFunc(all, func(a, b sent) int { return a.at.Compare(b.at) })
	return all
}

// leading is the index of the replica that last wrote the lease, -1 for none.
func (w *world) leading() int {
	last, at := -1, time.Time{}
	for i, f := range w.fronts {
		if r := f.lastRenewal(); r.After(at) {
			last, at = i, r
		}
	}
	return last
}

// onTheirWay is how many writes of a leader may still be accepted when it wakes up late: those that it was just about to send, after the
// last look at the clock, when it was stopped.
const onTheirWay = 2

// auditWrites judges what each replica sent. A process that has never led wrote nothing at all. One that has lost the lease to another
// writes nothing but events, which tell what was before. No pod's bind was accepted twice.
func (w *world) auditWrites() {
	w.t.Helper()
	var holder sender
	var since time.Time // when the holder's first write of the lease was answered
	accepted := map[string]int{}
	led, late := map[sender]bool{}, map[sender][]sent{}
	for _, s := range w.sent() {
		switch {
		case s.lease():
			if s.ok() && s.sender() != holder {
				holder, since = s.sender(), s.done
				led[holder] = true
			}
			continue
		case s.asks():
			continue
		case s.bind() && s.ok():
			accepted[s.path]++
		}
		if !led[s.sender()] {
			w.t.Errorf("%s: a standby, replica %s, sent %s", s.at.UTC().Format(clock), w.name(s.by), s.what())
		}
		if s.sender() != holder && s.at.After(since) && !strings.Contains(s.path, "/events") {
			late[s.sender()] = append(late[s.sender()], s)
		}
	}
	for path, n := range accepted {
		if n > 1 {
			w.t.Errorf("%d requests to %s were accepted", n, path)
		}
	}
	w.say("%d processes led, and %d binds were accepted", len(led), len(accepted))
	for p, writes := range late {
		w.auditLate(p, writes)
	}
}

// auditLate judges what one process wrote after it had lost the lease.
func (w *world) auditLate(p sender, writes []sent) {
	w.t.Helper()
	counts, accepted := map[string]int{}, 0
	for _, s := range writes {
		counts[s.what()]++
		if s.ok() {
			accepted++
		}
	}
	var texts []string
	for what, n := range counts {
		texts = append(texts, fmt.Sprintf("%d times %s", n, what))
	}
	slices.Sort(texts)
	w.say("replica %s, process %d, when another led already, sent %s", w.name(p.by), p.run, strings.Join(texts, ", "))
	allowed := 0
	if w.woken[p] {
		allowed = onTheirWay
	}
	if accepted > allowed {
		w.t.Errorf("replica %s, process %d, still led %s after it had lost the lease: %d of its writes were accepted",
			w.name(p.by), p.run, writes[len(writes)-1].at.Sub(writes[0].at), accepted)
	}
}

func (w *world) name(f *front) string { return w.replicas[slices.Index(w.fronts, f)].name }

// what says what a write is for and how it was answered.
func (w *write) what() string {
	parts := strings.Split(w.path, "/")
	what := w.method + " " + w.path
	switch {
	case w.bind():
		what = "a bind"
	case slices.Contains(parts, "queues") && !slices.Contains(parts, "status"):
		what = "a queue"
	case slices.Contains(parts, "queues"):
		what = "the status of a queue"
	case slices.Contains(parts, "pods"):
		what = "the status of a pod"
	}
	if w.code == 0 {
		return what + " (not answered)"
	}
	return fmt.Sprintf("%s (answered %d)", what, w.code)
}
