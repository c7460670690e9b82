package e2e

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// Each leader is stopped once so many pods were bound after the last failover, and wakes up when its successor has bound so many: at once,
// while that fills an empty cluster, and later. what is killed before it, if anything.
var failovers = []struct {
	after, late int
	killBefore  string
}{
	{60, 1, ""}, {150, 30, ""}, {250, 60, ""}, {100, 100, localcluster.Etcd}, {40, 150, ""},
	{200, 20, ""}, {120, 80, localcluster.APIServer}, {260, 200, ""}, {80, 50, ""}, {140, 120, ""},
}

// TestFailoverWhilePodsFlow lets the standby of two replicas take over ten times while the leader is stopped, and wakes that up late.
func TestFailoverWhilePodsFlow(t *testing.T) {
	w := newWorld(t)
	w.createMisfits()
	var pair [2]*replica
	for i := range pair {
		name := string(rune('a' + i))
		f := w.frontFor(name)
		pair[i] = w.replica(name, f.kubeconfig, f)
	}
	flow := startFlow(t, w.kube, w.history)
	w.untilBound(1)
	w.say("the first pod is bound")
	base := 0
	for _, f := range failovers {
		if f.killBefore != "" {
			w.untilBound(base + f.after)
			serves, binds := w.restart(f.killBefore)
			w.say("kill -9 of %s: it serves again after %.1fs, the first pod is bound after %.1fs", f.killBefore, serves.Seconds(), binds.Seconds())
			base = w.history.bound()
		}
		w.failover(pair, base+f.after, f.late)
		base = w.history.bound()
	}
	w.audit(flow)
	w.auditWrites()
}

// failover stops the leader when so many pods are bound, waits until the standby has taken over and has bound some more, wakes the old
// leader up and waits until it ends.
func (w *world) failover(pair [2]*replica, atBound, late int) {
	w.t.Helper()
	var old, standby *replica
	w.until("one replica leads, and the other is ready to", func() (bool, string) {
		if n := w.history.bound(); n < atBound {
			return false, fmt.Sprintf("%d pods of %d are bound", n, atBound)
		}
		i := w.leading()
		if i < 0 {
			return false, "nobody leads"
		}
		old, standby = pair[i], pair[1-i]
		return standby.now().ready(), standby.name + " is not ready"
	})
	before, stoppedAt, process := w.history.leader(), w.history.bound(), old.now()
	began := time.Now()
	process.Signal(syscall.SIGSTOP)
	w.woken[sender{old.front, process.number}] = true
	w.until("the standby leads", func() (bool, string) {
		now := w.history.leader()
		return now != before && now.identity != "", fmt.Sprint(now)
	})
	leads := w.history.leader()
	first := w.untilBoundAfter(leads.version)
	w.untilBound(stoppedAt + late)
	wokenAt, woken := w.history.bound(), time.Now()
	process.Signal(syscall.SIGCONT)
	w.until("the old leader ends", func() (bool, string) { return process.Gone(), "it runs" })
	w.say("%s stopped with %d bound: %s leads after %.1fs, binds after %.1fs; %s woke up after %.1fs with %d bound, and ended %.1fs later",
		old.name, stoppedAt, standby.name, leads.at.Sub(began).Seconds(), first.at.Sub(began).Seconds(),
		old.name, woken.Sub(began).Seconds(), wokenAt, process.Ended().Sub(woken).Seconds())
}
