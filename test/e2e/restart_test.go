package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// What is killed, once so many pods were bound after the last recovery: in the burst that follows a recovery, at its end, and when the
// cluster is full.
var kills = []struct {
	after int
	what  string
}{
	{60, schedulerName}, {150, schedulerName}, {300, schedulerName}, {40, localcluster.Etcd},
	{200, schedulerName}, {20, schedulerName}, {250, localcluster.APIServer}, {100, schedulerName},
	{280, schedulerName}, {150, localcluster.Etcd}, {80, schedulerName}, {230, schedulerName}, {120, schedulerName},
}

// TestKillsWhilePodsFlow kills the scheduler ten times, and kube-apiserver and etcd in between, with kill -9.
func TestKillsWhilePodsFlow(t *testing.T) {
	w := newWorld(t)
	w.createMisfits()
	r := w.replica("single", w.kubeconfig(), nil)
	flow := startFlow(t, w.kube, w.history)
	w.untilBound(1)
	w.say("the first pod is bound")
	base := 0
	for _, k := range kills {
		w.untilBound(base + k.after)
		created, bound := flow.progress(), w.history.bound()
		began := time.Now()
		var how string
		var recovered time.Duration
		if k.what == schedulerName {
			before := w.history.leader()
			r.kill()
			w.until("another process leads", func() (bool, string) {
				now := w.history.leader()
				return now != before, fmt.Sprint(now)
			})
			leads := w.history.leader()
			how = fmt.Sprintf("another process leads after %.1fs", leads.at.Sub(began).Seconds())
			recovered = w.untilBoundAfter(leads.version).at.Sub(began)
		} else {
			process := r.now().number
			serves, binds := w.restart(k.what)
			how = fmt.Sprintf("it serves again after %.1fs", serves.Seconds())
			if r.now().number != process {
				how += ", the leader had lost its lease"
			}
			recovered = binds
		}
		w.say("kill -9 of %s with %d pods created and %d bound: %s, the first pod is bound after %.1fs",
			k.what, created, bound, how, recovered.Seconds())
		base = w.history.bound()
	}
	w.audit(flow)
}
