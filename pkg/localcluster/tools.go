package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const modulePath = "github.com/fairway-scheduler/fairway"

// findTools returns the directory of the binaries that the options require.
func findTools(ctx context.Context, options Options, progress func(string, ...any)) (string, error) {
	needed := []string{Etcd, APIServer}
	if options.ControllerManager {
		needed = append(needed, ControllerManager)
	}
	if options.KWOK {
		needed = append(needed, KWOK)
	}
	if options.ToolsDir != "" {
		dir, err := filepath.Abs(options.ToolsDir)
		if err != nil {
			return "", err
		}
		return dir, missing(dir, needed)
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "tools")
	// The script runs every time, not only if something is missing: it also replaces tools older than the
	// pinned versions, and needs 30 ms if there is nothing to do. Without go, the existing tools must do.
	if _, err := exec.LookPath("go"); err == nil {
		if err := buildTools(ctx, root, needed, progress); err != nil {
			return "", err
		}
	}
	return dir, missing(dir, needed)
}

// missing returns an error that names the binaries that are not in the directory, nil if all are.
func missing(dir string, names []string) error {
	var absent []string
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			absent = append(absent, name)
		}
	}
	if absent == nil {
		return nil
	}
	return fmt.Errorf("no %s in %s (hack/build-tools.sh makes them)", strings.Join(absent, ", "), dir)
}

// moduleRoot looks for this module's source tree above the working directory, then above the running executable.
func moduleRoot() (string, error) {
	var tried []string
	for _, find := range []func() (string, error){os.Getwd, os.Executable} {
		start, err := find()
		if err != nil {
			continue
		}
		tried = append(tried, start)
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
	return "", fmt.Errorf("no source tree of %s above %s: say where etcd and kube-apiserver are", modulePath, strings.Join(tried, " or "))
}

// buildTools runs the build script and passes its progress on. Cancelling ends the script and the compilers under it.
func buildTools(ctx context.Context, root string, names []string, progress func(string, ...any)) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "bash", append([]string{filepath.Join(root, "hack", "build-tools.sh")}, names...)...)
	cmd.Dir = root
	cmd.Stdout = lineWriter{&said, progress}
	cmd.Stderr = cmd.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, terminateSignal) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build the tools: %w", ctx.Err())
		}
		return errors.Join(fmt.Errorf("build the tools: %w", err), errors.New(strings.TrimSpace(said.String())))
	}
	return nil
}

// lineWriter keeps what is written and reports it as progress. The script writes whole lines.
type lineWriter struct {
	said     *bytes.Buffer
	progress func(string, ...any)
}

func (w lineWriter) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		w.progress("%s", strings.TrimRight(line, "\n"))
	}
	return w.said.Write(data)
}
