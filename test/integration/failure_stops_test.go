package integration

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// stage is a point of an attempt, just before the plugins of that point run.
type stage string

const (
	atPreFilter stage = "PreFilter"
	atReserve   stage = "Reserve"
	atPermit    stage = "Permit"
	atBind      stage = "Bind"
)

// elsewhere is the name of a plugin that nobody has: it makes pods wait in Permit.
const elsewhere = "Elsewhere"

// stops stands between kube-scheduler and its framework. It halts the attempts that a test names, at the stage it names; everything
// else is upstream's. (A plugin would not do: it runs at some place among the other plugins of a stage.)
type stops struct {
	framework.Framework
	ctx context.Context
	mu  sync.Mutex
	at  map[string]*stop // not reached yet, by stage and name of the pod
	all []*stop          // of this scene
}

// stop is one attempt that will be halted, or is.
type stop struct {
	f       *failing
	what    string
	reached chan struct{}
	proceed chan func(plugins func() *fwk.Status) *fwk.Status
	result  chan *fwk.Status
}

func (s *stops) halt(at stage, pod *v1.Pod, plugins func() *fwk.Status) *fwk.Status {
	s.mu.Lock()
	key := string(at) + " " + pod.Name
	st := s.at[key]
	delete(s.at, key)
	s.mu.Unlock()
	if st == nil {
		return plugins()
	}
	close(st.reached)
	select {
	case how := <-st.proceed:
		result := how(plugins)
		st.result <- result
		return result
	case <-s.ctx.Done():
		return fwk.AsStatus(s.ctx.Err())
	}
}

func (s *stops) RunPreFilterPlugins(ctx context.Context, cs fwk.CycleState, pod *v1.Pod) (r *fwk.PreFilterResult, _ *fwk.Status, by sets.Set[string]) {
	status := s.halt(atPreFilter, pod, func() (status *fwk.Status) {
		r, status, by = s.Framework.RunPreFilterPlugins(ctx, cs, pod)
		return status
	})
	return r, status, by
}

func (s *stops) RunReservePluginsReserve(ctx context.Context, cs fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return s.halt(atReserve, pod, func() *fwk.Status { return s.Framework.RunReservePluginsReserve(ctx, cs, pod, node) })
}

func (s *stops) RunPermitPlugins(ctx context.Context, cs fwk.CycleState, pod *v1.Pod, node string) (wait map[string]time.Duration, _ *fwk.Status) {
	status := s.halt(atPermit, pod, func() (status *fwk.Status) {
		wait, status = s.Framework.RunPermitPlugins(ctx, cs, pod, node)
		return status
	})
	if status.IsWait() && len(wait) == 0 { // the test says so, no plugin does
		wait = map[string]time.Duration{elsewhere: 10 * time.Minute}
	}
	return wait, status
}

func (s *stops) RunBindPlugins(ctx context.Context, cs fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return s.halt(atBind, pod, func() *fwk.Status { return s.Framework.RunBindPlugins(ctx, cs, pod, node) })
}

// cancel lets the attempt go on where it was halted, and is no stop any more where it was not.
func (s *stop) cancel() {
	s.f.stops.mu.Lock()
	defer s.f.stops.mu.Unlock()
	maps.DeleteFunc(s.f.stops.at, func(_ string, other *stop) bool { return other == s })
	s.letGo()
}

func (s *stop) letGo() {
	select {
	case s.proceed <- func(plugins func() *fwk.Status) *fwk.Status { return plugins() }:
	default: // it went on
	}
}

// free lets all attempts go on that still stand, and forgets the stops that were not reached.
func (s *stops) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.all {
		st.letGo()
	}
	clear(s.at)
	s.all = nil
}

// wait returns once the pod's attempt is at the stage.
func (s *stop) wait() *stop {
	s.f.t.Helper()
	select {
	case <-s.reached:
	case <-time.After(patience):
		s.f.t.Fatalf("%s: not reached within %s", s.what, patience)
	}
	return s
}

// pass lets the attempt go on as if nothing had been, and returns what the plugins of the stage say.
func (s *stop) pass() *fwk.Status {
	s.f.t.Helper()
	return s.on(func(plugins func() *fwk.Status) *fwk.Status { return plugins() })
}

// fail makes the stage fail in the place of its plugins.
func (s *stop) fail(why string) {
	s.f.t.Helper()
	s.on(func(func() *fwk.Status) *fwk.Status { return fwk.AsStatus(errors.New(why)) })
}

func (s *stop) on(how func(plugins func() *fwk.Status) *fwk.Status) *fwk.Status {
	s.f.t.Helper()
	s.proceed <- how
	select {
	case st := <-s.result:
		return st
	case <-time.After(patience):
		s.f.t.Fatalf("%s: does not go on", s.what)
		return nil
	}
}

// hold halts the next attempt of the pod at the stage. It must be called before the pod can get there.
func (f *failing) hold(at stage, name string) *stop {
	f.t.Helper()
	pod := f.name + "-" + name
	s := &stop{f: f, what: pod + " at " + string(at), reached: make(chan struct{}),
		proceed: make(chan func(func() *fwk.Status) *fwk.Status, 1), result: make(chan *fwk.Status, 1)}
	f.stops.mu.Lock()
	defer f.stops.mu.Unlock()
	f.stops.at[string(at)+" "+pod] = s
	f.stops.all = append(f.stops.all, s)
	return s
}

// waitElsewhere makes the pod wait in Permit, and returns when it does.
func (f *failing) waitElsewhere(permit *stop, p *v1.Pod) fwk.WaitingPod {
	f.t.Helper()
	permit.wait().on(func(plugins func() *fwk.Status) *fwk.Status {
		if st := plugins(); !st.IsSuccess() {
			return st
		}
		return fwk.NewStatus(fwk.Wait, "waits for somebody else")
	})
	var waiting fwk.WaitingPod
	f.until(p.Name+" waits in Permit", func() (bool, string) {
		waiting = f.stops.GetWaitingPod(p.UID)
		return waiting != nil, "it does not"
	})
	return waiting
}
