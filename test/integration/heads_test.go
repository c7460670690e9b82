package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// headAndWorkers makes the pods of a RayCluster as KubeRay labels them: a head of 4 cpu and three workers of 1.
func headAndWorkers(name, queue string) []*v1.Pod {
	var all []*v1.Pod
	for i, kind := range []string{"worker", "worker", "head", "worker"} { // the head neither first nor last
		cpu := "1"
		if kind == "head" {
			cpu = "4"
		}
		p := pod(fmt.Sprintf("%s-%s-%d", name, kind, i), queue, cpu, "1Gi")
		p.Labels["ray.io/cluster"], p.Labels["ray.io/node-type"] = name, kind
		all = append(all, p)
	}
	return all
}

// Six RayClusters in 32 cpu, with the default part for drivers: four run with all of their pods, 28 cpu. Of the two others no worker starts, although there is
// room for four, and each says with which head it waits and why. When a cluster ends, the next one starts with all of its pods.
func TestRayClustersStartWithTheirHeads(t *testing.T) {
	const clusters, atOnce = 6, 4
	w := newWorldAlone(t, 4, "8", "32Gi")
	w.queue("root.ray")
	var pods []*v1.Pod
	for i := range clusters {
		pods = append(pods, headAndWorkers(fmt.Sprintf("ray-%d", i), "root.ray")...)
	}
	w.create(pods...) // in any order, before anything is scheduled
	s, _ := w.scheduler(ledger.Options{})
	w.untilBound(4 * atOnce)

	held := 0
	running := w.whole()
	for _, p := range pods {
		name := p.Labels["ray.io/cluster"]
		switch {
		case slices.Contains(running, name):
		case p.Labels["ray.io/node-type"] == "head":
			w.untilHeld(p.Name, "MaxDriverShare", "may use at most 16 cpu: they use 16 cpu and this driver asks for 4 cpu")
		default:
			held++
			w.untilHeld(p.Name, "WaitingForDriver", "waits with "+name+"-head-2, the driver of its application: the drivers in queue root.ray may use at most 16 cpu")
			w.until("one event tells "+p.Name, func() (bool, string) {
				n := 0
				for _, e := range w.eventsOf(p.Name) {
					if e.Reason == "WaitingForDriver" {
						n += int(max(e.Count, 1))
					}
				}
				return n == 1, fmt.Sprint(n)
			})
		}
	}
	if len(running) != atOnce || held != 3*(clusters-atOnce) {
		t.Fatalf("%v run, %d workers are held", running, held)
	}
	if by := waitingPods(t); by["WaitingForDriver"] != 6 || by["MaxDriverShare"] != 2 {
		t.Errorf("metric fairway_waiting_pods says %v", by)
	}
	if is := w.stateOfApplications(); is["Running"] != atOnce || is["Accepted"] != clusters-atOnce {
		t.Errorf("kubectl fairway apps says %v", is)
	}
	if wrong := w.bound()["all"]; wrong != 4*atOnce {
		t.Errorf("%d pods are bound, want %d", wrong, 4*atOnce)
	}

	for range clusters - atOnce {
		ends := w.whole()[0]
		for _, p := range pods {
			if p.Labels["ray.io/cluster"] == ends {
				w.must(w.client.Delete(w.ctx, p, client.GracePeriodSeconds(0)))
			}
		}
		w.until("the next cluster runs, whole", func() (bool, string) {
			is := w.whole()
			return len(is) == atOnce && !slices.Contains(is, ends), fmt.Sprint(is)
		})
	}
	w.until("no pod waits", func() (bool, string) {
		n := w.bound()["all"]
		return n == 4*atOnce && n == len(w.pods()), fmt.Sprintf("%d of %d are bound", n, len(w.pods()))
	})
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}

// whole names the clusters that run, in order. A cluster of which some pods run and the head does not is an error.
func (w *world) whole() (names []string) {
	w.t.Helper()
	heads, pods := map[string]bool{}, map[string]int{}
	for _, p := range w.pods() {
		if name := p.Labels["ray.io/cluster"]; p.Spec.NodeName != "" {
			pods[name]++
			heads[name] = heads[name] || p.Labels["ray.io/node-type"] == "head"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		if !heads[name] {
			w.t.Errorf("%d workers of %s run without their head", pods[name], name)
		}
		if pods[name] == 4 {
			names = append(names, name)
		}
	}
	return names
}

// stateOfApplications counts the rows of kubectl fairway apps by their state.
func (w *world) stateOfApplications() map[string]int {
	w.t.Helper()
	var out struct {
		Applications []struct {
			State string `json:"state"`
		} `json:"applications"`
	}
	text := w.fairway("", "apps", "--kubeconfig", w.cluster.Kubeconfig(), "-o", "json")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&out); err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	by := map[string]int{}
	for _, a := range out.Applications {
		by[a.State]++
	}
	return by
}
