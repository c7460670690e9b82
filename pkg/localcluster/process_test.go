package localcluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/localcluster"
)

// childDir, if set, makes the test binary a program that starts a cluster there and waits to be killed.
const childDir = "FAIRWAY_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		_, err := localcluster.Start(context.Background(), localcluster.Options{Dir: dir, KWOK: true, ControllerManager: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := os.WriteFile(filepath.Join(dir, "started"), nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {}
	}
	os.Exit(m.Run())
}

func TestKilledCallerLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs a real control plane")
	}
	dir := t.TempDir()
	caller := exec.Command(os.Args[0])
	caller.Env = append(os.Environ(), childDir+"="+dir)
	caller.Stderr = os.Stderr
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- caller.Wait() }()
	t.Cleanup(func() { _ = caller.Process.Kill() })
	eventually(t, "the child has started its cluster", func(context.Context) error {
		select {
		case err := <-exited:
			t.Fatalf("the child ended: %v", err)
		default:
		}
		_, err := os.Stat(filepath.Join(dir, "started"))
		return err
	})
	pids := pidsIn(t, dir)
	if len(pids) != 4 || len(living(pids)) != 4 {
		t.Fatalf("four components should run: %v, of which live %v", pids, living(pids))
	}
	if err := caller.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-exited; err == nil {
		t.Error("the caller was not killed")
	}
	eventually(t, "all components are gone", func(context.Context) error {
		if alive := living(pids); len(alive) > 0 {
			return fmt.Errorf("alive: %v", alive)
		}
		return nil
	})
}

func TestKillAndRestartKeepData(t *testing.T) {
	t.Parallel()
	cluster := start(t, localcluster.Options{ControllerManager: true, KWOK: true})
	client := clientOf(t, cluster.RESTConfig())
	host, dir := cluster.RESTConfig().Host, filepath.Dir(cluster.Kubeconfig())
	if err := cluster.AddNodes(t.Context(), "node", 1, nil); err != nil {
		t.Fatal(err)
	}
	for _, component := range []string{localcluster.APIServer, localcluster.Etcd, localcluster.ControllerManager, localcluster.KWOK} {
		name := "before-" + component
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		killed := pidsIn(t, dir)[component]
		if err := cluster.Kill(component); err != nil {
			t.Fatal(err)
		}
		if len(living(map[string]int{component: killed})) > 0 {
			t.Errorf("%s lives after Kill", component)
		}
		if err := cluster.Restart(component); err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("after the restart of %s: %v", component, err)
		}
		bound := pod("after-"+component, nil)
		bound.Spec.NodeName = "node-0"
		if _, err := client.CoreV1().Pods("default").Create(t.Context(), bound, metav1.CreateOptions{}); err != nil {
			t.Errorf("after the restart of %s: %v", component, err)
		}
		eventually(t, "pods start after the restart of "+component, phaseIs(client, bound.Name, corev1.PodRunning))
	}
	if now := cluster.RESTConfig().Host; now != host {
		t.Errorf("the address has changed from %s to %s", host, now)
	}
}

// pidsIn reads which processes a cluster has recorded in its directory.
func pidsIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "pids", "*"))
	if err != nil {
		t.Fatal(err)
	}
	pids := make(map[string]int)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if pids[filepath.Base(file)], err = strconv.Atoi(string(data)); err != nil {
			t.Fatal(err)
		}
	}
	return pids
}

// living returns which of the processes still run. A zombie does not run: the process that inherits it will
// reap it.
func living(pids map[string]int) (alive []string) {
	for name, pid := range pids {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			if _, state, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(state, "Z") {
				continue
			}
		}
		alive = append(alive, name)
	}
	return alive
}
