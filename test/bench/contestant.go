package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

const (
	bindOnlyName  = "bind-only"
	stockName     = "stock"
	fairwayName   = "fairway"
	backlog       = "backlog"
	streaming     = "streaming"
	maximalQueues = 1000

	// Client limits of every contestant: fairway-scheduler's defaults, which are twenty and forty times upstream's.
	clientQPS   = 1000
	clientBurst = 2000
)

// contestant is one way to bind pods.
type contestant struct {
	name string
	kind string // bindOnlyName, stockName or fairwayName
	// percentage of nodes to score, 0 for the default. For stockName.
	percentage int
	// queues among which the pods are spread. One for all but fairwayName: the others get the very pods that fairway-1 gets.
	queues int
}

func parseContestants(list string) ([]contestant, error) {
	var all []contestant
	for _, name := range strings.Split(list, ",") {
		c, err := parseContestant(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if slices.Contains(all, c) {
			return nil, fmt.Errorf("contestant %q is listed twice", c.name)
		}
		all = append(all, c)
	}
	return all, nil
}

func parseContestant(name string) (contestant, error) {
	c := contestant{name: name, queues: 1}
	switch name {
	case bindOnlyName, stockName:
		c.kind = name
		return c, nil
	}
	kind, number, _ := strings.Cut(name, "-")
	n, err := strconv.Atoi(number)
	known := err == nil && strconv.Itoa(n) == number // "fairway-01" would be another name for the same
	switch {
	case known && kind == stockName && n >= 1 && n <= 100:
		c.kind, c.percentage = kind, n
	case known && kind == fairwayName && n >= 1 && n <= maximalQueues:
		c.kind, c.queues = kind, n
	default:
		return c, fmt.Errorf("contestant %q: bind-only, stock, stock-P with P from 1 to 100, or fairway-N with N from 1 to %d", name, maximalQueues)
	}
	return c, nil
}

func parseModes(list string) ([]string, error) {
	var modes []string
	for _, mode := range strings.Split(list, ",") {
		mode = strings.TrimSpace(mode)
		if mode != backlog && mode != streaming {
			return nil, fmt.Errorf("mode %q: %s or %s", mode, backlog, streaming)
		}
		if slices.Contains(modes, mode) {
			return nil, fmt.Errorf("mode %q is listed twice", mode)
		}
		modes = append(modes, mode)
	}
	return modes, nil
}

// queueName is the queue of the i-th of all the pods: round robin.
func (c contestant) queueName(i int) string { return fmt.Sprintf("root.q-%02d", i%c.queues) }

// start runs the contestant as a child that serves its health and metrics on a port of loopback.
func (c contestant) start(p programs, w *world) (*child, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	kubeconfig := w.cluster.Kubeconfig()
	serving := []string{
		"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(port),
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	}
	spec := localcluster.ChildSpec{Name: c.name, Dir: w.dir(), LogPath: filepath.Join(w.dir(), "logs", c.name+".log")}
	url := fmt.Sprintf("https://%s:%d", loopback, port)
	switch c.kind {
	case bindOnlyName:
		url = fmt.Sprintf("http://%s:%d", loopback, port)
		spec.Program = p.self
		spec.Args = []string{bindOnlyName, "-kubeconfig=" + kubeconfig, fmt.Sprintf("-address=%s:%d", loopback, port)}
	case stockName:
		config := filepath.Join(w.dir(), c.name+".yaml")
		if err := os.WriteFile(config, []byte(c.stockConfiguration(kubeconfig)), 0o600); err != nil {
			return nil, err
		}
		spec.Program = p.kubeScheduler
		spec.Args = append(serving, "--config="+config)
	case fairwayName:
		spec.Program = p.fairway
		spec.Args = append(serving, "--kubeconfig="+kubeconfig, "--leader-elect=false")
	}
	started, err := localcluster.StartChild(spec)
	if err != nil {
		return nil, err
	}
	return &child{Child: started, url: url}, nil
}

// stockConfiguration differs from upstream's defaults only in the client limits, which are those of all contestants. The profile has
// Fairway's name, so that all contestants are given the very same pods.
func (c contestant) stockConfiguration(kubeconfig string) string {
	text := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: %d, burst: %d}
leaderElection: {leaderElect: false}
profiles: [{schedulerName: %s}]
`, kubeconfig, clientQPS, clientBurst, v1alpha1.SchedulerName)
	if c.percentage > 0 {
		text += fmt.Sprintf("percentageOfNodesToScore: %d\n", c.percentage)
	}
	return text
}
