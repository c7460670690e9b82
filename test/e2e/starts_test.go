package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
)

const (
	starters      = "root.starters"
	maxStarting   = 2
	startApps     = 80
	startExecutor = 3 // of each application: there is room for 12
	startKills    = 12
)

// TestKillsWhileApplicationsStart kills the scheduler again and again with kill -9 while as many applications are starting as may be. Who
// comes next knows them by their pods: by the watch's history there are never more.
func TestKillsWhileApplicationsStart(t *testing.T) {
	w := newWorld(t)
	q := declare(starters, func(q *v1alpha1.Queue) {
		q.Spec.Policy, q.Spec.MaxStarting, q.Spec.StartingTimeout = v1alpha1.PolicyStateAware, ptr.To[int32](maxStarting), "1h"
	})
	w.must(w.client.Create(w.ctx, &q))
	o := spark.New(w.kube, func(err error) { t.Errorf("the operator: %v", err) })
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() { defer close(done); o.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	apps := make([]spark.Application, startApps)
	for i := range apps {
		apps[i] = spark.Application{
			Name: fmt.Sprintf("app-%03d", i), Queue: starters, Executors: startExecutor, StartUp: time.Second / 2, RunFor: 2 * time.Second,
			KeepEnded: true, // else the history would call them lost
		}
	}
	w.must(o.Submit(w.ctx, apps...))
	r := w.replica("single", w.kubeconfig(), nil)
	for i := range startKills {
		bound := w.history.bound()
		// Every second time the first to be bound is enough: others are on their way then.
		least := 1 + maxStarting*(i%2)
		w.until("applications are starting", func() (bool, string) {
			c := w.history.applications(starters)
			return w.history.bound() >= bound+least && c.Starting == min(least, maxStarting), fmt.Sprintf("%+v", c)
		})
		w.killStarting(r, o)
	}
	w.until("all applications are complete", func() (bool, string) {
		n := o.Completed()
		return n == startApps, fmt.Sprintf("%d are, %+v", n, w.history.applications(starters))
	})
	c := w.history.applications(starters)
	w.say("all %d applications are complete; at most %d were starting at a time", startApps, c.MostStarting)
	if c.MostStarting != maxStarting {
		t.Errorf("at most %d applications were starting at a time, want %d", c.MostStarting, maxStarting)
	}
	if _, _, misses := w.history.judge(); misses > 0 {
		t.Errorf("the history has %d gaps", misses)
	}
	for _, s := range w.history.stories() {
		if s.binds != 1 {
			t.Errorf("pod %s was bound %d times", s.name, s.binds)
		}
	}
	w.auditBooks()
	w.auditLogs()
	w.goodbye()
}

// killStarting kills the scheduler, and returns when another one leads and binds.
func (w *world) killStarting(r *replica, o *spark.Operator) {
	w.t.Helper()
	before, was, began := w.history.leader(), w.history.applications(starters), time.Now()
	r.kill()
	w.until("another process leads", func() (bool, string) {
		now := w.history.leader()
		return now != before, fmt.Sprint(now)
	})
	first := w.untilBoundAfter(w.history.leader().version)
	w.say("kill -9 with %d applications complete and %d starting: bound again after %.1fs", o.Completed(), was.Starting, first.at.Sub(began).Seconds())
}
