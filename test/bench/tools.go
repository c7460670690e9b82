package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const modulePath = "github.com/fairway-scheduler/fairway"

// programs are the files that the contestants run.
type programs struct{ self, kubeScheduler, fairway string }

// buildPrograms builds the schedulers that were not given, both in the same way. It always asks the compiler, which does nothing when
// nothing has changed: yesterday's program must not be measured for today's.
func buildPrograms(ctx context.Context, root string, s settings, say func(string, ...any)) (p programs, err error) {
	if p.self, err = os.Executable(); err != nil {
		return p, err
	}
	for _, program := range []struct {
		given, source string
		result        *string
	}{
		{s.kubeScheduler, "k8s.io/kubernetes/cmd/kube-scheduler", &p.kubeScheduler},
		{s.fairway, "./cmd/fairway-scheduler", &p.fairway},
	} {
		if program.given != "" {
			if *program.result, err = exec.LookPath(program.given); err == nil {
				*program.result, err = filepath.Abs(*program.result)
			}
		} else {
			*program.result = filepath.Join(root, "bin", "bench", filepath.Base(program.source))
			say("building %s", filepath.Base(program.source))
			err = goBuild(ctx, root, *program.result, program.source)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

func goBuild(ctx context.Context, root, result, source string) error {
	// Two compilers at a time, as everywhere in this project; -buildvcs=false, since an archive has no history to ask.
	cmd := exec.CommandContext(ctx, "go", "build", "-p", "2", "-buildvcs=false", "-o", result, source)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	// Cancelling ends the compilers too. On an interrupt, and on nothing else, go removes its temporary files.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", source, err, bytes.TrimSpace(output))
	}
	return nil
}

// sourceTree returns the root of the source tree, above the working directory or above this program.
func sourceTree() (string, error) {
	for _, find := range []func() (string, error){os.Getwd, os.Executable} {
		start, err := find()
		if err != nil {
			continue
		}
		for dir := start; ; dir = filepath.Dir(dir) {
			data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
			if err == nil && bytes.HasPrefix(data, []byte("module "+modulePath+"\n")) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("no source tree of %s above the working directory or this program", modulePath)
}
