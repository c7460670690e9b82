package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/cli"
	"github.com/fairway-scheduler/fairway/pkg/tty"
)

// shownQueue is what `kubectl fairway tree -o json` says of a queue, as far as Queue.status says it too.
type shownQueue struct {
	SteadyFairShare, FairShare, Guaranteed, Max, Allocated, Demand map[string]string
	Applications                                                   v1alpha1.ApplicationCounts
	Pods                                                           v1alpha1.PodCounts
}

// agree waits until everybody says the same of the queues: the command on the live cluster, the command on what `kubectl get -o yaml`
// writes, and the status of every Queue. All is at rest, so what differs for longer than the status writer takes is wrong.
func (w *world) agree() {
	w.t.Helper()
	w.until("live, offline and Queue.status agree", func() (bool, string) {
		dump := w.dump("yaml")
		live := w.fairway("", "tree", "--kubeconfig", w.cluster.Kubeconfig(), "-o", "json")
		offline := w.fairway(dump, "tree", "-f", "-", "-o", "json")
		if difference := cmp.Diff(live, offline); difference != "" {
			return false, "live and offline differ:\n" + difference
		}
		difference := cmp.Diff(w.statuses(), shownQueues(w.t, live))
		return difference == "", "status and command differ:\n" + difference
	})
}

// dump is what users write into files.
func (w *world) dump(format string) string {
	w.t.Helper()
	var out, failed bytes.Buffer
	kubectl := exec.CommandContext(w.ctx, filepath.Join("..", "..", "bin", "tools", "kubectl"),
		"--kubeconfig", w.cluster.Kubeconfig(), "get", "queues,placementpolicies,nodes,pods,deviceclasses,podgroups.scheduling.x-k8s.io", "-A", "-o", format)
	kubectl.Stdout, kubectl.Stderr = &out, &failed
	if err := kubectl.Run(); err != nil {
		w.t.Fatalf("kubectl get: %v: %s", err, failed.String())
	}
	return out.String()
}

// fairway runs `kubectl fairway` and returns what it prints.
func (w *world) fairway(stdin string, args ...string) string {
	w.t.Helper()
	out, failed := w.tryFairway(stdin, args...)
	if failed != "" {
		w.t.Fatalf("kubectl fairway %s: %s", strings.Join(args, " "), failed)
	}
	return out
}

// tryFairway runs `kubectl fairway` and returns what it prints, and what is wrong if it fails ("": it does not).
func (w *world) tryFairway(stdin string, args ...string) (printed, wrong string) {
	var out, failed bytes.Buffer
	code := cli.Run(context.WithoutCancel(w.ctx), args, cli.Environment{
		In: strings.NewReader(stdin), Out: tty.Screen{Out: &out}, Err: &failed, Now: time.Now,
	})
	if code != 0 {
		wrong = fmt.Sprintf("exit code %d: %s", code, failed.String())
	}
	return out.String(), wrong
}

// shownQueues are the declared ones: one that only its pods keep in the tree has no status.
func shownQueues(t *testing.T, text string) map[string]shownQueue {
	t.Helper()
	var tree struct {
		Queues []struct {
			Name, State string
			shownQueue
		}
	}
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	shown := map[string]shownQueue{}
	for _, q := range tree.Queues {
		if q.State != "Undeclared" {
			shown[q.Name] = q.shownQueue
		}
	}
	return shown
}

// statuses are those of all Queues. Only the status is decoded: a spec may be one that nobody can read.
func (w *world) statuses() map[string]shownQueue {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("QueueList"))
	w.must(w.client.List(w.ctx, list))
	statuses := map[string]shownQueue{}
	for i := range list.Items {
		q := &v1alpha1.Queue{}
		status := map[string]any{"status": list.Items[i].Object["status"]}
		w.must(runtime.DefaultUnstructuredConverter.FromUnstructured(status, q))
		s := &q.Status
		statuses[list.Items[i].GetName()] = shownQueue{
			SteadyFairShare: spelled(s.SteadyFairShare), FairShare: spelled(s.FairShare), Guaranteed: spelled(s.Guaranteed), Max: spelled(s.Max),
			Allocated: spelled(s.Allocated), Demand: spelled(s.Demand), Applications: s.Applications, Pods: s.Pods,
		}
	}
	return statuses
}

func spelled(list v1.ResourceList) map[string]string {
	amounts := map[string]string{}
	for name, amount := range list {
		amounts[string(name)] = amount.String()
	}
	return amounts
}
