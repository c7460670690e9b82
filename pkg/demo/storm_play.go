package demo

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairway-scheduler/fairway/pkg/demo/spark"
	"github.com/fairway-scheduler/fairway/pkg/report"
)

//go:embed storm.yaml
var stormYAML []byte

// driverStorm is the demo of the gate of the policy StateAware.
var driverStorm = show{
	objects: stormYAML, nodes: stormNodes, cores: stormNodeCores, gib: stormNodeCores, aim: "the storm was over", open: openStorm,
}

// openStorm submits all drivers, and simulates their applications until the context ends.
func openStorm(ctx context.Context, d *demo) (player, error) {
	p := &stormPlayer{demo: d, storm: storm{once: d.options.Once, limit: d.options.Deadline}}
	p.operator = spark.New(d.pods, p.failed)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { p.operator.Run(ctx) })
	p.stop = func() { cancel(); running.Wait() }
	d.say("%s and %s may each use %d of %d places;", withoutGate, withGate, stormPlaces, 2*stormPlaces)
	d.say("  each gets %d drivers at once, which ask for %d executors each: it has room", stormApps, stormExecutors)
	d.say("  for %d applications; a driver ends when its executors have run", stormPlaces/(1+stormExecutors))
	d.say("  %s", stormLegend)
	if err := p.operator.Submit(ctx, stormApplications()...); err != nil {
		p.stop()
		return nil, fmt.Errorf("submit drivers: %w", err)
	}
	return p, nil
}

// stormApplications are the applications of both queues, which differ only in the queue.
func stormApplications() (apps []spark.Application) {
	for _, queue := range []string{withoutGate, withGate} {
		for i := range stormApps {
			apps = append(apps, spark.Application{
				Name: fmt.Sprintf("%s-%02d", strings.TrimPrefix(queue, "root."), i+1), Queue: queue,
				Executors: stormExecutors, StartUp: stormStartUp, RunFor: stormRunFor,
			})
		}
	}
	return apps
}

// stormPlayer shows the storm.
type stormPlayer struct {
	demo     *demo
	storm    storm
	operator *spark.Operator
	stop     func()
	view     view // what was shown last

	mutex   sync.Mutex
	trouble error // what the operator failed to do
}

// failed gets errors from the operator's goroutines.
func (p *stormPlayer) failed(err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.trouble = err
}

func (p *stormPlayer) takeTrouble() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	err := p.trouble
	p.trouble = nil
	return err
}

func (p *stormPlayer) leave() {
	p.demo.keepLastView(p.view)
	p.stop()
}

func (p *stormPlayer) half(queue string) half {
	return half{Counts: p.operator.Counts(queue), completed: p.operator.Completed(queue)}
}

func (p *stormPlayer) step(context.Context) (done bool, err error) {
	if err := p.demo.handleError(p.takeTrouble()); err != nil {
		return false, err
	}
	now, without, with := time.Now(), p.half(withoutGate), p.half(withGate)
	decision := p.storm.step(now, without, with)
	p.view = view{title: p.storm.headline(), elapsed: now.Sub(p.demo.began), body: stormRows{without, with}, hints: p.hints()}
	p.demo.screen.show(now, p.view)
	for _, line := range decision.say {
		p.demo.say("%s", line)
	}
	return decision.done, decision.err
}

// hints suggest what to look at, once there is something to see.
func (p *stormPlayer) hints() []string {
	if p.demo.options.Once || p.storm.stuck.IsZero() {
		return nil
	}
	return stormHints(p.demo.cluster.Kubeconfig(), tool(p.demo.root, "bin", "tools", "kubectl"), tool(p.demo.root, "bin", "kubectl-fairway"))
}

func stormHints(kubeconfig, kubectl, fairway string) []string {
	return hints(kubeconfig, kubectl+" get queues -o wide", fairway+inBrowser, fairway+" apps "+withGate,
		kubectl+" delete pod without-gate-01-driver   # one free place is a way out")
}

// stormRows are both queues: first without the gate, then with it.
type stormRows [2]half

func (hs stormRows) table(width int, style report.Style) []string {
	t := report.Table{Full: true, Columns: []report.Column{
		{Title: "QUEUE"}, {Title: "COMPLETE", Right: true}, {Title: "DRIVERS", Right: true}, {Title: "ALONE", Right: true},
		{Title: "MOST", Right: true, Rank: 2}, {Title: "EXECUTORS", Right: true}, {Title: "WAITING", Right: true, Rank: 1},
	}}
	for i, name := range []string{withoutGate, withGate} {
		h := hs[i]
		row := []string{name, fmt.Sprintf("%d of %d", h.completed, stormApps)}
		for _, n := range []int{h.DriversRunning, h.Starting, h.MostStarting, h.ExecutorsRunning, h.ExecutorsWaiting} {
			row = append(row, strconv.Itoa(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Lines(width, style)
}

// chart shows the places of both halves.
func (hs stormRows) chart(width int, _ report.Style) []string {
	lines := []string{stormLegend, "", "Places: D with a driver, E with an executor, . free"}
	for i, name := range []string{withoutGate, withGate} {
		h := hs[i]
		lines = append(lines, fmt.Sprintf("%-*s  %s%s%s", len(withoutGate), name, strings.Repeat("D", h.DriversRunning),
			strings.Repeat("E", h.ExecutorsRunning), strings.Repeat(".", max(0, stormPlaces-h.DriversRunning-h.ExecutorsRunning))))
	}
	for i := range lines {
		lines[i] = report.Clip(lines[i], width)
	}
	return lines
}

// essence covers the story: with the gate, one table per quarter of the applications is enough.
func (hs stormRows) essence() string {
	return fmt.Sprint(hs[0].completed, hs[0].stuck(), hs[1].completed*4/stormApps)
}

// stormLegend explains the columns, in the little room of a title.
const stormLegend = "ALONE: drivers that had no executor yet (MOST at a time)"
