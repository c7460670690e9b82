package localcluster

import (
	_ "embed"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

const (
	// RunSecondsAnnotation on a pod says for how many seconds its containers run, as a decimal like "20" or
	// "2.5". After that time the pod has phase Succeeded. Without a valid value, the pod runs until it is
	// deleted.
	RunSecondsAnnotation = "fairway.dev/demo-run-seconds"

	// StopSecondsAnnotation on a pod says how many whole seconds its containers take to stop when it is
	// deleted or evicted. For that time, but no longer than its grace period, the pod stays and keeps its
	// resources. Without a valid value, the pod is gone at once.
	StopSecondsAnnotation = "fairway.dev/demo-stop-seconds"

	// KWOK runs only the nodes that carry this annotation, so that a test can have a node that nothing runs.
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
		// No node leases: nodes report only by status. With leases, KWOK takes only pods of nodes whose lease
		// it holds. A KWOK that follows another one looks at the existing pods once, often before it knows its
		// own leases, and then never ends those pods.
		"--node-lease-duration-seconds=0",
		"--cidr=10.128.0.0/9", // pod addresses, separate from those of services
		"--server-address=" + address,
		"--v=WARN", // by default it logs every pod that it changes
	}, ready: c.probe("http://"+address+"/healthz", plainClient)}
}
