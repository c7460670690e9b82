package localcluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(t *testing.T, script string) *Child {
	t.Helper()
	dir := t.TempDir()
	c, err := StartChild(ChildSpec{Name: "sh", Program: "/bin/sh", Args: []string{"-c", script}, Dir: dir, LogPath: filepath.Join(dir, "log"), Env: []string{"OURS=yes"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(stopGrace) })
	return c
}

func TestAChildThatDiesIsNoticedAndExplained(t *testing.T) {
	c := shell(t, "for i in $(seq 50); do echo line $i; done; exit 3")
	select {
	case <-c.Exited():
	case <-time.After(10 * time.Second):
		t.Fatal("not noticed")
	}
	text := c.Explain(errors.New("it broke")).Error()
	_, kept, _ := strings.Cut(text, "its whole log: ")
	t.Cleanup(func() { _ = os.Remove(kept) })
	if !strings.HasPrefix(text, "it broke\n") || !strings.Contains(text, "line 50\n") || strings.Contains(text, "line 25\n") {
		t.Errorf("got:\n%s", text)
	}
	if data, err := os.ReadFile(kept); err != nil || !strings.HasPrefix(string(data), "line 1\n") {
		t.Errorf("the log kept: %q, %v", data, err)
	}
}

func TestAChildHasACleanEnvironment(t *testing.T) {
	t.Setenv("KUBECONFIG", "somewhere/else")
	t.Setenv("HTTPS_PROXY", "localhost:1")
	c := shell(t, "echo $KUBECONFIG$HTTPS_PROXY:$OURS:$HOME")
	<-c.Exited()
	if got, want := strings.TrimSpace(c.Tail()), ":yes:"+c.Dir; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStopEndsAChild(t *testing.T) {
	c := shell(t, "exec sleep 300")
	began := time.Now()
	c.Stop(stopGrace)
	if took := time.Since(began); took > stopGrace {
		t.Errorf("took %s", took)
	}
	c.Stop(stopGrace) // again, after it is gone
}

// TestAChildEndsWithUs kills a process that has a child, as kill -9 does, and checks that the child is gone
// too.
func TestAChildEndsWithUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties the life of a child to ours")
	}
	const pidFile = "FAIRWAY_TEST_PID_FILE"
	if file := os.Getenv(pidFile); file != "" { // this is the process that is killed
		c := shell(t, "exec sleep 300")
		if err := os.WriteFile(file+".new", []byte(strconv.Itoa(c.PID())), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		return
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	parent.Env = append(os.Environ(), pidFile+"="+file, "TMPDIR="+t.TempDir())
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	eventually(t, func() bool {
		data, err := os.ReadFile(file)
		pid, _ = strconv.Atoi(string(data))
		return err == nil
	})
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		// A zombie waits for a slow parent to reap it, but no longer runs.
		return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ")
	})
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for range 500 {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("not within 10s")
}
