package ledger

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairway-scheduler/fairway/pkg/core/preemption"
	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

// steps are the methods that take something in, decide something, or take note of what was done. All others are reads.
var steps = []string{
	"AccessQuestions", "Admitted", "Adopt", "Announced", "Backlog", "Candidates", "Choose", "EndPod", "Evicted", "EvictionFailed", "Explain", "Fail",
	"ForgetAccess", "ForgetNode", "ForgetPod", "ForgetPodGroup", "ForgetQueue", "Lead", "LookAtStarvation", "MadeRoom", "Misfit", "Nominated",
	"ObserveAccess", "ObserveBadQueue", "ObserveNode", "ObservePlacementPolicy", "ObservePod", "ObservePodGroup", "ObserveQueue", "ObserveUnlisted", "PendingActions", "PlacementActions",
	"Permit", "Preemption", "Recheck", "Rehearse", "Repair", "Reserve", "RestoreHolds", "RetireQueue", "RetryConditionUpdate", "Settle", "Survey",
	"TakeConditionUpdates", "TakeWoken", "Waiters", "WhatPreemption", "Withdrawn",
}

// read calls every method of the ledger that is no step, and returns their names.
func read(l *Ledger, uids []UID) (names []string) {
	v := reflect.ValueOf(l)
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if slices.Contains(steps, name) {
			continue
		}
		names = append(names, name)
		m := v.Method(i)
		for _, uid := range uids {
			args := make([]reflect.Value, m.Type().NumIn())
			for a := range args {
				switch m.Type().In(a) {
				case reflect.TypeFor[UID]():
					args[a] = reflect.ValueOf(uid)
				case reflect.TypeFor[preemption.World]():
					args[a] = reflect.ValueOf(preemption.World{})
				default:
					args[a] = reflect.Zero(m.Type().In(a))
				}
			}
			m.Call(args)
		}
	}
	return names
}

// Reads change nothing, on a standby as well as on a leader, and not even where Queues and nodes wait to be settled: a ledger that is read after every
// event decides what one decides that nobody reads.
func TestReadsChangeNothing(t *testing.T) {
	var uids []UID
	for i := range 12 {
		uids = append(uids, UID(fmt.Sprint("p", i)))
	}
	play := func(reads bool) (said []string) {
		l := New(Options{Window: 4, Journal: 100})
		after := func() {
			if !reads {
				return
			}
			before, version := l.Fingerprint(), l.version
			read(l, uids)
			if diff := cmp.Diff(before, l.Fingerprint()); diff != "" || l.version != version {
				t.Fatalf("reads took the version from %d to %d and changed\n%s", version, l.version, diff)
			}
		}
		observe := func(from, to int) {
			for i := from; i < to; i++ {
				p := Pod{
					UID: uids[i], Name: string(uids[i]), Queue: []string{"root.a", "root.b"}[i%2], Application: fmt.Sprint("app", i/3), User: fmt.Sprint("u", i%3),
					Class: fmt.Sprint("c", i%2), Request: amounts(1+int64(i%2), 1), Created: int64(i),
				}
				if i%5 == 4 {
					p.PodGroup = "gang"
				}
				l.ObservePod(p, sec)
				after()
			}
		}
		l.ObserveNode(Node{Name: "n", Allocatable: amounts(6, 10), Usable: true})
		l.ObservePodGroup(PodGroup{Key: "gang", MinMember: 2})
		observe(0, 6)
		declare := func(p queue.Path, most int64) {
			s := queue.DefaultSpec()
			s.MaxRunningApplications = queue.AtMost(most)
			l.ObserveQueue(queue.Declaration{Path: p, Spec: s})
			after()
		}
		declare("root.a", 2)
		declare("root.b", 1)
		observe(6, 9)
		if r, ok := l.Choose(2 * sec); ok {
			t.Fatalf("a standby released %s", r.UID)
		}
		after()
		l.Lead(2 * sec)
		after()
		observe(9, 12)
		for i := range int64(12) {
			now := (3 + i) * sec
			r, ok := l.Choose(now)
			said = append(said, fmt.Sprint(r, ok))
			after()
			switch {
			case !ok:
				declare("root.b", 1+i)
			case i%4 == 3:
				l.Fail(r.UID, NoFit, now)
			default:
				l.Reserve(r.UID, "n", now)
			}
			after()
			l.LookAtStarvation(now)
			said = append(said, fmt.Sprint(l.TakeConditionUpdates(10)))
			after()
		}
		return append(said, l.Fingerprint(), fmt.Sprint(l.Journal(0)))
	}
	if diff := cmp.Diff(play(false), play(true)); diff != "" {
		t.Errorf("a ledger that is read decides otherwise (-not read +read):\n%s", diff)
	}
	if names := read(New(Options{}), nil); len(names) < 20 {
		t.Errorf("only %v are reads", names)
	}
}
