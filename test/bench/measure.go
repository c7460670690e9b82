package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// result is what one run of one contestant showed.
type result struct {
	Contestant string `json:"contestant"`
	Mode       string `json:"mode"`
	Round      int    `json:"round"`
	Pods       int    `json:"pods"`
	// Seconds is what pods/s is computed from: from the first bind (backlog) or the first create (streaming) to the last bind.
	Seconds       float64 `json:"seconds"`
	PodsPerSecond float64 `json:"podsPerSecond"`
	// FirstBindSeconds is from the start of the process (backlog) or the first create (streaming) to the first bind.
	FirstBindSeconds float64 `json:"firstBindSeconds"`
	CreateSeconds    float64 `json:"createSeconds"`
	// CPU seconds of the contestant per 1,000 pods: over the same time and until it is idle again, and since the process started.
	CPUPer1000          float64 `json:"cpuSecondsPer1000Pods"`
	CPUPer1000WithStart float64 `json:"cpuSecondsPer1000PodsWithStart"`
	// CPU seconds of etcd and kube-apiserver, and of this benchmark, per 1,000 pods from the same moment to the last bind.
	ServersCPUPer1000 float64            `json:"controlPlaneCPUSecondsPer1000Pods"`
	HarnessCPUPer1000 float64            `json:"benchmarkCPUSecondsPer1000Pods"`
	PeakMiB           float64            `json:"peakMiB"`
	Attempts          map[string]float64 `json:"attempts"` // by result
	AttemptsPerBind   float64            `json:"attemptsPerBind"`
	Spread            float64            `json:"spread"`
	// Foreign is the share of the machine, from 0 to 1, that programs with no part in this had during Seconds.
	Foreign float64 `json:"foreignCPUShare"`
	// WatchResumed is how often the apiserver ended the watch that sees the binds: more than a few says that the machine is too busy.
	WatchResumed int `json:"watchResumed"`
}

// bench is one benchmark under way.
type bench struct {
	settings settings
	programs programs
	world    *world
	client   *http.Client // for what the contestants serve
	say      func(string, ...any)
}

// run measures one contestant once. Whatever comes of it, the contestant is gone and its pods are deleted when it returns.
func (b *bench) run(ctx context.Context, c contestant, mode string, round int) (_ result, err error) {
	if err := b.world.clean(ctx); err != nil {
		return result{}, err
	}
	if err := b.world.createQueues(ctx, c); err != nil {
		return result{}, err
	}
	defer func() {
		err = errors.Join(err, b.world.deletePods(ctx))
		if ctx.Err() != nil {
			err = ctx.Err() // instead of everything that failed because of it
		}
	}()
	m := &measurement{bench: b, contestant: c, result: result{Contestant: c.name, Mode: mode, Round: round, Pods: b.settings.Pods}}
	if mode == backlog {
		err = m.backlog(ctx)
	} else {
		err = m.streaming(ctx)
	}
	return m.result, err
}

// measurement is one run under way.
type measurement struct {
	*bench
	contestant contestant
	child      *child
	profile    sync.WaitGroup
	result     result

	// The meters when the time that counts began, and at the last bind.
	from, to meters
}

// meters are CPU times at one moment.
type meters struct {
	at                      time.Time
	child, servers, harness time.Duration
	machine                 machineTime
	err                     error
}

func (m *measurement) read() meters {
	r := meters{at: time.Now()}
	var err1, err2, err3, err4 error
	r.child, err1 = cpuTime(m.child.PID())
	r.servers, err2 = cpuTimes(m.world.servers...)
	r.harness, err3 = cpuTime(os.Getpid())
	r.machine, err4 = readMachineTime()
	r.err = errors.Join(err1, err2, err3, err4)
	return r
}

// foreign is the share of the machine that went to programs which have no part in the benchmark.
func foreign(from, to meters) float64 {
	total := to.machine.total - from.machine.total
	ours := to.child + to.servers + to.harness - from.child - from.servers - from.harness
	if total <= 0 {
		return 0
	}
	return max(0, float64(to.machine.programs-from.machine.programs-ours)/float64(total))
}

// backlog lets pods wait before the contestant starts.
func (m *measurement) backlog(ctx context.Context) (err error) {
	began := time.Now()
	if err := m.world.createPods(ctx, m.contestant, m.settings.Creators, m.settings.Pods); err != nil {
		return err
	}
	m.result.CreateSeconds = time.Since(began).Seconds()
	if err := m.world.settle(ctx); err != nil {
		return err
	}
	// The first bind can be seen before StartChild has returned here.
	started := make(chan struct{})
	binds, err := m.world.watchBinds(ctx, m.settings.Pods, func() {
		<-started
		m.from = m.read()
	}, func() { m.to = m.read() })
	if err != nil {
		return err
	}
	defer binds.stop()
	if m.child, err = m.contestant.start(m.programs, m.world); err != nil {
		return err
	}
	defer m.child.Kill()
	close(started)
	m.startProfile(ctx)
	if err := binds.await(ctx, m.child); err != nil {
		return err
	}
	m.result.WatchResumed = binds.resumed
	m.result.Seconds = binds.last.Sub(binds.first).Seconds()
	m.result.FirstBindSeconds = binds.first.Sub(m.child.Started).Seconds()
	// Of the pods, the first was bound when the time began.
	m.result.PodsPerSecond = float64(m.settings.Pods-1) / m.result.Seconds
	return m.finish(ctx)
}

// streaming creates pods while the contestant runs.
func (m *measurement) streaming(ctx context.Context) (err error) {
	if m.child, err = m.contestant.start(m.programs, m.world); err != nil {
		return err
	}
	defer m.child.Kill()
	if err := m.child.awaitReady(ctx, m.client); err != nil {
		return err
	}
	if err := awaitIdle(ctx, quietLimit, append(m.world.servers, m.child.PID())...); err != nil {
		return m.child.Explain(err)
	}
	binds, err := m.world.watchBinds(ctx, m.settings.Pods, func() {}, func() { m.to = m.read() })
	if err != nil {
		return err
	}
	defer binds.stop()
	m.startProfile(ctx)
	m.from = m.read()
	creating, cancel := context.WithCancel(ctx)
	created := make(chan error, 1)
	go func() {
		err := m.world.createPods(creating, m.contestant, m.settings.Creators, m.settings.Pods)
		m.result.CreateSeconds = time.Since(m.from.at).Seconds()
		created <- err
	}()
	err = binds.await(ctx, m.child)
	if err != nil {
		cancel()
	}
	errCreate := <-created
	cancel()
	if err != nil || errCreate != nil {
		return errors.Join(err, errCreate)
	}
	m.result.WatchResumed = binds.resumed
	m.result.Seconds = binds.last.Sub(m.from.at).Seconds()
	m.result.FirstBindSeconds = binds.first.Sub(m.from.at).Seconds()
	m.result.PodsPerSecond = float64(m.settings.Pods) / m.result.Seconds
	return m.finish(ctx)
}

// tailLimit is how long late events and statuses of a contestant are waited for. Binding all of them takes longer than writing them.
const tailLimit = 10 * time.Second

// finish reads what is known only after the last bind.
func (m *measurement) finish(ctx context.Context) error {
	if err := awaitIdle(ctx, tailLimit, m.child.PID()); err != nil {
		return m.child.Explain(err)
	}
	idle := m.read()
	m.profile.Wait()
	if err := errors.Join(m.from.err, m.to.err, idle.err); err != nil {
		return m.child.Explain(err)
	}
	per1000 := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(m.settings.Pods) }
	m.result.CPUPer1000 = per1000(idle.child - m.from.child)
	m.result.CPUPer1000WithStart = per1000(idle.child)
	m.result.ServersCPUPer1000 = per1000(m.to.servers - m.from.servers)
	m.result.HarnessCPUPer1000 = per1000(m.to.harness - m.from.harness)
	m.result.Foreign = foreign(m.from, m.to)
	peak, err := peakMemory(m.child.PID())
	if err != nil {
		return m.child.Explain(err)
	}
	m.result.PeakMiB = float64(peak) / (1 << 20)
	page, err := m.child.get(ctx, m.client, "/metrics")
	if err != nil {
		return m.child.Explain(err)
	}
	if m.result.Attempts, err = counterBy(page, attemptsMetric, "result"); err != nil {
		return err
	}
	for _, attempts := range m.result.Attempts {
		m.result.AttemptsPerBind += attempts / float64(m.settings.Pods)
	}
	counts, err := m.world.podsPerNodeNow(ctx, m.settings.Nodes)
	m.result.Spread = deviation(counts)
	return err
}

// profileSeconds is long enough for thousands of samples, and shorter than a run of 10,000 pods.
const profileSeconds = 10

// startProfile takes a CPU profile of a scheduler while it works, if one is wanted. That it fails is said and changes nothing else.
func (m *measurement) startProfile(ctx context.Context) {
	if m.settings.profiles == "" || m.contestant.kind == bindOnlyName {
		return
	}
	file := filepath.Join(m.settings.profiles, fmt.Sprintf("%s-%s-%d.pprof", m.contestant.name, m.result.Mode, m.result.Round))
	m.profile.Go(func() {
		if err := m.child.awaitReady(ctx, m.client); err != nil {
			return // the run says so itself
		}
		data, err := m.child.get(ctx, m.client, fmt.Sprintf("/debug/pprof/profile?seconds=%d", profileSeconds))
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil && ctx.Err() == nil {
			m.say("no profile of %s: %v", m.contestant.name, err)
		}
	})
}
