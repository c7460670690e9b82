package integration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-scheduler/fairway/pkg/ledger"
)

// A queue takes in as many applications as maxApplications says, whether they run or wait. The pods of another one say in their condition
// and in an event that it is refused, also under another scheduler, and go on as soon as one of the first ends.
func TestRefusedApplicationsSaySoAndAreTakenIn(t *testing.T) {
	w := newWorld(t, 2, "8", "32Gi")
	w.queue("root.few maxApplications=2 max.cpu=1")
	_, stop := w.scheduler(ledger.Options{})
	w.create(pod("runs", "root.few", "1", "1Gi"))
	w.untilBound(1)
	w.create(pod("waits", "root.few", "1", "1Gi"))
	w.untilHeld("waits", "MaxResources", "queue root.few may use at most 1 cpu")
	w.create(pod("refused", "root.few", "1", "1Gi"))
	const why = "queue root.few takes at most 2 applications and has 2, running and waiting; this one is refused until one ends, or for a higher maxApplications"
	w.untilHeld("refused", "MaxApplications", why)
	told := func() (n int) {
		for _, e := range w.eventsOf("refused") {
			if e.Reason == "MaxApplications" && e.Type == "Warning" && e.Message == why {
				n += int(max(e.Count, 1))
			}
		}
		return n
	}
	w.until("refused has an event", func() (bool, string) { return told() == 1, "" })
	w.agree()

	stop()
	s, _ := w.scheduler(ledger.Options{})
	w.create(pod("refused-too", "root.few", "1", "1Gi"))
	w.untilHeld("refused-too", "MaxApplications", why)
	w.must(w.kube.CoreV1().Pods("default").Delete(w.ctx, "waits", metav1.DeleteOptions{}))
	w.untilHeld("refused", "MaxResources", "queue root.few may use at most 1 cpu")
	w.patch("root.few", `{"maxApplications":3,"max":{"cpu":"3"}}`)
	w.untilBound(3)
	w.untilAccepted("refused")
	w.untilAccepted("refused-too")
	if n := told(); n != 1 {
		t.Errorf("refused was told %d times", n)
	}
	for _, wrong := range s.Ledger.Check() {
		t.Error(wrong)
	}
}
