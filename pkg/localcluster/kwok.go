package localcluster

import (
	_ "embed"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// RunSecondsAnnotation on a pod says for how many seconds its containers run, as a decimal like "20" or "2.5". That long after
	// its start the pod has phase Succeeded. A pod without it, or with anything else in it, runs until it is deleted.
	RunSecondsAnnotation = "fairway.dev/demo-run-seconds"

	// StopSecondsAnnotation on a pod says how many whole seconds its containers take to stop when it is deleted or evicted. So long, but no
	// longer than its grace period, it stays and holds what it holds. A pod without it, or with anything else in it, is gone at once.
	StopSecondsAnnotation = "fairway.dev/demo-stop-seconds"

	// KWOK runs the nodes that carry this annotation and no others, so that a test can have a node that nobody runs.
	simulatedNodeAnnotation = "kwok.x-k8s.io/node"
	simulatedNodeValue      = "fake"
)

//go:embed stages/stages.yaml
var stages []byte

func (c *Cluster) stagesFile() string { return filepath.Join(c.dir, "kwok-stages.yaml") }

func (c *Cluster) writeStages() error { return os.WriteFile(c.stagesFile(), stages, 0o600) }

func (c *Cluster) kwok() component {
	address := net.JoinHostPort(loopback, strconv.Itoa(c.ports.kwok))
	return component{name: KWOK, args: []string{
		"--kubeconfig=" + filepath.Join(c.dir, KWOK+".kubeconfig"),
		"--config=" + c.stagesFile(),
		"--manage-nodes-with-annotation-selector=" + simulatedNodeAnnotation + "=" + simulatedNodeValue,
		// No node leases: nodes report by status alone. A KWOK with leases takes only pods of nodes whose lease it holds, and one that
		// follows another looks at the existing pods once, often before it has heard of its own leases. It then never ends those pods.
		"--node-lease-duration-seconds=0",
		"--cidr=10.128.0.0/9", // pod addresses, apart from those of services
		"--server-address=" + address,
		"--v=WARN", // by default it logs every pod it touches
	}, ready: c.probe("http://"+address+"/healthz", plainClient)}
}
