// Package e2e runs the real fairway-scheduler, as processes beside a real control plane, and kills, pauses and replaces it while pods
// flow.
//
// In: the source tree, which TestMain builds the program from, the manifests, and pkg/localcluster. Out: verdicts on what anybody can
// see: the watch history of pods and of the leader's lease, the requests that each replica sends, the objects that are left, and what a
// ledger made again of them says.
//
// It must not look into a running scheduler, nor wait for a time to pass where it can wait for something to be so.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const schedulerName = "fairway-scheduler"

// program is the scheduler that TestMain built.
var program string

// long: kills and failovers take minutes, so make test leaves them to make test-long.
var long = flag.Bool("long", false, "run the tests of this package, which take minutes")

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() || !*long {
		os.Exit(m.Run()) // every test skips itself
	}
	dir, err := os.MkdirTemp("", "fairway-e2e-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 1
	if program, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) (string, error) {
	path := filepath.Join(dir, schedulerName)
	// -buildvcs=false, since an archive has no history to ask; -p 2, as everywhere in this project.
	cmd := exec.Command("go", "build", "-p", "2", "-buildvcs=false", "-o", path, "./cmd/"+schedulerName)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, said)
	}
	return path, nil
}
