package integration

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/fairway-scheduler/fairway/pkg/apis/scheduling/v1alpha1"
	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A pod that a limit stops says which limit of which queue, its value, what is used and what the pod asks for: in its condition, in one
// event, and in a metric for all of them. When the limit lets it go, it goes, and says so.
func TestPodsSayWhichLimitStopsThem(t *testing.T) {
	w := newWorldAlone(t, 4, "8", "32Gi")
	w.queue("root.m max.cpu=2")
	tenth := resource.MustParse("0.1")
	w.must(w.client.Create(w.ctx, &v1alpha1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "root.s"}, Spec: v1alpha1.QueueSpec{MaxDriverShare: &tenth},
	}))
	driver := func(name string) *v1.Pod {
		p := pod(name, "root.s", "2", "1Gi")
		p.Labels["spark-app-selector"], p.Labels["spark-role"] = name, "driver"
		return p
	}
	s, _ := w.scheduler(ledger.Options{})
	w.create(pod("m1", "root.m", "1", "1Gi"), pod("m2", "root.m", "1", "1Gi"), driver("s1"))
	w.untilBound(3)
	w.create(pod("m3", "root.m", "1", "1Gi"), driver("s2"))
	w.untilHeld("m3", "MaxResources", "queue root.m may use at most 2 cpu: it uses 2 cpu and this pod asks for 1 cpu")
	// m and s are active. Of 32 cpu, m may have 2, so 30 are the share of s, of which drivers may have a tenth.
	w.untilHeld("s2", "MaxDriverShare", "the drivers in queue root.s may use at most 3 cpu: they use 2 cpu and this driver asks for 2 cpu")
	for reason, want := range map[string]float64{"MaxResources": 1, "MaxDriverShare": 1, "WaitingTurn": 0} {
		if got := waitingPods(t)[reason]; got != want {
			t.Errorf("metric fairway_waiting_pods says %v for %s, want %v", got, reason, want)
		}
	}

	w.agree()
	if why := w.fairway(w.dump("yaml"), "why", "m3", "-f", "-", "-o", "json"); !strings.Contains(why, "starts with spec.max.cpu 3 in Queue root.m (now 2)") {
		t.Errorf("kubectl fairway why m3 says %s", why)
	}

	// What others do in the queue changes nothing about why the pod waits, and is not told again.
	w.create(pod("m4", "root.m", "2", "1Gi"))
	w.untilHeld("m4", "MaxResources", "asks for 2 cpu")
	n := 0
	for _, e := range w.eventsOf("m3") {
		if e.Reason == "MaxResources" {
			n += int(max(e.Count, 1))
		}
	}
	if n != 1 {
		t.Errorf("m3 has %d events about its limit, want 1", n)
	}

	w.patch("root.m", `{"max":{"cpu":"5"}}`)
	w.untilBound(5)
	w.untilAccepted("m3")
	w.untilAccepted("m4")
	w.until("the metric counts none behind max", func() (bool, string) {
		got := waitingPods(t)["MaxResources"]
		return got == 0, fmt.Sprint(got)
	})
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}

// waitingPods reads the metric as a scrape does, by reason.
func waitingPods(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "fairway_waiting_pods" {
			continue
		}
		for _, m := range f.GetMetric() {
			by[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	if len(by) == 0 {
		t.Fatal("there is no metric fairway_waiting_pods")
	}
	return by
}
